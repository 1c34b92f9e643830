package scenarios

import (
	"math"
	"reflect"
	"sort"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// layers are laid over each other, the last on top, and give the initial values of
// a field; where there is none, it is 0.
type layers []layer

// A layer gives values to the cells of a region.
type layer struct {
	Region
	Fill    Value    `yaml:"fill" doc:"The same value everywhere."`
	Value   Value    `yaml:"value" doc:"The value of the region's cells."`
	Noise   *noise   `yaml:"noise" doc:"Random numbers, evenly spread over a range."`
	Choice  *choice  `yaml:"choice" doc:"One of several values, at random."`
	Picture *picture `yaml:"picture" doc:"Rows of characters, each standing for a value."`
	PNG     *pngFile `yaml:"png" doc:"The brightness of an image."`
	Gray    *gray    `yaml:"gray" doc:"An image written out."`
}

// A noise spreads random numbers evenly over [From, To).
type noise struct {
	From float64 `yaml:"from,required" doc:"Lowest number."`
	To   float64 `yaml:"to,required" doc:"Highest number."`

	Smooth int `yaml:"smooth" min:"0" max:"1000" doc:"How many times each cell takes the mean of itself and its neighbours before the numbers are stretched over the range again."`
}

// A choice picks one of several values for each cell.
type choice struct {
	Values  []Value   `yaml:"values,required" doc:"What to choose from."`
	Weights []float64 `yaml:"weights" doc:"How often each is chosen, relative to the others; default: all alike."`
}

func (l *layers) decode(d *decoder, n *document.Node) error {
	vector := d.field != nil && d.field.Type.Kind == fields.VectorKind
	switch {
	case n.Kind == document.Scalar, n.Kind == document.List && vector && len(n.Kids) > 0 && n.Kids[0].Kind == document.Scalar:
		var v Value
		err := v.decode(d, n)
		*l = layers{{Value: v}}
		return err
	case n.Kind == document.Mapping:
		var one layer
		err := d.decodeStruct(n, reflect.ValueOf(&one).Elem())
		*l = layers{one}
		return err
	}
	if len(n.Kids) > maxLayers {
		return n.Errorf("%d layers; at most %d are allowed", len(n.Kids), maxLayers)
	}
	for _, item := range n.Kids {
		var one layer
		if err := d.decodeStruct(item, reflect.ValueOf(&one).Elem()); err != nil {
			return err
		}
		*l = append(*l, one)
	}
	return nil
}

// check brings the layer into its normal form: a region or none, and one source.
func (l *layer) check(d *decoder, n *document.Node) error {
	if v := l.take(); v != nil {
		if l.Value != nil {
			return n.At("value").Errorf("the value is given twice")
		}
		l.Value = v
	}
	if l.Fill != nil {
		if !l.all() || l.Value != nil {
			return n.At("fill").Errorf("fill is for all cells; for some of them write a region and a value")
		}
		l.Value, l.Fill = l.Fill, nil
	}
	if l.PNG != nil {
		if err := l.loadPNG(n.Get("png")); err != nil {
			return err
		}
	}
	if err := l.checkRegion(n); err != nil {
		return err
	}
	sources := 0
	for _, there := range [...]bool{l.Value != nil, l.Noise != nil, l.Choice != nil, l.Picture != nil, l.Gray != nil} {
		if there {
			sources++
		}
	}
	switch {
	case sources != 1:
		return n.Errorf("a layer gives one of value, fill, noise, choice, picture and png")
	case (l.Picture != nil || l.Gray != nil) && !l.all():
		return n.Errorf("a picture has no region; it has \"at\"")
	case d.field.Type.Kind == fields.CategoricalKind && (l.Noise != nil || l.Gray != nil):
		return n.Errorf("field %q is categorical; use value, choice or picture", d.field.Name)
	case l.Picture != nil:
		return d.checkFits(n.Get("picture"), l.Picture.At, len(l.Picture.Rows), l.Picture.width())
	case l.Gray != nil:
		return d.checkFits(n, l.Gray.At, l.Gray.Rows, l.Gray.Cols)
	}
	return nil
}

func (x *noise) check(d *decoder, n *document.Node) error {
	if !(x.From < x.To) {
		return n.Errorf("noise from %v to %v: nothing lies between", x.From, x.To)
	}
	return d.field.checkRange(n)
}

// checkRange checks that the field can hold the numbers "from" and "to".
func (f *Field) checkRange(n *document.Node) error {
	if f.Type.Kind == fields.CategoricalKind {
		return nil // refused by the layer
	}
	for _, k := range [...]string{"from", "to"} {
		if v := n.Get(k); v != nil {
			if _, err := f.number(v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *choice) check(_ *decoder, n *document.Node) error {
	sum := 0.0
	for i, w := range c.Weights {
		if w < 0 {
			return n.Get("weights").Kids[i].Errorf("a weight must not be negative")
		}
		sum += w
	}
	switch {
	case len(c.Values) == 0:
		return n.Errorf("a choice needs values")
	case c.Weights != nil && len(c.Weights) != len(c.Values):
		return n.Get("weights").Errorf("%d weights for %d values", len(c.Weights), len(c.Values))
	case c.Weights != nil && !(sum > 0 && sum <= math.MaxFloat64):
		return n.Get("weights").Errorf("the weights add up to %v", sum)
	}
	return nil
}

// constant reports whether the layers give one value to all elements.
func (l layers) constant() bool {
	return len(l) == 0 || len(l) == 1 && l[0].all() && len(l[0].Value) == 1
}

// initial computes a field's values at genesis.
func (s *Scenario) initial(f *Field) (fields.Initial, error) {
	layers := f.Initial
	if layers.constant() {
		if len(layers) == 0 {
			return fields.Initial{}, nil
		}
		return fields.Fill(layers[0].Value[0]), nil
	}
	g := genesis{lattice: s.lattice, n: f.def.Type.Components()}
	g.values = make([]float64, s.lattice.Cells()*g.n)
	for i := layers.bottom(); i < len(layers); i++ {
		seed := rng.Seed(s.Seed).Tick(0).Stream("genesis."+f.Name, uint64(i))
		if err := g.lay(&layers[i], seed.Bulk()); err != nil {
			return fields.Initial{}, err
		}
	}
	return fields.Values(g.values), nil
}

// bottom is the last layer that covers all cells: nothing shows of those below.
func (l layers) bottom() int {
	for i := len(l) - 1; i > 0; i-- {
		if l[i].all() && l[i].Picture == nil && l[i].Gray == nil {
			return i
		}
	}
	return 0
}

// genesis is the initial values of one field in the making.
type genesis struct {
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
	case l.Choice != nil:
		g.shares = l.Choice.shares()
	}
	if l.all() {
		for cell := range g.lattice.Cells() {
			g.cell(cell, l, draws)
		}
		if l.Noise != nil && l.Noise.Smooth > 0 {
			g.smooth(l.Noise)
		}
		return nil
	}
	ranks, err := l.ranks(g.lattice)
	for _, cell := range ranks {
		g.cell(int(cell), l, draws)
	}
	return err
}

// smooth makes hills of noise, component by component.
func (g *genesis) smooth(x *noise) {
	next := make([]float64, len(g.values))
	var near []int32
	for range x.Smooth {
		for cell := range g.lattice.Cells() {
			near = g.lattice.AppendNeighbours(append(near[:0], int32(cell)), cell)
			for i := range g.n {
				sum := 0.0
				for _, at := range near {
					sum += g.values[int(at)*g.n+i]
				}
				next[cell*g.n+i] = sum / float64(len(near))
			}
		}
		copy(g.values, next)
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

// shares are the weights of the values, each added to those before it.
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
