package engine_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

var errTooLarge = errors.New("add(9, 9): overflow")

// divide panics as Go does when y is 0.
func divide(x, y int) int { return x / y }

// TestArithmeticFaultHalts holds that one arithmetic fault halts a world, under any
// MaxFailures, names where it was, and leaves the state of the tick before.
func TestArithmeticFaultHalts(t *testing.T) {
	const healthy, overflow, zero = 0, 1, 2
	for _, tt := range []struct {
		max, how int
		says     string
	}{
		{0, overflow, `engine: tick 4: mover: ARITHMETIC_FAULT: entity 1048577: column "height": add(9, 9): overflow`},
		{-1, overflow, `engine: tick 4: mover: ARITHMETIC_FAULT: entity 1048577: column "height": add(9, 9): overflow`},
		{5, zero, `engine: tick 4: mover: ARITHMETIC_FAULT: panic: runtime error: integer divide by zero`},
	} {
		how := healthy
		w := build(t, engine.Config{
			MaxFailures: tt.max, Capacity: 2,
			Fields: []fields.Def{{Name: "height", Domain: fields.Entities, Element: fields.Fixed}},
			Systems: []engine.System{system{engine.Spec{Name: "mover", Incremental: engine.Fields(0)}, func(c *engine.SystemContext) error {
				height := c.NextColumn(0).Fixed
				height[0]++
				switch how {
				case overflow:
					height[0] = math.MinInt64
					return c.Fault(0, 0, errTooLarge)
				case zero:
					height[0] = int64(divide(1, how-zero))
				}
				return nil
			}}},
		})
		applied(t, w, commands.Spawn(space.At(1)))
		step(t, w)
		step(t, w)
		want := w.Hash()
		how = tt.how
		_, err := w.Step()
		if !errors.Is(err, engine.ErrArithmetic) || err.Error() != tt.says {
			t.Errorf("Step = %v, want %s", err, tt.says)
		}
		if f, ok := errors.AsType[*engine.FaultError](err); ok != (tt.how == overflow) || ok && (!errors.Is(err, errTooLarge) || f.Entity != 1<<20|1 || f.Column != "height") {
			t.Errorf("Step = %#v, want a FaultError of entity 1048577, height: %v", f, tt.how == overflow)
		}
		if w.Tick() != 3 || w.Hash() != want || w.Value(0, 0) != 3.0/65536 {
			t.Errorf("tick %d, hash %016x, height %v; want those of tick 3, %016x", w.Tick(), w.Hash(), w.Value(0, 0), want)
		}
		how = healthy
		if _, err := w.Step(); !errors.Is(err, engine.ErrHalted) {
			t.Errorf("MaxFailures %d: Step = %v, want ErrHalted", tt.max, err)
		}
		if _, err := w.Submit(commands.Despawn(1)); !errors.Is(err, commands.Stopped) {
			t.Errorf("Submit = %v, want stopped", err)
		}
		w.Reset(1)
		step(t, w)
	}
}

// TestPanicsAreNoFaults holds that other panics count as failures like any other.
func TestPanicsAreNoFaults(t *testing.T) {
	for _, v := range []any{"integer divide by zero", error(errTooLarge)} {
		err := &engine.PanicError{Value: v}
		if errors.Is(err, engine.ErrArithmetic) {
			t.Errorf("%v is an arithmetic fault", err)
		}
	}
}

// TestOtherElements holds that a component which takes an integer field for one of floats is told which method has its elements.
func TestOtherElements(t *testing.T) {
	for method, use := range map[string]func(c *engine.Context, id fields.ID) []float32{"Prev": (*engine.Context).Prev, "Now": (*engine.Context).Now, "Next": (*engine.Context).Next} {
		p := &propagator{
			spec: engine.Spec{Name: "mistaken", Prev: engine.Fields(0), Now: engine.Fields(0), Incremental: engine.Fields(0)},
			step: func(c *engine.Context) error { use(c, 0)[0]++; return nil },
		}
		w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}, Fields: []fields.Def{{Name: "count", Element: fields.Int32}}, Propagators: []engine.Propagator{p}})
		if err != nil {
			t.Fatal(err)
		}
		want := method + ` of the field "count", which has int32 elements; ` + method + "Column(id) has them"
		if _, err := w.Step(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
