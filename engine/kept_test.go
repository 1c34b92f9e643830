package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// wantRefused checks that each use of something that was kept panics and says why.
func wantRefused(t *testing.T, where string, uses map[string]func()) {
	t.Helper()
	for name, use := range uses {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "engine: a ") || !strings.Contains(v, " is used outside of the ") {
					t.Errorf("%s: %s: %s; want a panic that says why", where, name, v)
				}
			}()
			use()
		}()
	}
}

// keptUses are ways to use what a part of a tick kept: contexts and a Tick.
func keptUses(p *engine.Context, s *engine.SystemContext, h *engine.HandlerContext, k *engine.Tick) map[string]func() {
	return map[string]func(){
		"Context.Next":               func() { p.Next(0)[0] = 99 },
		"Context.Prev":               func() { p.Prev(0) },
		"Context.Now":                func() { p.Now(1) },
		"Context.Finite":             func() { p.Finite(0) },
		"Context.Changed":            func() { p.Changed(0, 0, 1) },
		"Context.Tick":               func() { p.Tick() },
		"Context.Parameter":          func() { p.Parameter(1) },
		"Context.Stream":             func() { p.Stream(0).Uint64() },
		"Context.Bulk":               func() { p.Bulk(0) },
		"SystemContext.Next":         func() { s.Next(1)[0] = 99 },
		"SystemContext.Schedule":     func() { s.Schedule(50, commands.SetField(space.At(0), 0, 1)) },
		"SystemContext.Cancel":       func() { s.Cancel(1) },
		"SystemContext.Entities":     func() { s.Entities() },
		"SystemContext.Population":   func() { s.Population() },
		"SystemContext.Slot":         func() { s.Slot(1) },
		"SystemContext.AppendAt":     func() { s.AppendAt(nil, 0) },
		"SystemContext.AppendSpawns": func() { s.AppendSpawns(nil) },
		"SystemContext.EntityBulk":   func() { s.EntityBulk(0) },
		"HandlerContext.Set":         func() { h.Set(0, 1, 99) },
		"HandlerContext.Get":         func() { h.Get(0, 1) },
		"HandlerContext.Apply":       func() { h.Apply(commands.SetParameter(1, 5)) },
		"HandlerContext.Schedule":    func() { h.Schedule(50, commands.SetField(space.At(0), 0, 1)) },
		"HandlerContext.Cancel":      func() { h.Cancel(1) },
		"HandlerContext.Stream":      func() { h.Stream(0).Uint64() },
		"Tick.Hash":                  func() { k.Hash() },
		"Tick.FieldHash":             func() { k.FieldHash(0) },
		"Tick.Snapshot":              func() { k.Snapshot() },
		"Tick.Setup":                 func() { k.Setup(nil) },
		"Tick.View":                  func() { k.View() },
		"Tick.AppendState":           func() { k.AppendState(nil, nil) },
	}
}

// TestContextsThatAreKeptChangeNothing holds that what a tick hands to its parts cannot be
// used after they return, between ticks or in other parts, also if they failed, and that the
// world is not touched by the attempt.
func TestContextsThatAreKeptChangeNothing(t *testing.T) {
	var p *engine.Context
	var s *engine.SystemContext
	var h *engine.HandlerContext
	var k *engine.Tick
	var fails error
	use := func(string) {}
	config := func(paranoid bool) engine.Config {
		return engine.Config{
			Space: space.Line{Length: 8}, Capacity: 4, Fields: cells(2), Parameters: []engine.Parameter{{Key: 1, Name: "q"}}, Paranoid: paranoid, MaxFailures: -1,
			Propagators: []engine.Propagator{
				propagator{engine.Spec{Name: "p", Prev: engine.Fields(0), Now: engine.Fields(1), Full: engine.Fields(0)}, func(c *engine.Context) error {
					p = c
					for i := range c.Next(0) {
						c.Next(0)[i] = c.Prev(0)[i] + 1
					}
					return fails
				}},
			},
			Systems: []engine.System{system{engine.Spec{Name: "s", Incremental: engine.Fields(1)}, func(c *engine.SystemContext) error {
				s = c
				return nil
			}}},
			Handlers: []engine.Handler{handler{9, func(c *engine.HandlerContext, data []byte) commands.Reason {
				if h = c; len(data) > 0 {
					panic("handler")
				}
				return commands.Applied
			}}},
		}
	}
	for _, paranoid := range []bool{false, true} {
		w, err := engine.New(config(paranoid))
		if err != nil {
			t.Fatal(err)
		}
		w.Record(recorder(func(tick *engine.Tick) error {
			if k = tick; p != nil && h != nil {
				use("in a recorder")
			}
			return nil
		}))
		submit(t, w, commands.Custom(9, nil))
		step(t, w)
		stop := w.Watch(func(tick *engine.Tick) { k = tick; tick.Hash(); tick.Snapshot().Release() })
		step(t, w)
		stop()
		unchanged := func(where string) {
			before, _ := w.Save(nil)
			wantRefused(t, where, keptUses(p, s, h, k))
			if after, _ := w.Save(nil); !bytes.Equal(before, after) {
				t.Errorf("%s: the state has changed", where)
			}
		}
		unchanged("between ticks")
		fails = errPlanned
		if _, err := w.Step(); !errors.Is(err, errPlanned) {
			t.Fatal(err)
		}
		fails = nil
		unchanged("after a tick that failed")
		submit(t, w, commands.Custom(9, []byte{1}))
		if _, err := w.Step(); err == nil {
			t.Fatal("the handler does not panic")
		}
		unchanged("after a handler that panicked")
		use = func(where string) {
			kept := keptUses(p, s, h, nil)
			wantRefused(t, where, kept)
		}
		step(t, w)
		use = func(string) {}
	}
	wantRefused(t, "zero", keptUses(new(engine.Context), new(engine.SystemContext), new(engine.HandlerContext), new(engine.Tick)))
}
