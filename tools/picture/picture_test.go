package main

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The pictures in docs show what the code computes today.
func TestDocsAreCurrent(t *testing.T) {
	entries, err := filepath.Glob("../../docs/*.png")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"propagators", "learning", "start"} {
		pages, err := filepath.Glob("../../docs/" + folder + "/*.png")
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, pages...)
	}
	all, err := pictures()
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(all) {
		t.Errorf("docs holds %d pictures, the program draws %d", len(entries), len(all))
	}
	for name, p := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := p.draw()
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, decode(t, filepath.Join("../../docs", name)))
		})
	}
}

// The picture of a page without settings of its own shows a field that the propagator
// writes, as large as fits.
func TestUsual(t *testing.T) {
	for _, tt := range []struct {
		kind string
		want picture
	}{
		{"decay", picture{scenario: "decay", field: "glow", ticks: 400, every: 4, cell: 2, palette: "fire"}},
		{"diffusion", picture{scenario: "diffusion", field: "dye", ticks: 400, cell: 4, palette: "fire"}},
		{"flow", picture{scenario: "flow", field: "away", ticks: 400, cell: 6, palette: "fire", component: "direction"}},
		{"morphology", picture{scenario: "morphology", field: "shallows", ticks: 400, cell: 4, palette: "fire"}},
	} {
		got, err := usual(tt.kind)
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", tt.kind, got, err, tt.want)
		}
		if _, err := got.draw(); err != nil {
			t.Errorf("%s: %v", tt.kind, err)
		}
	}
}

func decode(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

func same(t *testing.T, got, want image.Image) {
	t.Helper()
	if got.Bounds() != want.Bounds() {
		t.Fatalf("the picture is %v large; the committed one %v", got.Bounds(), want.Bounds())
	}
	for y := range got.Bounds().Dy() {
		for x := range got.Bounds().Dx() {
			r, g, b, a := got.At(x, y).RGBA()
			r2, g2, b2, a2 := want.At(x, y).RGBA()
			if r != r2 || g != g2 || b != b2 || a != a2 {
				t.Fatalf("pixel %d, %d is %v; committed is %v (draw them again: go run ./tools/picture -docs docs)",
					x, y, got.At(x, y), want.At(x, y))
			}
		}
	}
}

// scenario writes a small scenario and returns its path.
func scenario(t *testing.T, space, initial string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.yaml")
	yaml := "murksim: 1\nname: small\nspace: " + space + "\nfields:\n  - {name: a, initial: " + initial + "}\n"
	if err := os.WriteFile(path, []byte(yaml), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// With every, a ring becomes rows: the beginning on top, then each so many ticks.
func TestRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.yaml")
	yaml := `murksim: 1
name: rows
space: {kind: ring, length: 3}
fields: [{name: a}]
commands:
  - {tick: 2, set: {field: a, cell: [1], value: 1}}
  - {tick: 3, set: {field: a, cell: [2], value: 1}}
  - {tick: 5, set: {field: a, cell: [0], value: 1}}
`
	if err := os.WriteFile(path, []byte(yaml), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ticks, every uint64
		want         string
	}{{4, 1, "000 000 010 011 011"}, {5, 2, "000 010 011"}, {0, 1, "000"}} {
		m, err := picture{scenario: path, ticks: tt.ticks, every: tt.every, cell: 1, palette: "grey", hi: 1}.draw()
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for y := range m.Rect.Dy() {
			row := make([]byte, m.Rect.Dx())
			for x := range row {
				row[x] = map[color.Color]byte{color.RGBA{0, 0, 0, 0xff}: '0', color.RGBA{0xff, 0xff, 0xff, 0xff}: '1'}[m.At(x, y)]
			}
			rows = append(rows, string(row))
		}
		if got := strings.Join(rows, " "); got != tt.want {
			t.Errorf("%d ticks, every %d: drew %s, want %s", tt.ticks, tt.every, got, tt.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	fcc := scenario(t, "{kind: fcc12, w: 4, h: 2, d: 2}", "0")
	product := scenario(t, "{kind: product, parts: [{kind: ring, length: 3}, {kind: hex, cols: 3, rows: 3}]}", "0")
	ring := scenario(t, "{kind: ring, length: 3}", "0")
	out := filepath.Join(t.TempDir(), "out.png")
	for _, tt := range []struct {
		want string
		args []string
	}{
		{`there is no field "snow"`, []string{"-field", "snow"}},
		{`there is no field "snow"`, []string{"-mask", "snow"}},
		{"there are no entities", []string{"-mask", "entity.cell"}},
		{`there is no field "energy"`, []string{"-scenario", "predators", "-field", "energy"}},
		{`there is no colour map "mauve"`, []string{"-palette", "mauve"}},
		{"a cell of 0 pixels", []string{"-cell", "0"}},
		{"a hex of 3 pixels", []string{"-scenario", "fire", "-cell", "3"}},
		{"no slice z = 2", []string{"-scenario", fcc, "-z", "2"}},
		{"a product can be drawn if its second part is a line", []string{"-scenario", product}},
		{"only of a line or ring", []string{"-every", "1"}},
		{"3×1 cells of 64 pixels, 201 times, are too large", []string{"-scenario", ring, "-ticks", "200", "-every", "1", "-cell", "64"}},
		{`with 1 components has no component "length"`, []string{"-component", "length"}},
		{`has no component "1"`, []string{"-component", "1"}},
		{"the first colour stands for 2", []string{"-lo", "2", "-hi", "1"}},
		{"none.yaml", []string{"-scenario", "none.yaml"}},
		{"flag provided but not defined", []string{"-colour"}},
	} {
		err := run(append([]string{"-ticks", "1", "-o", out}, tt.args...), io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("picture %v: %v; want %q", tt.args, err, tt.want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused picture was written")
	}
}
