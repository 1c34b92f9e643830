package reference

import (
	"math"
	"math/rand/v2"
)

// Edges returns the arguments at which formulas change or end, in the given format: zeros,
// infinities, NaN, the smallest and largest numbers, small integers and halves, π/2,
// the bounds of what Exp can return; of both signs.
func Edges(p Format) []float64 {
	list := []float64{0, math.Inf(1), math.NaN()}
	most := math.Ldexp(1-math.Ldexp(0.5, 1-p.bits), p.most)
	normal := math.Ldexp(1, p.least+p.bits-1)
	least := math.Ldexp(1, p.least)
	for _, x := range []float64{least, 2 * least, 3 * least, normal - least, normal, normal + least, most, most / 2,
		1, 2, 3, 4, 0.5, 1.5, 1.0 / 3, math.Sqrt2, math.Sqrt2 / 2, math.Pi / 4, math.Pi / 2, math.Pi, math.E,
		0x1p-27, 0x1p-28, 0x1p-12, 0x1p52, 0x1p53, 0x1p53 + 2, 0x1p24 + 1, 0x1p60, 0x1p64, 0x1p-60, 0x1p-65,
		709.782712893384, 708.3964185322641, 745.1332191019412, 88.72283935546875, 87.3365478515625, 103.97207641601562} {
		list = append(list, p.around(x, 2)...)
	}
	for _, x := range list {
		list = append(list, -x)
	}
	return list
}

// around returns x and the n floats on either side.
func (p Format) around(x float64, n int) []float64 {
	x = p.round(x)
	unit := p.unit(x)
	list := make([]float64, 0, 2*n+1)
	for i := -n; i <= n; i++ {
		if near := p.round(x + float64(i)*unit); !math.IsInf(near, 0) {
			list = append(list, near)
		}
	}
	return list
}

// round returns x as a number of the format.
func (p Format) round(x float64) float64 {
	if p.bits == 24 {
		return float64(float32(x))
	}
	return x
}

func (p Format) unit(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e-p.bits, p.least))
}

// An arguments' source draws numbers of a format.
type source struct {
	*rand.Rand
	Format
}

// Arguments returns count pairs x, y for a function; the same for the same block.
// A half are of every exponent alike, the others from where the function is busy:
// where results are finite and the operands matter to each other, and beside the
// points where formulas change. Block 0 begins with the edges, all pairs of them for
// two arguments.
func (f Function) Arguments(p Format, block uint64, count int) [][2]float64 {
	s := source{rand.New(rand.NewPCG(block, 0)), p}
	list := make([][2]float64, 0, count)
	if block == 0 {
		list = f.edges(p)
	}
	for i := len(list); i < count; i++ {
		x := s.anyExponent(block + uint64(i)/2)
		y := 0.0
		switch {
		case f.Two && i%2 == 1:
			x, y = f.busyPair(s, x)
		case f.Two:
			y = s.anyExponent(s.Uint64())
		case i%2 == 1:
			x = f.busy(s)
		}
		list = append(list, [2]float64{p.round(x), p.round(y)})
	}
	return list[:count]
}

func (f Function) edges(p Format) [][2]float64 {
	var list [][2]float64
	for _, x := range Edges(p) {
		if !f.Two {
			list = append(list, [2]float64{x})
			continue
		}
		for _, y := range Edges(p) {
			list = append(list, [2]float64{x, y})
		}
	}
	return list
}

// anyExponent returns a number of either sign with the n-th exponent, round and round.
func (s source) anyExponent(n uint64) float64 {
	least := s.least + s.bits - 1 // of normal numbers; one below stands for all subnormals
	e := least - 1 + int(n%uint64(s.most-least+1))
	m := 1 + s.Float64()
	if e < least {
		e, m = least, s.Float64()
	}
	return s.round(math.Ldexp(s.sign()*m, e))
}

func (s source) sign() float64 { return float64(1 - 2*s.IntN(2)) }

// between returns a number from lo up to hi.
func (s source) between(lo, hi float64) float64 { return lo + (hi-lo)*s.Float64() }

// busy returns an argument of the range in which a function of one argument does most.
func (f Function) busy(s source) float64 {
	beside := 0.0
	wide := s.IntN(2) == 0
	switch f.Name {
	case "Exp":
		if wide {
			return s.between(-1.05, 1) * float64(s.most) * math.Ln2
		}
		return s.between(-2, 2)
	case "Log":
		if wide {
			return s.between(0.5, 2)
		}
		beside = []float64{1, math.Sqrt2, math.Sqrt2 / 2}[s.IntN(3)]
		return s.round(beside) + s.between(-1000, 1000)*s.unit(beside)
	case "Tanh":
		if wide {
			return s.between(-1, 1)
		}
		return s.between(-20, 20)
	case "Sin", "Cos", "Tan":
		if wide {
			return s.between(-10, 10)
		}
		beside = math.Pi / 4 * math.Ldexp(float64(s.IntN(1000)), s.IntN(s.most-20))
		return s.sign() * (s.round(beside) + s.between(-3, 3)*s.unit(beside))
	}
	if wide {
		return s.between(-2, 2)
	}
	return s.between(-100, 100)
}

// busyPair returns arguments that both matter, given a first one of any exponent.
func (f Function) busyPair(s source, x float64) (float64, float64) {
	if f.Name != "Pow" {
		_, e := math.Frexp(x)
		return x, s.sign() * math.Ldexp(1+s.Float64(), e+s.IntN(140)-70)
	}
	switch s.IntN(4) {
	case 0: // bases next to 1
		x = s.round(1 + s.between(-1, 1)*math.Ldexp(1, -s.IntN(s.bits)))
	case 1: // powers and roots that are exact or ties
		return float64(s.IntN(2000) - 1000), float64(s.IntN(129)-64) / 2
	case 2:
		return s.between(0, 20), s.between(-20, 20)
	}
	y := s.between(-1.1, 1.1) * float64(s.most) / math.Log2(math.Abs(x))
	if x < 0 {
		y = math.Round(y)
	}
	return x, y
}
