package render

import (
	"image/color"
	"math"
	"testing"
)

// visions are how a linear red, green and blue are seen with no cones of one kind: Machado, Oliveira, Fernandes, "A Physiologically-based Model for
// Simulation of Color Vision Deficiency", 2009, for a severity of 1.
var visions = map[string][3][3]float64{
	"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab returns a colour as it is seen, in CIELAB.
func lab(c color.RGBA, seen [3][3]float64) (l, a, b float64) {
	linear := func(v uint8) float64 {
		if x := float64(v) / 255; x > 0.04045 {
			return math.Pow((x+0.055)/1.055, 2.4)
		} else {
			return x / 12.92
		}
	}
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	var rgb [3]float64
	for i, row := range seen {
		rgb[i] = min(max(row[0]*in[0]+row[1]*in[1]+row[2]*in[2], 0), 1)
	}
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*rgb[0] + 0.3576*rgb[1] + 0.1805*rgb[2]) / 0.95047)
	y := f(0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2])
	z := f((0.0193*rgb[0] + 0.1192*rgb[1] + 0.9505*rgb[2]) / 1.08883)
	return 116*y - 16, 500 * (x - y), 200 * (y - z)
}

// TestCategoriesAreApart: whoever sees fewer colours can tell all categories from each other, too.
func TestCategoriesAreApart(t *testing.T) {
	for name, seen := range visions {
		for i, c := range categories {
			for k, d := range categories[:i] {
				l1, a1, b1 := lab(c, seen)
				l2, a2, b2 := lab(d, seen)
				if away := math.Sqrt((l1-l2)*(l1-l2) + (a1-a2)*(a1-a2) + (b1-b2)*(b1-b2)); away < 25 {
					t.Errorf("with %s, the colours of the values %d and %d are %.1f apart", name, k, i, away)
				}
			}
		}
	}
}
