package observe

import "math"

// A pooling is a pool on a region of known extents.
type pooling struct {
	kernel           Kernel
	size, stride     int
	cols             int // of the region
	outRows, outCols int
	narrow           bool // sums and quotients are rounded to float32, as the original does
}

// apply pools the places of a region whose mask is not 0 into out and outMask.
func (p *pooling) apply(out []float64, outMask []uint8, in []float64, mask []uint8) {
	for r := range p.outRows {
		for c := range p.outCols {
			at := r*p.outCols + c
			out[at], outMask[at] = p.window(in, mask, r*p.stride*p.cols+c*p.stride)
		}
	}
}

// window pools the window whose first place is at. The value is 0 if no place is valid.
func (p *pooling) window(in []float64, mask []uint8, at int) (v float64, valid uint8) {
	n := 0
	for range p.size {
		row, rowMask := in[at:at+p.size], mask[at:at+p.size]
		at += p.cols
		for i, x := range row {
			if rowMask[i] == 0 {
				continue
			}
			if n++; n == 1 {
				v = p.first()
			}
			v = p.join(v, x)
		}
	}
	if n == 0 {
		return 0, 0
	}
	if p.kernel == Mean {
		v = p.round(v / float64(n)) // below 2^24, so that both are float32 where it must be
	}
	return v, 1
}

// first returns what the first cell is joined to.
func (p *pooling) first() float64 {
	switch p.kernel {
	case Max:
		return math.Inf(-1)
	case Min:
		return math.Inf(1)
	}
	return 0
}

// join returns what a window has come to after one more cell. Max and Min pass over a NaN, which only
// worlds with the original's rules can hold.
func (p *pooling) join(v, x float64) float64 {
	switch p.kernel {
	case Max:
		if x > v {
			return x
		}
		return v
	case Min:
		if x < v {
			return x
		}
		return v
	}
	return p.round(v + x)
}

// round rounds to float32 if need be. Two float32 added or divided in float64 and then rounded
// give what they give in float32.
func (p *pooling) round(v float64) float64 {
	if p.narrow {
		return float64(float32(v))
	}
	return v
}
