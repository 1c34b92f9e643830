package evidence

import (
	"fmt"
	"strings"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/scenarios"
)

// A SubjectView is what a proof says of a cell or an entity. Names, places and units are those of the genesis document, which is proved, too.
type SubjectView struct {
	Entity words.Whole `json:"entity,omitempty"` // its id
	Name   string      `json:"name,omitempty"`
	Kind   string      `json:"kind,omitempty"`
	Cell   []int32     `json:"cell"`
	Values []valueView `json:"values"`
}

// A valueView is the value of a field.
type valueView struct {
	Field string   `json:"field"`
	Value []string `json:"value"` // of a vector several
	Unit  string   `json:"unit,omitempty"`
}

// Text says it for people.
func (v *SubjectView) Text() string {
	where := "at " + words.CoordText(v.Cell)
	if v.Entity == 0 {
		return fmt.Sprintf("value     %s %s: %s", v.Values[0].Field, where, v.Values[0].text())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "entity    %d%s, %s, %s", uint64(v.Entity), named(v.Name), v.Kind, where)
	for i := range v.Values {
		fmt.Fprintf(&b, "\n  %s: %s", v.Values[i].Field, v.Values[i].text())
	}
	return b.String()
}

func named(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

func (v *valueView) text() string {
	text := v.Value[0]
	if len(v.Value) > 1 {
		text = "[" + strings.Join(v.Value, ", ") + "]"
	}
	return strings.TrimSpace(text + " " + words.Printable(v.Unit))
}

// ViewSubject reads what a proof says of its subject. The proof must be whole.
func ViewSubject(s *scenarios.Scenario, p *audit.Proof) (*SubjectView, error) {
	y := LayoutOf(s)
	if err := y.Check(p); err != nil {
		return nil, err
	}
	if p.Subject.Entity != 0 {
		return viewEntity(s, y, p)
	}
	e, err := CellOf(s, y, p.Subject)
	if err != nil {
		return nil, err
	}
	v, err := valueOf(s, y, p, e)
	return &SubjectView{Cell: p.Subject.Cell, Values: []valueView{v}}, err
}

// viewEntity is viewSubject for an entity.
func viewEntity(s *scenarios.Scenario, y *audit.Layout, p *audit.Proof) (*SubjectView, error) {
	id := p.Subject.Entity
	slot, ok := y.Slot(p, id)
	if !ok {
		return nil, fmt.Errorf("it has no entity %d", id)
	}
	v := &SubjectView{Entity: words.Whole(id)}
	if name := s.EntityName(id); name != fmt.Sprintf("entity %d", id) {
		v.Name = name
	}
	for _, e := range y.Entity(slot) {
		value, err := valueOf(s, y, p, e)
		if err != nil {
			return nil, err
		}
		switch e.Column - y.IDs() {
		case 0: // the id, which is found
		case 1:
			v.Kind = value.Value[0]
		case 2:
			bits, _ := p.Bits(e)
			cell := int(int32(bits[0]))
			if cell < 0 || cell >= s.Lattice().Cells() {
				return nil, fmt.Errorf("entity %d is at cell %d, which there is not", id, cell)
			}
			v.Cell = s.Lattice().Coord(cell).AppendTo(nil)
		default:
			v.Values = append(v.Values, value)
		}
	}
	return v, nil
}

// valueOf reads the value of a field in a proof.
func valueOf(s *scenarios.Scenario, y *audit.Layout, p *audit.Proof, e audit.Elements) (v valueView, err error) {
	d := &y.Defs[e.Column]
	v = valueView{Field: d.Name, Unit: d.Unit}
	bits, ok := p.Bits(e)
	if !ok {
		return v, fmt.Errorf("it does not have all of %s", d.Name)
	}
	for _, b := range bits {
		text := diff.Between(d, b, b).A
		if n := d.Value(b); e.Column == y.IDs()+1 && y.IDs() >= 0 || d.Type.Kind == fields.CategoricalKind {
			text = session.Names{Scenario: s}.Value(uint32(e.Column), float32(n))
		}
		v.Value = append(v.Value, text)
	}
	return v, nil
}
