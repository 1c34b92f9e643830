package scenarios_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// patterns is a folder with the files of these tests.
func patterns(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"glider.rle":   "#C a glider\nx = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n",
		"glider.cells": "!Name: Glider\n.O\n..O\nOOO\n",
		"aged.rle":     "x = 3, y = 1, rule = 345/2/4\n.AC!\n",
		"far.rle":      "x = 3, y = 3\nbo$1000000000000000000o!\n",
		"outside.rle":  "x = 2, y = 3\nbo$2bo$3o!\n",
		"huge.rle":     "x = 2000000000, y = 2000000000\no!\n",
		"long.rle":     "2000000000o$2000000000o!\n",
		"empty.cells":  "!Name: nothing\n",
		"picture.rle":  "\x89PNG\r\n\x1a\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const patternSpace = "{kind: square8, rows: 4, cols: 5}"

// TestPatterns: a pattern sets all cells of its box, and a descriptor has it in one spelling.
func TestPatterns(t *testing.T) {
	const glider = "[0 0 0 0 0 0 0 1 0 0 0 0 0 1 0 0 1 1 1 0]"
	dir := patterns(t)
	for _, tt := range []struct{ space, initial, want, descriptor string }{
		{patternSpace, "{rle: {file: glider.rle, at: [1, 1]}}", glider, `{"rle":{"at":[1,1],"rows":3,"cols":3,"text":"bo$2bo$3o!"}}`},
		{patternSpace, "{rle: {file: glider.cells, at: [1, 1]}}", glider, `{"rle":{"at":[1,1],"rows":3,"cols":3,"text":"bo$2bo$3o!"}}`},
		{patternSpace, "{rle: {text: \"bo$bb1o$ooo!\", at: [1, 1]}}", glider, `{"rle":{"at":[1,1],"rows":3,"cols":3,"text":"bo$2bo$3o!"}}`},
		{patternSpace, "{rle: {text: \"x = 2, y = 1\\noo!\"}}", "[1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]", `{"rle":{"rows":1,"cols":2,"text":"2o!"}}`},
		{patternSpace, "[{fill: 7}, {rle: {text: o!, at: [1, 1], rows: 2, cols: 3}}]", "[7 7 7 7 7 7 1 0 0 7 7 0 0 0 7 7 7 7 7 7]", `{"rle":{"at":[1,1],"rows":2,"cols":3,"text":"o!"}}`},
		{patternSpace, "[{fill: 7}, {rle: {file: aged.rle}}]", "[0 1 3 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7]", `{"rle":{"rows":1,"cols":3,"text":".AC!"}}`},
		// Golly's hexes lean to the other side, so patterns are turned left to right there.
		{"{kind: hex, rows: 4, cols: 5}", "{rle: {file: glider.rle, at: [1, 1]}}", "[0 0 0 0 0 0 0 1 0 0 0 1 0 0 0 0 1 1 1 0]", `{"rle":{"at":[1,1],"rows":3,"cols":3,"text":"bo$2bo$3o!"}}`},
	} {
		s := parse(t, dir, tt.space, "{name: a, initial: "+tt.initial+"}")
		if got := fmt.Sprint(genesis(t, s)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.initial, got, tt.want)
		}
		descriptor := s.Descriptor()
		if !strings.Contains(string(descriptor), tt.descriptor) {
			t.Errorf("%s: the descriptor is %s, want %s in it", tt.initial, descriptor, tt.descriptor)
		}
		again, err := scenariotest.FromDescriptor(descriptor)
		if err != nil {
			t.Errorf("%s: %v", tt.initial, err)
		} else if got := fmt.Sprint(genesis(t, again)); got != tt.want {
			t.Errorf("%s from its descriptor: %s, want %s", tt.initial, got, tt.want)
		}
	}
}

// TestPatternErrors: what is wrong with a pattern is said with line and column, those of its file, too.
func TestPatternErrors(t *testing.T) {
	dir := patterns(t)
	for _, tt := range []struct{ field, want string }{
		{"{name: a, initial: {rle: {at: [1, 1]}}}", "a pattern needs one of file and text"},
		{"{name: a, initial: {rle: {file: glider.rle, text: o!}}}", "a pattern needs one of file and text"},
		{"{name: a, initial: {rle: {file: gone.rle}}}", "a.yaml:5:37: gone.rle: no such file or directory"},
		{"{name: a, initial: {rle: {file: glider.rle, at: [2, 0]}}}", "a.yaml:5:37: a picture of 3×3 at row 2, column 0 does not fit square8 4×5 absorb"},
		{"{name: a, initial: {rle: {file: far.rle}}}", "far.rle:2:4: a run has at most 2147483647 cells"},
		{"{name: a, initial: {rle: {file: outside.rle}}}", "outside.rle:2:6: a live cell in row 1, column 2 (from 0) lies outside of x = 2, y = 3"},
		{"{name: a, initial: {rle: {file: huge.rle}}}", "a picture of 2000000000×2000000000 at row 0, column 0 does not fit"},
		{"{name: a, initial: {rle: {file: huge.rle, at: [3, 4]}}}", "a picture of 2000000000×2000000000 at row 3, column 4 does not fit"},
		{"{name: a, initial: {rle: {file: long.rle}}}", "a picture of 2×2000000000 at row 0, column 0 does not fit"},
		{"{name: a, initial: {rle: {file: empty.cells}}}", "empty.cells is empty"},
		{"{name: a, initial: {rle: {file: picture.rle}}}", "picture.rle:1:1: '�' is not a cell"},
		{"{name: a, initial: {rle: {text: \"bo$2z!\"}}}", "text:1:4: 'z' is not a cell"},
		{"{name: a, initial: {rle: {text: 3o!, cols: 2}}}", "text has 1 rows and 3 columns; more than 1 and 2"},
		{"{name: a, type: categorical, values: [x, y], initial: {rle: {file: aged.rle}}}", `aged.rle:2:3: state 3 is not one of the 2 values of "a"`},
		{"{name: a, min: 1, max: 5, initial: {rle: {file: glider.rle}}}", `glider.rle: state 0 is below the minimum of "a", 1`},
		{"{name: a, min: 0, max: 2, initial: {rle: {file: aged.rle}}}", `aged.rle:2:3: state 3 is above the maximum of "a", 2`},
		{"{name: a, type: vector(2), initial: {rle: {file: glider.rle}}}", `a pattern is for a field of cells with one number each`},
		{"{name: a, initial: {rle: {file: glider.rle}, rect: {from: [0, 0], to: [1, 1]}}}", "a picture has no region"},
		{"{name: a, initial: {rle: 3}}", "write \"rle: {file: NAME.rle}\""},
	} {
		text := fmt.Sprintf("murksim: 1\nname: a\nspace: %s\nfields:\n  - %s\n", patternSpace, tt.field)
		_, err := yaml.Parse(worlds.Registry(), "a.yaml", files(dir), []byte(text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.field, err, tt.want)
		}
	}
}

// TestPatternDescriptors: a descriptor has one spelling of a pattern, and a short one takes little memory.
func TestPatternDescriptors(t *testing.T) {
	head := `{"rules":"murksim@1","murksim":1,"name":"a","space":{"kind":"square8","rows":30000,"cols":30000},"fields":[{"name":"a","initial":[{"rle":`
	for _, tt := range []struct {
		pattern string
		want    error
	}{
		{`{"rows":30000,"cols":30000,"text":"29999bo$30000o!"}`, nil},
		{`{"rows":1,"cols":2,"text":"oo!"}`, scenarios.ErrNotCanonical},
		{`{"rows":1,"cols":2,"text":"2o"}`, scenarios.ErrNotCanonical},
		{`{"rows":1,"cols":2,"text":"2A!"}`, scenarios.ErrNotCanonical},
		{`{"cols":2,"text":"2o!"}`, scenarios.ErrNotCanonical},
		{`{"cols":2,"rows":1,"text":"2o!"}`, scenarios.ErrNotCanonical},
	} {
		var err error
		took := allocated(func() { _, err = scenariotest.FromDescriptor([]byte(head + tt.pattern + "}]}]}")) })
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.pattern, err, tt.want)
		}
		if took > 1<<20 {
			t.Errorf("%s: %d bytes allocated", tt.pattern, took)
		}
	}
	if _, err := scenariotest.FromDescriptor([]byte(head + `{"file":"glider.rle"}}]}]}`)); err == nil || !strings.Contains(err.Error(), "may not name files") {
		t.Errorf("a file in a descriptor: %v", err)
	}
}
