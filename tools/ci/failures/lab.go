package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/tools/ci/failures/faults"
)

const (
	ticks   = 200       // of every run
	planted = 61        // the tick of a fault that may have any
	birth   = 50        // the tick at which the scenario's command makes an entity
	torn    = 1<<20 | 1 // the first entity, as hungry as tired; it decides at tick 1
)

// sets make a small colony.
var sets = []string{
	"space.rows=24", "space.cols=24", "entities.capacity=300", "expect=[]", fmt.Sprintf("ticks=%d", ticks),
	fmt.Sprintf("commands=[{tick: %d, spawn: {kind: colonist, cell: [5, 5]}}]", birth),
}

// A setup says what runs: the colony, with the feast or not, with a fault or not.
type setup struct {
	Feast   bool
	Fault   faults.Fault
	Sets    []string // more of them
	Workers int
}

// open returns the scenario and a configuration made anew, for faults remember things.
func (u *setup) open() (*scenarios.Scenario, engine.Config, error) {
	s, err := worlds.Open(worlds.Registry(), "colony", slices.Concat(sets, u.Sets)...)
	if err != nil {
		return nil, engine.Config{}, err
	}
	c, err := s.Config(max(u.Workers, 1))
	if err == nil && u.Feast {
		err = faults.NewFeast(&c)
	}
	if err == nil {
		err = u.Fault.Plant(&c)
	}
	return s, c, err
}

func (u *setup) world() (*scenarios.Scenario, *engine.World, error) {
	s, c, err := u.open()
	if err != nil {
		return nil, nil, err
	}
	w, err := engine.New(c)
	return s, w, err
}

// A run is all that is known of one: by tick from genesis on, the saved state S(T), the
// chain of their hashes H(T), and the snapshot hash; and the recording.
type run struct {
	setup     setup
	scenario  *scenarios.Scenario
	world     *engine.World // after the last tick
	states    [][]byte
	chain     []audit.Hash
	hashes    []uint64
	recording []byte
}

// record runs a setup.
func record(u setup) (*run, error) {
	s, w, err := u.world()
	if err != nil {
		return nil, err
	}
	r := &run{setup: u, scenario: s, world: w}
	var file bytes.Buffer
	recorder, err := replay.NewRecorder(&file, w, s.Descriptor())
	if err != nil {
		return nil, err
	}
	w.Record(recorder)
	if err := r.keep(); err != nil {
		return nil, err
	}
	for w.Tick() < ticks {
		if err := step(s, w); err != nil {
			return nil, err
		}
		if err := r.keep(); err != nil {
			return nil, err
		}
	}
	if err := recorder.Flush(); err != nil {
		return nil, err
	}
	r.recording = file.Bytes()
	return r, nil
}

// keep notes the state of the tick.
func (r *run) keep() error {
	state, err := r.world.Save(r.scenario.Descriptor())
	if err != nil {
		return err
	}
	var before audit.Hash
	if n := len(r.chain); n > 0 {
		before = r.chain[n-1]
	}
	r.states = append(r.states, state)
	r.chain = append(r.chain, before.Next(state))
	r.hashes = append(r.hashes, r.world.Hash())
	return nil
}

// step computes one tick.
func step(s *scenarios.Scenario, w *engine.World) error {
	return (&runner.Run{Scenario: s, World: w}).To(context.Background(), w.Tick()+1)
}

// A lab provokes failures and looks for them.
type lab struct {
	control, feast *run // without any fault, the second with the feast

	// To see that it can fail:
	blind     blindness
	unplanted bool // no fault is planted; where none belongs, one is

	self     string    // this program
	findings []finding // of the checker of the code
}

// A blindness names the comparisons that find no difference.
type blindness uint8

const (
	toNothing blindness = iota
	toAll
	toReplay  // of a recording
	toRepeats // of a step
)

// A seen is how a failure was seen.
type seen struct {
	by     string // what detected it
	tick   uint64
	report string
}

// A result is the outcome of comparing a run with its control.
type result struct {
	tick   uint64 // the first at which they differ
	asked  int    // comparisons of the bisection
	report *diff.Report
	stable bool
	a, b   *run
}

var errEqual = errors.New("no tick differs")

// same compares bytes, if it can see.
func (l *lab) same(a, b []byte) bool { return l.blind == toAll || bytes.Equal(a, b) }

// differs runs the colony with a fault and finds out where it parts from the control and
// how: by every tick's chain hash, by bisection, by replaying the control's recording, and
// by repeating the step. All must agree on the fault's tick.
func (l *lab) differs(control *run, f faults.Fault) (*result, error) {
	u := control.setup
	if u.Fault = f; l.unplanted {
		u.Fault = faults.Fault{}
	}
	other, err := record(u)
	if err != nil {
		return nil, err
	}
	x := &result{a: control, b: other}
	if x.tick, x.asked, err = l.part(control, other); err != nil {
		return nil, err
	}
	if x.tick != f.Tick {
		return nil, fmt.Errorf("it shows at tick %d, not %d", x.tick, f.Tick)
	}
	if at, err := l.replay(control.recording, u); err != nil || at != x.tick {
		return nil, fmt.Errorf("a replay of the recording differs at tick %d, not %d (%v)", at, x.tick, err)
	}
	if x.report, err = diff.States(control.world, control.states[x.tick], other.states[x.tick]); err != nil {
		return nil, err
	}
	x.stable, err = l.stable(u, control, x.tick)
	return x, err
}

// part finds the first tick at which two runs differ, twice.
func (l *lab) part(a, b *run) (tick uint64, asked int, err error) {
	equal := func(t uint64) (bool, error) { return l.same(a.chain[t][:], b.chain[t][:]), nil }
	first := -1
	for t := range a.chain {
		if same, _ := equal(uint64(t)); !same {
			first = t
			break
		}
	}
	switch first {
	case -1:
		return 0, 0, errEqual
	case 0:
		return 0, 0, nil
	}
	tick, asked, err = diff.Bisect(0, ticks, equal)
	if limit := bits.Len(ticks - 1); err == nil && (tick != uint64(first) || asked > limit) {
		err = fmt.Errorf("the bisection finds tick %d after %d comparisons, the list tick %d", tick, asked, first)
	}
	return tick, asked, err
}

// replay verifies a recording by the worlds of a setup: what tick differs, or 0.
func (l *lab) replay(recording []byte, u setup) (tick uint64, err error) {
	r, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		return 0, err
	}
	p, err := replay.NewPlayer(r, func(*replay.Header) (*engine.World, error) {
		_, w, err := u.world()
		return w, err
	})
	if err != nil {
		return 0, err
	}
	_, err = p.Verify()
	e, ok := errors.AsType[*replay.MismatchError](err)
	switch {
	case !ok || e.Tick == 0:
		return 0, err
	case l.blind == toAll || l.blind == toReplay:
		return 0, nil
	}
	return e.Tick, nil
}

// stable repeats a tick three times, each from the control's state before it.
func (l *lab) stable(u setup, control *run, tick uint64) (bool, error) {
	results, err := diff.Repeat(3, func() ([]byte, error) {
		s, c, err := u.open()
		if err != nil {
			return nil, err
		}
		w, err := engine.Restore(c, s.Descriptor(), control.states[tick-1])
		if err != nil {
			return nil, err
		}
		if err := step(s, w); err != nil {
			return nil, err
		}
		return w.Save(s.Descriptor())
	})
	return len(results) == 1 || l.blind == toRepeats, err
}

// entity is one that lives at two ticks of the control, the first in slot order.
func (l *lab) entity(ticks ...uint64) (uint64, error) {
	var alive [][]uint64
	for _, t := range ticks {
		s, err := engine.ReadState(l.control.states[t])
		if err != nil {
			return 0, err
		}
		for i, d := range l.control.world.Defs() {
			if d.Name == engine.EntityID {
				alive = append(alive, s.Columns[i].Column().Uint64)
			}
		}
	}
	for _, id := range alive[0] {
		if id != 0 && !slices.ContainsFunc(alive, func(ids []uint64) bool { return !slices.Contains(ids, id) }) {
			return id, nil
		}
	}
	return 0, fmt.Errorf("nobody lives at ticks %d", ticks)
}

// lines returns a run as a process tells it: a line a tick, from a tick on, with the snapshot
// hash and the SHA-256 of the saved state.
func (r *run) lines(from uint64) []byte {
	var b bytes.Buffer
	for t := from; t < uint64(len(r.states)); t++ {
		writeLine(&b, t, r.hashes[t], r.states[t])
	}
	return b.Bytes()
}

func writeLine(w io.Writer, tick, hash uint64, state []byte) error {
	_, err := fmt.Fprintf(w, "%d\t%016x\t%x\n", tick, hash, sha256.Sum256(state))
	return err
}
