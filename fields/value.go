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

// Nearest returns the number that the element stores for v; v itself if it can store none.
func (d *Def) Nearest(v float64) float64 {
	bits, ok := d.Bits(v)
	if !ok {
		return v
	}
	return d.Value(bits)
}

// Bound returns an element's bits after the field's bounds. [AbsorbBound] only clamps
// here: the element's value before the tick is not known.
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

// CheckInitial returns the error that Initialize would return for a column of that many
// elements, or what Check finds.
func (d *Def) CheckInitial(elements int) error {
	if err := d.Check(); err != nil {
		return err
	}
	n := d.Initial.Len()
	if n >= 0 && n != elements {
		return d.errorf("%d initial values for %d elements", n, elements)
	}
	for i := range max(n, 0) {
		if _, ok := d.Bits(d.Initial.At(i)); !ok {
			return d.errorf("initial value %v of element %d cannot be stored", d.Initial.At(i), i)
		}
	}
	return nil
}

// Initialize gives the elements of a column of zeros their initial values, with bounds
// applied. It returns an error if the number of values or one of them does not fit.
func (d *Def) Initialize(c *Column) error {
	if n := d.Initial.Len(); n >= 0 && n != c.Len() {
		return d.errorf("%d initial values for %d elements", n, c.Len())
	}
	if d.Initial.values == nil && math.Float64bits(d.Initial.fill) == 0 && d.Bounds == nil { // a -0 is not what the column holds
		return nil
	}
	for i := range c.Len() {
		bits, ok := d.Bits(d.Initial.At(i))
		if !ok {
			return d.errorf("initial value %v of element %d cannot be stored", d.Initial.At(i), i)
		}
		c.SetBits(i, d.Bound(bits))
	}
	return nil
}

// BoundAll applies the field's bounds to the elements of next, of which none may be NaN.
// With [AbsorbBound], an element that was at a bound in before keeps its value.
func (d *Def) BoundAll(next, before *Column) {
	if d.Bounds == nil {
		return
	}
	l := d.Bounds.limits(d)
	if d.Bounds.Mode == AbsorbBound {
		l.absorb(next, before)
		return
	}
	l.bound(next.Float32)
	for i, x := range next.Fixed {
		next.Fixed[i] = l.fixed(x)
	}
}

// Bad returns the index of the first element of a column that is not a valid value of the
// field: not finite, or not a category. It returns -1 if there is none.
func (d *Def) Bad(c *Column) int {
	if d.Type.Kind == CategoricalKind {
		return notCategory(d, c)
	}
	return notFinite(c.Float32)
}

func notCategory(d *Def, c *Column) int {
	if c.Float32 != nil {
		n := float32(d.Type.N)
		if kernel.AllStates(c.Float32, n) {
			return -1
		}
		for i, x := range c.Float32 {
			if !(x >= 0 && x < n) || x != float32(int32(x)) { // n is far below 2**31
				return i
			}
		}
		return -1
	}
	if c.Fixed != nil {
		n := int64(d.Type.N) << 16
		for i, x := range c.Fixed {
			if uint64(x) >= uint64(n) || x&0xffff != 0 { // below 0 is above n
				return i
			}
		}
		return -1
	}
	for i := range c.Len() {
		if _, ok := d.Bits(d.Value(c.Bits(i))); !ok {
			return i
		}
	}
	return -1
}

// notFinite returns the index of the first NaN or infinity, or -1. It gives what
// firstNotFinite gives, faster.
func notFinite(v []float32) int {
	if kernel.AllFinite(v, 1) {
		return -1
	}
	return firstNotFinite(v)
}

func firstNotFinite(v []float32) int {
	for i, x := range v {
		if x-x != 0 { // NaN for NaN and infinities
			return i
		}
	}
	return -1
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

// absorb bounds next. An element that was at a bound in before keeps its value.
func (l *limits) absorb(next, before *Column) {
	for i, x := range next.Float32 {
		if was := before.Float32[i]; was <= l.lo || was >= l.hi {
			x = was
		}
		next.Float32[i] = l.float32(x)
	}
	for i, x := range next.Fixed {
		if was := before.Fixed[i]; was <= l.xlo || was >= l.xhi {
			x = was
		}
		next.Fixed[i] = l.fixed(x)
	}
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
