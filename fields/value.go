package fields

import (
	"math"

	"github.com/murksim/murksim/internal/kernel"
)

// Bits returns how the element stores v: rounded to nearest for Float32 and
// Fixed, exact for the integers and for categories. It reports false if v is not
// finite, out of range, or not whole where it must be. Bounds are not applied.
func (d *Def) Bits(v float64) (bits uint64, ok bool) {
	if f := float32(v); d.Element == Float32 && d.Type.Kind != CategoricalKind && f-f == 0 { // finite: the most common
		return uint64(math.Float32bits(f)), true
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	if d.Type.Kind == CategoricalKind && (v != math.Floor(v) || v < 0 || v >= float64(d.Type.N)) {
		return 0, false
	}
	switch d.Element {
	case Float32:
		f := float32(v)
		return uint64(math.Float32bits(f)), !math.IsInf(float64(f), 0)
	case Fixed:
		x := math.RoundToEven(v * 65536) // the product is exact: a power of two
		return uint64(int64(x)), x >= -(1<<63) && x < 1<<63
	case Int32:
		return uint64(uint32(int32(v))), v == math.Floor(v) && v >= math.MinInt32 && v <= math.MaxInt32
	}
	if v != math.Floor(v) || v < 0 || v >= 1<<64 {
		return 0, false
	}
	return uint64(v), true
}

// Value is the number that the element stores as bits; the inverse of Bits.
func (d *Def) Value(bits uint64) float64 {
	switch d.Element {
	case Float32:
		return float64(math.Float32frombits(uint32(bits)))
	case Fixed:
		return float64(int64(bits)) / 65536
	case Int32:
		return float64(int32(uint32(bits)))
	}
	return float64(bits)
}

// Bound puts a value that is to be stored into the field's bounds. Absorbing
// bounds clamp here; that they hold on to a value is the business of [Store.Finish].
func (d *Def) Bound(bits uint64) uint64 {
	if d.Bounds == nil {
		return bits
	}
	b := d.Bounds.limits(d)
	if d.Element == Float32 {
		return uint64(math.Float32bits(b.float32(math.Float32frombits(uint32(bits)))))
	}
	return uint64(b.fixed(int64(bits)))
}

// limits are bounds as the element stores them.
type limits struct {
	mode     BoundMode
	lo, hi   float32
	xlo, xhi int64
}

func (b *Bounds) limits(d *Def) limits {
	l := limits{mode: b.Mode}
	lo, _ := d.Bits(b.Min)
	hi, _ := d.Bits(b.Max)
	if d.Element == Fixed {
		l.xlo, l.xhi = int64(lo), int64(hi)
	} else {
		l.lo, l.hi = math.Float32frombits(uint32(lo)), math.Float32frombits(uint32(hi))
	}
	return l
}

// bound bounds all of v, of which nothing is NaN.
func (l *limits) bound(v []float32) {
	if l.mode == ClampBound {
		kernel.Clamp(v, l.lo, l.hi)
		return
	}
	for i, x := range v {
		v[i] = l.float32(x)
	}
}

// float32 bounds v, which is not NaN.
func (l *limits) float32(v float32) float32 {
	if v >= l.lo && (v < l.hi || v == l.hi && l.mode != WrapBound) {
		return v
	}
	switch l.mode {
	case ReflectBound:
		if v < l.lo {
			v = l.lo + (l.lo - v)
		} else {
			v = l.hi - (v - l.hi)
		}
	case WrapBound:
		width := float64(l.hi) - float64(l.lo)
		off := float64(v) - float64(l.lo)
		off -= float64(math.Floor(off/width) * width)
		if v = float32(float64(l.lo) + off); v >= l.hi {
			v = l.lo
		}
	}
	return min(max(v, l.lo), l.hi)
}

// fixed bounds x; differences that overflow are clamped.
func (l *limits) fixed(x int64) int64 {
	if x >= l.xlo && (x < l.xhi || x == l.xhi && l.mode != WrapBound) {
		return x
	}
	switch l.mode {
	case ReflectBound:
		if x < l.xlo {
			if over := l.xlo - x; over > 0 && l.xlo+over > l.xlo {
				x = l.xlo + over
			} else {
				x = l.xhi
			}
		} else if over := x - l.xhi; over > 0 && l.xhi-over < l.xhi {
			x = l.xhi - over
		} else {
			x = l.xlo
		}
	case WrapBound:
		width := uint64(l.xhi) - uint64(l.xlo)
		if x >= l.xlo {
			x = int64(uint64(l.xlo) + (uint64(x)-uint64(l.xlo))%width)
		} else if r := (uint64(l.xlo) - uint64(x)) % width; r == 0 {
			x = l.xlo
		} else {
			x = int64(uint64(l.xhi) - r)
		}
	}
	return min(max(x, l.xlo), l.xhi)
}
