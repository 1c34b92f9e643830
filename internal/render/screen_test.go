package render_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/space"
)

// screen draws a frame of a lattice and returns its lines.
func screen(t *testing.T, s space.Space, style render.Style, c render.Colours, columns, rows int, frames ...render.Frame) []string {
	t.Helper()
	n, err := render.NewScreen(build(t, s), style, c)
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, f := range frames {
		all := f.Values
		f.Values = nil
		for _, rank := range n.Fit(columns, rows) {
			f.Values = append(f.Values, all[rank])
		}
		b = n.Append(b[:0], f)
	}
	lines := strings.Split(string(b), "\x1b[K\n")
	if len(lines) != rows+1 || lines[rows] != "" {
		t.Errorf("%d lines, want %d, each with an end: %q", len(lines)-1, rows, b)
	}
	return lines[:rows]
}

// A character has the colours of two pixels, and says only what changes.
func TestScreen(t *testing.T) {
	grey := render.Style{Scale: render.Scale{Map: "grey", Hi: 1}}
	square := space.Square4{Rows: 2, Cols: 3}
	values := render.Frame{Values: []float64{0, 1, 1, 0, 0, 1}}
	const black, white = "2;0;0;0", "2;255;255;255"
	for _, tt := range []struct {
		name          string
		space         space.Space
		colours       render.Colours
		columns, rows int
		frames        []render.Frame
		want          []string
	}{
		{"true colour", square, render.TrueColour, 3, 1, []render.Frame{values},
			[]string{"\x1b[48;" + black + "m \x1b[38;" + white + "m▀\x1b[48;" + white + "m \x1b[0m"}},
		{"256 colours", square, render.Colours256, 3, 1, []render.Frame{values},
			[]string{"\x1b[48;5;16m \x1b[38;5;231m▀\x1b[48;5;231m \x1b[0m"}},
		{"shades", square, render.Shades, 3, 1, []render.Frame{values}, []string{" ▒█"}},
		{"room for no more than a whole multiple", square, render.Shades, 6, 2, []render.Frame{values}, []string{"  ████", "    ██"}},
		{"half of a line", space.Square4{Rows: 1, Cols: 2}, render.TrueColour, 2, 2, []render.Frame{{Values: []float64{0, 1}}},
			[]string{"\x1b[38;" + black + "m▀\x1b[38;" + white + "m▀\x1b[0m", ""}},
		{"the mean of four cells", space.Square4{Rows: 2, Cols: 2}, render.TrueColour, 1, 1, []render.Frame{{Values: []float64{0, 1, 0, 1}}},
			[]string{"\x1b[38;2;127;127;127m▀\x1b[0m"}},
		{"hexes", space.Hex{Cols: 1, Rows: 2}, render.TrueColour, 4, 2, []render.Frame{{Values: []float64{0, 1}}},
			[]string{"\x1b[48;" + black + "m  \x1b[49m  \x1b[0m", " \x1b[48;" + white + "m  \x1b[49m \x1b[0m"}},
		{"a strip", space.Ring{Length: 2}, render.Shades, 2, 1, []render.Frame{{Values: []float64{0, 0}}, {Values: []float64{1, 0}}, {Values: []float64{1, 1}}},
			[]string{"█▒"}},
		{"covered", space.Square4{Rows: 2, Cols: 1}, render.TrueColour, 1, 1, []render.Frame{{Values: []float64{1, 1}, Covered: []bool{true, true}}},
			[]string{"\x1b[48;2;80;88;100m \x1b[0m"}},
		{"an entity", space.Square4{Rows: 2, Cols: 1}, render.TrueColour, 1, 1, []render.Frame{{Values: []float64{1, 1}, Marks: []render.Mark{{Cell: 0}, {Cell: 1}}}},
			[]string{"\x1b[48;2;213;94;0m \x1b[0m"}},
	} {
		got := screen(t, tt.space, grey, tt.colours, tt.columns, tt.rows, tt.frames...)
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: line %d is %q, want %q", tt.name, i, got[i], tt.want[i])
			}
		}
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Whatever the lattice and the terminal, no line is longer than the terminal is wide.
func TestScreenFits(t *testing.T) {
	for _, s := range []space.Space{
		space.Line{Length: 300}, space.Ring{Length: 3}, space.Square4{Rows: 200, Cols: 7}, space.Square8{Rows: 3, Cols: 500}, space.Hex{Cols: 40, Rows: 50},
		space.FCC12{W: 6, H: 6, D: 6}, space.Product{space.Ring{Length: 20}, space.Line{Length: 30}}, space.Product{space.Square4{Rows: 5, Cols: 6}, space.Line{Length: 3}},
	} {
		l := build(t, s)
		style := render.Style{Scale: render.Scale{Hi: 1}, Kinds: []string{"ant", "bee"}, Mask: "wall"}
		n, err := render.NewScreen(l, style, render.TrueColour)
		if err != nil {
			t.Fatal(err)
		}
		f := render.Frame{Marks: []render.Mark{{Cell: int32(l.Cells() - 1)}}}
		for _, size := range [][2]int{{80, 24}, {40, 12}, {1, 1}, {200, 3}, {3, 60}} {
			f.Values = make([]float64, len(n.Fit(size[0], size[1])))
			for range 3 {
				text := string(n.Append(nil, f)) + string(n.Legend(nil, size[0]))
				for _, line := range strings.Split(text, "\x1b[K\n") {
					if w := utf8.RuneCountInString(escape.ReplaceAllString(line, "")); w > size[0] {
						t.Errorf("%v in %v: a line of %d characters: %q", s, size, w, line)
					}
				}
			}
		}
	}
}

func TestLegendAndSparkline(t *testing.T) {
	l := build(t, space.Ring{Length: 2})
	for _, tt := range []struct {
		style   render.Style
		columns int
		want    string
	}{
		{render.Style{Scale: render.Scale{Lo: -1, Hi: 1}, Kinds: []string{"ant"}}, 40, "-1  ░▒▓██▓▒░  1  ▒ ant  "},
		{render.Style{Scale: render.Scale{Part: render.Category}, Names: []string{"dead", "alive"}}, 30, "  dead  ▒ alive  "},
		{render.Style{Scale: render.Scale{Part: render.Category}, Names: []string{"dead", "alive"}}, 12, "  dead  "},
		{render.Style{Scale: render.Scale{Lo: 0.25, Hi: 0.5}}, 3, ""},
	} {
		n, err := render.NewScreen(l, tt.style, render.Shades)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(n.Legend(nil, tt.columns)); got != tt.want {
			t.Errorf("the legend in %d columns is %q, want %q", tt.columns, got, tt.want)
		}
	}
	for _, tt := range []struct {
		values []float64
		want   string
	}{{nil, ""}, {[]float64{5}, "▁"}, {[]float64{0, 7, 3.5, 7}, "▁█▅█"}} {
		if got := string(render.Sparkline(nil, tt.values)); got != tt.want {
			t.Errorf("Sparkline(%v) = %s, want %s", tt.values, got, tt.want)
		}
	}
	if _, err := render.NewScreen(build(t, space.Product{space.Ring{Length: 2}, space.Ring{Length: 2}, space.Ring{Length: 2}}), render.Style{}, render.Shades); err == nil {
		t.Error("a product of three parts can be drawn")
	}
}

// Of a pixel with many cells some are drawn, all over it, and always the same.
func TestScreenSamples(t *testing.T) {
	n, err := render.NewScreen(build(t, space.Square4{Rows: 1000, Cols: 1000}), render.Style{Scale: render.Scale{Hi: 1}}, render.TrueColour)
	if err != nil {
		t.Fatal(err)
	}
	cells := n.Fit(20, 10) // pixels of 50×50 cells
	if len(cells) != 400*64 {
		t.Fatalf("%d cells are drawn, want 64 of each of 400 pixels", len(cells))
	}
	seen := map[int32]bool{}
	for i, rank := range cells {
		row, col, pixel := int(rank)/1000, int(rank)%1000, i/64
		if seen[rank] || row/50 != pixel/20 || col/50 != pixel%20 {
			t.Fatalf("cell [%d, %d] is drawn in pixel %d, or twice", row, col, pixel)
		}
		seen[rank] = true
		if want := i % 64 * 2500 / 64; row%50*50+col%50 < want-1 || row%50*50+col%50 > want+40 {
			t.Fatalf("cell %d of pixel %d is the %dth there, want about %d", i%64, pixel, row%50*50+col%50, want)
		}
	}
}

// Colours of 256 are near those that they stand for.
func TestColours256(t *testing.T) {
	got := screen(t, space.Square4{Rows: 2, Cols: 3}, render.Style{Scale: render.Scale{Map: "viridis", Hi: 1}}, render.Colours256, 3, 1,
		render.Frame{Values: []float64{0, 0.5, 1, 0, 0.5, 1}})[0]
	if want := "\x1b[48;5;53m \x1b[48;5;30m \x1b[48;5;184m \x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	ramp := make([]float64, 256) // two equal rows of all of viridis, which has no grey
	for i := range ramp {
		ramp[i] = float64(i%128) / 127
	}
	got = screen(t, space.Square4{Rows: 2, Cols: 128}, render.Style{Scale: render.Scale{Map: "viridis", Hi: 1}}, render.Colours256, 128, 1,
		render.Frame{Values: ramp})[0]
	numbers := regexp.MustCompile(`48;5;(\d+)m`).FindAllStringSubmatch(got, -1)
	if len(numbers) < 10 {
		t.Errorf("viridis has %d colours of 256", len(numbers))
	}
	for _, number := range numbers {
		n, err := strconv.Atoi(number[1])
		if err != nil || n >= 232 {
			t.Fatalf("viridis has %s, a grey", number[0])
		}
		levels := []int{0, 95, 135, 175, 215, 255}
		r, g, b := levels[(n-16)/36], levels[(n-16)/6%6], levels[(n-16)%6]
		if max(r, g, b)-min(r, g, b) < 80 {
			t.Errorf("viridis has colour %d, #%02x%02x%02x, which is nearly grey", n, r, g, b)
		}
	}
}
