package main

import (
	"fmt"
	"image/color"
	"math"
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
	colours color.Palette
	lo, hi  float64
	part    part
}

func (p picture) shades(v *view, frames []frame) (*shades, error) {
	g := &shades{lo: p.lo, hi: p.hi, part: v.part}
	if g.part == category {
		for _, c := range categories {
			g.colours = append(g.colours, c)
		}
		return g, nil
	}
	if g.lo == 0 && g.hi == 0 {
		g.lo, g.hi = extremes(v, frames)
	}
	if !(g.lo <= g.hi) {
		return nil, fmt.Errorf("the first colour stands for %v, the last for %v", g.lo, g.hi)
	}
	if g.part == direction {
		for i := range hues * brightnesses {
			g.colours = append(g.colours, compass(i))
		}
		return g, nil
	}
	stops, ok := palettes[p.palette]
	if !ok {
		return nil, fmt.Errorf("there is no palette %q; take fire, sea, grass or grey", p.palette)
	}
	for i := range steps {
		g.colours = append(g.colours, mix(stops, i, steps-1))
	}
	return g, nil
}

// extremes returns the least and the greatest value of a view.
func extremes(v *view, frames []frame) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, f := range frames {
		for i := 0; i < len(f.values); i += v.part.values() {
			x := f.values[i]
			if v.part == direction {
				lo, x = 0, length(f.values[i:i+2])
			}
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	return lo, hi
}

// Directions are drawn in so many hues of so many brightnesses.
const (
	hues         = 24
	brightnesses = 10
)

// wheel are colours for directions: right, down, left and up, and what is between.
var wheel = []color.RGBA{
	{0xf0, 0x4a, 0x4a, 0xff}, {0xf4, 0xb0, 0x3c, 0xff}, {0xd8, 0xe0, 0x50, 0xff}, {0x50, 0xc8, 0x64, 0xff},
	{0x3c, 0xc8, 0xd0, 0xff}, {0x48, 0x78, 0xf0, 0xff}, {0x98, 0x58, 0xe8, 0xff}, {0xe8, 0x58, 0xc0, 0xff}, {0xf0, 0x4a, 0x4a, 0xff},
}

// compass returns the colour of hue i/brightnesses and brightness i%brightnesses.
func compass(i int) color.RGBA {
	dark := color.RGBA{0x12, 0x14, 0x1e, 0xff}
	return mix([]color.RGBA{dark, mix(wheel, i/brightnesses, hues)}, i%brightnesses, brightnesses-1)
}

// hue returns the number of a direction's hue: 0 is to the right, a quarter of them on
// downward. Steps are equal on a diamond, not on a circle, which takes no arc tangent.
func hue(x, y float64) int {
	turn := 0.0 // in quarters
	switch {
	case x == 0 && y == 0:
	case y >= 0 && x > 0:
		turn = y / (x + y)
	case x <= 0 && y > 0:
		turn = 1 - x/(y-x)
	case y <= 0 && x < 0:
		turn = 2 - y/(-x-y)
	default:
		turn = 3 + x/(x-y)
	}
	return int(math.Floor(float64(turn*(hues/4))+0.5)) % hues
}

// mix returns the colour at i of [0, last] on the way through the stops: integers only, so
// that every machine gets the same.
func mix(stops []color.RGBA, i, last int) color.RGBA {
	at := i * (len(stops) - 1)
	k, part := at/last, at%last
	if part == 0 {
		return stops[k]
	}
	a, b := stops[k], stops[k+1]
	between := func(a, b uint8) uint8 { return uint8((int(a)*(last-part) + int(b)*part) / last) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 0xff}
}

// of returns the number of a value's colour.
func (g *shades) of(v []float64) uint8 {
	switch g.part {
	case category:
		return uint8(int(v[0]) % len(g.colours))
	case direction:
		return uint8(hue(v[0], v[1])*brightnesses + g.step(length(v), brightnesses))
	default:
		return uint8(g.step(v[0], steps))
	}
}

// step is which of n equal parts of the range a value lies in.
func (g *shades) step(v float64, n int) int {
	if g.hi == g.lo {
		return 0
	}
	part := float64((v-g.lo)/(g.hi-g.lo)) * float64(n)
	return int(math.Floor(max(0, min(part, float64(n-1)))))
}
