package cli

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/plot"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay/ask"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// A pathPicture shows steps from cause to cause: where they lie in the world, as an SVG.
type pathPicture struct {
	title   string
	lattice *space.Lattice
	cell    int // pixels
	field   string
	ground  []byte // the world, a PNG
	size    image.Point
	steps   []pathStep
}

// A pathStep is a change of a number.
type pathStep struct {
	tick  string
	at    space.Coord
	there bool // it has a place
	lines []string
}

// checkPicture looks at the flag of the picture.
func (j *whyJob) checkPicture(recording string) error {
	switch {
	case j.picture == "":
		if j.force {
			return report.Usage("--force is about --picture")
		}
		return nil
	case filepath.Ext(j.picture) != ".svg":
		return report.Usage("--picture must be an SVG file, with .svg after its name, not %q", j.picture)
	}
	if err := spares(j.picture, append([]string{recording}, j.States...)...); err != nil {
		return err
	}
	if _, err := os.Stat(j.picture); err == nil && !j.force {
		return fmt.Errorf("%s exists; overwrite it with --force", document.FileName(j.picture))
	}
	return nil
}

// add adds a step, for which the cursor goes to its tick. The first one is drawn on the world as it was then.
func (p *pathPicture) add(cursor *session.Cursor, c *ask.Change, lines []string) error {
	if err := cursor.Seek(c.Tick); err != nil {
		return err
	}
	w := cursor.World()
	if len(p.steps) == 0 {
		p.lattice = w.Lattice()
		if err := p.draw(w, cursor, c.Place); err != nil {
			return err
		}
	}
	s := pathStep{tick: render.Tick(c.Tick), at: p.lattice.Coord(c.Place.Cell), there: true}
	if c.Place.Entity != 0 {
		rank, lives := cellOf(w, c.Place.Entity)
		if begin, _ := cursor.Ticks(); !lives && c.Tick > begin { // it died in this tick
			if err := cursor.Seek(c.Tick - 1); err != nil {
				return err
			}
			rank, lives = cellOf(cursor.World(), c.Place.Entity)
		}
		if s.there = lives; lives {
			s.at = p.lattice.Coord(rank)
		}
	}
	for i, line := range lines {
		if brief := i == 0 || !strings.HasPrefix(line, "   ") && !strings.HasPrefix(line, "  terms"); brief { // how it was computed, and more causes, stand in the text
			s.lines = append(s.lines, sentence(line))
		}
	}
	p.steps = append(p.steps, s)
	return nil
}

var columns = regexp.MustCompile(`  +`)

// sentence writes a line of columns as one.
func sentence(line string) string {
	parts := columns.Split(strings.TrimSpace(line), -1)
	text := parts[0]
	for i, part := range parts[1:] {
		switch {
		case i == 0 && strings.HasPrefix(text, "tick"):
			text += ":"
		case strings.HasPrefix(part, "else"):
			text += ","
		}
		text += " " + part
	}
	return text
}

// cellOf is the cell of an entity that lives.
func cellOf(w *engine.World, id uint64) (rank int, lives bool) {
	slot, lives := w.Slot(id)
	if !lives {
		return 0, false
	}
	return int(w.Entities().Cell[slot]), true
}

// draw draws the world: the field of the number, or for one of an entity the first field of cells.
func (p *pathPicture) draw(w *engine.World, cursor *session.Cursor, of ask.Place) error {
	const side = 420
	id, part := of.Field, render.Part(of.Component)
	if of.Entity != 0 {
		own := w.Defs()[:len(cursor.Scenario.Fields)]
		if id = fields.ID(slices.IndexFunc(own, func(d fields.Def) bool { return d.Domain == fields.Cells })); int(id) < 0 || int(id) >= len(own) {
			return fmt.Errorf("the world has no field of cells that could be drawn")
		}
		part = 0
	}
	d := &w.Defs()[id]
	style := render.Style{Cell: render.Fit(p.lattice, side), Bare: true}
	if style.Part = part; d.Type.Kind == fields.CategoricalKind {
		style.Part, style.Names = render.Category, cursor.Scenario.Fields[id].Values
	}
	values := style.Part.Append(nil, d, w.Column(id))
	style.Lo, style.Hi = style.Part.Extremes(values)
	if y, ok := p.lattice.Layout(); ok && y.Slices > 1 {
		style.Slice, _, _ = y.Place(p.lattice.Coord(of.Cell))
	}
	f, err := render.New(p.lattice, style)
	if err != nil {
		return err
	}
	f.Put(0, "", render.Frame{Values: values})
	var b bytes.Buffer
	err = png.Encode(&b, f.Image())
	p.cell, p.field, p.ground, p.size = style.Cell, d.Name, b.Bytes(), f.Image().Bounds().Size()
	return err
}

// svg writes the picture.
func (p *pathPicture) svg() []byte {
	const margin, top, mapSide, gap, textWidth, line, size = 24, 64, 420, 28, 520, 18, 13
	scale := float64(mapSide) / float64(max(p.size.X, p.size.Y))
	width, height := float64(p.size.X)*scale, float64(p.size.Y)*scale
	var text strings.Builder
	x, y := margin+mapSide+gap, top+12
	for i, s := range p.steps {
		fmt.Fprintf(&text, `<text x="%d" y="%d" font-weight="600">%d</text>`+"\n", x, y, i+1)
		for _, part := range s.lines {
			for _, row := range plot.Wrap(part, size, textWidth) {
				fmt.Fprintf(&text, `<text x="%d" y="%d">%s</text>`+"\n", x+28, y, plot.Escape(row))
				y += line
			}
		}
		y += line / 2
	}
	bottom := max(y, top+int(height)+2*line) + margin/2
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="system-ui, sans-serif" font-size="%d" fill="%s">`+"\n", x+28+textWidth+margin, bottom, size, plot.Ink)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n"+`<text x="%d" y="36" font-size="17" font-weight="600">%s</text>`+"\n", margin, plot.Escape(p.title))
	fmt.Fprintf(&b, `<image x="%d" y="%d" width="%.1f" height="%.1f" style="image-rendering:pixelated" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`+"\n",
		margin, top, width, height, base64.StdEncoding.EncodeToString(p.ground))
	if len(p.steps) > 0 {
		fmt.Fprintf(&b, `<text x="%d" y="%.0f" fill="%s">%s at %s. From 1 back to its causes.</text>`+"\n", margin, float64(top)+height+line, plot.Faint, plot.Escape(p.field), p.steps[0].tick)
	}
	p.path(&b, margin, top, scale)
	b.WriteString(text.String() + "</svg>\n")
	return []byte(b.String())
}

// path draws where the steps lie, and lines from cause to cause. Steps at one place have one mark.
func (p *pathPicture) path(b *strings.Builder, left, top int, scale float64) {
	type spot struct {
		x, y  float64
		label string
	}
	var spots, dots []spot
	var line []string
	for i, s := range p.steps {
		if !s.there {
			continue
		}
		r, err := render.Box(p.lattice, p.cell, s.at)
		if err != nil || r.Empty() {
			continue
		}
		x, y := float64(left)+scale*float64(r.Min.X+r.Max.X)/2, float64(top)+scale*float64(r.Min.Y+r.Max.Y)/2
		line = append(line, fmt.Sprintf("%.1f,%.1f", x, y))
		number := fmt.Sprint(i + 1)
		if n := slices.IndexFunc(spots, func(s spot) bool { return s.x == x && s.y == y }); n >= 0 {
			first, _, _ := strings.Cut(spots[n].label, "–")
			spots[n].label = first + "–" + number
			continue
		}
		spots = append(spots, spot{x, y, number})
	}
	const apart = 18 // pixels between two marks with a number
	var marks []spot
	for i, s := range spots {
		near := slices.ContainsFunc(marks, func(m spot) bool { return math.Hypot(m.x-s.x, m.y-s.y) < apart })
		if i > 0 && near {
			dots = append(dots, s)
		} else {
			marks = append(marks, s)
		}
	}
	if len(line) > 1 {
		points := strings.Join(line, " ")
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="#fff" stroke-width="4"/>`+"\n"+`<polyline points="%[1]s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", points, plot.Ink)
	}
	for _, s := range dots {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="#fff" stroke="%s"/>`+"\n", s.x, s.y, plot.Ink)
	}
	for _, s := range slices.Backward(marks) { // the first step lies on top
		wide := 10 + plot.Width(s.label, 11)
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="18" rx="9" fill="#fff" stroke="%s"/><text x="%.1f" y="%.1f" font-size="11" text-anchor="middle">%s</text>`+"\n",
			s.x-wide/2, s.y-9, wide, plot.Ink, s.x, s.y+4, s.label)
	}
}
