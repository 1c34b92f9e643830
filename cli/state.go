package cli

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/murksim/murksim/engine"
)

// stateMark is what every saved state begins with.
const stateMark = "MSS2"

// checkState looks at the flags about states together.
func (j *runJob) checkState(given func(flag string) bool) error {
	switch {
	case given("state") && j.state == "":
		return usage("--state is empty; it is a file")
	case given("save-state") && j.saveState == "":
		return usage("--save-state is empty; it is a file, or - for standard output")
	case given("until") && j.until == 0:
		return usage("--until is 0; it is a whole number above 0")
	case j.state != "" && !j.noRecord:
		return usage("--state needs --no-record: a recording begins at tick 1")
	case j.state != "" && j.saveState != "" && same(j.state, j.saveState):
		return usage("%s is the state that the run starts from; write to another file", j.state)
	}
	return nil
}

// savable refuses before the run what could not be saved after it.
func (j *runJob) savable() error {
	wanted := j.state != "" || j.saveState != "" || j.stateHash
	if wanted && j.scenario.Rules == engine.Murk019.String() {
		return about(j.scenario.Name, &problem{"the rules murk-0.1.9 let propagators remember things outside the state; it cannot be saved, restored or hashed", engine.ErrUnsavable})
	}
	return nil
}

// restore puts the world into the state that the run starts from. What is expected to
// be conserved is still compared with genesis, which the checker has seen.
func (j *runJob) restore() error {
	b, err := readState(j.state, j.maxMemory)
	if err != nil {
		return about(j.state, err)
	}
	c, err := j.scenario.Config(j.workers)
	if err != nil {
		return err
	}
	w, err := engine.Restore(c, j.scenario.Descriptor(), b)
	if e, ok := errors.AsType[*engine.StateError](err); ok {
		return about(j.state, &problem{stateProblem(e), err})
	}
	if err != nil {
		return j.scenario.Locate(err)
	}
	if w.Tick() >= j.scenario.Ticks {
		return fmt.Errorf("%s: it is of tick %s; the run has %s", j.state, number(w.Tick()), number(j.scenario.Ticks))
	}
	if j.until != 0 && w.Tick() >= j.until {
		return fmt.Errorf("%s: it is of tick %s, and the run is to end after %s", j.state, number(w.Tick()), number(j.until))
	}
	j.world, j.start = w, w.Tick()
	return nil
}

// stateProblem says what is wrong with a state. That it is of another run is the most
// likely.
func stateProblem(e *engine.StateError) string {
	text := fmt.Sprintf("%v (byte %s)", e.Err, number(uint64(e.Offset)))
	switch {
	case e.Offset == 0:
		return fmt.Sprintf("not a saved state: at byte 0, where %q belongs, stands something else", stateMark)
	case strings.HasPrefix(text, "it"): // its seed, or the like
		return text + "\n  a run goes on with the scenario, --set, --seed and --ticks that it began with"
	}
	return "damaged: " + text
}

// readState reads a file that is no larger than a world may be.
func readState(path string, limit bytesFlag) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(min(limit.bytes, 1<<62))+1))
	if err == nil && uint64(len(b)) > limit.bytes {
		err = fmt.Errorf("it is larger than %s; raise that with --max-memory", limit.text)
	}
	return b, err
}

// save writes the state of the last whole tick, also after an error, and takes its
// digest.
func (j *runJob) save() error {
	if j.saveState == "" && !j.stateHash {
		return nil
	}
	b, err := j.world.Save(j.scenario.Descriptor())
	if err != nil {
		return err
	}
	j.digest = sha256.Sum256(b)
	if j.saveState == "" {
		return nil
	}
	return j.outputs[len(j.outputs)-1].replace(b)
}
