package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/checkpoint"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/scenarios"
)

// A subjectView is what a proof says of a cell or an entity. Names, places and units are those of the genesis document, which is proved, too.
type subjectView struct {
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

// text says it for people.
func (v *subjectView) text() string {
	where := "at " + coordText(v.Cell)
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

// viewSubject reads what a proof says of its subject. The proof must be whole.
func viewSubject(s *scenarios.Scenario, p *audit.Proof) (*subjectView, error) {
	y := layoutOf(s)
	if err := y.Check(p); err != nil {
		return nil, err
	}
	if p.Subject.Entity != 0 {
		return viewEntity(s, y, p)
	}
	e, err := cellOf(s, y, p.Subject)
	if err != nil {
		return nil, err
	}
	v, err := valueOf(s, y, p, e)
	return &subjectView{Cell: p.Subject.Cell, Values: []valueView{v}}, err
}

// viewEntity is viewSubject for an entity.
func viewEntity(s *scenarios.Scenario, y *audit.Layout, p *audit.Proof) (*subjectView, error) {
	id := p.Subject.Entity
	slot, ok := y.Slot(p, id)
	if !ok {
		return nil, fmt.Errorf("it has no entity %d", id)
	}
	v := &subjectView{Entity: words.Whole(id)}
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

// A provedResult is what audit check prints of a proof with --json.
type provedResult struct {
	Event  string `json:"event"`            // "proved"
	Run    string `json:"run,omitempty"`    // that is signed
	Parent string `json:"parent,omitempty"` // from which it was forked
	Tick   uint64 `json:"tick"`
	Hash   string `json:"world_hash"` // to which the proof leads
	Signed bool   `json:"signed"`
	subjectView
	signatureView
}

// A wholeProof is a proof that holds, and what it says.
type wholeProof struct {
	*audit.Proof
	world  audit.Hash // to which it leads
	says   *subjectView
	parent *audit.Parent // of the run; nil: it is no fork
}

// readProof reads a proof, and holds that it is whole and says what it is about.
func (a *app) readProof(name string) (*wholeProof, error) {
	const most = 128 << 20 // bytes: a genesis document has 64 MiB at most
	text, err := files.ReadAtMost(name, "a proof", most)
	if err != nil {
		return nil, err
	}
	p := new(wholeProof)
	if p.Proof, err = audit.ReadProof(text); err != nil {
		return nil, brokenProof(name, err)
	}
	whole := false
	if p.world, whole = p.Hash(); !whole {
		return nil, brokenProof(name, errors.New("the proof is broken: what it holds does not lead to one hash"))
	}
	world, parent, err := audit.SplitGenesis(p.Genesis)
	if err != nil {
		return nil, brokenProof(name, err)
	}
	s, err := a.Registry.FromDescriptor(world)
	if err != nil {
		return nil, words.About(name, fmt.Errorf("it leads to the hash %s, but its genesis document cannot be read here: %w", p.world, words.InWords(session.Unbuilt(err))))
	}
	p.parent = parent
	if p.says, err = viewSubject(s, p.Proof); err != nil {
		return nil, brokenProof(name, err)
	}
	return p, nil
}

// brokenProof is the error of a proof that does not hold.
func brokenProof(name string, err error) error {
	return report.Exit(report.StatusEvidence, words.About(name, err))
}

// checkProof checks a proof, and that its hash is the one that is signed; "": there is no signature.
func (a *app) checkProof(name, signature string, x *signatureCheck) error {
	p, err := a.readProof(name)
	if err != nil {
		return err
	}
	r := provedResult{Event: "proved", Tick: p.Tick, Hash: p.world.String(), subjectView: *p.says}
	lines := []string{fmt.Sprintf("leads to  tick %s, hash %s", words.Number(p.Tick), p.world)}
	if p.parent != nil {
		r.Parent = p.parent.Run.String()
		lines = append(lines, fmt.Sprintf("fork      of run %s at tick %s", p.parent.Run, words.Number(p.parent.Tick)))
	}
	if signature == "" {
		lines = append(lines, p.says.text(),
			"unsigned  it proves this to those who know by other means that the tick has this hash: anyone can make up a state, and a proof of it;\n"+
				"          with a signature and --key, check holds it against that")
	} else {
		c, v, err := x.read(signature)
		if err == nil {
			err = p.of(name, c)
		}
		if err != nil {
			return err
		}
		r.Run, r.Signed, r.signatureView = c.Run.String(), true, *v
		lines = append(lines, v.text(c), p.says.text(), "it belonged to the state that is signed")
	}
	if err := a.Emit(r); err != nil {
		return err
	}
	return a.Say("%s", strings.Join(lines, "\n"))
}

// of holds that a checkpoint is of the state to which a proof leads.
func (p *wholeProof) of(name string, c *checkpoint.Checkpoint) error {
	switch {
	case c.Tick != p.Tick:
		return brokenProof(name, fmt.Errorf("it is of tick %s; tick %s is signed", words.Number(p.Tick), words.Number(c.Tick)))
	case c.Hash != p.world:
		return brokenProof(name, fmt.Errorf("it leads to the hash %s at tick %s; for run %s, %s is signed: it is of another run, or was changed", p.world, words.Number(p.Tick), c.Run, c.Hash))
	}
	return nil
}
