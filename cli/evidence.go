package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// defaultName returns the name of a recording without --output: that of the scenario's file, or of the scenario if that comes
// from standard input.
func (j *runJob) defaultName() string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(j.source), ".yml"), ".yaml")
	if j.source == "-" || isPipe(j.source) || name == "" || strings.HasPrefix(name, ".") {
		name = j.Scenario.Name
	}
	if j.began != nil { // the ticks before it may be there
		name = fmt.Sprintf("%s-from-%d", name, j.began.Tick)
	}
	return name + recordingEnding
}

// nameOutput names the recording, so that it replaces nothing that nobody could make again.
func (j *runJob) nameOutput() error {
	if j.noRecord || j.resumed != nil {
		return nil
	}
	asked := j.output != ""
	if !asked {
		j.output = j.defaultName()
	}
	return j.spare(asked)
}

// spare finds another name for the recording if a file has its name that nobody could make again: what people did in a
// run, or, unless the name was asked for, the recording of another scenario.
func (j *runJob) spare(asked bool) error {
	what := j.holds(j.output, asked)
	if what == "" || j.force {
		return nil
	}
	ending := filepath.Ext(j.output)
	base := strings.TrimSuffix(j.output, ending)
	for i := 2; ; i++ {
		name := fmt.Sprintf("%s-%d%s", base, i, ending)
		if j.holds(name, asked) != "" {
			continue
		}
		_, err := fmt.Fprintf(j.errs, "%s has %s and stays; this run is recorded in %s (--force replaces it)\n", document.FileName(j.output), what, document.FileName(name))
		j.output = name
		return err
	}
}

// holds says what a file holds that would be lost; "": nothing that cannot be made again.
func (j *runJob) holds(path string, asked bool) (what string) {
	if ours, err := begins(path, recordingMark); err != nil || !ours {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	frames, err := replay.NewReader(f)
	if err != nil {
		return ""
	}
	s, err := j.scenarioOf(frames.Head())
	switch {
	case err != nil:
		return "the recording of a world that this program does not know,"
	case !asked && s.Name != j.Scenario.Name:
		return fmt.Sprintf("the recording of the scenario %s", argument(s.Name))
	case fromOutside(frames, s):
		return "what was done in a run from outside,"
	}
	return ""
}

// fromOutside reports whether a recording has commands that its scenario does not give. What policies give has no source; all
// that people and players of a game give has one.
func fromOutside(frames replay.Source, s *scenarios.Scenario) bool {
	queue, arrival := commands.NewQueue(commands.MaxQueue), uint64(0)
	var f replay.Frame
	var given []commands.Command
	var payload []byte
	for {
		if frames.Next(&f) != nil { // it ends, or is damaged from there on
			return false
		}
		for i := range f.Records {
			if f.Records[i].Meta.HasSource {
				return true
			}
		}
		if s.Environment != nil {
			continue
		}
		if _, err := queue.PushAll(s.CommandsAt(f.Tick)); err != nil {
			return true
		}
		given = queue.Take(given[:0], arrival)
		if len(given) != len(f.Records) {
			return true
		}
		for i := range given {
			r, c := &f.Records[i], &given[i]
			payload = c.AppendPayload(payload[:0])
			if r.Tag != uint8(c.Kind) || r.Meta.Priority != c.Priority || r.Meta.Expires != c.Expires || !bytes.Equal(r.Payload, payload) {
				return true
			}
		}
	}
}
