// Command picture runs a scenario and draws one field of it as a PNG. The same
// arguments give the same pixels on every machine; the pictures in docs are made by
// it and a test draws them again.
//
//	go run ./tools/picture -scenario heat -ticks 200 -o heat.png
//	go run ./tools/picture -scenario ring.yaml -ticks 200 -every 1 -o history.png
//	go run ./tools/picture -docs docs
//
// Package render says how lattices are drawn. With -every, a line or ring has a row every so
// many ticks, the beginning on top.
//
// A vector is drawn by a component, by its length, or by its direction: a hue for
// where it points, component 0 to the right and component 1 downward, the brighter
// the longer.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// A picture says what is drawn and how.
type picture struct {
	scenario string
	field    string  // "": the first
	mask     string  // cells where this field is not 0 are drawn as solid, or with "entity.cell" those with entities; "": none
	ticks    uint64  // drawn after so many
	every    uint64  // of a line or ring, a row every so many ticks; 0: the last only
	cell     int     // width of a cell in pixels
	z        int     // which slice of an fcc12
	palette  string  // see palettes; unused for a categorical field and for directions
	lo, hi   float64 // values of the first and the last colour; both 0: the least and the greatest value there is

	component string // of a vector: its number, length, or direction; "": 0
}

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(args []string, errs io.Writer) error {
	p := picture{}
	f := flag.NewFlagSet("picture", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&p.scenario, "scenario", "heat", "a scenario's `name` or file")
	f.StringVar(&p.field, "field", "", "the field's `name` (default: the first)")
	f.StringVar(&p.mask, "mask", "", "a field's `name`; where it is not 0, cells are drawn as solid; entity.cell: where entities are")
	f.Uint64Var(&p.ticks, "ticks", 100, "how many ticks to run before")
	f.Uint64Var(&p.every, "every", 0, "draw a line or ring as a row every so many `ticks`, downward")
	f.IntVar(&p.cell, "cell", 4, "width of a cell in pixels, 1 to 64; even for hexes")
	f.IntVar(&p.z, "z", 0, "which slice of an fcc12")
	f.StringVar(&p.palette, "palette", "fire", "the colour map: "+strings.Join(render.Maps(), ", "))
	f.StringVar(&p.component, "component", "", "of a vector: its number, length, or direction (default: 0)")
	f.Float64Var(&p.lo, "lo", 0, "value of the first colour")
	f.Float64Var(&p.hi, "hi", 0, "value of the last colour (default: from the least to the greatest value)")
	out := f.String("o", "picture.png", "the `file` to write")
	dir := f.String("docs", "", "draw the documents' pictures into this `folder` instead")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return p.write(*out)
	}
	all, err := pictures()
	if err != nil {
		return err
	}
	for name, p := range all {
		if err := p.write(filepath.Join(*dir, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// write draws a picture into a file.
func (p picture) write(path string) error {
	m, err := p.draw()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// draw runs the scenario and draws the field.
func (p picture) draw() (*image.Paletted, error) {
	s, err := open(p.scenario)
	if err != nil {
		return nil, err
	}
	w, err := s.World(1)
	if err != nil {
		return nil, err
	}
	rows := 1
	if p.every > 0 {
		rows += int(min(p.ticks/p.every, 1<<20))
	}
	style := render.Style{Scale: render.Scale{Map: p.palette}, Cell: p.cell, Slice: p.z, Rows: rows, Bare: true}
	if _, err := render.New(w.Lattice(), style); err != nil { // before the run, which may be long
		return nil, err
	}
	v, err := p.view(w)
	if err != nil {
		return nil, err
	}
	var frames []render.Frame
	if p.every > 0 {
		frames = append(frames, v.frame(w))
	}
	run := runner.Run{Scenario: s, World: w}
	for each := cmp.Or(p.every, p.ticks); w.Tick() < p.ticks; {
		if err := run.To(context.Background(), min(w.Tick()+each, p.ticks)); err != nil {
			return nil, err
		}
		if p.every > 0 && w.Tick()%p.every == 0 {
			frames = append(frames, v.frame(w))
		}
	}
	if p.every == 0 {
		frames = append(frames, v.frame(w))
	}
	style.Scale = p.scale(v, frames)
	f, err := render.New(w.Lattice(), style)
	if err != nil {
		return nil, err
	}
	for row, frame := range frames {
		f.PutRow(0, row, frame)
	}
	return f.Image(), nil
}

func open(name string) (*scenarios.Scenario, error) {
	r := worlds.Registry()
	if worlds.IsEmbedded(name) {
		return worlds.Open(r, name)
	}
	if model, ok := strings.CutPrefix(name, "rules/"); ok {
		name = filepath.Join("examples", "rules", model+".yaml")
		if _, err := os.Stat(name); err != nil { // in a test
			name = filepath.Join("..", "..", name)
		}
	}
	return yaml.Load(r, name)
}
