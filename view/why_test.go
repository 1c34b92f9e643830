package view_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/view"
)

// TestWhy: each number of a cell and of an entity has its latest change, and its causes that are numbers lead further back; what is no number is refused.
func TestWhy(t *testing.T) {
	heat, x, _ := record(t, "heat", 60, true)
	animals, _, at := record(t, "predators", 40, false, 40)
	type found struct {
		Tick   uint64
		Lines  []string
		Causes []struct{ Line, Field, Component, Cell int }
	}
	why := func(s *view.Session, request string) (f found) {
		t.Helper()
		if err := json.Unmarshal(must(t, s, request), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	s := view.NewSession(open(t, heat, x))
	cell, tick := 64*128+64, uint64(50)
	for range 5 {
		f := why(s, fmt.Sprintf(`{"op":"why","tick":%d,"field":0,"cell":%d}`, tick, cell))
		if f.Tick != tick || len(f.Causes) < 3 || !strings.HasPrefix(f.Lines[0], fmt.Sprintf("tick %d  heat at [", tick)) || !strings.Contains(f.Lines[f.Causes[0].Line], "else") {
			t.Fatalf("tick %d, cell %d: %+v", tick, cell, f)
		}
		cell, tick = f.Causes[1].Cell, f.Tick-1
	}
	s = view.NewSession(open(t, animals, nil))
	for field, name := range []string{"grass", "energy"} {
		for slot, id := range at[40].Entities().ID {
			if id == 0 || slot > 3 || name == "grass" {
				continue
			}
			f := why(s, fmt.Sprintf(`{"op":"why","tick":40,"field":%d,"entity":"%d"}`, field, id))
			if f.Tick == 0 || !strings.Contains(f.Lines[0], "energy of") {
				t.Errorf("entity %d: %+v", id, f)
			}
		}
	}
	for request, want := range map[string]string{
		`{"op":"why","tick":40,"field":9,"cell":0}`:               "there is no field 9",
		`{"op":"why","tick":40,"field":0,"component":1,"cell":0}`: "there is no component 1",
		`{"op":"why","tick":40,"field":0,"entity":"1"}`:           "is a field of cells",
		`{"op":"why","tick":40,"field":0,"cell":99999999}`:        "is a field of cells",
		`{"op":"why","tick":40,"field":1,"cell":0}`:               "is a field of entities",
		`{"op":"why","tick":41,"field":0,"cell":0}`:               "there is no tick 41",
	} {
		if got := ask(t, s, "%s", request).Error; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
}
