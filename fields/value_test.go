package fields_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/murksim/murksim/fields"
)

const one = 1 << 16 // 1 as a Fixed

func TestBits(t *testing.T) {
	fixed := func(v int64) uint64 { return uint64(v) }
	f32 := func(v float32) uint64 { return uint64(math.Float32bits(v)) }
	for _, tt := range []struct {
		element fields.Element
		typ     fields.Type
		v       float64
		want    uint64
		ok      bool
	}{
		{fields.Float32, fields.Scalar, 0.1, f32(0.1), true},
		{fields.Float32, fields.Scalar, math.Copysign(0, -1), 0x80000000, true},
		{fields.Float32, fields.Scalar, math.MaxFloat32, f32(math.MaxFloat32), true},
		{fields.Float32, fields.Scalar, 1e-60, 0, true},
		{fields.Float32, fields.Scalar, 3.5e38, 0, false},
		{fields.Float32, fields.Scalar, math.NaN(), 0, false},
		{fields.Float32, fields.Scalar, math.Inf(-1), 0, false},
		{fields.Fixed, fields.Scalar, 1.5, fixed(one + one/2), true},
		{fields.Fixed, fields.Scalar, -1, fixed(-one), true},
		{fields.Fixed, fields.Scalar, 0.5 / one, 0, true}, // halves round to even
		{fields.Fixed, fields.Scalar, 1.5 / one, 2, true},
		{fields.Fixed, fields.Scalar, -1 << 47, 1 << 63, true},
		{fields.Fixed, fields.Scalar, 1 << 47, 0, false},
		{fields.Fixed, fields.Scalar, math.Nextafter(1<<47, 0), fixed(math.MaxInt64 - 1023), true},
		{fields.Fixed, fields.Scalar, math.MaxFloat64, 0, false},
		{fields.Fixed, fields.Scalar, math.NaN(), 0, false},
		{fields.Int32, fields.Scalar, -1, 0xffffffff, true},
		{fields.Int32, fields.Scalar, math.MinInt32, 0x80000000, true},
		{fields.Int32, fields.Scalar, math.MaxInt32, math.MaxInt32, true},
		{fields.Int32, fields.Scalar, math.MaxInt32 + 1, 0, false},
		{fields.Int32, fields.Scalar, math.MinInt32 - 1, 0, false},
		{fields.Int32, fields.Scalar, 0.5, 0, false},
		{fields.Int32, fields.Scalar, math.Inf(1), 0, false},
		{fields.Uint64, fields.Scalar, 1 << 63, 1 << 63, true},
		{fields.Uint64, fields.Scalar, math.Nextafter(1<<64, 0), math.MaxUint64 - 2047, true},
		{fields.Uint64, fields.Scalar, 1 << 64, 0, false},
		{fields.Uint64, fields.Scalar, -1, 0, false},
		{fields.Uint64, fields.Scalar, 1.5, 0, false},
		{fields.Float32, fields.Categorical(3), 2, f32(2), true},
		{fields.Float32, fields.Categorical(3), 3, 0, false},
		{fields.Float32, fields.Categorical(3), -1, 0, false},
		{fields.Int32, fields.Categorical(3), 2, 2, true},
		{fields.Int32, fields.Categorical(3), 0.5, 0, false},
		{fields.Uint64, fields.Categorical(3), 3, 0, false},
		{fields.Fixed, fields.Categorical(3), 2, 2 * one, true},
	} {
		d := fields.Def{Name: "f", Element: tt.element, Type: tt.typ}
		got, ok := d.Bits(tt.v)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s %s: Bits(%v) = %x, %v, want %x, %v", tt.typ, tt.element, tt.v, got, ok, tt.want, tt.ok)
		}
	}
}

// TestValue: Bits takes back what Value gives, for every element.
func TestValue(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, e := range elements {
		d := fields.Def{Name: "f", Element: e}
		for range 1000 {
			bits := random.Uint64() >> random.IntN(64)
			switch e {
			case fields.Float32:
				bits &= 0xff7fffff // finite
			case fields.Int32:
				bits &= math.MaxUint32
			default:
				bits >>= 11 // what a float64 holds
			}
			if got, ok := d.Bits(d.Value(bits)); got != bits || !ok {
				t.Fatalf("%s: Bits(Value(%x)) = %x, %v, want the same", e, bits, got, ok)
			}
		}
	}
}

func TestBoundFloat32(t *testing.T) {
	tiny := math.Float32frombits(1)
	for _, tt := range []struct {
		mode        fields.BoundMode
		min, max    float64
		value, want float32
	}{
		{fields.ClampBound, -1, 1, 0.5, 0.5},
		{fields.ClampBound, -1, 1, -3, -1},
		{fields.ClampBound, -1, 1, 1, 1},
		{fields.ClampBound, -1, 1, math.MaxFloat32, 1},
		{fields.AbsorbBound, -1, 1, 3, 1},
		{fields.AbsorbBound, -1, 1, -1, -1},
		{fields.ReflectBound, -1, 1, 1.25, 0.75},
		{fields.ReflectBound, -1, 1, -1.5, -0.5},
		{fields.ReflectBound, -1, 1, 4, -1}, // further than the other bound
		{fields.ReflectBound, -1, 1, -math.MaxFloat32, 1},
		{fields.ReflectBound, -math.MaxFloat32, 0, math.MaxFloat32, -math.MaxFloat32},
		{fields.WrapBound, 0, 360, 370, 10},
		{fields.WrapBound, 0, 360, -10, 350},
		{fields.WrapBound, 0, 360, 360, 0},
		{fields.WrapBound, 0, 360, 0, 0},
		{fields.WrapBound, 0, 360, 1080, 0},
		{fields.WrapBound, 0, 1, -tiny, 0}, // 1-tiny rounds to the end, which is the start
		{fields.WrapBound, -1, 1, 5.5, -0.5},
	} {
		d := fields.Def{Name: "f", Bounds: &fields.Bounds{Min: tt.min, Max: tt.max, Mode: tt.mode}}
		got := math.Float32frombits(uint32(d.Bound(uint64(math.Float32bits(tt.value)))))
		if got != tt.want {
			t.Errorf("%s [%v, %v]: %v becomes %v, want %v", tt.mode, tt.min, tt.max, tt.value, got, tt.want)
		}
	}
}

func TestBoundFixed(t *testing.T) {
	const lowest, highest = -1 << 47, 1<<47 - 1.0/64 // about the ends of an int64 with 16 fraction bits
	top := int64(math.MaxInt64 - 1023)               // highest, as it is stored
	for _, tt := range []struct {
		mode        fields.BoundMode
		min, max    float64
		value, want int64
	}{
		{fields.ClampBound, -1, 1, 2 * one, one},
		{fields.ClampBound, -1, 1, math.MinInt64, -one},
		{fields.ClampBound, lowest, highest, math.MaxInt64, top},
		{fields.AbsorbBound, -1, 1, -2 * one, -one},
		{fields.ReflectBound, -1, 1, one + 5, one - 5},
		{fields.ReflectBound, -1, 1, -one - 5, -one + 5},
		{fields.ReflectBound, -1, 1, 4 * one, -one},
		{fields.ReflectBound, -1, 1, math.MaxInt64, -one},
		{fields.ReflectBound, -1, 1, math.MinInt64, one},
		{fields.ReflectBound, lowest, -1, math.MaxInt64, math.MinInt64}, // the difference overflows
		{fields.ReflectBound, 1, highest, math.MinInt64, top},
		{fields.ReflectBound, lowest, highest, math.MaxInt64, top - 1023},
		{fields.WrapBound, 0, 360, 370 * one, 10 * one},
		{fields.WrapBound, 0, 360, -10 * one, 350 * one},
		{fields.WrapBound, 0, 360, 360 * one, 0},
		{fields.WrapBound, 0, 360, -720 * one, 0},
		{fields.WrapBound, -1, 1, -one - 1, one - 1},
		{fields.WrapBound, 0, 1, math.MaxInt64, one - 1},
		{fields.WrapBound, 0, 1, math.MinInt64, 0},
		{fields.WrapBound, 1, 2, math.MinInt64 + 1, one + 1},
		{fields.WrapBound, lowest, highest, math.MaxInt64, math.MinInt64 + 1023},
		{fields.WrapBound, lowest, highest, top, math.MinInt64},
	} {
		d := fields.Def{Name: "f", Element: fields.Fixed, Bounds: &fields.Bounds{Min: tt.min, Max: tt.max, Mode: tt.mode}}
		if got := int64(d.Bound(uint64(tt.value))); got != tt.want {
			t.Errorf("%s [%v, %v]: %d becomes %d, want %d", tt.mode, tt.min, tt.max, tt.value, got, tt.want)
		}
	}
}

// TestBoundStays: whatever comes in, what comes out lies within the bounds, and stays there.
func TestBoundStays(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, e := range []fields.Element{fields.Float32, fields.Fixed} {
		for range 20_000 {
			scale := math.Ldexp(1, random.IntN(94)-47)
			lo := (random.Float64() - 0.5) * scale
			b := &fields.Bounds{Min: lo, Max: lo + random.Float64()*scale + 1, Mode: fields.BoundMode(random.IntN(4))}
			d := fields.Def{Name: "f", Element: e, Bounds: b}
			if d.Check() != nil {
				continue
			}
			bits := random.Uint64()
			if e == fields.Float32 {
				bits &= 0xff7fffff
			}
			lowest, _ := d.Bits(b.Min)
			highest, _ := d.Bits(b.Max)
			out := d.Bound(bits)
			v := d.Value(out)
			if v < d.Value(lowest) || v > d.Value(highest) || b.Mode == fields.WrapBound && out == highest {
				t.Fatalf("%s %s [%v, %v]: %v becomes %v", e, b.Mode, b.Min, b.Max, d.Value(bits), v)
			}
			if again := d.Bound(out); again != out {
				t.Fatalf("%s %s [%v, %v]: %v becomes %v, then %v", e, b.Mode, b.Min, b.Max, d.Value(bits), v, d.Value(again))
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		def  fields.Def
		want string // in the error; empty: none
	}{
		{fields.Def{Name: "heat"}, ""},
		{fields.Def{}, "no name"},
		{fields.Def{Name: "f", Element: 4}, "element 4"},
		{fields.Def{Name: "f", Mutability: 3}, "mutability 3"},
		{fields.Def{Name: "f", Domain: 2}, "domain 2"},
		{fields.Def{Name: "f", Type: fields.Vector(0)}, "1 to 65536 components"},
		{fields.Def{Name: "f", Type: fields.Vector(65537)}, "1 to 65536 components"},
		{fields.Def{Name: "f", Type: fields.Categorical(0)}, "1 to 16777216 values"},
		{fields.Def{Name: "f", Domain: fields.Entities, Mutability: fields.Static}, "cannot be static"},
		{fields.Def{Name: "f", Domain: fields.Entities, Initial: fields.Values([]float64{1})}, "one initial value"},
		{fields.Def{Name: "f", Initial: fields.Fill(math.NaN())}, "initial value NaN"},
		{fields.Def{Name: "f", Element: fields.Int32, Initial: fields.Fill(0.5)}, "initial value 0.5"},
		{fields.Def{Name: "f", Bounds: &fields.Bounds{Min: 1, Max: 1}}, "empty"},
		{fields.Def{Name: "f", Bounds: &fields.Bounds{Max: 1, Mode: 4}}, "bound mode 4 does not exist"},
		{fields.Def{Name: "f", Bounds: &fields.Bounds{Min: math.NaN(), Max: 1}}, "empty"},
		{fields.Def{Name: "f", Bounds: &fields.Bounds{Max: math.Inf(1)}}, "not finite"},
		{fields.Def{Name: "f", Bounds: &fields.Bounds{Max: 1e60}}, "cannot be stored"},
		{fields.Def{Name: "f", Bounds: &fields.Bounds{Min: 1, Max: 1 + 1e-12}}, "the same float32"},
		{fields.Def{Name: "f", Bounds: &fields.Bounds{Min: -1e-60, Max: 1e-60}}, "the same float32"},
		{fields.Def{Name: "f", Element: fields.Fixed, Bounds: &fields.Bounds{Min: 1, Max: 1 + 1e-12}}, "the same fixed"},
		{fields.Def{Name: "f", Element: fields.Int32, Bounds: &fields.Bounds{Max: 1}}, "takes no bounds"},
		{fields.Def{Name: "f", Type: fields.Categorical(3), Bounds: &fields.Bounds{Max: 1}}, "takes no bounds"},
	} {
		err := tt.def.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: Check = %v, want %q", tt.def, err, tt.want)
		}
	}
}

func TestNotFinite(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	bad := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.Float32frombits(0x7f800001)}
	extreme := []float32{math.MaxFloat32, -math.MaxFloat32, math.Float32frombits(1), 0}
	for n := range 40 {
		for range 50 {
			v := make([]float32, n)
			for i := range v {
				v[i] = extreme[random.IntN(len(extreme))]
				if random.IntN(2*n) == 0 {
					v[i] = bad[random.IntN(len(bad))]
				}
			}
			if got, want := fields.NotFinite(v), fields.FirstNotFinite(v); got != want {
				t.Fatalf("%v: the fast one finds %d, the plain one %d", v, got, want)
			}
		}
	}
}
