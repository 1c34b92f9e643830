package export_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
	"github.com/murksim/murksim/space"
)

// soup is a world of one automaton.
func soup(space, field, rule string) string {
	return fmt.Sprintf("murksim: 1\nname: soup\nseed: 3\nspace: %s\nfields: [%s]\npropagators: [automaton: {field: a, rule: %q}]\n", space, field, rule)
}

// asRLE returns the file of a world at a tick, and the world.
func asRLE(t *testing.T, s *scenarios.Scenario, tick uint64, selected export.Selection) (string, *engine.World, error) {
	t.Helper()
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&runner.Run{Scenario: s, World: w}).To(t.Context(), tick); err != nil {
		t.Fatal(err)
	}
	p, err := export.NewPlan(s, selected)
	if err != nil {
		t.Fatal(err)
	}
	f, err := export.FormatOf("x.rle")
	if err != nil {
		t.Fatal(err)
	}
	var file memory
	sink, err := f.Open(&file, p, export.Ticks{From: tick, Every: 1, Count: 1}, export.Look{})
	if err != nil {
		return "", w, err
	}
	if err := sink.Add(w); err != nil {
		return "", w, err
	}
	return string(file.b), w, sink.Close()
}

// TestRLE: a scenario that begins with the file has the cells that were written, and the rule is that of the automaton.
func TestRLE(t *testing.T) {
	const two, aged = "{name: a, type: categorical, values: [x, y], initial: {choice: {values: [x, y]}}}", "{name: a, initial: {choice: {values: [0, 1, 2, 3]}}}"
	for _, tt := range []struct{ space, field, rule, head string }{
		{"{kind: square8, rows: 30, cols: 41, edge: wrap}", two, "B3/S23", "#CXRLE Pos=-20,-15 Gen=5\nx = 41, y = 30, rule = B3/S23:T41,30\n"},
		{"{kind: square8, rows: 30, cols: 41}", aged, "B2/S345/4", "#CXRLE Pos=-20,-15 Gen=5\nx = 41, y = 30, rule = 345/2/4:P41,30\n"},
		{"{kind: square4, rows: 5, cols: 6, edge: clamp}", two, "B13/S012", "#CXRLE Pos=-3,-2 Gen=5\nx = 6, y = 5, rule = B13/S012V\n"},
		{"{kind: hex, rows: 15, cols: 16, edge: wrap}", aged, "B2/S34/4", "#CXRLE Pos=-8,-7 Gen=5\nx = 16, y = 15, rule = 34/2/4H:T16,15\n"},
		{"{kind: square8, rows: 15, cols: 16}", aged, "B2/S34/300", "#CXRLE Pos=-8,-7 Gen=5\nx = 16, y = 15\n"},
	} {
		text, w, err := asRLE(t, parse(t, soup(tt.space, tt.field, tt.rule)), 5, export.Selection{})
		if err != nil {
			t.Errorf("%s: %v", tt.space, err)
			continue
		}
		if !strings.HasPrefix(text, tt.head) {
			t.Errorf("%s: %.120q…, want %q", tt.space, text, tt.head)
		}
		for _, line := range strings.Split(text, "\n")[2:] {
			if len(line) > 70 {
				t.Errorf("%s: a line of %d bytes: %s", tt.space, len(line), line)
			}
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.rle"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		field := strings.Split(tt.field, "initial:")[0] + "initial: {rle: {file: a.rle}}}"
		s, err := yaml.Parse(worlds.Registry(), "again.yaml", yaml.Folder(dir), []byte(soup(tt.space, field, tt.rule)))
		if err != nil {
			t.Errorf("%s: %v", tt.space, err)
			continue
		}
		again, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		a, b := w.Column(0), again.Column(0)
		if !bytes.Equal(a.AppendBytes(nil), b.AppendBytes(nil)) {
			t.Errorf("%s: other cells come back", tt.space)
		}
	}
}

// TestRLERegion: a box is written with its place.
func TestRLERegion(t *testing.T) {
	s := parse(t, soup("{kind: square8, rows: 6, cols: 8, edge: wrap}", "{name: a, initial: {rle: {text: bo$2bo$3o!, at: [1, 2]}}}", "B3/S23"))
	box := space.Rect{Min: space.At(1, 2), Max: space.At(3, 5)}
	text, _, err := asRLE(t, s, 0, export.Selection{Region: box})
	if want := "#CXRLE Pos=-2,-2 Gen=0\nx = 4, y = 3, rule = B3/S23:T8,6\nbo$2bo$3o!\n"; err != nil || text != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
}

// TestRLERefuses: what a pattern cannot hold is said.
func TestRLERefuses(t *testing.T) {
	square := "{kind: square8, rows: 6, cols: 8}"
	for _, tt := range []struct{ text, want string }{
		{soup(square, "{name: a, initial: 0.5}", "B3/S0"), ""},
		{"murksim: 1\nname: x\nspace: " + square + "\nfields: [{name: a, initial: {cells: [[1, 2]], value: 0.5}}]\n", "a at [1, 2] is 0.5; a .rle holds whole numbers from 0 to 255"},
		{"murksim: 1\nname: x\nspace: " + square + "\nfields: [{name: a, initial: 256}]\n", "a at [0, 0] is 256"},
		{"murksim: 1\nname: x\nspace: " + square + "\nfields: [{name: a, initial: -1}]\n", "a at [0, 0] is -1"},
		{"murksim: 1\nname: x\nspace: " + square + "\nfields: [{name: a, type: vector(2)}]\n", `field "a" has 2`},
		{"murksim: 1\nname: x\nspace: {kind: ring, length: 9}\nfields: [{name: a}]\n", "a .rle needs rows and columns; ring has none"},
	} {
		tick := uint64(0)
		if tt.want == "" {
			tick = 1 // by then all are states
		}
		_, _, err := asRLE(t, parse(t, tt.text), tick, export.Selection{})
		if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	s := parse(t, soup(square, "{name: a}", "B3/S23"))
	p, err := export.NewPlan(s, export.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := export.FormatOf("x.rle")
	if _, err := f.Open(discard{io.Discard}, p, export.Ticks{Every: 1, Count: 2}, export.Look{}); err == nil || !strings.Contains(err.Error(), "holds one tick, not 2") {
		t.Errorf("two ticks: %v", err)
	}
	if p, err = export.NewPlan(s, export.Selection{Region: space.Cells{space.At(1, 1)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(discard{io.Discard}, p, export.Ticks{Every: 1, Count: 1}, export.Look{}); err == nil || !strings.Contains(err.Error(), "a box of cells") {
		t.Errorf("a list of cells: %v", err)
	}
}
