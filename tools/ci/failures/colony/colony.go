// Package colony is the world in which failures are provoked, and the process that runs it elsewhere.
package colony

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/tools/ci/failures/faults"
)

const (
	Ticks = 200 // of every run
	Birth = 50  // the tick at which the scenario's command makes an entity
)

// Sets make a small colony of the scenario.
var Sets = []string{
	"space.rows=24", "space.cols=24", "entities.capacity=300", "expect=[]", fmt.Sprintf("ticks=%d", Ticks),
	fmt.Sprintf("commands=[{tick: %d, spawn: {kind: colonist, cell: [5, 5]}}]", Birth),
}

// feast are the systems of a colony, and the feast.
const feast = "systems=[{colony_ai: {name: ai, sight: 4}}, {colony_work: {name: work}}, {colony_physics: {name: physics}}, " +
	"{colony_bio: {name: bio}}, {colony_terrain: {name: terrain}}, {feast: {name: feast}}]"

var registry = sync.OnceValues(func() (*scenarios.Registry, error) {
	return scenarios.NewRegistry(slices.Concat(worlds.Components(), faults.Components(""))...)
})

// A Setup says what runs: the colony, with the feast or not, with a fault or not.
type Setup struct {
	Feast   bool
	Fault   faults.Fault
	Sets    []string // more of them
	Workers int
}

// Open returns the scenario and a configuration made anew, for faults remember things.
func (u *Setup) Open() (*scenarios.Scenario, engine.Config, error) {
	r, err := registry()
	if err != nil {
		return nil, engine.Config{}, err
	}
	all := slices.Concat(Sets, u.Sets)
	if u.Feast {
		all = append(all, feast)
	}
	s, err := worlds.Open(r, "colony", all...)
	if err != nil {
		return nil, engine.Config{}, err
	}
	c, err := s.Config(max(u.Workers, 1))
	if err == nil {
		err = u.Fault.Plant(&c)
	}
	return s, c, err
}

// World returns the scenario and a world of it, at tick 0.
func (u *Setup) World() (*scenarios.Scenario, *engine.World, error) {
	s, c, err := u.Open()
	if err != nil {
		return nil, nil, err
	}
	w, err := engine.New(c)
	return s, w, err
}

// A Run is all that is known of one: by tick from genesis on, the saved state S(T), the
// chain of their hashes H(T), and the snapshot hash; and the recording.
type Run struct {
	Setup     Setup
	Scenario  *scenarios.Scenario
	World     *engine.World // after the last tick
	States    [][]byte
	Chain     []audit.Hash // of the states, by the vectors' formula
	Hashes    []uint64
	Recording []byte
	ID        audit.ID // in the database of the lab; zeros: it is not there
}

// Record runs a setup. Attach, unless nil, may give the world one recorder more, and what ends that.
func Record(u Setup, attach func(r *Run) (engine.Settler, func() error, error)) (r *Run, err error) {
	s, w, err := u.World()
	if err != nil {
		return nil, err
	}
	r = &Run{Setup: u, Scenario: s, World: w}
	var file bytes.Buffer
	recorder, err := replay.NewRecorder(&file, w, s.Descriptor())
	if err != nil {
		return nil, err
	}
	if w.Record(recorder); attach != nil {
		more, end, err := attach(r)
		if err != nil {
			return nil, err
		}
		w.Record(engine.Recorders(recorder, more))
		defer func() { err = errors.Join(err, end()) }()
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	for w.Tick() < Ticks {
		if err := Step(s, w); err != nil {
			return nil, err
		}
		if err := r.keep(); err != nil {
			return nil, err
		}
	}
	if err := recorder.Flush(); err != nil {
		return nil, err
	}
	r.Recording = file.Bytes()
	return r, nil
}

// keep notes the state of the tick.
func (r *Run) keep() error {
	state, err := r.World.Save(r.Scenario.Descriptor())
	if err != nil {
		return err
	}
	var before audit.Hash
	if n := len(r.Chain); n > 0 {
		before = r.Chain[n-1]
	}
	r.States = append(r.States, state)
	r.Chain = append(r.Chain, before.Next(state))
	r.Hashes = append(r.Hashes, r.World.Hash())
	return nil
}

// Step computes one tick.
func Step(s *scenarios.Scenario, w *engine.World) error {
	return (&runner.Run{Scenario: s, World: w}).To(context.Background(), w.Tick()+1)
}

// Lines returns a run as a process tells it: a line a tick, from a tick on, with the snapshot
// hash and the SHA-256 of the saved state.
func (r *Run) Lines(from uint64) []byte {
	var b bytes.Buffer
	for t := from; t < uint64(len(r.States)); t++ {
		writeLine(&b, t, r.Hashes[t], r.States[t])
	}
	return b.Bytes()
}

func writeLine(w io.Writer, tick, hash uint64, state []byte) error {
	_, err := fmt.Fprintf(w, "%d\t%016x\t%x\n", tick, hash, sha256.Sum256(state))
	return err
}

// An Order says what another process must run.
type Order struct {
	Setup     Setup
	Restore   bool // go on from the state on standard input
	Unrelated bool // run another world of the setup's first
}

// Obey is that process. It prints a line for every tick.
func Obey(text string) error {
	var o Order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	if o.Unrelated {
		other := o.Setup
		other.Sets = append(slices.Clone(other.Sets), "seed=1234")
		if _, err := Record(other, nil); err != nil {
			return err
		}
	}
	s, c, err := o.Setup.Open()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	var w *engine.World
	if o.Restore {
		state, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		w, err = engine.Restore(c, s.Descriptor(), state)
		if err != nil {
			return err
		}
	} else if w, err = engine.New(c); err != nil {
		return err
	}
	for w.Tick() < Ticks {
		if err := Step(s, w); err != nil {
			return err
		}
		state, err := w.Save(s.Descriptor())
		if err != nil {
			return err
		}
		if err := writeLine(out, w.Tick(), w.Hash(), state); err != nil {
			return err
		}
	}
	return out.Flush()
}
