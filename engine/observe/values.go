package observe

import (
	"math"

	"github.com/murksim/murksim/fields"
)

// Values are a source's numbers in one world: pitch of them for each cell or slot. One of the
// slices is used.
type values struct {
	float32 []float32
	fixed   []int64
	int32   []int32
	uint64  []uint64
	float64 []float64
	pitch   int
}

func valuesOf(c *fields.Column, pitch int) values {
	return values{float32: c.Float32, fixed: c.Fixed, int32: c.Int32, uint64: c.Uint64, pitch: pitch}
}

// load writes component k of n cells, the first with a rank, to dst: to element at and every
// step-th one behind it.
func (v *values) load(dst []float64, at, step, rank, n, k int) {
	i := rank*v.pitch + k
	switch {
	case v.float32 != nil:
		for range n {
			dst[at] = float64(v.float32[i])
			i, at = i+v.pitch, at+step
		}
	case v.fixed != nil:
		for range n {
			dst[at] = float64(v.fixed[i]) / 65536
			i, at = i+v.pitch, at+step
		}
	case v.int32 != nil:
		for range n {
			dst[at] = float64(v.int32[i])
			i, at = i+v.pitch, at+step
		}
	case v.uint64 != nil:
		for range n {
			dst[at] = float64(v.uint64[i])
			i, at = i+v.pitch, at+step
		}
	default:
		for range n {
			dst[at] = v.float64[i]
			i, at = i+v.pitch, at+step
		}
	}
}

// apply transforms numbers in place; one-hot leaves them.
func (t *Transform) apply(v []float64) {
	switch t.kind {
	case normalize:
		width := t.max - t.min
		for i, x := range v {
			v[i] = t.normalized(x, width)
		}
	case clip:
		for i, x := range v {
			if x < t.min {
				v[i] = t.min
			} else if x > t.max {
				v[i] = t.max
			}
		}
	}
}

// normalized returns (x-min)/width, put into 0 to 1. A NaN stays one.
func (t *Transform) normalized(x, width float64) float64 {
	if width == 0 {
		return 0
	}
	x = (x - t.min) / width
	if x < 0 {
		return 0
	}
	if x > 1 {
		return 1
	}
	return x
}

// A sink is where elements go. One of the slices is used.
type sink struct {
	element Element
	float32 []float32
	uint8   []uint8
	float16 []uint16
}

// clear makes n elements 0.
func (s *sink) clear(at, n int) {
	switch s.element {
	case Float32:
		clear(s.float32[at : at+n])
	case Uint8:
		clear(s.uint8[at : at+n])
	default:
		clear(s.float16[at : at+n])
	}
}

// copy makes n elements what those from another place on are.
func (s *sink) copy(at, from, n int) {
	switch s.element {
	case Float32:
		copy(s.float32[at:at+n], s.float32[from:])
	case Uint8:
		copy(s.uint8[at:at+n], s.uint8[from:])
	default:
		copy(s.float16[at:at+n], s.float16[from:])
	}
}

// store rounds transformed numbers to elements: to the one at, and every step-th one behind it.
func (s *sink) store(v []float64, t *Transform, at, step int) {
	switch {
	case s.element == Float32:
		for _, x := range v {
			s.float32[at] = float32(x)
			at += step
		}
	case s.element == Float16:
		for _, x := range v {
			s.float16[at] = half(x)
			at += step
		}
	case t.kind == normalize:
		for _, x := range v {
			s.uint8[at] = uint8Of(float64(x * 255))
			at += step
		}
	default:
		for _, x := range v {
			s.uint8[at] = uint8Of(x)
			at += step
		}
	}
}

// storeOneHot sets an element to 1 for each number that is a category. Element at and every
// step-th one behind it are those of category 0, and a channel has spatial elements.
func (s *sink) storeOneHot(v []float64, n, at, step, spatial int) {
	for _, x := range v {
		if x >= 0 && x < float64(n) && x == math.Floor(x) {
			to := at + int(x)*spatial
			switch s.element {
			case Float32:
				s.float32[to] = 1
			case Uint8:
				s.uint8[to] = 1
			default:
				s.float16[to] = 0x3c00
			}
		}
		at += step
	}
}

// copyRuns copies runs of numbers from ranks relative to base to d.
func copyRuns(d, s []float32, runs []run, base int32) {
	for i := range runs {
		r := &runs[i]
		i, j, n := int(base+r.src), int(r.dst), int(r.n)
		switch { // most runs are short: as two pieces that may overlap
		case n > 8:
			copy(d[j:j+n], s[i:i+n])
		case n >= 4:
			*(*[4]float32)(d[j : j+4 : j+4]) = [4]float32(s[i : i+4 : i+4])
			i, j = i+n-4, j+n-4
			*(*[4]float32)(d[j : j+4 : j+4]) = [4]float32(s[i : i+4 : i+4])
		default:
			for range n {
				d[j] = s[i]
				i, j = i+1, j+1
			}
		}
	}
}

// A stride says how far numbers are apart that belong together.
type stride struct {
	pitch int // of a cell's in a column
	first int // the component
	step  int // of a run's in a part
}

// copyRunsBy is copyRuns for numbers that are apart.
func copyRunsBy(d, s []float32, runs []run, base int32, by stride) {
	for i := range runs {
		r := &runs[i]
		from, to := int(base+r.src)*by.pitch+by.first, int(r.dst)
		for range r.n {
			d[to] = s[from]
			from, to = from+by.pitch, to+by.step
		}
	}
}

// normalizeRuns is copyRunsBy with numbers normalized.
func (t *Transform) normalizeRuns(d, s []float32, runs []run, base int32, by stride) {
	width := t.max - t.min
	for i := range runs {
		r := &runs[i]
		from, to := int(base+r.src)*by.pitch+by.first, int(r.dst)
		for range r.n {
			d[to] = float32(t.normalized(float64(s[from]), width))
			from, to = from+by.pitch, to+by.step
		}
	}
}
