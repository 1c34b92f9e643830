package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/tools/ci/failures/colony"
	"github.com/murksim/murksim/tools/ci/failures/faults"
)

const (
	ticks   = colony.Ticks
	planted = 61 // the tick of a fault that may have any
	birth   = colony.Birth
	torn    = 1<<20 | 1 // the first entity, as hungry as tired; it decides at tick 1
)

type setup = colony.Setup

type run = colony.Run

// A lab provokes failures and looks for them.
type lab struct {
	control, feast *run // without any fault, the second with the feast
	desk           *desk

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
	status int // with which murksim ended; none: it was not asked
}

// none is the status of what murksim was not asked.
const none = -1

// A result is the outcome of comparing a run with its control.
type result struct {
	tick   uint64 // the first at which they differ
	asked  int    // comparisons of the bisection
	report *diff.Report
	stable bool
	status int // of the audit
	a, b   *run
}

var errEqual = errors.New("no tick differs")

// same compares bytes, if it can see.
func (l *lab) same(a, b []byte) bool { return l.blind == toAll || bytes.Equal(a, b) }

// differs runs the colony with a fault and finds out where it parts from the control and
// how: by every tick's chain hash, by bisection, by replaying the control's recording, and
// by repeating the step. All must agree on the fault's tick.
func (l *lab) differs(control *run, f faults.Fault) (*result, error) {
	u := control.Setup
	if u.Fault = f; l.unplanted {
		u.Fault = faults.Fault{}
	}
	other, err := l.record(u)
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
	if at, err := l.replay(control.Recording, u); err != nil || at != x.tick {
		return nil, fmt.Errorf("a replay of the recording differs at tick %d, not %d (%v)", at, x.tick, err)
	}
	if x.report, err = diff.States(control.World, control.States[x.tick], other.States[x.tick]); err != nil {
		return nil, err
	}
	if x.stable, err = l.stable(u, control, x.tick); err != nil {
		return nil, err
	}
	x.status, err = l.fails(other, x.tick, x.report.Sections)
	return x, err
}

// part finds the first tick at which two runs differ, twice.
func (l *lab) part(a, b *run) (tick uint64, asked int, err error) {
	equal := func(t uint64) (bool, error) { return l.same(a.Chain[t][:], b.Chain[t][:]), nil }
	first := -1
	for t := range a.Chain {
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
		_, w, err := u.World()
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
		s, c, err := u.Open()
		if err != nil {
			return nil, err
		}
		w, err := engine.Restore(c, s.Descriptor(), control.States[tick-1])
		if err != nil {
			return nil, err
		}
		if err := colony.Step(s, w); err != nil {
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
		s, err := engine.ReadState(l.control.States[t])
		if err != nil {
			return 0, err
		}
		for i, d := range l.control.World.Defs() {
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
