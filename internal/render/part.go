package render

import (
	"fmt"
	"math"
	"strconv"

	"github.com/murksim/murksim/fields"
)

// A Part says which of a cell's numbers are drawn: a component of a vector by its number, or
// one of the constants.
type Part int

const (
	Length    Part = -1 - iota // of a vector
	Direction                  // of the first two components, and their length
	Category                   // of a categorical field
)

// ParsePart returns the part of a field that has a name: the number of a component, length or
// direction. An empty name is the category, the length of a vector, or the number.
func ParsePart(d *fields.Def, name string) (Part, error) {
	n := d.Type.Components()
	switch {
	case name == "" && d.Type.Kind == fields.CategoricalKind:
		return Category, nil
	case n > 1 && (name == "" || name == "length"):
		return Length, nil
	case n > 1 && name == "direction":
		return Direction, nil
	case name == "":
		return 0, nil
	}
	k, err := strconv.Atoi(name)
	if err != nil || k < 0 || k >= n {
		return 0, fmt.Errorf("field %q with %d components has no component %q", d.Name, n, name)
	}
	return Part(k), nil
}

// values returns how many numbers of each cell are drawn.
func (p Part) values() int {
	if p == Direction {
		return 2
	}
	return 1
}

// Append appends what is drawn of a field's column, cell by cell, as Frame.Values has it.
func (p Part) Append(dst []float64, d *fields.Def, c *fields.Column) []float64 {
	n := d.Type.Components()
	at := func(i int) float64 { return d.Value(c.Bits(i)) }
	for e := 0; e < c.Len(); e += n {
		switch p {
		case Category:
			dst = append(dst, at(e))
		case Direction:
			dst = append(dst, at(e), at(e+1))
		case Length:
			sum := 0.0
			for i := range n {
				sum += float64(at(e+i) * at(e+i))
			}
			dst = append(dst, math.Sqrt(sum))
		default:
			dst = append(dst, at(e+int(p)))
		}
	}
	return dst
}

// Extremes returns the least and the greatest of numbers that Append returned, for a Scale. Of
// directions that is the range of their lengths, from 0.
func (p Part) Extremes(values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	if p == Direction {
		lo = 0
	}
	for i := 0; i < len(values); i += p.values() {
		x := values[i]
		if p == Direction {
			x = length(x, values[i+1])
		} else {
			lo = min(lo, x)
		}
		hi = max(hi, x)
	}
	return lo, hi
}

func length(x, y float64) float64 { return math.Sqrt(float64(x*x) + float64(y*y)) }
