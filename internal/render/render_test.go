package render_test

import (
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/space"
)

var update = flag.Bool("update", false, "write the pictures in testdata")

func build(t testing.TB, s space.Space) *space.Lattice {
	t.Helper()
	l, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Every kind of space puts its cells where the package says; '.' is no cell, a digit the value.
func TestLayout(t *testing.T) {
	line, ring := space.Line{Length: 3}, space.Ring{Length: 3}
	fcc, plane := space.FCC12{W: 4, H: 2, D: 2}, space.Square4{Rows: 2, Cols: 2}
	for _, tt := range []struct {
		name        string
		space       space.Space
		one         space.Coord
		cell, slice int
		want        []string
	}{
		{"line", line, space.At(1), 1, 0, []string{"010"}},
		{"ring", ring, space.At(2), 2, 0, []string{"000011", "000011"}},
		{"square4", space.Square4{Rows: 2, Cols: 3}, space.At(0, 2), 1, 0, []string{"001", "000"}},
		{"square8", space.Square8{Rows: 3, Cols: 2}, space.At(2, 0), 1, 0, []string{"00", "00", "10"}},
		{"hex", space.Hex{Cols: 2, Rows: 2}, space.At(1, 1), 2, 0, []string{"0000..", "0000..", ".0011.", ".0011."}},
		{"fcc12", fcc, space.At(1, 1, 0), 1, 0, []string{"0000.", ".1100"}},
		{"fcc12 above", fcc, space.At(3, 0, 1), 1, 1, []string{".0011", "0000."}},
		{"rings", space.Product{space.Ring{Length: 2}, line}, space.At(1, 0), 1, 0, []string{"000", "100"}},
		{"planes", space.Product{plane, line}, space.At(1, 0, 2), 1, 0, []string{"00.00.00", "00.00.10"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := build(t, tt.space)
			style := render.Style{Scale: render.Scale{Map: "grey", Hi: 1}, Cell: tt.cell, Slice: tt.slice, Bare: true}
			f, err := render.New(l, style)
			if err != nil {
				t.Fatal(err)
			}
			values := make([]float64, l.Cells())
			rank, _ := l.Rank(tt.one)
			values[rank] = 1
			f.PutRow(0, 0, render.Frame{Values: values})
			compare(t, f.Image(), tt.want)
		})
	}
}

// compare reads a picture as letters.
func compare(t *testing.T, m image.Image, want []string) {
	t.Helper()
	var got []string
	for y := range m.Bounds().Dy() {
		row := make([]byte, m.Bounds().Dx())
		for x := range row {
			row[x] = map[color.Color]byte{
				color.RGBA{}: '.', color.RGBA{0, 0, 0, 0xff}: '0', color.RGBA{0xff, 0xff, 0xff, 0xff}: '1', color.RGBA{0x50, 0x58, 0x64, 0xff}: '#',
			}[m.At(x, y)]
		}
		got = append(got, string(row))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("drew\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A ring has a row a tick; covered cells are solid.
func TestRows(t *testing.T) {
	f, err := render.New(build(t, space.Ring{Length: 3}), render.Style{Scale: render.Scale{Map: "grey", Hi: 1}, Cell: 1, Rows: 2, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	f.PutRow(0, 0, render.Frame{Values: []float64{0, 1, 0}})
	f.PutRow(0, 1, render.Frame{Values: []float64{0, 1, 7}, Covered: []bool{false, true, false}})
	compare(t, f.Image(), []string{"010", "0#1"})
	f.Scroll(0)
	f.PutRow(0, 1, render.Frame{Values: []float64{1, 0, 0}})
	compare(t, f.Image(), []string{"0#1", "100"})
}

// Entities are drawn in a bare figure, too, if their kinds are known.
func TestBareMarks(t *testing.T) {
	for _, kinds := range [][]string{nil, {"hare", "wolf"}} {
		style := render.Style{Scale: render.Scale{Map: "grey", Hi: 1}, Cell: 6, Bare: true, Kinds: kinds}
		f, err := render.New(build(t, space.Line{Length: 3}), style)
		if err != nil {
			t.Fatal(err)
		}
		f.PutRow(0, 0, render.Frame{Values: []float64{0, 0, 0}, Marks: []render.Mark{{Cell: 1, Kind: 1}}})
		if marked := f.Image().At(9, 3) != f.Image().At(3, 3); marked != (kinds != nil) {
			t.Errorf("kinds %v: an entity is drawn: %v", kinds, marked)
		}
	}
}

// A vector is drawn by a component, its length or its direction.
func TestParts(t *testing.T) {
	d := fields.Def{Name: "v", Type: fields.Vector(2)}
	c := fields.Column{Float32: []float32{0, 0, 4, 0, 0, 4, -3, 4, 0, -1}}
	for _, tt := range []struct {
		name   string
		want   []float64
		lo, hi float64
	}{
		{"", []float64{0, 4, 4, 5, 1}, 0, 5},
		{"length", []float64{0, 4, 4, 5, 1}, 0, 5},
		{"0", []float64{0, 4, 0, -3, 0}, -3, 4},
		{"1", []float64{0, 0, 4, 4, -1}, -1, 4},
		{"direction", []float64{0, 0, 4, 0, 0, 4, -3, 4, 0, -1}, 0, 5},
	} {
		p, err := render.ParsePart(&d, tt.name)
		if err != nil {
			t.Fatal(err)
		}
		got := p.Append(nil, &d, &c)
		lo, hi := p.Extremes(got)
		if len(got) != len(tt.want) || lo != tt.lo || hi != tt.hi {
			t.Fatalf("%q gives %v from %v to %v, want %v from %v to %v", tt.name, got, lo, hi, tt.want, tt.lo, tt.hi)
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%q gives %v, want %v", tt.name, got, tt.want)
				break
			}
		}
	}
}

// Directions have hues: each quarter of a turn another, and 0 the darkest.
func TestDirections(t *testing.T) {
	f, err := render.New(build(t, space.Line{Length: 5}), render.Style{Scale: render.Scale{Part: render.Direction, Hi: 4}, Cell: 1, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	f.PutRow(0, 0, render.Frame{Values: []float64{0, 0, 4, 0, 0, 4, -4, 0, 0, -4}})
	for x, want := range []color.RGBA{{0x12, 0x14, 0x1e, 0xff}, {0xf0, 0x4a, 0x4a, 0xff}, {0xd8, 0xe0, 0x50, 0xff}, {0x3c, 0xc8, 0xd0, 0xff}, {0x98, 0x58, 0xe8, 0xff}} {
		if got := f.Image().At(x, 0); got != want {
			t.Errorf("cell %d has the colour %v, want %v", x, got, want)
		}
	}
}

// A range with two sides of 0 is drawn in two colours, 0 being the light one between.
func TestTwoSides(t *testing.T) {
	f, err := render.New(build(t, space.Line{Length: 3}), render.Style{Scale: render.Scale{Lo: -1, Hi: 4}, Cell: 1, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	f.PutRow(0, 0, render.Frame{Values: []float64{-4, 0, 4}})
	for x, least := range []uint32{2, 0, 0} {
		r, g, b, _ := f.Image().At(x, 0).RGBA()
		switch {
		case x == 0 && b <= r, x == 2 && r <= b, x == 1 && min(r, g, b)>>8 < 0xe0:
			t.Errorf("value %d of 3 has the colour %x %x %x (%d)", x, r>>8, g>>8, b>>8, least)
		}
	}
}

func TestRefuses(t *testing.T) {
	square, hexes := space.Square4{Rows: 3, Cols: 3}, space.Hex{Rows: 3, Cols: 3}
	for _, tt := range []struct {
		want  string
		space space.Space
		style render.Style
	}{
		{"a cell of 0 pixels", square, render.Style{}},
		{"a cell of 65 pixels", square, render.Style{Cell: 65}},
		{"a hex of 3 pixels", hexes, render.Style{Cell: 3}},
		{"no slice z = 1", square, render.Style{Cell: 1, Slice: 1}},
		{"only of a line or ring", square, render.Style{Cell: 1, Rows: 2}},
		{"too large a picture", space.Square4{Rows: 8193, Cols: 1}, render.Style{Cell: 1}},
		{"too large a picture", square, render.Style{Cell: 64, Panels: 5000}},
		{"if its second part is a line", space.Product{square, hexes}, render.Style{Cell: 2}},
		{"a product of 3 parts", space.Product{space.Line{Length: 2}, space.Line{Length: 2}, space.Line{Length: 2}}, render.Style{Cell: 2}},
		{`no colour map "mauve"; take one of balance, cividis`, square, render.Style{Cell: 1, Scale: render.Scale{Map: "mauve"}}},
		{"the first colour stands for 2, the last for 1", square, render.Style{Cell: 1, Scale: render.Scale{Lo: 2, Hi: 1}}},
	} {
		if _, err := render.New(build(t, tt.space), tt.style); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New: %v; want %q", err, tt.want)
		}
	}
	d := fields.Def{Name: "a"}
	for _, name := range []string{"length", "1", "x"} {
		if _, err := render.ParsePart(&d, name); err == nil || !strings.Contains(err.Error(), `has no component "`+name+`"`) {
			t.Errorf("ParsePart(%q): %v", name, err)
		}
	}
}

// Fit finds the largest cells.
func TestFit(t *testing.T) {
	for _, tt := range []struct {
		space space.Space
		side  int
		want  int
	}{
		{space.Square4{Rows: 10, Cols: 20}, 512, 16},
		{space.Square4{Rows: 128, Cols: 128}, 512, 4},
		{space.Square4{Rows: 1024, Cols: 1024}, 512, 1},
		{space.Hex{Rows: 1024, Cols: 1024}, 512, 2},
		{space.Square4{Rows: 200, Cols: 200}, 512, 2},
	} {
		if got := render.Fit(build(t, tt.space), tt.side); got != tt.want {
			t.Errorf("Fit(%v, %d) = %d, want %d", tt.space, tt.side, got, tt.want)
		}
	}
}

// bump is a value that is greatest in the middle.
func bump(l *space.Lattice, at space.Coord, height float64) []float64 {
	middle, _ := l.Rank(at)
	values := make([]float64, l.Cells())
	for rank := range values {
		values[rank] = height / (1 + l.Distance(rank, middle)/3)
	}
	return values
}

// Figures with all that they can have, as people see them.
func TestFigures(t *testing.T) {
	square, hexes, ring := build(t, space.Square4{Rows: 24, Cols: 40}), build(t, space.Hex{Rows: 12, Cols: 16}), build(t, space.Ring{Length: 60})
	vectors := build(t, space.Square8{Rows: 21, Cols: 21})
	var around []float64
	for rank := range vectors.Cells() {
		c := vectors.Coord(rank)
		around = append(around, float64(10-c.At(0)), float64(c.At(1)-10))
	}
	var classes []float64
	for rank := range hexes.Cells() {
		classes = append(classes, float64(rank%10))
	}
	for _, tt := range []struct {
		name  string
		l     *space.Lattice
		style render.Style
		put   func(f *render.Figure)
	}{
		{"one", square, render.Style{Title: "heat", Unit: "°C", Scale: render.Scale{Hi: 20}, Cell: 8, Kinds: []string{"grazer", "hunter", "shade"}, Mask: "wall"}, func(f *render.Figure) {
			f.Put(0, "tick 1,000,000", render.Frame{Values: bump(square, space.At(12, 20), 1)}) // drawn over
			walls := make([]bool, square.Cells())
			for i := 200; i < 230; i++ {
				walls[i] = true
			}
			f.Put(0, render.Tick(1500), render.Frame{Values: bump(square, space.At(12, 20), 20), Covered: walls, Marks: []render.Mark{{3, 0}, {90, 1}, {500, 2}}})
		}},
		{"sheet", square, render.Style{Title: "height", Unit: "m", Scale: render.Scale{Lo: -2, Hi: 3}, Cell: 3, Panels: 5}, func(f *render.Figure) {
			for i := range 5 {
				f.Put(i, render.Tick(uint64(i*1000)), render.Frame{Values: bump(square, space.At(12, int32(i*8)), float64(i-2))})
			}
		}},
		{"categories", hexes, render.Style{Title: "ground", Scale: render.Scale{Part: render.Category}, Cell: 6,
			Names: []string{"water", "grass", "sand", "rock", "snow", "wood", "fire", "ash", "wet grass", "wet sand"}}, func(f *render.Figure) {
			f.Put(0, render.Tick(0), render.Frame{Values: classes})
		}},
		{"strip", ring, render.Style{Title: "glow", Scale: render.Scale{Hi: 1}, Cell: 4, Rows: 40}, func(f *render.Figure) {
			f.Put(0, "ticks 0 to 39", render.Frame{Values: make([]float64, 60)})
			for i := range 40 {
				f.PutRow(0, i, render.Frame{Values: bump(ring, space.At(int32(i)), 1)})
			}
		}},
		{"directions", vectors, render.Style{Title: "flow", Unit: "m/s", Scale: render.Scale{Part: render.Direction, Hi: 14}, Cell: 8}, func(f *render.Figure) {
			f.Put(0, render.Tick(7), render.Frame{Values: around})
		}},
		{"small", build(t, space.Square4{Rows: 2, Cols: 3}), render.Style{Title: "a", Scale: render.Scale{Hi: 5}, Cell: 16}, func(f *render.Figure) {
			f.Put(0, render.Tick(12), render.Frame{Values: []float64{0, 1, 2, 3, 4, 5}})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := render.New(tt.l, tt.style)
			if err != nil {
				t.Fatal(err)
			}
			tt.put(f)
			golden(t, filepath.Join("testdata", tt.name+".png"), f.Image())
		})
	}
}

func golden(t *testing.T, path string, m image.Image) {
	t.Helper()
	if *update {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, m); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if m.Bounds() != want.Bounds() {
		t.Fatalf("the picture has %v, %s has %v", m.Bounds(), path, want.Bounds())
	}
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			if m.At(x, y) != want.At(x, y) {
				t.Fatalf("pixel %d, %d is %v, in %s %v; look at both, then: go test ./internal/render -update", x, y, m.At(x, y), path, want.At(x, y))
			}
		}
	}
}

func BenchmarkPut(b *testing.B) {
	l := build(b, space.Square4{Rows: 256, Cols: 256})
	f, err := render.New(l, render.Style{Title: "heat", Scale: render.Scale{Hi: 1}, Cell: 2})
	if err != nil {
		b.Fatal(err)
	}
	values := make([]float64, l.Cells())
	for b.Loop() {
		f.Put(0, render.Tick(1), render.Frame{Values: values})
	}
	b.ReportMetric(float64(l.Cells())*float64(b.N)/b.Elapsed().Seconds(), "cells/s")
}
