package kernel

import "math"

// A Slope is the gradient of a field on a square lattice with four neighbours:
//
//	x = (east - west)/2, y = (south - north)/2
//
// both with the other sign if Down, both divided by their length if that is above
// Least, which may be infinite. North, South, West and East are the offsets of
// neighbours.
type Slope struct {
	North, South, West, East int
	Down                     bool
	Least                    float32
}

// Climb writes the slopes of rows of in to out: x and y of each cell together. It
// reports whether all are finite.
func (s *Slope) Climb(out, in []float32, r Rows) (finite bool) {
	if r.Count > longest {
		head, tail := r.split()
		finite = s.Climb(out, in, head)
		return s.Climb(out, in, tail) && finite
	}
	offsets := [...]int{s.North, s.South, s.West, s.East}
	r.check(in, in, &Neighbours{Offsets: offsets[:], Scale: 1})
	if !vectors || r.Stride != 1 || r.Count < 8 {
		return s.climbPlain(out, in, r)
	}
	_ = out[2*r.First : 2*r.last()+2]
	w := [2]float32{0.5, s.Least} // to halve is one rounding, as to divide by 2
	if s.Down {
		w[0] = -0.5
	}
	return slopeVectors(&out[2*r.First], &in[r.First], 4*s.North, 4*s.South, 4*s.West, 4*s.East, r.Count, r.Rows, 4*r.Pitch, &w[0]) != exponent
}

func (s *Slope) climbPlain(out, in []float32, r Rows) (finite bool) {
	worst := uint32(0)
	for range r.Rows {
		for i, cell := 0, r.First; i < r.Count; i, cell = i+1, cell+r.Stride {
			x, y := (in[cell+s.East]-in[cell+s.West])/2, (in[cell+s.South]-in[cell+s.North])/2
			if s.Down {
				x, y = -x, -y
			}
			if length := float32(math.Sqrt(float64(float32(x*x) + float32(y*y)))); length > s.Least {
				x, y = x/length, y/length
			}
			out[2*cell], out[2*cell+1] = x, y
			worst = max(worst, math.Float32bits(x)&exponent, math.Float32bits(y)&exponent)
		}
		r.First += r.Pitch
	}
	return worst != exponent
}
