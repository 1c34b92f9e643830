package engine_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

func TestParanoid(t *testing.T) {
	fixed := []fields.Def{{Name: "a", Element: fields.Fixed}, {Name: "b", Type: fields.Vector(2)}, {Name: "c"}}
	for _, tt := range []struct {
		name string
		spec engine.Spec
		step func(*engine.Context)
		says string
	}{
		{"keeps to its spec", engine.Spec{Prev: engine.Fields(2), Full: engine.Fields(0)}, func(c *engine.Context) {
			clear(c.NextColumn(0).Fixed)
		}, ""},
		{"leaves a cell unwritten", engine.Spec{Full: engine.Fields(0)}, func(c *engine.Context) {
			clear(c.NextColumn(0).Fixed[:3])
		}, `cell [1, 1]: component 0 of field "a" was left unwritten`},
		{"leaves a component unwritten", engine.Spec{Full: engine.Fields(1)}, func(c *engine.Context) {
			clear(c.Next(1)[:3])
			clear(c.Next(1)[4:])
		}, `cell [0, 1]: component 1 of field "b" was left unwritten`},
		{"writes to Prev", engine.Spec{Prev: engine.Fields(2), Full: engine.Fields(2)}, func(c *engine.Context) {
			clear(c.Next(2))
			c.Prev(2)[1] = 5
		}, `wrote to field "c" as it stood at the start`},
		{"writes what it only reads", engine.Spec{Now: engine.Fields(2)}, func(c *engine.Context) {
			c.Now(2)[1] = 5
		}, `wrote to field "c"`},
		{"reads Prev undeclared", engine.Spec{Now: engine.Fields(2)}, func(c *engine.Context) { c.Prev(2) }, "uses Prev of field 2"},
		{"reads Now undeclared", engine.Spec{Prev: engine.Fields(2)}, func(c *engine.Context) { c.Now(2) }, "uses Now of field 2"},
		{"writes undeclared", engine.Spec{Prev: engine.Fields(2)}, func(c *engine.Context) { c.Next(2) }, "uses Next of field 2"},
		{"reads a field there is not", engine.Spec{}, func(c *engine.Context) { c.Prev(1 << 31) }, "uses Prev of field 2147483648"},
		{"calls finite undeclared", engine.Spec{Prev: engine.Fields(2)}, func(c *engine.Context) { c.Finite(2) }, "uses Finite of field 2"},
		{"asks for an unknown parameter", engine.Spec{}, func(c *engine.Context) { c.Parameter(4) }, "asks for parameter 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Name = "p"
			w := build(t, engine.Config{Space: space.Square4{Rows: 2, Cols: 2}, Fields: fixed, Propagators: []engine.Propagator{propagator{
				tt.spec, func(c *engine.Context) error { tt.step(c); return nil },
			}}})
			_, err := w.Step()
			if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("Step = %v, want %q", err, tt.says)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "engine: tick 1: p: ") {
				t.Errorf("Step = %v, does not name the propagator", err)
			}
		})
	}
}

// TestParanoidFindsReadsOfUnclearedMemory holds that a Step that reads scratch memory which it
// has not written fails in a paranoid world, and in no other.
func TestParanoidFindsReadsOfUnclearedMemory(t *testing.T) {
	for _, paranoid := range []bool{false, true} {
		w, err := engine.New(engine.Config{Space: space.Line{Length: 4}, Fields: cells(1), Paranoid: paranoid, Propagators: []engine.Propagator{propagator{
			engine.Spec{Name: "p", Full: engine.Fields(0), Scratch: 4},
			func(c *engine.Context) error {
				copy(c.Next(0), c.Uncleared())
				return nil
			},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); (err != nil) != paranoid {
			t.Errorf("paranoid %v: Step = %v", paranoid, err)
		}
	}
}

func TestParanoidChecksWhatEarlierPartsWrote(t *testing.T) {
	thief := propagator{engine.Spec{Name: "thief", Now: engine.Fields(0)}, func(c *engine.Context) error {
		c.Now(0)[0] = 9
		return nil
	}}
	w := build(t, engine.Config{Fields: cells(1), Propagators: []engine.Propagator{add("add", 0, 1), thief}})
	if _, err := w.Step(); err == nil || !strings.Contains(err.Error(), `thief: wrote field "a"`) {
		t.Errorf("Step = %v, want the thief named", err)
	}
}

// Being watched changes no bit.
func TestParanoidChangesNothing(t *testing.T) {
	for _, workers := range []int{1, 3} {
		c := engine.Config{Space: space.Hex{Cols: 6, Rows: 5}, Workers: workers}
		calm := diffusing(t, c)
		c.Paranoid = true
		equal(t, calm, diffusing(t, c))
	}
}
