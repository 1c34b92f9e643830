package refworld

import (
	"math"
	"math/big"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
)

// store says how a field's element stores v, as bits: rounded to nearest for float32
// and fixed, exact for integers and categories. It refuses with NotFinite or BadValue.
func store(d *fields.Def, v float64) (uint64, commands.Reason) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, commands.NotFinite
	}
	whole := math.Trunc(v) == v
	if d.Type.Kind == fields.CategoricalKind && (!whole || v < 0 || v > float64(d.Type.N-1)) {
		return 0, commands.BadValue
	}
	switch d.Element {
	case fields.Float32:
		if f := float32(v); !math.IsInf(float64(f), 0) {
			return uint64(math.Float32bits(f)), commands.Applied
		}
	case fields.Fixed:
		if x, ok := nearest(v * 65536); ok {
			return uint64(x), commands.Applied
		}
	case fields.Int32:
		if whole && v >= -2147483648 && v <= 2147483647 {
			return uint64(uint32(int32(v))), commands.Applied
		}
	case fields.Uint64:
		if whole && v >= 0 && v < 18446744073709551616 {
			return uint64(v), commands.Applied
		}
	}
	return 0, commands.BadValue
}

// nearest rounds to a whole number, halves to even.
func nearest(v float64) (x int64, ok bool) {
	below := math.Floor(v)
	rest := v - below
	if rest > 0.5 || rest == 0.5 && math.Mod(below, 2) != 0 {
		below++
	}
	x, accuracy := big.NewFloat(below).Int64()
	return x, accuracy == big.Exact
}

// number returns the number that bits stand for.
func number(d *fields.Def, bits uint64) float64 {
	switch d.Element {
	case fields.Float32:
		return float64(math.Float32frombits(uint32(bits)))
	case fields.Fixed:
		return float64(int64(bits)) / 65536
	case fields.Int32:
		return float64(int32(uint32(bits)))
	}
	return float64(bits)
}

// bound puts a stored value into the field's bounds; absorbing bounds clamp.
func bound(d *fields.Def, bits uint64) uint64 {
	if d.Bounds == nil {
		return bits
	}
	lo, _ := store(d, d.Bounds.Min)
	hi, _ := store(d, d.Bounds.Max)
	if d.Element == fields.Fixed {
		return uint64(boundFixed(int64(bits), int64(lo), int64(hi), d.Bounds.Mode))
	}
	v := boundFloat(float(bits), float(lo), float(hi), d.Bounds.Mode)
	return uint64(math.Float32bits(v))
}

func float(bits uint64) float32 { return math.Float32frombits(uint32(bits)) }

func boundFloat(v, lo, hi float32, mode fields.BoundMode) float32 {
	if v >= lo && v <= hi && (mode != fields.WrapBound || v != hi) {
		return v
	}
	switch mode {
	case fields.ReflectBound:
		if v < lo {
			v = lo + (lo - v)
		} else {
			v = hi - (v - hi)
		}
	case fields.WrapBound:
		off := float64(v) - float64(lo)
		width := float64(hi) - float64(lo)
		times := math.Floor(off / width)
		v = float32(float64(lo) + (off - float64(times*width)))
		if v >= hi {
			v = lo
		}
	}
	if v < lo {
		return lo
	}
	if v > hi {
		return hi
	}
	return v
}

// boundFixed computes with whole numbers of any size.
func boundFixed(v, lo, hi int64, mode fields.BoundMode) int64 {
	if v >= lo && v <= hi && (mode != fields.WrapBound || v != hi) {
		return v
	}
	x, l, h := big.NewInt(v), big.NewInt(lo), big.NewInt(hi)
	switch mode {
	case fields.ReflectBound:
		near := h
		if v < lo {
			near = l
		}
		x.Sub(new(big.Int).Add(near, near), x)
	case fields.WrapBound:
		x.Sub(x, l)
		x.Mod(x, new(big.Int).Sub(h, l)) // never negative
		x.Add(x, l)
	}
	if x.Cmp(l) < 0 {
		return lo
	}
	if x.Cmp(h) > 0 {
		return hi
	}
	return x.Int64()
}

// atBound reports whether a stored value has reached a bound.
func atBound(d *fields.Def, bits uint64) bool {
	lo, _ := store(d, d.Bounds.Min)
	hi, _ := store(d, d.Bounds.Max)
	if d.Element == fields.Fixed {
		return int64(bits) <= int64(lo) || int64(bits) >= int64(hi)
	}
	return float(bits) <= float(lo) || float(bits) >= float(hi)
}

// valid reports whether a stored value is one of the field's.
func valid(d *fields.Def, bits uint64) bool {
	if d.Type.Kind == fields.CategoricalKind || d.Element == fields.Float32 {
		_, reason := store(d, number(d, bits))
		return reason == commands.Applied
	}
	return true
}
