package cli

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// A differencePicture shows the cells of a field that differ between two states: by the second
// value less the first, by the length of that, or by the second category. Others are covered.
type differencePicture struct {
	l      *space.Lattice
	def    *fields.Def
	style  render.Style
	values []float64
	equal  []bool // by cell
	differ int    // cells
}

// checkPicture looks at the flags of the picture.
func (j *diffJob) checkPicture(recordings []string, given func(flag string) bool) error {
	switch {
	case !given("picture"):
		if given("field") || given("force") {
			return report.Usage("--field and --force are about --picture")
		}
		return nil
	case filepath.Ext(j.pictureFile) != ".png":
		return report.Usage("--picture must be a PNG file, with .png after its name, not %q", j.pictureFile)
	case slices.ContainsFunc(recordings, func(name string) bool { return files.Same(name, j.pictureFile) }):
		return report.Usage("%s is a recording; draw into another file", document.FileName(j.pictureFile))
	}
	if err := j.notState(j.pictureFile); err != nil {
		return err
	}
	if _, err := os.Stat(j.pictureFile); err == nil && !j.force {
		return fmt.Errorf("%s exists; overwrite it with --force", document.FileName(j.pictureFile))
	}
	return nil
}

// picture draws where the states differ that the report compares: the field with the most cells
// that do, or the one that was asked for.
func (j *diffJob) picture(ctx context.Context) error {
	if j.pictureFile == "" {
		return nil
	}
	id, err := j.pictured()
	if err != nil || id < 0 {
		return err
	}
	err = j.pictureOf(ctx, id)
	if err != nil && ctx.Err() == nil { // the answer is more than its picture
		j.Notes = append(j.Notes, fmt.Sprintf("there is no picture of %s: %v", j.Sides[0].Visit.World.Defs()[id].Name, err))
		if j.Quiet && !j.JSON {
			j.Warn("%s", j.Notes[len(j.Notes)-1])
		}
		return nil
	}
	return err
}

// pictureOf draws where a field differs.
func (j *diffJob) pictureOf(ctx context.Context, id int) (err error) {
	a, b := j.Sides[0], j.Sides[len(j.Sides)-1]
	of := []string{filepath.Base(a.File), filepath.Base(b.File)}
	if len(j.Sides) == 1 {
		of = []string{"recorded", "replayed"}
	}
	var states [2]*engine.State
	for i, s := range j.Compared {
		if states[i], err = engine.ReadState(s); err != nil {
			return err
		}
	}
	w := a.Visit.World
	p := &differencePicture{l: w.Lattice(), def: &w.Defs()[id]}
	if f := (session.Names{Scenario: a.Scenario}).Field(uint32(id)); f != nil {
		p.style.Unit, p.style.Names = f.Unit, f.Values
	}
	p.compare(states[0].Columns[id].Column(), states[1].Columns[id].Column())
	const long = 32 // characters of both names
	if len(of[0])+len(of[1]) > long {
		of = []string{"a", "b"}
	}
	title := fmt.Sprintf("%s, %s - %s", p.def.Name, of[1], of[0])
	if p.def.Type.Kind == fields.CategoricalKind {
		title = fmt.Sprintf("%s of %s", p.def.Name, of[1])
	}
	drawn, err := p.draw(title, render.Tick(states[0].Tick))
	if err != nil {
		return err
	}
	if err := j.writeFrom(ctx, j.pictureFile, bytes.NewReader(drawn), j.force); err != nil {
		return err
	}
	j.Notes = append(j.Notes, fmt.Sprintf("%s shows %s of %s", document.FileName(j.pictureFile), words.Count(uint64(p.differ), "cell"), p.def.Name))
	return nil
}

// pictured returns the field to be drawn; -1, with a note, if none differs.
func (j *diffJob) pictured() (id int, err error) {
	if s := j.Sides[0].Scenario; s != nil && j.pictureField != "" &&
		!slices.ContainsFunc(s.Fields, func(f scenarios.Field) bool { return f.Name == j.pictureField && f.Domain != "entities" }) {
		return 0, report.Usage("--field must be a field of cells; %q is none", j.pictureField)
	}
	best, most := -1, 0
	if r := j.Result.State; r != nil {
		defs := j.Sides[0].Visit.World.Defs()
		for _, f := range r.Fields {
			i := slices.IndexFunc(defs, func(d fields.Def) bool { return d.Name == f.Name })
			if f.Domain == "cells" && i >= 0 && f.Differ > most && (j.pictureField == "" || j.pictureField == f.Name) {
				best, most = i, f.Differ
			}
		}
	}
	if best < 0 {
		what := "no cell of a field"
		if j.pictureField != "" {
			what = "no cell of " + j.pictureField
		}
		j.Notes = append(j.Notes, fmt.Sprintf("%s is known to differ, so %s is not written", what, document.FileName(j.pictureFile)))
	}
	return best, nil
}

// compare takes the values in which the two columns differ.
func (p *differencePicture) compare(a, b fields.Column) {
	n := p.def.Type.Components()
	for e := 0; e < a.Len(); e += n {
		equal, value := true, 0.0
		for i := e; i < e+n; i++ {
			equal = equal && a.Bits(i) == b.Bits(i)
			less := p.def.Value(b.Bits(i)) - p.def.Value(a.Bits(i))
			switch {
			case p.def.Type.Kind == fields.CategoricalKind:
				value = p.def.Value(b.Bits(i))
			case n == 1:
				value = less
			default:
				value = math.Hypot(value, less)
			}
		}
		if !equal {
			p.differ++
		}
		p.equal, p.values = append(p.equal, equal), append(p.values, value)
	}
}

// draw returns the picture as PNG.
func (p *differencePicture) draw(title, caption string) ([]byte, error) {
	const side = 768 // pixels
	most := 0.0
	for _, v := range p.values {
		if v = math.Abs(v); v > most && v <= math.MaxFloat64 {
			most = v
		}
	}
	s := &p.style
	s.Cell, s.Title, s.Mask = render.Fit(p.l, side), title, "equal"
	switch {
	case p.def.Type.Kind == fields.CategoricalKind:
		s.Part = render.Category
	case p.def.Type.Components() > 1:
		s.Title, s.Hi = "length of "+title, most
	default:
		s.Map, s.Lo, s.Hi = "balance", -most, most
	}
	if y, ok := p.l.Layout(); ok && y.Slices > 1 {
		s.Slice = p.slice(&y)
		s.Title += fmt.Sprintf(", z = %d", s.Slice)
	}
	f, err := render.New(p.l, *s)
	if err != nil {
		return nil, err
	}
	f.Put(0, caption, render.Frame{Values: p.values, Covered: p.equal})
	var b bytes.Buffer
	err = png.Encode(&b, f.Image())
	return b.Bytes(), err
}

// slice returns the slice in which the most cells differ.
func (p *differencePicture) slice(y *space.Layout) int {
	differ := make([]int, y.Slices)
	for rank, equal := range p.equal {
		if !equal {
			slice, _, _ := y.Place(p.l.Coord(rank))
			differ[slice]++
		}
	}
	return slices.Index(differ, slices.Max(differ))
}
