package engine_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// A saboteur fails on request at one point of a busy world's tick.
type saboteur struct {
	stage string // where to fail: "early", "late", "system", "recorder" or a handler, "custom:9"
	how   func() error
}

func (s *saboteur) at(stage string) error {
	if s.how == nil || s.stage != stage {
		return nil
	}
	return s.how()
}

// busy is a zoo in which all kinds of things happen and s may interfere.
func busy(t testing.TB, s *saboteur) *engine.World { return build(t, busyConfig(s)) }

func busyConfig(s *saboteur) engine.Config {
	c := zooConfig()
	heat := func(name string) engine.Propagator {
		spec := engine.Spec{Name: name, Incremental: engine.Fields(zooHeat, zooCount)}
		return propagator{spec, func(c *engine.Context) error {
			c.Next(zooHeat)[2] += float32(c.Stream(0).Float32())
			c.NextColumn(zooCount).Int32[1]++
			err := s.at(name)
			if err == errNaN {
				c.Next(zooHeat)[3] = float32(math.NaN())
				return nil
			}
			return err
		}}
	}
	c.Propagators = []engine.Propagator{heat("early"), heat("late")}
	c.Systems = []engine.System{system{
		engine.Spec{Name: "system", Incremental: engine.Fields(zooHunger, 8)},
		func(c *engine.SystemContext) error {
			for slot, id := range c.Entities().ID {
				if id != 0 {
					c.Next(zooHunger)[slot] += 0.5
					c.NextColumn(8).Int32[slot] = (c.NextColumn(8).Int32[slot] + 1) % 4
				}
			}
			if _, err := c.Schedule(c.Tick()+1, set(space.At(1), zooKind, float32(c.Tick()%3))); err != nil {
				return err
			}
			return s.at("system")
		},
	}}
	c.Handlers = append(c.Handlers, handler{9, func(*engine.HandlerContext, []byte) commands.Reason {
		if err := s.at("custom:9"); err != nil {
			panic(err)
		}
		return commands.Applied
	}})
	c.Recorder = recorder(func(*engine.Tick) error { return s.at("recorder") })
	return c
}

// busyInputs are commands of all kinds for a tick; some are refused.
func busyInputs(w *engine.World) []commands.Command {
	n := float32(w.Tick())
	return []commands.Command{
		commands.Spawn(space.At(2), commands.FieldValue{Field: zooHunger, Value: n}),
		set(space.At(0), zooHeat, n), set(space.At(0), zooCount, n), set(space.At(9), zooHeat, 1),
		commands.SetParameter(zooRate, float64(n)), commands.SetParameterBatch(commands.Parameter{Key: zooGain, Value: float64(-n)}),
		commands.Custom(zooHandler, []byte{1, 2, 3}), commands.Custom(zooRefuser, []byte{1}),
		commands.Custom(9, nil), commands.Move(zooFirst, space.At(1)), commands.Despawn(3<<20 | 1),
	}
}

var (
	errPlanned = errors.New("planned failure")
	errNaN     = errors.New("write a NaN")
)

func TestFailedTickLeavesNoTrace(t *testing.T) {
	ways := []struct {
		name, stage, where, says string
		how                      func() error
	}{
		{"error in the first propagator", "early", "early", "planned", func() error { return errPlanned }},
		{"error in the second", "late", "late", "planned", func() error { return errPlanned }},
		{"panic", "late", "late", "panic: planned failure", func() error { panic(errPlanned) }},
		{"NaN", "early", "early, late", "cell [3]", func() error { return errNaN }},
		{"error in a system", "system", "system", "planned", func() error { return errPlanned }},
		{"panic in a system", "system", "system", "panic", func() error { panic("planned") }},
		{"error of the recorder", "recorder", "recorder", "planned", func() error { return errPlanned }},
		{"panic of the recorder", "recorder", "recorder", "panic", func() error { panic("planned") }},
		{"panic of a handler", "custom:9", "commands", "panic", func() error { return errPlanned }},
	}
	for _, tt := range ways {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, snapshot held %v", tt.name, held), func(t *testing.T) {
				s := &saboteur{stage: tt.stage}
				w, calm := busy(t, s), busy(t, &saboteur{})
				for range 4 {
					equal(t, w, calm, busyInputs(w)...)
				}
				if held {
					defer w.Snapshot().Release()
				}
				before, hash, rest := stateOf(w), w.Hash(), values(w, 9)
				for range 2 { // twice in a row
					s.how = tt.how
					submit(t, w, busyInputs(w)...)
					receipts, err := w.Step()
					wantFailure(t, err, w.Tick()+1, tt.where, tt.says)
					wantRolledBack(t, receipts)
					wantSame(t, w, before)
					if w.Tick() != 4 || w.Hash() != hash || values(w, 9)[0] != rest[0] {
						t.Errorf("tick %d, hash %016x, want 4, %016x", w.Tick(), w.Hash(), hash)
					}
				}
				s.how = nil
				for range 3 {
					equal(t, w, calm, busyInputs(w)...)
				}
			})
		}
	}
}

func wantFailure(t *testing.T, err error, tick uint64, where, says string) {
	t.Helper()
	got, ok := errors.AsType[*engine.TickError](err)
	if !ok || got.Tick != tick || got.Where != where || !strings.Contains(err.Error(), says) {
		t.Fatalf("Step = %v, want a TickError at tick %d in %q that says %q", err, tick, where, says)
	}
}

// wantRolledBack checks that nothing counts as applied and refusals are as they were.
func wantRolledBack(t *testing.T, receipts []commands.Receipt) {
	t.Helper()
	rolledBack, refused := 0, 0
	for _, r := range receipts {
		switch r.Reason {
		case commands.RolledBack:
			rolledBack++
		case commands.OutsideSpace, commands.CapacityFull, commands.UnknownEntity:
			refused++
		default:
			t.Errorf("%v: %v, want rolled back or the refusal it had", r.Kind, r.Reason)
		}
		if r.Made != 0 {
			t.Errorf("%v made %d in a tick that failed", r.Kind, r.Made)
		}
	}
	if rolledBack < 5 || refused == 0 {
		t.Errorf("%d rolled back, %d refused, want at least 5 and 1", rolledBack, refused)
	}
}

func TestFinitenessNamesPropagatorTickAndCell(t *testing.T) {
	bad := propagator{engine.Spec{Name: "divide", Full: engine.Fields(0)}, func(c *engine.Context) error {
		for i := range c.Next(0) {
			c.Next(0)[i] = 1 / float32(i-7)
		}
		return nil
	}}
	w := build(t, engine.Config{Space: space.Square4{Rows: 3, Cols: 5}, Fields: cells(1), Propagators: []engine.Propagator{bad}})
	_, err := w.Step()
	wantFailure(t, err, 1, "divide", "")
	cell, ok := errors.AsType[*engine.CellError](err)
	if !ok || cell.Cell != 7 || cell.Coord != space.At(1, 2) {
		t.Errorf("Step = %v, want a CellError at cell 7, [1, 2]", err)
	}
	if want := `engine: tick 1: divide: cell [1, 2]: field "a": +Inf is not a valid value of a scalar`; err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestFail(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1), Propagators: []engine.Propagator{propagator{
		engine.Spec{Name: "p"}, func(c *engine.Context) error { return c.Fail(2, "too %s", "hot") },
	}}})
	_, err := w.Step()
	if want := "engine: tick 1: p: cell [2]: too hot"; err == nil || err.Error() != want {
		t.Errorf("Step = %v, want %s", err, want)
	}
}
