package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// writer writes a value to all cells of field 0, incrementally, and may call it finite.
func writer(name string, v float64, finite func(lo int) bool) propagator {
	return propagator{engine.Spec{Name: name, Incremental: engine.Fields(0), Parallel: true}, func(c *engine.Context) error {
		lo, hi := c.Range()
		for i := lo; i < hi; i++ {
			c.Next(0)[i] = float32(v)
		}
		if finite(lo) {
			c.Finite(0)
		}
		return nil
	}}
}

// What all workers of the last writer call finite is not looked at, and only that.
func TestFinite(t *testing.T) {
	always, never := func(int) bool { return true }, func(int) bool { return false }
	for _, tt := range []struct {
		name    string
		writers []engine.Propagator
		says    string
	}{
		{"nobody calls it finite", []engine.Propagator{writer("a", math.Inf(1), never)}, "+Inf is not a valid value"},
		{"its writer does", []engine.Propagator{writer("a", math.Inf(1), always)}, ""},
		{"one worker does", []engine.Propagator{writer("a", math.Inf(1), func(lo int) bool { return lo == 0 })}, "+Inf is not a valid value"},
		{"an earlier writer does", []engine.Propagator{writer("a", 1, always), writer("b", math.Inf(1), never)}, "+Inf is not a valid value"},
		{"the last writer does", []engine.Propagator{writer("a", 1, never), writer("b", math.Inf(1), always)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := engine.Config{
				Space: space.Ring{Length: 9}, Fields: []fields.Def{{Name: "v"}}, Propagators: tt.writers, Workers: 2,
			}
			w, err := engine.New(c)
			if err != nil {
				t.Fatal(err)
			}
			for tick := range 3 { // what one tick finds out is not believed in the next
				_, err = w.Step()
				if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
					t.Errorf("tick %d: Step = %v, want %q", tick+1, err, tt.says)
				}
			}
			_, err = build(t, c).Step()
			if err == nil || tt.says == "" && !strings.Contains(err.Error(), `called field "v" finite, but cell [0]: field "v": +Inf is not a valid value`) {
				t.Errorf("paranoid: Step = %v, want the false claim", err)
			}
		})
	}
}
