package rules

import (
	"math"
	"slices"

	"github.com/murksim/murksim/exact/f32"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/space"
)

// apply computes an operation of values that are known.
func apply(t *Term, args []value) (value, error) {
	switch t.Op {
	case Component:
		return args[0].v[t.Index], nil
	case MakeVector:
		for i := range args {
			args[i] = args[i].rounded(Type{Base: t.Type.Base}) // components are float32 or fixed
		}
		return value{v: slices.Clone(args)}, nil
	case ToFixed:
		x, err := toFixed(args[0].f)
		return value{x: x}, err
	case ToFloat:
		if t.Args[0].Type.Base == Fixed {
			return value{f: float64(float32(int64(args[0].x)) / float32(fixed.One))}, nil // rounded once
		}
		return args[0], nil
	case As:
		return value{f: float64(category(float32(args[0].f), t.Index))}, nil
	case Not:
		return truth(args[0].f == 0), nil
	case Dot, Length:
		return dotted(t, args)
	}
	if t.Op >= Equal && t.Op <= GreaterEqual {
		return truth(compare(t, args[0], args[1])), nil
	}
	if t.Op >= Exp && t.Op <= Pow {
		return curve(t.Op, args), nil
	}
	if t.Type.N > 0 {
		return byComponent(t, args)
	}
	if t.Type.Base == Fixed {
		return fix(t.Op, args)
	}
	if t.Uniform {
		return value{f: arithmetic[float64](t.Op, args)}, nil
	}
	return value{f: float64(arithmetic[float32](t.Op, args))}, nil
}

// category is a number as one of n categories, -0 as the first; NaN if it is none of them, which equals nothing.
func category(v float32, n int) float32 {
	if !(v >= 0 && v < float32(n) && v == float32(int32(v))) {
		return float32(math.NaN())
	}
	return v + 0
}

// toFixed is the fixed number nearest to a number, at a tie the even one.
func toFixed(v float64) (fixed.Fixed, error) {
	return fixed.FromFloat(math.RoundToEven(v*float64(fixed.One)) / float64(fixed.One))
}

// byComponent computes an operation of vectors.
func byComponent(t *Term, args []value) (value, error) {
	of := *t
	of.Type.N = 0
	r := value{v: make([]value, t.Type.N)}
	for k := range r.v {
		one := make([]value, len(args))
		for i, a := range args {
			if one[i] = a; a.v != nil {
				one[i] = a.v[k]
			}
		}
		v, err := apply(&of, one)
		if err != nil {
			return v, err
		}
		r.v[k] = v
	}
	return r, nil
}

// compare compares two values. -0 equals 0, and a NaN nothing.
func compare(t *Term, a, b value) bool {
	if t.Args[0].Type.Base == Fixed {
		return holds(t.Op, a.x, b.x)
	}
	return holds(t.Op, a.f, b.f)
}

func holds[T float64 | fixed.Fixed](op Op, a, b T) bool {
	switch op {
	case Equal:
		return a == b
	case NotEqual:
		return a != b
	case Less:
		return a < b
	case LessEqual:
		return a <= b
	case Greater:
		return a > b
	}
	return a >= b
}

// curve is the float32 nearest to the true value of a function of float32.
func curve(op Op, args []value) value {
	x, r := args[0].number(), float32(0)
	switch op {
	case Exp:
		r = f32.Exp(x)
	case Log:
		r = f32.Log(x)
	case Sin:
		r = f32.Sin(x)
	case Cos:
		r = f32.Cos(x)
	case Tanh:
		r = f32.Tanh(x)
	case Pow:
		r = f32.Pow(x, args[1].number())
	}
	return value{f: float64(r)}
}

// arithmetic computes an operation of numbers of one width, each rounded to it.
func arithmetic[T float32 | float64](op Op, args []value) T {
	a, b := T(args[0].f), T(0)
	if len(args) > 1 {
		b = T(args[1].f)
	}
	switch op {
	case Add:
		return a + b
	case Subtract:
		return a - b
	case Multiply:
		return T(a * b)
	case Divide:
		return a / b
	case Sqrt:
		return T(math.Sqrt(float64(a)))
	case Mod:
		r := T(math.Mod(float64(a), float64(b))) // which is exact
		switch {
		case r == 0:
			return T(math.Copysign(0, float64(b)))
		case (r < 0) != (b < 0):
			return r + b
		}
		return r
	}
	return T(pickOne(op, args))
}

// pickOne computes what rounds nothing, with any width.
func pickOne(op Op, args []value) float64 {
	r := args[0].f
	switch op {
	case Negate:
		return -r
	case Abs:
		return math.Abs(r)
	case Floor:
		return math.Floor(r)
	case Clamp:
		if args[1].f > r { // min(max(x, lo), hi)
			r = args[1].f
		}
		if args[2].f < r {
			r = args[2].f
		}
		return r
	}
	for _, x := range args[1:] {
		if op == Min && x.f < r || op == Max && x.f > r {
			r = x.f
		}
	}
	return r
}

// fix computes an operation of fixed numbers.
func fix(op Op, args []value) (value, error) {
	var c fixed.Calc
	r := args[0].x
	switch op {
	case Negate:
		r = c.Neg(r)
	case Add:
		r = c.Add(r, args[1].x)
	case Subtract:
		r = c.Sub(r, args[1].x)
	case Multiply:
		r = c.Mul(r, args[1].x)
	case Divide:
		r = c.Div(r, args[1].x)
	case Mod:
		r = c.Mod(r, args[1].x)
	case Abs:
		r = c.Abs(r)
	case Sqrt:
		r = c.Sqrt(r)
	case Floor:
		r = r.Floor()
	case Clamp:
		r = min(max(r, args[1].x), args[2].x)
	default:
		for _, x := range args[1:] {
			if op == Min && x.x < r || op == Max && x.x > r {
				r = x.x
			}
		}
	}
	return value{x: r}, c.Err()
}

// dotted is dot or length: products from component 0, added from the left.
func dotted(t *Term, args []value) (value, error) {
	u, v := args[0].v, args[len(args)-1].v
	of := *t
	of.Type.N = 0
	do := func(op Op, args ...value) (value, error) {
		of.Op = op
		return apply(&of, args)
	}
	sum, err := do(Multiply, u[0], v[0])
	for k := 1; k < len(u) && err == nil; k++ {
		var p value
		if p, err = do(Multiply, u[k], v[k]); err == nil {
			sum, err = do(Add, sum, p)
		}
	}
	if err == nil && t.Op == Length {
		return do(Sqrt, sum)
	}
	return sum, err
}

// counted is a count of what was seen.
func counted(t *Term, seen []value, categories int) value {
	switch t.Op {
	case Any, All: // none has decided
		return truth(t.Op == All)
	case Distinct:
		n, has := 0, make([]bool, categories)
		for _, x := range seen {
			if !(x.f >= 0 && x.f < float64(categories)) {
				continue // it is no category
			}
			if i := int(x.f); x.f == float64(i) && !has[i] {
				has[i] = true
				n++
			}
		}
		return value{f: float64(n)}
	}
	n := 0
	for _, x := range seen {
		if x.f == 1 {
			n++
		}
	}
	return value{f: float64(n)}
}

// folded adds what was seen, or finds the least or the greatest.
func folded(t *Term, seen []value) (value, error) {
	of := *t
	of.Uniform = false
	of.Op = map[Op]Op{Sum: Add, Mean: Add, Least: Min, Most: Max}[t.Op]
	var r value
	if of.Op == Add {
		r = none(t.Type)
	} else {
		r, seen = seen[0], seen[1:]
	}
	for _, x := range seen {
		var err error
		if r, err = apply(&of, []value{r, x}); err != nil {
			return r, err
		}
	}
	if t.Op != Mean {
		return r, nil
	}
	n := value{f: float64(float32(len(seen)))}
	if t.Type.Base == Fixed {
		n = value{x: fixed.Fixed(len(seen)) * fixed.One}
	}
	of.Op = Divide
	return apply(&of, []value{r, n})
}

// none is the sum of nothing: -0, to which everything is added without a change.
func none(t Type) value {
	if t.N == 0 {
		return value{f: math.Copysign(0, -1)}
	}
	r := value{v: make([]value, t.N)}
	for k := range r.v {
		r.v[k] = none(Type{Base: t.Base})
	}
	return r
}

// A bordered is a part of a space, for offsets from its cells.
type bordered struct {
	axes   []space.Axis
	slants bool // its axes do not stand at right angles
	sparse bool // not every place is a cell
}

// borders lists the parts of a lattice.
func borders(l *space.Lattice) (list []bordered) {
	for _, part := range l.Parts() {
		layout, _ := part.Layout()
		list = append(list, bordered{part.Axes(), layout.Shift != 0, layout.Wide > 1})
	}
	return list
}

// beyond is the cell at an offset from another one, by the edges of each part of the space.
func (e *evaluator) beyond(cell int, offset []int32) (rank int, ok bool) {
	if e.borders == nil {
		e.borders = borders(e.Lattice)
	}
	at := e.Lattice.Coord(cell)
	var to [space.MaxDim]int32
	k := 0
	for i := range e.borders {
		part := &e.borders[i]
		stays, first := false, k
		for j := range part.axes {
			a := &part.axes[j]
			c, extent := int64(at.At(k))+int64(offset[k]), int64(a.Extent)
			if c < 0 || c >= extent {
				switch {
				case a.Edge == space.Wrap:
					c = ((c % extent) + extent) % extent
				case a.Edge == space.Absorb, part.sparse:
					return 0, false
				default:
					c, stays = max(0, min(c, extent-1)), stays || part.slants
				}
			}
			to[k] = int32(c)
			k++
		}
		for j := first; stays && j < k; j++ {
			to[j] = at.At(j)
		}
	}
	return e.Lattice.Rank(space.At(to[:k]...))
}
