package scenarios

import (
	"sort"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// initial computes a field's values at genesis.
func (s *Scenario) initial(f *Field, m *making) (fields.Initial, error) {
	layers := f.Initial
	if layers.constant() {
		if len(layers) == 0 {
			return fields.Initial{}, nil
		}
		v := layers[0].Value
		return fields.Fill(v[0], v[1:]...), nil
	}
	g := genesis{making: m, lattice: s.lattice, n: f.def.Type.Components()}
	g.values = make([]float64, s.lattice.Cells()*g.n)
	for i := layers.bottom(); i < len(layers); i++ {
		seed := rng.Seed(s.Seed).Tick(0).Stream("genesis."+f.Name, uint64(i))
		if err := g.lay(&layers[i], seed.Bulk()); err != nil {
			return fields.Initial{}, err
		}
	}
	return fields.Values(g.values), nil
}

// bottom returns the last layer that covers all cells: nothing shows of those below.
func (l layers) bottom() int {
	for i := len(l) - 1; i > 0; i-- {
		if l[i].all() && l[i].Picture == nil && l[i].Gray == nil && l[i].RLE == nil {
			return i
		}
	}
	return 0
}

// genesis is the initial values of one field in the making.
type genesis struct {
	*making
	lattice *space.Lattice
	n       int // components
	values  []float64
	shares  []float64 // of the layer that is being laid, if it is a choice
}

// lay puts one layer over what is there. Random layers draw in bulk by rank, one
// number for each component of noise, one for a choice.
func (g *genesis) lay(l *layer, draws rng.Bulk) error {
	switch {
	case l.Picture != nil:
		g.picture(l.Picture)
		return nil
	case l.Gray != nil:
		g.gray(l.Gray)
		return nil
	case l.RLE != nil:
		return g.pattern(l.RLE)
	case l.Array != nil:
		g.array(l.Array)
		return nil
	case l.Choice != nil:
		g.shares = l.Choice.shares()
	}
	if l.all() {
		for cell := range g.lattice.Cells() {
			g.cell(cell, l, draws)
			if err := g.pause(cell); err != nil {
				return err
			}
		}
		if l.Noise != nil && l.Noise.Smooth > 0 {
			return g.smooth(l.Noise)
		}
		return nil
	}
	if err := g.add(uint64(l.size(g.lattice)) * regionSteps); err != nil {
		return err
	}
	ranks, err := l.ranks(g.lattice)
	for i, cell := range ranks {
		g.cell(int(cell), l, draws)
		if err := g.pause(i); err != nil {
			return err
		}
	}
	return err
}

// pause counts the cells of a loop, many at a time.
func (g *genesis) pause(cell int) error {
	const every = 1 << 14
	if cell%every != every-1 {
		return nil
	}
	return g.add(uint64(every * g.n))
}

// smooth makes hills of noise, component by component.
func (g *genesis) smooth(x *noise) error {
	const block = 1 << 14
	next := make([]float64, len(g.values))
	for range x.Smooth {
		for _, s := range g.lattice.Spans() {
			for from := 0; from < s.Count; from += block {
				part := s
				part.First += from * s.Stride
				part.Count = min(block, s.Count-from)
				g.means(next, &part)
				if err := g.add(uint64(part.Count * g.n * (1 + len(s.Pattern.Offsets)))); err != nil {
					return err
				}
			}
		}
		g.values, next = next, g.values
	}
	for i := range g.n {
		lo, hi := g.values[i], g.values[i]
		for at := i; at < len(g.values); at += g.n {
			lo, hi = min(lo, g.values[at]), max(hi, g.values[at])
		}
		for at := i; at < len(g.values) && hi > lo; at += g.n {
			share := (g.values[at] - lo) / (hi - lo)
			g.values[at] = x.From + float64(share*(x.To-x.From))
		}
	}
	return nil
}

// means gives the cells of a span the means of themselves and their neighbours, summed in
// this order.
func (g *genesis) means(next []float64, s *space.Span) {
	for k := range s.Count {
		cell := s.First + k*s.Stride
		for i := range g.n {
			sum := 0.0 // so that the sum of negative zeros is 0
			sum += g.values[cell*g.n+i]
			for _, by := range s.Pattern.Offsets {
				sum += g.values[(cell+by)*g.n+i]
			}
			next[cell*g.n+i] = sum / float64(1+len(s.Pattern.Offsets))
		}
	}
}

func (g *genesis) cell(cell int, l *layer, draws rng.Bulk) {
	switch {
	case l.Value != nil:
		g.set(cell, l.Value)
	case l.Choice != nil:
		g.set(cell, l.Choice.pick(g.shares, draws.Float32(uint64(cell))))
	default:
		words := draws.Words(uint64(cell))
		for i := range g.n {
			span := float64((l.Noise.To - l.Noise.From) * float64(words.Float32()))
			g.values[cell*g.n+i] = l.Noise.From + span
		}
	}
}

func (g *genesis) set(cell int, v Value) {
	for i := range g.n {
		g.values[cell*g.n+i] = v.component(i)
	}
}

// shares returns the weights of the values, each added to those before it.
func (c *choice) shares() []float64 {
	shares, sum := make([]float64, len(c.Values)), 0.0
	for i := range shares {
		if c.Weights == nil {
			sum++
		} else {
			sum += c.Weights[i]
		}
		shares[i] = sum
	}
	return shares
}

// pick chooses by a number in [0, 1): the first value whose share exceeds that
// part of the last one.
func (c *choice) pick(shares []float64, u float32) Value {
	last := len(shares) - 1
	limit := float64(float64(u) * shares[last])
	i := sort.Search(last, func(i int) bool { return limit < shares[i] })
	for c.Weights != nil && c.Weights[i] == 0 { // only where weights so small that limit was rounded up end in zeros
		i--
	}
	return c.Values[i]
}
