package scenarios

import (
	"errors"
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// A Space is the kind of a lattice and its sizes.
type Space struct {
	Kind   string  `yaml:"kind,required" enum:"line,ring,square4,square8,hex,fcc12,product" doc:"What the cells are and who is whose neighbour."`
	Length int     `yaml:"length" min:"1" doc:"line, ring: cells."`
	Rows   int     `yaml:"rows" min:"1" doc:"square4, square8, hex: rows."`
	Cols   int     `yaml:"cols" min:"1" doc:"square4, square8, hex: columns."`
	W      int     `yaml:"w" min:"1" doc:"fcc12: extent of x."`
	H      int     `yaml:"h" min:"1" doc:"fcc12: extent of y."`
	D      int     `yaml:"d" min:"1" doc:"fcc12: extent of z."`
	Edge   string  `yaml:"edge" enum:"absorb,clamp,wrap" default:"absorb" doc:"Beyond the last cell: nothing, the edge cell itself, or the other side."`
	Parts  []Space `yaml:"parts" doc:"product: the spaces it is made of."`
}

// spaceKeys are the keys of each kind beside "kind".
var spaceKeys = []struct {
	kind string
	keys []string
}{
	{"line", []string{"length", "edge"}},
	{"ring", []string{"length"}},
	{"square4", []string{"rows", "cols", "edge"}},
	{"square8", []string{"rows", "cols", "edge"}},
	{"hex", []string{"cols", "rows"}},
	{"fcc12", []string{"w", "h", "d", "edge"}},
	{"product", []string{"parts"}},
}

// check checks that the keys are those of the kind; the whole space is built once.
func (s *Space) check(d *decoder, n *document.Node) error {
	for _, k := range spaceKeys {
		if k.kind != s.Kind {
			continue
		}
		for _, key := range k.keys {
			if n.Get(key) == nil && key != "edge" {
				return n.Errorf("the key %q is missing; a %s has %s", key, s.Kind, document.Alternatives(k.keys))
			}
		}
		for i := 0; i < len(n.Kids); i += 2 {
			if key := n.Kids[i]; key.Raw != "kind" && !slices.Contains(k.keys, key.Raw) {
				return key.Errorf("a %s has no %q; it has %s", s.Kind, key.Raw, strings.Join(k.keys, ", "))
			}
		}
	}
	lattice, err := s.space().Build()
	if err != nil {
		at := n
		if e, ok := errors.AsType[*space.Error](err); ok {
			at = n.At(e.Arg)
		}
		return at.Errorf("%s", plain(err)).Because(err)
	}
	d.s.lattice = lattice // the outermost is checked last
	return nil
}

// space is the description in the terms of package space.
func (s *Space) space() space.Space {
	edge, err := space.ParseEdge(s.Edge)
	if err != nil {
		edge = space.Absorb // checked words name an edge
	}
	switch s.Kind {
	case "line":
		return space.Line{Length: s.Length, Edge: edge}
	case "ring":
		return space.Ring{Length: s.Length}
	case "square4":
		return space.Square4{Rows: s.Rows, Cols: s.Cols, Edge: edge}
	case "square8":
		return space.Square8{Rows: s.Rows, Cols: s.Cols, Edge: edge}
	case "hex":
		return space.Hex{Cols: s.Cols, Rows: s.Rows}
	case "fcc12":
		return space.FCC12{W: s.W, H: s.H, D: s.D, Edge: edge}
	}
	product := space.Product{}
	for i := range s.Parts {
		product = append(product, s.Parts[i].space())
	}
	return product
}

// A Region selects cells; without any key, all.
type Region struct {
	Rect  *Rect  `yaml:"rect" doc:"The cells between two corners, both included."`
	Disk  *Disk  `yaml:"disk" doc:"The cells at most radius steps from the centre."`
	Cells []Cell `yaml:"cells" doc:"The cells listed."`
}

// A Rect is a box of cells.
type Rect struct {
	From  Cell  `yaml:"from,required" doc:"One corner."`
	To    Cell  `yaml:"to,required" doc:"The opposite corner, not below from on any axis."`
	Value Value `yaml:"value" doc:"The value there."`
}

func (r *Rect) check(_ *decoder, n *document.Node) error {
	for i := range r.From.Dim() {
		if r.From.At(i) > r.To.At(i) {
			return n.At("to").Errorf("to %v lies before from %v", r.To.Coord, r.From.Coord)
		}
	}
	return nil
}

// A Disk is the cells around one.
type Disk struct {
	Center Cell  `yaml:"center,required" doc:"The cell in the middle."`
	Radius int   `yaml:"radius,required" min:"0" max:"4096" doc:"In steps to a neighbour."`
	Value  Value `yaml:"value" doc:"The value there."`
}

// all says whether the region is all cells.
func (r *Region) all() bool { return r.Rect == nil && r.Disk == nil && r.Cells == nil }

// take moves the value written inside the region out of it.
func (r *Region) take() (v Value) {
	if r.Rect != nil && r.Rect.Value != nil {
		v, r.Rect.Value = r.Rect.Value, nil
	}
	if r.Disk != nil && r.Disk.Value != nil {
		v, r.Disk.Value = r.Disk.Value, nil
	}
	return v
}

// checkRegion checks that a mapping names one region at most.
func (r *Region) checkRegion(n *document.Node) error {
	count := 0
	for _, there := range [...]bool{r.Rect != nil, r.Disk != nil, r.Cells != nil} {
		if there {
			count++
		}
	}
	if cells := n.Get("cells"); cells != nil && r.Cells == nil {
		return cells.Errorf("no cells are listed")
	}
	if count > 1 {
		return n.Errorf("only one of rect, disk and cells may stand here")
	}
	return nil
}

// ranks lists the region's cells, ascending.
func (r *Region) ranks(l *space.Lattice) ([]int32, error) {
	var region space.Region = space.All{}
	switch {
	case r.Rect != nil:
		region = space.Rect{Min: r.Rect.From.Coord, Max: r.Rect.To.Coord}
	case r.Disk != nil:
		region = space.Disk{Center: r.Disk.Center.Coord, Radius: r.Disk.Radius}
	case r.Cells != nil:
		cells := make(space.Cells, len(r.Cells))
		for i, c := range r.Cells {
			cells[i] = c.Coord
		}
		region = cells
	}
	plan, err := l.Compile(region)
	if err != nil {
		return nil, err
	}
	return plan.Ranks, nil
}

// size is an upper bound of the number of cells, without listing them.
func (r *Region) size(l *space.Lattice) int {
	switch {
	case r.Cells != nil:
		return len(r.Cells)
	case r.Rect != nil:
		n := int64(1)
		for i := range r.Rect.From.Dim() {
			n = min(n*int64(r.Rect.To.At(i)-r.Rect.From.At(i)+1), int64(l.Cells()))
		}
		return int(n)
	case r.Disk != nil:
		n, side := int64(1), 2*int64(r.Disk.Radius)+1
		for range l.Dim() {
			n = min(n*side, int64(l.Cells()))
		}
		return int(n)
	}
	return l.Cells()
}
