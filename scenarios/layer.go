package scenarios

import (
	"math"
	"reflect"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
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
	PNG     *pngFile `yaml:"png" hint:"write \"png: {file: NAME.png}\"" doc:"The brightness of an image."`
	Gray    *gray    `yaml:"gray" doc:"An image written out."`
	NPY     *npyFile `yaml:"npy" hint:"write \"npy: {file: NAME.npy}\"" doc:"The numbers of a NumPy file."`
	Array   *array   `yaml:"array" doc:"Numbers written out."`
	RLE     *pattern `yaml:"rle" hint:"write \"rle: {file: NAME.rle}\" or \"rle: {text: bo$2bo$3o!}\"" doc:"A pattern of an automaton, as Golly has it."`
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
		*l = make(layers, 1)
		if err := d.decodeStruct(n, reflect.ValueOf(&(*l)[0]).Elem()); err != nil {
			return err
		}
		return d.spendLayers(*l, n)
	}
	if len(n.Kids) > 0 && n.Kids[0].Kind != document.Mapping {
		var err error
		*l, err = d.list(n)
		return err
	}
	if len(n.Kids) > maxLayers {
		return n.Errorf("%d layers; at most %d are allowed", len(n.Kids), maxLayers)
	}
	*l = make(layers, len(n.Kids))
	for i, item := range n.Kids {
		if err := d.decodeStruct(item, reflect.ValueOf(&(*l)[i]).Elem()); err != nil {
			return err
		}
	}
	return d.spendLayers(*l, n)
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
	if err := l.checkRegion(n); err != nil {
		return err
	}
	sources := 0
	for _, there := range [...]bool{l.Value != nil, l.Noise != nil, l.Choice != nil, l.Picture != nil, l.PNG != nil, l.Gray != nil, l.NPY != nil, l.Array != nil, l.RLE != nil} {
		if there {
			sources++
		}
	}
	switch {
	case sources != 1:
		return n.Errorf("a layer gives one of value, fill, noise, choice, picture, png, npy and rle")
	case (l.Picture != nil || l.PNG != nil || l.Gray != nil || l.RLE != nil) && !l.all():
		return n.Errorf("a picture has no region; it has \"at\"")
	case (l.NPY != nil || l.Array != nil) && !l.all():
		return n.Errorf("an array has a number for every cell, and no region")
	case d.field.Type.Kind == fields.CategoricalKind && (l.Noise != nil || l.PNG != nil || l.Gray != nil):
		return n.Errorf("field %q is categorical; use value, choice, picture, npy or rle", d.field.Name)
	case l.Picture != nil:
		return d.checkFits(n.Get("picture"), l.Picture.At, len(l.Picture.Rows), l.Picture.width())
	case l.PNG != nil:
		return l.loadPNG(d, n.Get("png"))
	case l.Gray != nil:
		return d.checkFits(n, l.Gray.At, l.Gray.Rows, l.Gray.Cols)
	case l.NPY != nil:
		return l.loadNPY(d, n.Get("npy"))
	case l.RLE != nil:
		return l.loadPattern(d, n.Get("rle"))
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

// constant reports whether the layers give one value to all cells or entities.
func (l layers) constant() bool {
	return len(l) == 0 || len(l) == 1 && l[0].all() && len(l[0].Value) > 0
}
