package refworld

import (
	"math"
	"math/bits"

	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// The library's propagators, from their formulas. Each gives its Part.

// Diffusion: next = here + k·(Σ - n·here), k = Rate·dt or the float32 below it, then ·exp(-Decay·dt).
// Walls, where BlockedBy is not zero, keep their values and are no neighbours.
type Diffusion struct {
	Name      string
	Field     fields.ID
	Rate      float64
	Decay     float64
	BlockedBy *fields.ID
	Hold      []Hold
	Gradient  *fields.ID
}

// A Hold keeps cells at a value, the last of all.
type Hold struct {
	Cells []space.Coord
	Value float64
}

// Part returns the propagator.
func (d Diffusion) Part() Part {
	p := Part{Name: d.Name, Full: []fields.ID{d.Field}}
	if d.Gradient != nil {
		p.Full = append(p.Full, *d.Gradient)
	}
	p.Run = func(t *Tick) error {
		prev, next := t.Prev(d.Field), t.Next(d.Field)
		most := 0
		for _, at := range t.Cells() {
			most = max(most, len(t.Moves(at)))
		}
		share, limit := float32(d.Rate*t.Dt()), 1.0
		if bits.OnesCount(uint(most)) != 1 {
			limit = 1 - 1.0/(1<<24)
		}
		if float64(share)*float64(most) > limit {
			share = math.Nextafter32(share, 0)
		}
		for _, at := range t.Cells() {
			for part := range prev.Parts() {
				next.SetFloat(at, part, d.cell(t, prev, at, part, share))
			}
		}
		for _, h := range d.Hold {
			for _, at := range h.Cells {
				for part := range next.Parts() {
					next.SetFloat(at, part, float32(h.Value))
				}
			}
		}
		if d.Gradient != nil {
			writeSlope(t, d.Field, *d.Gradient, func(x, y float32) (float32, float32) { return x, y })
		}
		return nil
	}
	return p
}

func (d Diffusion) cell(t *Tick, prev *Field, at space.Coord, part int, share float32) float32 {
	wall := func(at space.Coord) bool { return d.BlockedBy != nil && t.Prev(*d.BlockedBy).Float(at, 0) != 0 }
	here := prev.Float(at, part)
	if wall(at) {
		return here
	}
	sum, n := float32(math.Copysign(0, -1)), 0
	for _, m := range t.Moves(at) {
		if !wall(m.To) {
			sum += prev.Float(m.To, part)
			n++
		}
	}
	next := here
	if n > 0 {
		owed := float32(float32(n) * here)
		gained := float32(share * (sum - owed))
		next = here + gained
	}
	if d.Decay > 0 {
		next = float32(next * float32(exact.Exp(-float64(d.Decay*t.Dt()))))
	}
	return next
}

// Wave: acc = Speed²·(Σ/n - here) - Damping·v, v += acc·dt, here += v·dt.
type Wave struct {
	Name                   string
	Displacement, Velocity fields.ID
	Speed, Damping         float64
}

// Part returns the propagator.
func (w Wave) Part() Part {
	return Part{Name: w.Name, Full: []fields.ID{w.Displacement, w.Velocity}, Run: func(t *Tick) error {
		d, v := t.Prev(w.Displacement), t.Prev(w.Velocity)
		for _, at := range t.Cells() {
			for part := range d.Parts() {
				here, speed := d.Float(at, part), v.Float(at, part)
				pull := float32(0)
				if moves := t.Moves(at); len(moves) > 0 {
					sum := d.Float(moves[0].To, part)
					for _, m := range moves[1:] {
						sum += d.Float(m.To, part)
					}
					pull = float32(float32(w.Speed*w.Speed) * (sum/float32(len(moves)) - here))
				}
				acc := pull - float32(float32(w.Damping)*speed)
				dt := float32(t.Dt())
				speed += float32(acc * dt)
				here += float32(speed * dt)
				t.Next(w.Displacement).SetFloat(at, part, here)
				t.Next(w.Velocity).SetFloat(at, part, speed)
			}
		}
		return nil
	}}
}

// Gradient is the slope of a field along components 1 and 0 of the coordinate.
type Gradient struct {
	Name          string
	Field, Output fields.ID
}

// Part returns the propagator.
func (g Gradient) Part() Part {
	return Part{Name: g.Name, Full: []fields.ID{g.Output}, Run: func(t *Tick) error {
		writeSlope(t, g.Field, g.Output, func(x, y float32) (float32, float32) { return x, y })
		return nil
	}}
}

// Flow points downhill; Normalise divides by a length above 1e-12.
type Flow struct {
	Name          string
	Field, Output fields.ID
	Normalise     bool
}

// Part returns the propagator.
func (f Flow) Part() Part {
	return Part{Name: f.Name, Full: []fields.ID{f.Output}, Run: func(t *Tick) error {
		writeSlope(t, f.Field, f.Output, func(x, y float32) (float32, float32) {
			if !f.Normalise {
				return x, y
			}
			xx, yy := float32(x*x), float32(y*y)
			if length := float32(math.Sqrt(float64(xx + yy))); length > 1e-12 {
				return x / length, y / length
			}
			return x, y
		}, downhill)
		return nil
	}}
}

// downhill turns a slope round. A slope that has no terms stays +0.
func downhill(g float32) float32 { return -g }

// writeSlope writes the slope of a field at every cell, turned as told and finished.
func writeSlope(t *Tick, field, output fields.ID, finish func(x, y float32) (float32, float32), turn ...func(float32) float32) {
	h := t.Prev(field)
	_, square := t.Space().(space.Square4)
	for _, at := range t.Cells() {
		var g [2]float32 // along components 0 and 1
		for axis := range 2 {
			v, ok := meanSlope(t, h, at, axis)
			if square {
				v, ok = centralSlope(t, h, at, axis), true
			}
			for _, f := range turn {
				if ok {
					v = f(v)
				}
			}
			g[axis] = v
		}
		x, y := finish(g[1], g[0])
		t.Next(output).SetFloat(at, 0, x)
		t.Next(output).SetFloat(at, 1, y)
	}
}

// centralSlope is half the difference of the two neighbours on an axis of a
// square4, the cell itself standing in for a missing one.
func centralSlope(t *Tick, h *Field, at space.Coord, axis int) float32 {
	less, more := h.Float(at, 0), h.Float(at, 0)
	for _, m := range t.Moves(at) {
		switch m.Dir { // north, south, west, east
		case 2 * axis:
			less = h.Float(m.To, 0)
		case 2*axis + 1:
			more = h.Float(m.To, 0)
		}
	}
	return (more - less) / 2
}

// meanSlope returns the mean slope over the neighbours with a step along an axis.
func meanSlope(t *Tick, h *Field, at space.Coord, axis int) (g float32, ok bool) {
	n := 0
	for _, m := range t.Moves(at) {
		if axis < m.Step.Dim() && m.Step.At(axis) != 0 {
			g += (h.Float(m.To, 0) - h.Float(at, 0)) / float32(m.Step.At(axis))
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return g / float32(n), true
}

// Resource is eaten where Presence is not zero, grows, and stays in [0, Capacity].
type Resource struct {
	Name                            string
	Field                           fields.ID
	Presence                        *fields.ID
	Consumption, Regrowth, Capacity float64
	Logistic                        bool
}

// Part returns the propagator.
func (r Resource) Part() Part {
	return Part{Name: r.Name, Incremental: []fields.ID{r.Field}, Run: func(t *Tick) error {
		dt, rate, most := float32(t.Dt()), float32(r.Regrowth), float32(r.Capacity)
		for _, at := range t.Cells() {
			v := t.Now(r.Field).Float(at, 0)
			if r.Presence != nil && t.Prev(*r.Presence).Float(at, 0) != 0 {
				v -= float32(float32(r.Consumption) * dt)
			}
			if !r.Logistic {
				v += float32(rate * dt)
			} else if v > 0 {
				grown := float32(rate * v)
				grown = float32(grown * (1 - v/most))
				v += float32(grown * dt)
			}
			if v < 0 {
				v = 0
			}
			if v > most {
				v = most
			}
			t.Next(r.Field).SetFloat(at, 0, v)
		}
		return nil
	}}
}

// Decay multiplies by exp(-Rate·dt).
type Decay struct {
	Name  string
	Field fields.ID
	Rate  float64
}

// Part returns the propagator.
func (d Decay) Part() Part {
	return Part{Name: d.Name, Incremental: []fields.ID{d.Field}, Run: func(t *Tick) error {
		factor := float32(exact.Exp(-float64(d.Rate * t.Dt())))
		for _, p := range t.Now(d.Field).Places() {
			t.Next(d.Field).SetFloat(p.At, p.Part, float32(t.Now(d.Field).Float(p.At, p.Part)*factor))
		}
		return nil
	}}
}

// A NoiseKind is a distribution.
type NoiseKind int

// The kinds of noise.
const (
	Uniform NoiseKind = iota
	Gaussian
	SaltPepper
)

// Noise draws a word for each component of each cell, and for SaltPepper a second
// one where the first says so.
type Noise struct {
	Name  string
	Field fields.ID
	Kind  NoiseKind
	Scale float64
}

// Part returns the propagator.
func (z Noise) Part() Part {
	return Part{Name: z.Name, Incremental: []fields.ID{z.Field}, Run: func(t *Tick) error {
		f, bulk := t.Next(z.Field), t.Bulk(0)
		for rank, at := range t.Cells() {
			words := bulk.Words(uint64(rank))
			for part := range f.Parts() {
				v := f.Float(at, part)
				switch z.Kind {
				case Uniform:
					u := float64(words.Float32())
					v += float32(z.Scale * (float64(u*2) - 1))
				case Gaussian:
					v += float32(z.Scale * words.Normal())
				case SaltPepper:
					if float64(words.Float32()) < z.Scale {
						v = 0
						if words.Uint32() >= 1<<31 {
							v = 1
						}
					}
				}
				f.SetFloat(at, part, v)
			}
		}
		return nil
	}}
}

// Automaton: bit n of Born and Survive says what n live neighbours do. State 1 is
// alive, 2 to States-1 are dying, all else is dead.
type Automaton struct {
	Name          string
	Field         fields.ID
	Born, Survive uint64
	States        int
}

// Part returns the propagator.
func (a Automaton) Part() Part {
	return Part{Name: a.Name, Full: []fields.ID{a.Field}, Run: func(t *Tick) error {
		prev := t.Prev(a.Field)
		for _, at := range t.Cells() {
			alive := 0
			for _, m := range t.Moves(at) {
				if prev.Float(m.To, 0) == 1 {
					alive++
				}
			}
			t.Next(a.Field).SetFloat(at, 0, float32(a.next(prev.Float(at, 0), alive)))
		}
		return nil
	}}
}

func (a Automaton) next(v float32, alive int) int {
	state := 0
	for s := 1; s < max(a.States, 2); s++ {
		if v == float32(s) {
			state = s
		}
	}
	switch {
	case state == 0 && a.Born&(1<<alive) != 0:
		return 1
	case state == 0:
		return 0
	case state == 1 && a.Survive&(1<<alive) != 0:
		return 1
	case state+1 < a.States:
		return state + 1
	}
	return 0
}

// Patterns is an automaton whose cells look at which of their neighbours are alive: character i of Bits, 0 or 1, is for pattern i, in
// which the first of the Places is the highest bit. States are as in Automaton.
type Patterns struct {
	Name   string
	Field  fields.ID
	Bits   string
	Places []int // directions, counted in contract order; -1 is the cell
	States int
}

// Part returns the propagator.
func (p Patterns) Part() Part {
	return Part{Name: p.Name, Full: []fields.ID{p.Field}, Run: func(t *Tick) error {
		prev := t.Prev(p.Field)
		for _, at := range t.Cells() {
			pattern := 0
			for _, place := range p.Places {
				pattern *= 2
				if place < 0 {
					pattern += alive(prev.Float(at, 0))
				}
				for _, m := range t.Moves(at) {
					if m.Dir == place {
						pattern += alive(prev.Float(m.To, 0))
					}
				}
			}
			a := Automaton{States: p.States}
			if p.Bits[pattern] == '1' {
				a.Born, a.Survive = 1, 1
			}
			t.Next(p.Field).SetFloat(at, 0, float32(a.next(prev.Float(at, 0), 0)))
		}
		return nil
	}}
}

func alive(v float32) int {
	if v == 1 {
		return 1
	}
	return 0
}

// Far is an automaton on squares that counts the live cells at some offsets of rows and columns.
type Far struct {
	Name          string
	Field         fields.ID
	Rows, Cols    int
	Edge          space.Edge
	Offsets       [][2]int
	Born, Survive map[int]bool
	States        int
}

// Part returns the propagator.
func (f Far) Part() Part {
	return Part{Name: f.Name, Full: []fields.ID{f.Field}, Run: func(t *Tick) error {
		prev := t.Prev(f.Field)
		for _, at := range t.Cells() {
			count := 0
			for _, by := range f.Offsets {
				row, inside := f.onAxis(int(at.At(0))+by[0], f.Rows)
				col, too := f.onAxis(int(at.At(1))+by[1], f.Cols)
				if inside && too {
					count += alive(prev.Float(space.At(row, col), 0))
				}
			}
			a := Automaton{States: f.States}
			if f.Born[count] {
				a.Born = 1
			}
			if f.Survive[count] {
				a.Survive = 1
			}
			t.Next(f.Field).SetFloat(at, 0, float32(a.next(prev.Float(at, 0), 0)))
		}
		return nil
	}}
}

// onAxis returns what stands in the place i of an axis.
func (f Far) onAxis(i, size int) (at int32, ok bool) {
	switch {
	case f.Edge == space.Wrap:
		i = (i%size + size) % size
	case f.Edge == space.Clamp && i < 0:
		i = 0
	case f.Edge == space.Clamp && i >= size:
		i = size - 1
	}
	return int32(i), i >= 0 && i < size
}
