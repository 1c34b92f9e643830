package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/survey"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// A Selection says what is wanted of a world. The zero Selection is all fields of cells, of
// every cell.
type Selection struct {
	Fields   []string     // by name; empty: all that fit
	Region   space.Region // nil: all cells
	Entities bool         // the entities and not the cells
}

// A Plan is a selection made ready for a world.
type Plan struct {
	fields []field // in the order of the selection

	named    int // fields of the selection
	scenario *scenarios.Scenario
	lattice  *space.Lattice
	entities bool
	cells    []int32 // ranks, ascending; nil: all
	shape    []int   // of the cells, outermost first
	listed   bool    // the cells do not lie in a box, so a file must say where they are
	axes     []string
}

// A field is one that is written.
type field struct {
	name   string
	id     fields.ID
	def    fields.Def
	values []string // names of categories
}

// NewPlan finds what is selected in the world of a scenario. An error names what there is not.
func NewPlan(s *scenarios.Scenario, selected Selection) (*Plan, error) {
	p := &Plan{named: len(selected.Fields), scenario: s, lattice: s.Lattice(), entities: selected.Entities}
	if selected.Entities && s.Entities == nil {
		return nil, fmt.Errorf("%s has no entities", s.Name)
	}
	if err := p.choose(selected.Fields); err != nil {
		return nil, err
	}
	for _, a := range p.lattice.Axes() {
		p.axes = append(p.axes, a.Name)
	}
	region := selected.Region
	if region == nil {
		region = space.All{}
	}
	plan, err := p.lattice.Compile(region)
	if err != nil {
		return nil, fmt.Errorf("region: %s", strings.TrimPrefix(err.Error(), "space: "))
	}
	if p.shape = plan.BoundingShape; selected.Region != nil {
		p.cells = plan.Ranks
	}
	p.listed = len(p.shape) != p.lattice.Dim()
	if _, list := region.(space.Cells); list {
		p.listed = true
	}
	return p, nil
}

// choose finds fields by their names, in the domain that is written.
func (p *Plan) choose(names []string) error {
	domain := fields.Cells
	if p.entities {
		domain = fields.Entities
	}
	for i, name := range names {
		f, err := p.field(name, domain)
		if err != nil {
			return err
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("field %q is named twice", name)
		}
		p.fields = append(p.fields, *f)
	}
	if len(names) == 0 {
		for i := range p.scenario.Fields {
			if f := p.at(i); f.def.Domain == domain {
				p.fields = append(p.fields, f)
			}
		}
	}
	if p.scenario.Entities == nil { // of which there may be charts
		return p.some()
	}
	return nil
}

// some returns an error if there is nothing to write for a cell.
func (p *Plan) some() error {
	if len(p.fields) == 0 && !p.entities {
		return fmt.Errorf("%s has no field of cells", p.scenario.Name)
	}
	return nil
}

// at returns a field of the scenario by its number.
func (p *Plan) at(i int) field {
	f := &p.scenario.Fields[i]
	return field{f.Name, fields.ID(i), f.Def(), f.Values}
}

// field finds a field of a domain by its name.
func (p *Plan) field(name string, domain fields.Domain) (*field, error) {
	var there []string
	for i := range p.scenario.Fields {
		f := p.at(i)
		switch {
		case f.name == name && f.def.Domain == domain:
			return &f, nil
		case f.name == name && domain == fields.Entities:
			return nil, fmt.Errorf("field %q belongs to cells, not to entities; leave out --entities", name)
		case f.name == name:
			return nil, fmt.Errorf("field %q belongs to entities; a table has it with --entities", name)
		case f.def.Domain == domain:
			there = append(there, f.name)
		}
	}
	return nil, fmt.Errorf("there is no field %q%s", name, document.Suggestion(name, there))
}

// only keeps the first field, for files that hold one.
func (p *Plan) only() { p.fields = p.fields[:1] }

// count is how many cells are written.
func (p *Plan) count() int {
	if p.cells == nil {
		return p.lattice.Cells()
	}
	return len(p.cells)
}

// rank returns the rank of the cell that is written as number i.
func (p *Plan) rank(i int) int {
	if p.cells == nil {
		return i
	}
	return int(p.cells[i])
}

// An encoding is how the numbers of a field are written.
type encoding uint8

const (
	float32s encoding = iota
	float64s
	int32s
	uint64s
	texts
)

// typeOf returns how the numbers of a field are written: categories as integers, fixed-point
// numbers as float64.
func (f *field) typeOf() encoding {
	switch {
	case f.def.Type.Kind == fields.CategoricalKind || f.def.Element == fields.Int32:
		return int32s
	case f.def.Element == fields.Fixed:
		return float64s
	case f.def.Element == fields.Uint64:
		return uint64s
	}
	return float32s
}

// static reports whether all ticks have the same values.
func (f *field) static() bool { return f.def.Mutability == fields.Static }

// components is how many numbers a cell has.
func (f *field) components() int { return f.def.Type.Components() }

// names lists the columns of a field in a table.
func (f *field) names() []string { return survey.Columns(f.name, f.components()) }

// column returns a field's values in a world.
func (f *field) column(w *engine.World) *fields.Column { return w.Column(f.id) }
