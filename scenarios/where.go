package scenarios

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// spaces are the kinds of lattices that the form knows, one a line. Beside "kind", their
// keys are their sizes, which [Space] must have, and "edge" if they have one to choose.
var spaces = [...]space.Space{
	space.Line{},
	space.Ring{},
	space.Square4{},
	space.Square8{},
	space.Hex{},
	space.FCC12{},
}

// A Space is the kind of a lattice and its sizes.
type Space struct {
	Kind   SpaceKind `yaml:"kind,required" doc:"The kind of space."`
	Length int       `yaml:"length" min:"1"`
	Rows   int       `yaml:"rows" min:"1"`
	Cols   int       `yaml:"cols" min:"1"`
	W      int       `yaml:"w" min:"1"`
	H      int       `yaml:"h" min:"1"`
	D      int       `yaml:"d" min:"1"`
	Edge   string    `yaml:"edge" enum:"absorb,clamp,wrap" default:"absorb" doc:"Beyond the last cell: absorb, nothing; clamp, a cell at the edge itself; wrap, the other side."`
	Parts  []Space   `yaml:"parts" doc:"product: the spaces it is made of."`
}

// A SpaceKind is the name of one of the kinds of spaces, or "product".
type SpaceKind string

const product SpaceKind = "product"

func (k *SpaceKind) decode(_ *decoder, n *document.Node) error {
	name, err := n.Text()
	if err != nil {
		return err
	}
	var names []string
	for _, s := range spaces {
		names = append(names, s.Kind().Name)
	}
	if names = append(names, string(product)); !slices.Contains(names, name) {
		return n.Errorf("kind %q is unknown%s", name, document.Suggestion(name, names))
	}
	*k = SpaceKind(name)
	return nil
}

// kind describes a kind of space; nil for a product.
func (k SpaceKind) kind() *space.Kind {
	for _, s := range spaces {
		if s.Kind().Name == string(k) {
			return s.Kind()
		}
	}
	return nil
}

// keys returns the keys of a kind beside "kind".
func (k SpaceKind) keys() (keys []string) {
	if k == product {
		return []string{"parts"}
	}
	kind := k.kind()
	for _, size := range kind.Sizes {
		keys = append(keys, size.Name)
	}
	if kind.Edges {
		keys = append(keys, "edge")
	}
	return keys
}

// check checks that the keys are those of the kind; the whole space is built once.
func (s *Space) check(d *decoder, n *document.Node) error {
	keys := s.Kind.keys()
	for _, key := range keys {
		if n.Get(key) == nil && key != "edge" {
			return n.Errorf("the key %q is missing; a %s has %s", key, s.Kind, document.Alternatives(keys))
		}
	}
	for i := 0; i < len(n.Kids); i += 2 {
		if key := n.Kids[i]; key.Raw != "kind" && !slices.Contains(keys, key.Raw) {
			return key.Errorf("a %s has no %q; it has %s", s.Kind, key.Raw, strings.Join(keys, ", "))
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

// space returns the description in the terms of package space.
func (s *Space) space() space.Space {
	kind := s.Kind.kind()
	if kind == nil {
		all := space.Product{}
		for i := range s.Parts {
			all = append(all, s.Parts[i].space())
		}
		return all
	}
	edge, err := space.ParseEdge(s.Edge)
	if err != nil {
		edge = space.Absorb // checked words name an edge
	}
	sizes := make([]int, len(kind.Sizes))
	for _, key := range keysOf(reflect.TypeFor[Space]()) {
		for i := range sizes {
			if kind.Sizes[i].Name == key.name {
				sizes[i] = int(reflect.ValueOf(s).Elem().FieldByIndex(key.index).Int())
			}
		}
	}
	return kind.New(sizes, edge)
}

// aboutSize says which kinds have a size, and what it counts: "square4, square8, hex: rows."
func aboutSize(name string) string {
	var kinds []string
	doc := ""
	for _, s := range spaces {
		for _, size := range s.Kind().Sizes {
			if size.Name == name {
				kinds, doc = append(kinds, s.Kind().Name), size.Doc
			}
		}
	}
	return strings.Join(kinds, ", ") + ": " + doc + "."
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

// all reports whether the region is all cells.
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

// Space returns the region in the terms of package space.
func (r *Region) Space() space.Region {
	switch {
	case r.Rect != nil:
		return space.Rect{Min: r.Rect.From.Coord, Max: r.Rect.To.Coord}
	case r.Disk != nil:
		return space.Disk{Center: r.Disk.Center.Coord, Radius: r.Disk.Radius}
	case r.Cells != nil:
		cells := make(space.Cells, len(r.Cells))
		for i, c := range r.Cells {
			cells[i] = c.Coord
		}
		return cells
	}
	return space.All{}
}

// ranks lists the region's cells, ascending.
func (r *Region) ranks(l *space.Lattice) ([]int32, error) {
	plan, err := l.Compile(r.Space())
	if err != nil {
		return nil, err
	}
	return plan.Ranks, nil
}

// places returns how many cells the region has, and where they are, ascending. It lists them
// only if they are not all.
func (r *Region) places(l *space.Lattice) (n int, cell func(place int) int) {
	if r.all() {
		return l.Cells(), func(place int) int { return place }
	}
	ranks, err := r.ranks(l)
	if err != nil {
		return 0, nil // the region was checked
	}
	return len(ranks), func(place int) int { return int(ranks[place]) }
}

// size returns an upper bound of the number of cells, without listing them.
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
