package main

import (
	"fmt"
	"image/color"
	"math"

	"github.com/murksim/murksim/fields"
)

// palettes are colour maps by their name: a few colours, between which is mixed.
var palettes = map[string][]color.RGBA{
	"fire": {{0x10, 0x12, 0x3a, 0xff}, {0x4a, 0x14, 0x68, 0xff}, {0xa0, 0x26, 0x5c, 0xff}, {0xe6, 0x5a, 0x2c, 0xff},
		{0xfc, 0xb0, 0x30, 0xff}, {0xff, 0xf8, 0xc8, 0xff}},
	"sea":   {{0x06, 0x1a, 0x40, 0xff}, {0x1c, 0x5a, 0x9e, 0xff}, {0x6c, 0xb4, 0xd8, 0xff}, {0xd8, 0xee, 0xf4, 0xff}, {0xff, 0xff, 0xff, 0xff}},
	"grass": {{0x5a, 0x40, 0x28, 0xff}, {0xa8, 0x8c, 0x48, 0xff}, {0x8c, 0xb0, 0x48, 0xff}, {0x28, 0x78, 0x34, 0xff}},
	"grey":  {{0, 0, 0, 0xff}, {0xff, 0xff, 0xff, 0xff}},
}

// categories are the colours of a categorical field's values, again and again if
// there are more.
var categories = []color.RGBA{
	{0x1e, 0x24, 0x2c, 0xff}, {0x4c, 0x9a, 0x58, 0xff}, {0xff, 0x8c, 0x1a, 0xff}, {0x3a, 0x7c, 0xc0, 0xff},
	{0xd0, 0x4c, 0x6c, 0xff}, {0xe8, 0xd8, 0x70, 0xff}, {0x8c, 0x64, 0xb4, 0xff}, {0xd0, 0xd4, 0xd8, 0xff},
}

// steps is how many colours a palette is mixed to.
const steps = 128

// shades are the colours of a field's values.
type shades struct {
	colours     color.Palette
	lo, hi      float64
	categorical bool
}

func (p picture) shades(s *fields.Snapshot, id fields.ID) (shades, error) {
	if s.Defs()[id].Type.Kind == fields.CategoricalKind {
		g := shades{categorical: true}
		for _, c := range categories {
			g.colours = append(g.colours, c)
		}
		return g, nil
	}
	stops, ok := palettes[p.palette]
	if !ok {
		return shades{}, fmt.Errorf("there is no palette %q; take fire, sea, grass or grey", p.palette)
	}
	g := shades{lo: p.lo, hi: p.hi}
	if g.lo == 0 && g.hi == 0 {
		g.lo, g.hi = extremes(s, id)
	}
	if !(g.lo <= g.hi) {
		return shades{}, fmt.Errorf("the first colour stands for %v, the last for %v", g.lo, g.hi)
	}
	for i := range steps {
		g.colours = append(g.colours, mix(stops, i))
	}
	return g, nil
}

// mix is the colour i of steps: integers only, so that every machine gets the same.
func mix(stops []color.RGBA, i int) color.RGBA {
	at := i * (len(stops) - 1)
	k, part := at/(steps-1), at%(steps-1)
	if part == 0 {
		return stops[k]
	}
	a, b := stops[k], stops[k+1]
	between := func(a, b uint8) uint8 { return uint8((int(a)*(steps-1-part) + int(b)*part) / (steps - 1)) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 0xff}
}

// of is the number of a value's colour.
func (g *shades) of(v float64) uint8 {
	if g.categorical {
		return uint8(int(v) % len(g.colours))
	}
	if g.hi == g.lo {
		return 0
	}
	part := float64((v-g.lo)/(g.hi-g.lo)) * steps
	return uint8(math.Floor(max(0, min(part, steps-1))))
}
