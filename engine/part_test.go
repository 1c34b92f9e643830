package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// partsOf steps a world and returns a line for each part of the tick, with the hashes of all
// fields.
func partsOf(t *testing.T, w *engine.World) (lines []string, last uint64) {
	t.Helper()
	w.WatchParts(func(p *engine.Part) {
		line := fmt.Sprintf("%d %d %s %s", p.Tick, p.Index, p.Kind, p.Name)
		h := fields.NewHash()
		for i := range w.Defs() {
			id := fields.ID(i)
			c := p.Column(id)
			if got, want := p.FieldHash(id), uint64(fields.NewHash().Column(&c)); got != want {
				t.Errorf("%s: hash %016x of field %d, want that of its column, %016x", line, got, id, want)
			}
			line += fmt.Sprintf(" %016x", p.FieldHash(id))
			h = h.Field(id, &c)
		}
		if last = p.Hash(); last != uint64(h) {
			t.Errorf("%s: hash %016x, want that of its columns, %016x", line, last, uint64(h))
		}
		lines = append(lines, line)
	})
	step(t, w, busyInputs(w)...)
	w.WatchParts(nil)
	return lines, last
}

// TestWatchParts holds that all parts of a tick are shown in order, that the last one has the
// hash of the tick, and that watching changes no bit.
func TestWatchParts(t *testing.T) {
	for _, config := range []engine.Config{busyConfig(&saboteur{}), zooConfig()} {
		var names []string
		w, other := build(t, config), unchecked(t, config)
		for range 5 {
			lines, last := partsOf(t, w)
			step(t, other, busyInputs(other)...)
			if last != w.Hash() || last != other.Hash() {
				t.Errorf("tick %d: hash %016x after the last part, %016x after the tick, %016x in a world that is not watched", w.Tick(), last, w.Hash(), other.Hash())
			}
			names = nil
			for i, line := range lines {
				f := strings.Fields(line)
				if f[0] != fmt.Sprint(w.Tick()) || f[1] != fmt.Sprint(i) {
					t.Errorf("part %d of tick %d: %s", i, w.Tick(), line)
				}
				names = append(names, f[2]+" "+f[3])
			}
		}
		want := []string{"commands commands"}
		for _, p := range config.Propagators {
			want = append(want, "propagator "+p.Spec(nil).Name)
		}
		for _, s := range config.Systems {
			want = append(want, "system "+s.Spec(nil).Name)
		}
		if want = append(want, "checks checks", "events events"); !slices.Equal(names, want) {
			t.Errorf("parts %q, want %q", names, want)
		}
	}
}

// TestPartsDiffer holds that of two ticks that differ in one part alone the parts before it
// are equal, and that it shows whatever it is that differs: a field, a draw or an event.
func TestPartsDiffer(t *testing.T) {
	twist, twisted := "", false
	s := &saboteur{}
	build := func() *engine.World {
		c := busyConfig(s)
		c.Propagators = append(c.Propagators, propagator{engine.Spec{Name: "draw"}, func(c *engine.Context) error {
			if twisted && twist == "draw" {
				c.Stream(0).Uint64()
			}
			return nil
		}})
		c.Systems = append(c.Systems, scheduler(func(c *engine.SystemContext) error {
			if twisted && twist == "event" {
				_, err := c.Schedule(c.Tick(), set(space.At(1), zooHeat, 5))
				return err
			}
			return nil
		}))
		return unchecked(t, c)
	}
	for _, tt := range []struct{ twist, want, fields string }{
		{"draw", "draw", "world.rest"},
		{"event", "scheduler", "world.rest"},
	} {
		twist = tt.twist
		a, b := build(), build()
		equal(t, a, b, busyInputs(a)...)
		twisted = false
		x, _ := partsOf(t, a)
		twisted = true
		y, _ := partsOf(t, b)
		twisted = false
		i := 0
		for i < len(x) && x[i] == y[i] {
			i++
		}
		if i == len(x) {
			t.Fatalf("%s: all parts are equal", tt.twist)
		}
		f, g := strings.Fields(x[i]), strings.Fields(y[i])
		var differ []string
		for k := 4; k < len(f); k++ {
			if f[k] != g[k] {
				differ = append(differ, a.Defs()[k-4].Name)
			}
		}
		if f[3] != tt.want || !slices.Equal(differ, []string{tt.fields}) {
			t.Errorf("%s: part %q differs in %q, want %q in %s", tt.twist, f[3], differ, tt.want, tt.fields)
		}
	}
}

// TestWatchPartsFails holds that a panic of the function fails the tick and leaves no trace,
// that a Part is of no use afterwards, and that a fork is not watched.
func TestWatchPartsFails(t *testing.T) {
	w := busy(t, &saboteur{})
	step(t, w, busyInputs(w)...)
	before := stateOf(w)
	var kept *engine.Part
	w.WatchParts(func(p *engine.Part) {
		if kept = p; p.Name == "late" {
			panic(errPlanned)
		}
	})
	fork, err := w.Fork()
	if err != nil {
		t.Fatal(err)
	}
	step(t, fork)
	submit(t, w, busyInputs(w)...)
	_, err = w.Step()
	if e, ok := errors.AsType[*engine.TickError](err); !ok || !errors.Is(err, errPlanned) || e.Where != "watcher of parts" {
		t.Errorf("Step = %v, want %v of the watcher of parts", err, errPlanned)
	}
	wantSame(t, w, before)
	for what, use := range map[string]func(){
		"Hash": func() { kept.Hash() }, "FieldHash": func() { kept.FieldHash(0) }, "Column": func() { kept.Column(0) },
	} {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "outside of the call") {
					t.Errorf("%s after the call: %v, want a panic that says so", what, v)
				}
			}()
			use()
		}()
	}
	w.WatchParts(func(*engine.Part) { w.WatchParts(func(*engine.Part) {}) })
	submit(t, w, busyInputs(w)...)
	if _, err := w.Step(); !errors.Is(err, engine.ErrUnderWay) {
		t.Errorf("Step = %v, want %v", err, engine.ErrUnderWay)
	}
	wantSame(t, w, before)
	seen := 0
	w.WatchParts(func(*engine.Part) { seen++; w.WatchParts(nil) })
	step(t, w, busyInputs(w)...)
	if err := w.Reset(1); err != nil {
		t.Fatal(err)
	}
	step(t, w, busyInputs(w)...)
	if seen != 1 {
		t.Errorf("a function that ends the watching is called %d times, want once", seen)
	}
	w.WatchParts(func(*engine.Part) { seen++ })
	if err := w.Reset(2); err != nil {
		t.Fatal(err)
	}
	if step(t, w, busyInputs(w)...); seen != 7 {
		t.Errorf("after Reset %d parts are shown, want commands, early, late, system, checks and events", seen-1)
	}
}

// TestWatchPartsEndsSweeps holds that a watched world computes each tick by itself.
func TestWatchPartsEndsSweeps(t *testing.T) {
	c := engine.Config{Space: space.Line{Length: 5000}, Fields: cells(1), Propagators: []engine.Propagator{propagator{
		engine.Spec{Name: "p", Prev: engine.Fields(0), Full: engine.Fields(0), Local: true, Parallel: true}, func(c *engine.Context) error {
			lo, hi := c.Range()
			for cell := lo; cell < hi; cell++ {
				c.Next(0)[cell] = c.Prev(0)[cell] + 1
			}
			return nil
		},
	}}}
	w, parts := unchecked(t, c), 0
	w.WatchParts(func(*engine.Part) { parts++ })
	if err := w.Run(10); err != nil || parts != 40 {
		t.Errorf("Run = %v, %d parts shown; want 10 times commands, p, checks and events", err, parts)
	}
}

// TestWatchPartsOfOtherRules holds that under the rules of the original engine the parts are
// its commands and propagators.
func TestWatchPartsOfOtherRules(t *testing.T) {
	w := originalWorld(t, add("p", output, 1))
	var names []string
	last := uint64(0)
	w.WatchParts(func(p *engine.Part) { names, last = append(names, p.Name), p.Hash() })
	step(t, w)
	if !slices.Equal(names, []string{"commands", "p"}) || last != w.Hash() {
		t.Errorf("parts %q, hash %016x after the last; want commands and p, and the tick's %016x", names, last, w.Hash())
	}
}
