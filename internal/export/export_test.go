package export_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"image/gif"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
	"github.com/murksim/murksim/space"
)

const all = `murksim: 1
name: all
space: {kind: square4, rows: 3, cols: 4}
fields:
  - {name: heat, unit: K, initial: {cells: [[1, 2]], value: 0.1}}
  - {name: exact, element: fixed, initial: {cells: [[0, 1]], value: 2.25}}
  - {name: ground, type: categorical, values: [grass, sand], mutability: static, initial: {cells: [[2, 3]], value: sand}}
  - {name: wind, type: vector(2), unit: m/s, initial: {cells: [[0, 0]], value: [3, 4]}}
  - {name: energy, domain: entities}
entities:
  capacity: 4
  kinds: [ant, bee]
propagators:
  - diffusion: {field: heat, rate: 1}
commands:
  - {tick: 1, spawn: {kind: bee, cell: [1, 1], set: {energy: 0.5}}}
  - {tick: 2, spawn: {name: anna, kind: ant, cell: [2, 3], set: {energy: 7}}}
  - {tick: 3, set: {field: exact, cell: [0, 1], value: -1.5}}
`

// A memory is a file in memory.
type memory struct {
	b  []byte
	at int
}

func (m *memory) Write(p []byte) (int, error) {
	if end := m.at + len(p); end > len(m.b) {
		m.b = append(m.b, make([]byte, end-len(m.b))...)
	}
	m.at += copy(m.b[m.at:], p)
	return len(p), nil
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	m.at = int(offset) + map[int]int{io.SeekStart: 0, io.SeekCurrent: m.at, io.SeekEnd: len(m.b)}[whence]
	return int64(m.at), nil
}

func parse(t testing.TB, text string) *scenarios.Scenario {
	t.Helper()
	s, err := yaml.Parse(worlds.Registry(), "test.yaml", yaml.Folder("."), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A state is what a field held at a tick.
type state map[string][]float64

// write exports ticks 0, 2 and 4 of a scenario, and returns the file and what the world held.
func write(t *testing.T, text, ending string, selected export.Selection, look export.Look) ([]byte, []state, string) {
	t.Helper()
	s := parse(t, text)
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := export.NewPlan(s, selected)
	if err != nil {
		t.Fatal(err)
	}
	f, err := export.FormatOf("x." + ending)
	if err != nil {
		t.Fatal(err)
	}
	var m memory
	sink, err := f.Open(&m, p, export.Ticks{From: 0, Every: 2, Count: 3}, look)
	if err != nil {
		t.Fatal(err)
	}
	var held []state
	run := runner.Run{Scenario: s, World: w}
	for tick := uint64(0); tick <= 4; tick += 2 {
		if err := run.To(t.Context(), tick); err != nil {
			t.Fatal(err)
		}
		if err := sink.Add(w); err != nil {
			t.Fatal(err)
		}
		held = append(held, stateOf(w))
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return m.b, held, sink.Summary()
}

func stateOf(w *engine.World) state {
	s := state{}
	for i, d := range w.Defs() {
		for e := range w.Column(fields.ID(i)).Len() {
			s[d.Name] = append(s[d.Name], w.Value(fields.ID(i), e))
		}
	}
	return s
}

// readNPY reads what this package writes: the type, the shape and the numbers.
func readNPY(t *testing.T, b []byte) (head string, values []float64) {
	t.Helper()
	if string(b[:8]) != "\x93NUMPY\x01\x00" {
		t.Fatalf("the file begins with %q", b[:8])
	}
	n := int(binary.LittleEndian.Uint16(b[8:]))
	if (10+n)%64 != 0 {
		t.Errorf("the numbers begin at byte %d, which is not aligned", 10+n)
	}
	head, b = string(b[10:10+n]), b[10+n:]
	for len(b) > 0 {
		switch {
		case strings.Contains(head, "<f4"):
			values, b = append(values, float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), b[4:]
		case strings.Contains(head, "<f8"):
			values, b = append(values, math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
		case strings.Contains(head, "<i4"):
			values, b = append(values, float64(int32(binary.LittleEndian.Uint32(b)))), b[4:]
		default:
			values, b = append(values, float64(binary.LittleEndian.Uint64(b))), b[8:]
		}
	}
	return head, values
}

func wantHead(t *testing.T, head, typ, shape string) {
	t.Helper()
	want := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", typ, shape)
	if strings.TrimRight(head, " \n") != want || !strings.HasSuffix(head, "\n") {
		t.Errorf("the header is %q, want %q", head, want)
	}
}

func TestNPY(t *testing.T) {
	b, held, what := write(t, all, "npy", export.Selection{Fields: []string{"heat"}}, export.Look{})
	head, got := readNPY(t, b)
	wantHead(t, head, "<f4", "(3, 3, 4)")
	want := slices.Concat(held[0]["heat"], held[1]["heat"], held[2]["heat"])
	if !slices.Equal(got, want) || what != "heat (3, 3, 4) float32" {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
	if slices.Equal(held[0]["heat"], held[2]["heat"]) {
		t.Error("the field did not change, so the order of ticks is not tested")
	}
	region := space.Rect{Min: space.At(1, 1), Max: space.At(2, 2)}
	b, held, _ = write(t, all, "npy", export.Selection{Fields: []string{"heat"}, Region: region}, export.Look{})
	head, got = readNPY(t, b)
	wantHead(t, head, "<f4", "(3, 2, 2)")
	h := held[2]["heat"]
	if want := []float64{h[5], h[6], h[9], h[10]}; !slices.Equal(got[8:], want) {
		t.Errorf("the box holds %v, want %v", got[8:], want)
	}
}

func TestNPZ(t *testing.T) {
	b, held, what := write(t, all, "npz", export.Selection{}, export.Look{})
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]float64{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in) // this compares the checksum
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		head, values := readNPY(t, text)
		got[f.Name] = values
		want := map[string][2]string{
			"heat.npy": {"<f4", "(3, 3, 4)"}, "exact.npy": {"<f8", "(3, 3, 4)"}, "ground.npy": {"<i4", "(3, 4)"},
			"wind.npy": {"<f4", "(3, 3, 4, 2)"}, "tick.npy": {"<u8", "(3,)"},
		}[f.Name]
		wantHead(t, head, want[0], want[1])
	}
	for name, want := range map[string][]float64{
		"heat.npy":   slices.Concat(held[0]["heat"], held[1]["heat"], held[2]["heat"]),
		"exact.npy":  slices.Concat(held[0]["exact"], held[1]["exact"], held[2]["exact"]),
		"ground.npy": held[0]["ground"],
		"wind.npy":   slices.Concat(held[0]["wind"], held[1]["wind"], held[2]["wind"]),
		"tick.npy":   {0, 2, 4},
	} {
		if !slices.Equal(got[name], want) {
			t.Errorf("%s holds %v, want %v", name, got[name], want)
		}
	}
	if len(got) != 5 || what != "heat (3, 3, 4) float32, exact (3, 3, 4) float64, ground (3, 4) int32, wind (3, 3, 4, 2) float32" {
		t.Errorf("%d members: %s", len(got), what)
	}
}

// Listed cells, and those of a lattice that is no box, come with their coordinates.
func TestNPZCoordinates(t *testing.T) {
	b, held, _ := write(t, all, "npz", export.Selection{Fields: []string{"wind"}, Region: space.Cells{space.At(2, 3), space.At(0, 0)}}, export.Look{})
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{"coord.npy": {0, 0, 2, 3}, "wind.npy": slices.Repeat([]float64{3, 4, 0, 0}, 3)} {
		in, err := r.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := readNPY(t, text); !slices.Equal(got, want) {
			t.Errorf("%s holds %v, want %v (%v)", name, got, want, held[0]["wind"])
		}
	}
}

func TestCSV(t *testing.T) {
	b, held, what := write(t, all, "csv", export.Selection{}, export.Look{})
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(rows[0], " "), "tick rank row col heat exact ground wind_0 wind_1"; got != want {
		t.Errorf("columns are %s, want %s", got, want)
	}
	if len(rows) != 37 || what != "36 rows of 9 columns" {
		t.Errorf("%d lines: %s", len(rows), what)
	}
	for i, row := range rows[1:] {
		h, rank := held[i/12], i%12
		want := []float64{float64(i / 12 * 2), float64(rank), float64(rank / 4), float64(rank % 4),
			h["heat"][rank], h["exact"][rank], h["ground"][rank], h["wind"][2*rank], h["wind"][2*rank+1]}
		for k := range want {
			got, err := strconv.ParseFloat(row[k], 64)
			if k == 4 { // the fewest digits of a float32
				got = float64(float32(got))
			}
			if err != nil || got != want[k] {
				t.Errorf("line %d, %s: %s, want %v", i+2, rows[0][k], row[k], want[k])
			}
		}
	}
}

func TestCSVEntities(t *testing.T) {
	b, _, what := write(t, all, "csv", export.Selection{Entities: true}, export.Look{})
	const want = `tick,id,name,kind,rank,row,col,energy
2,1048577,,bee,5,1,1,0.5
2,2097153,anna,ant,11,2,3,7.0
4,1048577,,bee,5,1,1,0.5
4,2097153,anna,ant,11,2,3,7.0
`
	if string(b) != want || what != "4 rows of 8 columns" {
		t.Errorf("%s:\n%s\nwant\n%s", what, b, want)
	}
	b, _, _ = write(t, all, "csv", export.Selection{Entities: true, Fields: []string{"energy"}, Region: space.Cells{space.At(2, 3)}}, export.Look{})
	if got := strings.Count(string(b), "\n"); got != 3 {
		t.Errorf("%d lines, want 3:\n%s", got, b)
	}
}

// A column whose name is taken gets another.
func TestColumnNames(t *testing.T) {
	text := "murksim: 1\nname: x\nspace: {kind: product, parts: [{kind: line, length: 2}, {kind: line, length: 2}]}\nfields: [{name: tick}, {name: rank}]\n"
	b, _, _ := write(t, text, "csv", export.Selection{}, export.Look{})
	if got, _, _ := strings.Cut(string(b), "\n"); got != "tick,rank,i,i_2,tick_2,rank_2" {
		t.Errorf("columns are %s", got)
	}
}

func TestPNG(t *testing.T) {
	b, _, what := write(t, all, "png", export.Selection{}, export.Look{Range: [2]float64{0, 1}, Cell: 16})
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("3 ticks, %d×%d pixels", m.Bounds().Dx(), m.Bounds().Dy()); what != want || m.Bounds().Dx() < 2*4*16 {
		t.Errorf("%s, want %s", what, want)
	}
}

// A film has a frame a tick; parts that do not change are not written again.
func TestGIF(t *testing.T) {
	look := export.Look{Range: [2]float64{0, 0.1}, Cell: 16, Rate: 10}
	b, _, what := write(t, all, "gif", export.Selection{}, look)
	g, err := gif.DecodeAll(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Image) != 3 || g.LoopCount != 0 || !slices.Equal(g.Delay, []int{10, 10, 10}) {
		t.Fatalf("%d frames, delays %v, loop count %d", len(g.Image), g.Delay, g.LoopCount)
	}
	if want := fmt.Sprintf("3 frames, %d×%d", g.Config.Width, g.Config.Height); what != want {
		t.Errorf("%s, want %s", what, want)
	}
	if g.Image[0].Rect.Dx() != g.Config.Width || g.Image[1].Rect.Dy() >= g.Config.Height {
		t.Errorf("frames have %v and %v", g.Image[0].Rect, g.Image[1].Rect)
	}
	// Laid over each other, the frames are the picture of the last tick.
	screen := slices.Clone(g.Image[0].Pix)
	for _, m := range g.Image[1:] {
		for y := m.Rect.Min.Y; y < m.Rect.Max.Y; y++ {
			copy(screen[y*g.Config.Width+m.Rect.Min.X:], m.Pix[m.PixOffset(m.Rect.Min.X, y):m.PixOffset(m.Rect.Max.X, y)])
		}
	}
	s := parse(t, all)
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&runner.Run{Scenario: s, World: w}).To(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	p, err := export.NewPlan(s, export.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := export.FormatOf("last.gif")
	if err != nil {
		t.Fatal(err)
	}
	var last memory
	sink, err := f.Open(&last, p, export.Ticks{From: 4, Every: 1, Count: 1}, look)
	if err == nil {
		err = errors.Join(sink.Add(w), sink.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	one, err := gif.Decode(bytes.NewReader(last.b))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range screen {
		x, y := i%g.Config.Width, i/g.Config.Width
		if g.Image[0].Palette[c] != one.At(x, y) {
			t.Fatalf("pixel %d, %d is %v, want %v", x, y, g.Image[0].Palette[c], one.At(x, y))
		}
	}
}

// A measure finds the range that a picture needs.
func TestMeasure(t *testing.T) {
	s := parse(t, all)
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		field string
		look  export.Look
		want  [2]float64
	}{
		{"heat", export.Look{}, [2]float64{0, float64(float32(0.1))}},
		{"wind", export.Look{}, [2]float64{0, 5}},
		{"wind", export.Look{Component: "1"}, [2]float64{0, 4}},
		{"wind", export.Look{Component: "direction"}, [2]float64{0, 5}},
	} {
		p, err := export.NewPlan(s, export.Selection{Fields: []string{tt.field}})
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.NewMeasure(tt.look)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Add(w); err != nil || m.Range() != tt.want {
			t.Errorf("%s %q: %v, %v; want %v", tt.field, tt.look.Component, m.Range(), err, tt.want)
		}
	}
	p, err := export.NewPlan(s, export.Selection{Fields: []string{"ground"}})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := p.NewMeasure(export.Look{}); m != nil || err != nil {
		t.Errorf("categories: %v, %v", m, err)
	}
}

func TestRefuses(t *testing.T) {
	s := parse(t, all)
	corner := space.Rect{Min: space.At(0, 0), Max: space.At(1, 1)}
	for _, tt := range []struct {
		want     string
		file     string
		selected export.Selection
		look     export.Look
	}{
		{`there is no field "heet"; did you mean "heat"?`, "x.npy", export.Selection{Fields: []string{"heet"}}, export.Look{}},
		{`field "heat" is named twice`, "x.npy", export.Selection{Fields: []string{"heat", "heat"}}, export.Look{}},
		{`field "energy" belongs to entities; a table has it with --entities`, "x.csv", export.Selection{Fields: []string{"energy"}}, export.Look{}},
		{`field "heat" belongs to cells`, "x.csv", export.Selection{Fields: []string{"heat"}, Entities: true}, export.Look{}},
		{"[3, 0]", "x.csv", export.Selection{Region: space.Cells{space.At(3, 0)}}, export.Look{}},
		{"a .npy cannot hold a table of entities", "x.npy", export.Selection{Entities: true}, export.Look{}},
		{"a .npy holds one field, not 2", "x.npy", export.Selection{Fields: []string{"heat", "wind"}}, export.Look{}},
		{"a picture shows all cells", "x.png", export.Selection{Region: corner}, export.Look{}},
		{"a film shows all cells", "x.gif", export.Selection{Region: corner}, export.Look{}},
		{"0.01 to 50 frames a second, not 60", "x.gif", export.Selection{}, export.Look{Rate: 60}},
		{`no colour map "mauve"`, "x.png", export.Selection{}, export.Look{Map: "mauve"}},
		{`has no component "length"`, "x.png", export.Selection{}, export.Look{Component: "length"}},
		{`there is no field "hall"`, "x.png", export.Selection{}, export.Look{Mask: "hall"}},
		{"x.nyp ends in .nyp; it must end in .npy,", "x.nyp", export.Selection{}, export.Look{}},
		{"did you mean .npz?", "x.npzz", export.Selection{}, export.Look{}},
		{"the ending of heat must say what to write: .npy,", "heat", export.Selection{}, export.Look{}},
	} {
		p, err := export.NewPlan(s, tt.selected)
		if err == nil {
			var f export.Format
			if f, err = export.FormatOf(tt.file); err == nil {
				_, err = f.Open(new(memory), p, export.Ticks{Every: 1, Count: 1}, tt.look)
			}
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %v: %v; want %q", tt.file, tt.selected, err, tt.want)
		}
	}
	if _, err := export.NewPlan(parse(t, "murksim: 1\nname: x\nspace: {kind: line, length: 2}\nfields: [{name: a}]\n"), export.Selection{Entities: true}); err == nil || err.Error() != "x has no entities" {
		t.Errorf("entities of a world without: %v", err)
	}
}

// An array whose size is for more ticks than came is refused, not left with a hole.
func TestIncomplete(t *testing.T) {
	s := parse(t, all)
	for _, ending := range []string{"npy", "npz"} {
		p, err := export.NewPlan(s, export.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := export.FormatOf("x." + ending)
		if err != nil {
			t.Fatal(err)
		}
		sink, err := f.Open(new(memory), p, export.Ticks{Every: 1, Count: 2}, export.Look{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err == nil || err.Error() != "0 of 2 ticks were written" {
			t.Errorf("%s: %v", ending, err)
		}
	}
}

// A discard is a file that keeps nothing.
type discard struct{ io.Writer }

func (discard) Seek(offset int64, _ int) (int64, error) { return offset, nil }

// A loop is a file on the disk that begins again at its start when it is large.
type loop struct{ *os.File }

const loopBytes = 256 << 20

func (f loop) Write(b []byte) (int, error) {
	if at, err := f.File.Seek(0, io.SeekCurrent); err != nil {
		return 0, err
	} else if at > loopBytes {
		if _, err := f.File.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
	}
	return f.File.Write(b)
}

func (f loop) Seek(offset int64, whence int) (int64, error) {
	return f.File.Seek(offset%loopBytes, whence)
}

// The writers, without the simulation, on a field of 1,048,576 cells, into a file.
func BenchmarkSinks(b *testing.B) {
	const text = "murksim: 1\nname: big\nspace: {kind: square4, rows: 1024, cols: 1024}\nfields: [{name: a, initial: {noise: {from: 0, to: 1}}}]\n"
	s := parse(b, text)
	w, err := s.World(1)
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range export.Formats() {
		if f.Ending == "mp4" {
			continue // that is the time of ffmpeg
		}
		b.Run(f.Ending, func(b *testing.B) {
			p, err := export.NewPlan(s, export.Selection{})
			if err != nil {
				b.Fatal(err)
			}
			file, err := os.Create(filepath.Join(b.TempDir(), "x"))
			if err != nil {
				b.Fatal(err)
			}
			defer file.Close()
			sink, err := f.Open(loop{file}, p, export.Ticks{Every: 1, Count: 1}, export.Look{Range: [2]float64{0, 1}})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(4 << 20)
			for b.Loop() {
				if err := sink.Add(w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A film of a line shows some ticks below one another, which move up.
func TestFilmOfLine(t *testing.T) {
	const text = "murksim: 1\nname: x\nspace: {kind: line, length: 30}\nfields: [{name: a}]\n"
	s := parse(t, text)
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := export.NewPlan(s, export.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := export.FormatOf("x.gif")
	if err != nil {
		t.Fatal(err)
	}
	var m memory
	sink, err := f.Open(&m, p, export.Ticks{Every: 1, Count: 103}, export.Look{Range: [2]float64{0, 1}, Cell: 4})
	if err != nil {
		t.Fatal(err)
	}
	for range 103 {
		if err := sink.Add(w); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(bytes.NewReader(m.b))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Image) != 103 || g.Config.Height < 400 {
		t.Errorf("%d frames, %d pixels high", len(g.Image), g.Config.Height)
	}
	const firstValue = 2 // of the colours, after the ground and the mask
	first := g.Image[0]
	rows := 0
	for y := range g.Config.Height {
		if first.ColorIndexAt(g.Config.Width/2, y) == firstValue {
			rows++
		}
	}
	if rows != 4 {
		t.Errorf("%d lines of pixels are drawn of the first tick, want 4", rows)
	}
}
