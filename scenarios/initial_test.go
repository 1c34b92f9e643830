package scenarios_test

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// genesis gives the values of the first field of a scenario, before any tick.
func genesis(t *testing.T, s *scenarios.Scenario) []float64 {
	t.Helper()
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	view := w.Snapshot()
	defer view.Release()
	var values []float64
	for i := range view.Len(0) {
		values = append(values, view.At(0, i))
	}
	return values
}

func parse(t *testing.T, dir, space, field string) *scenarios.Scenario {
	t.Helper()
	text := fmt.Sprintf("murksim: 1\nname: a\nseed: 9\nspace: %s\nfields: [%s]\n", space, field)
	s, err := yaml.Parse(worlds.Registry(), "a.yaml", files(dir), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// files are those of a folder, or none.
func files(dir string) fs.FS {
	if dir == "" {
		return nil
	}
	return yaml.Folder(dir)
}

func TestLayers(t *testing.T) {
	const square = "{kind: square4, rows: 3, cols: 4}"
	for _, tt := range []struct{ space, field, want string }{
		{square, "{name: a}", "[0 0 0 0 0 0 0 0 0 0 0 0]"},
		{square, "{name: a, initial: 2.5}", "[2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5]"},
		{square, "{name: a, initial: [{fill: 1}, {rect: {from: [1, 1], to: [2, 2]}, value: 7}]}", "[1 1 1 1 1 7 7 1 1 7 7 1]"},
		{square, "{name: a, initial: {rect: {from: [1, 1], to: [2, 2], value: 7}}}", "[0 0 0 0 0 7 7 0 0 7 7 0]"},
		{square, "{name: a, initial: {disk: {center: [1, 1], radius: 1}, value: 3}}", "[0 3 0 0 3 3 3 0 0 3 0 0]"},
		{square, "{name: a, initial: {cells: [[0, 0], [2, 3]], value: -1}}", "[-1 0 0 0 0 0 0 0 0 0 0 -1]"},
		{square, "{name: a, initial: [{fill: 5}, {cells: [[0, 0]], value: 1}, {cells: [[0, 0]], value: 2}]}", "[2 5 5 5 5 5 5 5 5 5 5 5]"},
		{square, `{name: a, initial: [{fill: 5}, {picture: {at: [1, 1], rows: ["1 2", "11"], legend: {"1": 1, "2": 2}}}]}`,
			"[5 5 5 5 5 1 5 2 5 1 1 5]"},
		{"{kind: hex, cols: 3, rows: 2}", `{name: a, initial: {picture: {at: [1, 0], rows: ["12", "3"], legend: {"1": 1, "2": 2, "3": 3}}}}`, "[0 1 2 0 3 0]"},
		{square, "{name: a, type: categorical, values: [x, y, z], initial: {rect: {from: [0, 0], to: [0, 3]}, value: z}}", "[2 2 2 2 0 0 0 0 0 0 0 0]"},
		{"{kind: ring, length: 3}", "{name: a, type: vector(2), initial: [{fill: [1, 2]}, {cells: [[1]], value: 9}]}", "[1 2 9 9 1 2]"},
		{"{kind: ring, length: 2}", "{name: a, type: vector(2), initial: [1, 2]}", "[1 2 1 2]"},
		{"{kind: ring, length: 2}", "{name: a, element: fixed, initial: 0.25}", "[0.25 0.25]"},
	} {
		if got := fmt.Sprint(genesis(t, parse(t, "", tt.space, tt.field))); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.field, got, tt.want)
		}
	}
}

// TestNoise compares noise with its formula over the draws of the genesis stream.
func TestNoise(t *testing.T) {
	s := parse(t, "", "{kind: ring, length: 50}", "{name: a, type: vector(2), initial: [{fill: 1}, {noise: {from: -2, to: 6}}]}")
	draws := rng.Seed(9).Tick(0).Stream("genesis.a", 1).Bulk()
	for i, got := range genesis(t, s) {
		words := draws.Words(uint64(i / 2))
		if i%2 == 1 {
			words.Float32()
		}
		if want := float64(float32(-2 + 8*float64(words.Float32()))); got != want {
			t.Errorf("element %d is %v, want %v", i, got, want)
		}
	}
}

// TestChoice holds the shares of a choice: 60,000 draws, three standard deviations.
func TestChoice(t *testing.T) {
	s := parse(t, "", "{kind: ring, length: 60000}",
		"{name: a, type: categorical, values: [x, y, z], initial: {choice: {values: [x, y, z], weights: [1, 0, 5]}}}")
	var count [3]float64
	for _, v := range genesis(t, s) {
		count[int(v)]++
	}
	if math.Abs(count[0]-10000) > 3*math.Sqrt(60000*1/6.0*5/6) || count[1] != 0 {
		t.Errorf("%v of 60,000, want about 10,000, none and 50,000", count)
	}
}

// TestChoicePicks holds every pick against a sum over the weights, and that a choice
// from many values takes no time for each of them at every cell.
func TestChoicePicks(t *testing.T) {
	weights := []float64{0, 0.25, 3, 0, 1e-3, 0.5, 0}
	s := parse(t, "", "{kind: ring, length: 5000}",
		"{name: a, initial: {choice: {values: [0, 1, 2, 3, 4, 5, 6], weights: [0, 0.25, 3, 0, 1e-3, 0.5, 0]}}}, "+
			"{name: b, initial: {choice: {values: ["+strings.Repeat("0,", 90_000)+"1]}}}")
	draws := rng.Seed(s.Seed).Tick(0).Stream("genesis.a", 0).Bulk()
	total := 0.0
	for _, w := range weights {
		total += w
	}
	for cell, got := range genesis(t, s) {
		limit, sum, want := float64(float64(draws.Float32(uint64(cell)))*total), 0.0, -1
		for i, w := range weights {
			if sum += w; want < 0 && limit < sum {
				want = i
			}
		}
		if got != float64(want) {
			t.Errorf("cell %d: %v, want %d", cell, got, want)
		}
	}
}

// TestPNG lays an image over a field, of 8 and of 16 bits, and holds that the
// descriptor carries it.
func TestPNG(t *testing.T) {
	dir := t.TempDir()
	gray := image.NewGray(image.Rect(0, 0, 3, 2))
	deep := image.NewGray16(image.Rect(0, 0, 3, 2))
	for i := range 6 {
		gray.SetGray(i%3, i/3, color.Gray{Y: uint8(51 * i)})
		deep.SetGray16(i%3, i/3, color.Gray16{Y: uint16(13107*i + btoi(i == 1))})
	}
	for name, img := range map[string]image.Image{"gray.png": gray, "deep.png": deep} {
		write(t, filepath.Join(dir, name), img)
	}
	if err := os.WriteFile(filepath.Join(dir, "short.png"), []byte{0x89}, 0o644); err != nil {
		t.Fatal(err)
	}
	const space = "{kind: square4, rows: 3, cols: 4}"
	for _, tt := range []struct{ file, samples, want string }{
		{"gray.png", `"samples":"ADNmmcz/"`, "[10 11 12 0 13 14 15 0 0 0 0 0]"},
		{"deep.png", `"bits":16,"samples":"AAAzNGZmmZnMzP//"`, "[10 11.000076293945312 12 0 13 14 15 0 0 0 0 0]"},
	} {
		s := parse(t, dir, space, "{name: a, initial: {png: {file: "+tt.file+", from: 10, to: 15}}}")
		if got := fmt.Sprint(genesis(t, s)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.file, got, tt.want)
		}
		b := s.Descriptor()
		if !strings.Contains(string(b), tt.samples) || strings.Contains(string(b), "png") {
			t.Errorf("%s: descriptor %s, want in it %s and no file", tt.file, b, tt.samples)
		}
		again, err := scenariotest.FromDescriptor(b)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(genesis(t, again)); got != tt.want {
			t.Errorf("%s: %s from the descriptor, want %s", tt.file, got, tt.want)
		}
	}
	for _, tt := range []struct{ dir, file, want string }{
		{dir, "none.png", "no such file"},
		{dir, "short.png", "short.png: is not a PNG"},
		{dir, "../x.png", "leads out of the scenario's folder"},
		{"", "gray.png", "may not name files"},
	} {
		text := fmt.Sprintf("murksim: 1\nname: a\nspace: %s\nfields: [{name: a, initial: {png: {file: %s}}}]\n", space, tt.file)
		_, err := yaml.Parse(worlds.Registry(), "a.yaml", files(tt.dir), []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "a.yaml:4:42: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want a.yaml:4:42: … %s", tt.file, err, tt.want)
		}
	}
}

// write encodes an image into a file.
func write(t *testing.T, path string, img image.Image) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(f, img), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// A PNG that does not fit the space is refused by its size, before its pixels take memory.
func TestPNGThatDoesNotFitTakesNoMemory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "large.png"), image.NewGray16(image.Rect(0, 0, 4096, 4096)))
	text := "murksim: 1\nname: a\nspace: {kind: square4, rows: 9, cols: 9}\nfields: [{name: a, initial: {png: {file: large.png}}}]\n"
	var err error
	grown := allocated(func() { _, err = yaml.Parse(worlds.Registry(), "a.yaml", files(dir), []byte(text)) })
	want := "a.yaml:4:42: a picture of 4096×4096 at row 0, column 0 does not fit square4 9×9 absorb\n"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Parse = %v, want %s", err, want)
	}
	if grown > 8<<20 {
		t.Errorf("%d KiB allocated, want 8 MiB at most", grown>>10)
	}
}

// A PNG that takes more memory than the world may take is refused before it takes it.
func TestPNGAsksForMemoryFirst(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "large.png"), image.NewGray16(image.Rect(0, 0, 4096, 4096)))
	text := "murksim: 1\nname: a\nspace: {kind: square4, rows: 4096, cols: 4096}\nfields: [{name: a, initial: {png: {file: large.png}}}]\n"
	var err error
	grown := allocated(func() {
		_, err = yaml.Parse(worlds.Registry().Within(100<<20), "a.yaml", files(dir), []byte(text))
	})
	want := "a.yaml:4:42: large.png: reading its 4096×4096 pixels takes about 234,881,024 bytes of memory; the limit is 104,857,600\n"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Parse = %v, want %s", err, want)
	}
	if grown > 8<<20 {
		t.Errorf("%d KiB allocated, want 8 MiB at most", grown>>10)
	}
}

// allocated returns the bytes that are allocated while a function runs.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Layers that name one PNG read and decode it once, and each lays it where it says. What a
// recording cannot hold is refused.
func TestPNGOfManyLayersIsDecodedOnce(t *testing.T) {
	dir := t.TempDir()
	small := image.NewGray(image.Rect(0, 0, 2, 1))
	small.Pix[0], small.Pix[1] = 51, 255
	write(t, filepath.Join(dir, "small.png"), small)
	write(t, filepath.Join(dir, "large.png"), image.NewGray(image.Rect(0, 0, 3000, 3000)))
	s := parse(t, dir, "{kind: square4, rows: 2, cols: 3}",
		"{name: a, initial: [{png: {file: small.png, to: 5}}, {png: {file: ./small.png, at: [1, 1]}}]}")
	if got, want := fmt.Sprint(genesis(t, s)), "[1 5 0 0 0.20000000298023224 1]"; got != want {
		t.Errorf("the field is %s, want %s", got, want)
	}
	const layers = 4
	text := "murksim: 1\nname: a\nspace: {kind: square4, rows: 3000, cols: 3000}\nfields: [{name: a, initial: [" +
		strings.Repeat("{png: {file: large.png}}, ", layers) + "{png: {file: large.png}}]}]\n"
	one := allocated(func() {
		parse(t, dir, "{kind: square4, rows: 3000, cols: 3000}", "{name: a, initial: {png: {file: large.png}}}")
	})
	all := allocated(func() {
		if _, err := yaml.Parse(worlds.Registry(), "a.yaml", files(dir), []byte(text)); err != nil {
			t.Error(err)
		}
	})
	if all > one+one/4 {
		t.Errorf("%d layers allocate %d MiB, one %d MiB", layers+1, all>>20, one>>20)
	}
	text = strings.Replace(text, "[{png", "["+strings.Repeat("{png: {file: large.png}}, ", layers)+"{png", 1)
	_, err := yaml.Parse(worlds.Registry(), "a.yaml", files(dir), []byte(text))
	want := "a.yaml:4:173: large.png: the images of the layers take more than 67108864 bytes in all, which no recording can hold\n"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Parse = %.200v, want %s", err, want)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
