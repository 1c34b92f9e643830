package scenarios

import (
	"math"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
)

// A Sight is one part of what an agent sees: a field, an attribute of entities, or how many
// entities there are; where; and how the numbers are given.
type Sight struct {
	Name       string    `yaml:"name" doc:"What the part is called; default: what it shows."`
	Field      FieldRef  `yaml:"field" doc:"A field of cells, or an attribute of the entities there."`
	Count      Kind      `yaml:"count" doc:"Instead of a field: how many entities of this kind stand on a cell."`
	Kind       Kind      `yaml:"kind" doc:"With an attribute around the agent: only of this kind."`
	Others     bool      `yaml:"others" doc:"With entities: without the agent itself."`
	Around     *Around   `yaml:"around" doc:"The cells around the agent; default for an attribute: the agent itself."`
	Neighbours *Nearby   `yaml:"neighbours" doc:"The cells at most some steps from a cell, with a place for each neighbour."`
	Region               // of fixed cells; left out, all
	Pool       *Pooling  `yaml:"pool" doc:"One number for each block of cells."`
	Normalize  []float64 `yaml:"normalize" doc:"Two numbers that become 0 and 1; what lies beyond them, too."`
	Clip       []float64 `yaml:"clip" doc:"A lowest and a highest number."`
	OneHot     bool      `yaml:"one_hot" doc:"For a categorical field: 0 or 1 for each of its values."`

	at *document.Node
}

// An Around is the cells around an agent.
type Around struct {
	Here bool  `yaml:"here" doc:"Its own cell, or its own attribute."`
	Disk *int  `yaml:"disk" min:"0" max:"1024" doc:"The cells at most so many steps away."`
	Rect []int `yaml:"rect" doc:"The cells at most so far away along each axis."`
}

// A Nearby is a cell and the cells near it.
type Nearby struct {
	Center Cell `yaml:"center,required" doc:"The cell in the middle."`
	Depth  int  `yaml:"depth" default:"1" min:"1" max:"1024" doc:"In steps to a neighbour."`
}

// A Pooling makes one number of each block of cells.
type Pooling struct {
	Kernel string `yaml:"kernel,required" enum:"mean,max,min,sum" doc:"What of the numbers of a block."`
	Size   int    `yaml:"size,required" min:"1" max:"4096" doc:"Rows and columns of a block."`
	Stride int    `yaml:"stride" min:"1" max:"4096" doc:"From one block to the next; default: size."`
}

func (x *Sight) check(d *decoder, n *document.Node) error {
	x.at = n
	f := d.s.field(string(x.Field))
	ofEntities := x.Count != "" || f != nil && f.Domain == "entities"
	switch {
	case (x.Field != "") == (x.Count != ""):
		return n.Errorf("a part of an observation is a field or a count of entities")
	case x.Kind != "" && (x.Count != "" || !ofEntities):
		return n.At("kind").Errorf("\"kind\" goes with an attribute of entities")
	case x.Others && !ofEntities:
		return n.At("others").Errorf("\"others\" goes with entities")
	case count(x.Around != nil, x.Neighbours != nil, !x.all()) > 1:
		return n.Errorf("only one of around, neighbours, rect, disk and cells may stand here")
	case count(x.Normalize != nil, x.Clip != nil, x.OneHot) > 1:
		return n.Errorf("only one of normalize, clip and one_hot may stand here")
	case x.OneHot && (f == nil || f.Type.Kind != fields.CategoricalKind):
		return n.At("one_hot").Errorf("one_hot is for a categorical field")
	}
	for _, r := range []struct {
		key  string
		list []float64
	}{{"normalize", x.Normalize}, {"clip", x.Clip}} {
		if r.list != nil && (len(r.list) != 2 || !(r.list[0] <= r.list[1]) || math.IsInf(r.list[1]-r.list[0], 0)) {
			return n.At(r.key).Errorf("%s is a lowest and a highest number", r.key)
		}
	}
	if ofEntities && x.Count == "" && count(x.Around != nil, x.Neighbours != nil, !x.all()) == 0 {
		x.Around = &Around{Here: true}
	}
	if x.Around != nil && x.Around.Here && ofEntities && d.agents().Kind == "" {
		return n.Errorf("agents that are cells have no attributes")
	}
	if p := x.Pool; p != nil && p.Stride == 0 {
		p.Stride = p.Size
	}
	if x.take() != nil {
		return n.Errorf("a region of an observation has no value")
	}
	return x.checkRegion(n)
}

func (a *Around) check(d *decoder, n *document.Node) error {
	if count(a.Here, a.Disk != nil, a.Rect != nil) != 1 {
		return n.Errorf("around has one of here, disk and rect")
	}
	if dim := d.s.lattice.Dim(); a.Rect != nil && len(a.Rect) != dim {
		return n.At("rect").Errorf("rect has a number for each axis of a %s, %d; here are %d", d.s.lattice.Kind(), dim, len(a.Rect))
	}
	for i, half := range a.Rect {
		if half < 0 || half > 1024 {
			return n.At("rect").Kids[i].Errorf("a rect reaches 0 to 1024 cells, not %d", half)
		}
	}
	return nil
}

// Errorf makes an error at the part's place in the document.
func (x *Sight) Errorf(format string, args ...any) error { return x.at.Errorf(format, args...) }
