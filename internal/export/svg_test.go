package export_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/runner"
)

// readSVG returns the texts and the lines of a drawing, which must be well-formed.
func readSVG(t *testing.T, b []byte) (texts, lines []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts, lines
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		switch e := token.(type) {
		case xml.CharData:
			if text := strings.TrimSpace(string(e)); text != "" {
				texts = append(texts, text)
			}
		case xml.StartElement:
			is := func(name, value string) bool {
				return slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name && (value == "" || a.Value == value) })
			}
			if e.Name.Local == "path" && is("fill", "none") && !is("stroke", "#808080") { // which is the ground of a pale one
				for _, a := range e.Attr {
					if a.Name.Local == "d" && !strings.HasSuffix(a.Value, "h14") { // which is in the legend
						lines = append(lines, a.Value)
					}
				}
			}
		}
	}
}

// The scenario's own statistics have a chart each, unless fields or cells are chosen, or there are no values.
func TestSVGStats(t *testing.T) {
	const own = all + "stats: {ants: count(ant), never: mean(ant.energy where ant.energy > 1e9)}\n"
	b, _, _ := write(t, own, "svg", export.Selection{}, export.Look{})
	if texts, _ := readSVG(t, b); !slices.Contains(texts, "ants") || slices.Contains(texts, "never") {
		t.Errorf("the texts are %q", texts)
	}
	b, _, _ = write(t, own, "svg", export.Selection{Fields: []string{"heat"}}, export.Look{})
	if texts, _ := readSVG(t, b); slices.Contains(texts, "ants") {
		t.Errorf("with --fields the texts are %q", texts)
	}
}

func TestSVG(t *testing.T) {
	b, _, what := write(t, all, "svg", export.Selection{}, export.Look{})
	texts, lines := readSVG(t, b)
	for _, want := range []string{"all over ticks", "heat, total [K]", "heat [K]", "exact, total", "length of wind [m/s]", "greatest", "mean", "least", "population", "ant", "bee"} {
		if !slices.Contains(texts, want) {
			t.Errorf("there is no text %q in %q", want, texts)
		}
	}
	if slices.Contains(texts, "ground [cells]") {
		t.Error("there is a chart of what never changes")
	}
	// Three fields with four lines each, and two kinds.
	if len(lines) != 14 || what != "7 charts of 3 ticks" {
		t.Errorf("%d lines: %s", len(lines), what)
	}
	// No ant and no bee at tick 0, one of each at ticks 2 and 4: see the sizes in svg.go.
	if want := "M78.0 182.0L307.0 52.5L536.0 52.5"; lines[12] != want || lines[13] != want {
		t.Errorf("the population is drawn as %q and %q, want %q", lines[12], lines[13], want)
	}
	b, _, _ = write(t, all, "svg", export.Selection{Fields: []string{"ground"}}, export.Look{})
	texts, lines = readSVG(t, b)
	if !slices.Contains(texts, "ground [cells]") || len(lines) != 4 {
		t.Errorf("%d lines with %q", len(lines), texts)
	}
	for _, c := range []color.RGBA{render.Categories()[0], render.Categories()[1], render.Kinds()[0], render.Kinds()[1]} {
		if stroke := fmt.Sprintf(` stroke="#%02x%02x%02x"`, c.R, c.G, c.B); !strings.Contains(string(b), stroke) {
			t.Errorf("nothing has the colour of pictures %s", stroke)
		}
	}
}

// TestSVGLegend: the names of all lines are in the legend, in as many rows as they take; what is too much is counted.
func TestSVGLegend(t *testing.T) {
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("value_number_%d", i))
	}
	names[5] = strings.Repeat("long", 16)
	text := "murksim: 1\nname: x\nspace: {kind: ring, length: 4}\nticks: 9\nfields: [{name: a, type: categorical, values: [" + strings.Join(names, ", ") + "]}]\n"
	b, _, _ := write(t, text, "svg", export.Selection{Fields: []string{"a"}}, export.Look{})
	texts, lines := readSVG(t, b)
	for i, name := range names {
		if slices.Contains(texts, name) != (i < 24) {
			t.Errorf("%q is not where it should be", name)
		}
	}
	if len(lines) != 24 || !slices.Contains(texts, "and 6 more") || slices.Contains(texts, "…") {
		t.Errorf("%d lines with %q", len(lines), texts)
	}
}

// Of entities alone, because the world has no field of cells or because they are asked for, a chart
// shows how many live; other files have nothing to hold.
func TestSVGOfEntities(t *testing.T) {
	const alone = "murksim: 1\nname: x\nspace: {kind: ring, length: 4}\nticks: 9\nfields: [{name: age, domain: entities}]\nentities: {capacity: 3, kinds: [ant, bee], spawn: [{kind: bee, count: 1}]}\n"
	for _, tt := range []struct {
		text string
		s    export.Selection
	}{{alone, export.Selection{}}, {alone, export.Selection{Entities: true}}, {all, export.Selection{Entities: true}}} {
		b, _, what := write(t, tt.text, "svg", tt.s, export.Look{})
		texts, lines := readSVG(t, b)
		if !slices.Contains(texts, "population") || !slices.Contains(texts, "bee") || len(lines) != 2 || what != "1 chart of 3 ticks" {
			t.Errorf("%d lines with %q: %s", len(lines), texts, what)
		}
	}
	p, err := export.NewPlan(parse(t, alone), export.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.NewMeasure(export.Look{}); err == nil || err.Error() != "x has no field of cells" {
		t.Errorf("NewMeasure: %v", err)
	}
	for _, f := range export.Formats() {
		if _, err := f.Open(new(memory), p, export.Ticks{Every: 1, Count: 1}, export.Look{}); (err == nil) != (f.Ending == "svg" || f.Ending == "yrep") {
			t.Errorf(".%s: %v", f.Ending, err)
		}
	}
}

// However many ticks there are, a chart has few points, and keeps the extremes.
func TestSVGBounded(t *testing.T) {
	const text = "murksim: 1\nname: x\nspace: {kind: line, length: 2}\nfields: [{name: a}]\ncommands: [{tick: 7777, set: {field: a, cell: [0], value: 1}}, {tick: 7778, set: {field: a, cell: [0], value: 0}}]\nticks: 20000\n"
	s := parse(t, text)
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := export.NewPlan(s, export.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := export.FormatOf("x.svg")
	if err != nil {
		t.Fatal(err)
	}
	var m memory
	sink, err := f.Open(&m, p, export.Ticks{Every: 1, Count: 20_001}, export.Look{})
	if err != nil {
		t.Fatal(err)
	}
	run := runner.Run{Scenario: s, World: w}
	for tick := range uint64(20_001) {
		if err := run.To(t.Context(), tick); err != nil {
			t.Fatal(err)
		}
		if err := sink.Add(w); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	_, lines := readSVG(t, m.b)
	if len(m.b) > 200_000 || strings.Count(lines[0], "L") < 1000 {
		t.Errorf("%d bytes, and %d points in the first line", len(m.b), strings.Count(lines[0], "L"))
	}
	if top := " 52."; !strings.Contains(lines[0], top) { // the one tick at which there is something
		t.Error("the highest value is lost")
	}
}
