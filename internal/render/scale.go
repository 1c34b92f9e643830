package render

import (
	"fmt"
	"image/color"
	"math"
	"strings"
)

// A Scale says which colours stand for which values.
type Scale struct {
	Part   Part
	Map    string  // one of Maps; "": viridis, or balance where Lo and Hi lie on two sides of 0, both far from it
	Lo, Hi float64 // values of the first and the last colour; values beyond get the same
}

// steps is how many colours a map is mixed to.
const steps = 128

// Directions are drawn in so many hues of so many brightnesses.
const (
	hues         = 24
	brightnesses = 10
)

// Resolve chooses the map where none is named, and makes a range with two sides of 0 even.
func (s Scale) Resolve() Scale {
	const far = 0.2 // of the other side
	if s.Map != "" || s.Part == Category || s.Part == Direction {
		return s
	}
	s.Map = "viridis"
	if s.Lo < 0 && s.Hi > 0 && min(-s.Lo, s.Hi) >= far*max(-s.Lo, s.Hi) {
		s.Map = "balance"
		s.Hi = max(-s.Lo, s.Hi)
		s.Lo = -s.Hi
	}
	return s
}

// Palette returns the colours of a scale, from its first value to its last.
func (s Scale) Palette() (color.Palette, error) { return s.Resolve().colours() }

// colours returns the colours of a scale.
func (s Scale) colours() (c color.Palette, err error) {
	if !(s.Lo <= s.Hi) {
		return nil, fmt.Errorf("the first colour stands for %v, the last for %v", s.Lo, s.Hi)
	}
	switch s.Part {
	case Category:
		for _, category := range Categories() {
			c = append(c, category)
		}
		return c, nil
	case Direction:
		for i := range hues * brightnesses {
			c = append(c, compass(i))
		}
		return c, nil
	}
	stops, ok := colourMaps[s.Map]
	if !ok {
		return nil, fmt.Errorf("there is no colour map %q; take one of %s", s.Map, strings.Join(Maps(), ", "))
	}
	for i := range steps {
		c = append(c, mix(stops, i, steps-1))
	}
	return c, nil
}

// Index returns which colour of Palette stands for a value. The part must be one number of a cell, as the zero Part is, and
// the scale have been resolved.
func (s Scale) Index(v float64) int { return s.step(v, steps) }

// of returns the number of the colour of a cell's values.
func (s *Scale) of(v []float64) uint8 {
	switch s.Part {
	case Category:
		return uint8(int(max(v[0], 0)) % shown)
	case Direction:
		return uint8(hue(v[0], v[1])*brightnesses + s.step(length(v[0], v[1]), brightnesses))
	}
	return uint8(s.step(v[0], steps))
}

// step is which of n equal parts of the range a value lies in.
func (s *Scale) step(v float64, n int) int {
	if s.Hi == s.Lo {
		return 0
	}
	part := float64((v-s.Lo)/(s.Hi-s.Lo)) * float64(n)
	return int(math.Floor(max(0, min(part, float64(n-1)))))
}

// wheel are colours for directions: right, down, left and up, and what is between.
var wheel = hexColours(0xf04a4a, 0xf4b03c, 0xd8e050, 0x50c864, 0x3cc8d0, 0x4878f0, 0x9858e8, 0xe858c0, 0xf04a4a)

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
