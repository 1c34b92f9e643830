package scenarios

import (
	"math"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/document"
)

// A Policy says who acts when a scenario with an environment is run.
type Policy struct {
	None   bool     // no agent acts
	Climb  FieldRef // each agent moves to the neighbour with the most of a field, or stays
	Script []int32  // every agent takes these choices in turn, again and again
}

// policyForms are the forms that a policy may have.
const policyForms = "random, none, {climb: FIELD} or {script: [0, 1, …]}"

const maxScript = 65_536

func (p *Policy) decode(d *decoder, n *document.Node) error {
	if n.Kind == document.Scalar {
		switch n.Raw {
		case "random", "none":
			p.None = n.Raw == "none"
			return nil
		}
		return n.Errorf("policy %q is unknown; it is %s", n.Raw, policyForms)
	}
	if n.Kind != document.Mapping || len(n.Kids) != 2 {
		return n.Errorf("%s stands where a policy belongs: %s", n.What(), policyForms)
	}
	switch key, value := n.Kids[0], n.Kids[1]; key.Raw {
	case "climb":
		if err := p.Climb.decode(d, value); err != nil {
			return err
		}
		if f := d.s.field(string(p.Climb)); f.sort() != "a scalar field" {
			return value.Errorf("field %q is %s; a scalar field is needed here", f.Name, f.sort())
		}
		return nil
	case "script":
		if value.Kind != document.List || len(value.Kids) == 0 || len(value.Kids) > maxScript {
			return value.Errorf("a script is a list of 1 to %d choices", maxScript)
		}
		for _, item := range value.Kids {
			i, err := item.Int(0, math.MaxInt32)
			if err != nil {
				return err
			}
			p.Script = append(p.Script, int32(i))
		}
		return nil
	default:
		return key.Errorf("policy %q is unknown; it is %s", key.Raw, policyForms)
	}
}

func (p Policy) appendJSON(b []byte) []byte {
	switch {
	case p.Climb != "":
		return append(document.AppendText(append(b, `{"climb":`...), string(p.Climb)), '}')
	case p.Script != nil:
		b = append(b, `{"script":[`...)
		for i, x := range p.Script {
			if i > 0 {
				b = append(b, ',')
			}
			b = document.AppendFloat(b, float64(x))
		}
		return append(b, "]}"...)
	case p.None:
		return append(b, `"none"`...)
	}
	return append(b, `"random"`...)
}

// fits checks the policy against the actions.
func (p *Policy) fits(e *Environment, directions int, n *document.Node) error {
	choices := len(e.Actions.Choices)
	if e.Actions.Moves {
		choices += directions + count(e.Actions.Stay)
	}
	switch {
	case p.Climb != "" && !e.Actions.Moves:
		return n.Errorf("the policy climb needs actions with moves")
	case p.Climb != "" && !e.Actions.Stay && !slices.ContainsFunc(e.Actions.Choices, func(c Choice) bool { return c.Stay }):
		return n.Errorf("the policy climb needs a choice to stay, for where no neighbour has more")
	case p.Script == nil:
		return nil
	case len(e.Actions.Controls) > 0:
		return n.Errorf("the policy script needs choices; these actions are controls")
	}
	for i, choice := range p.Script {
		if int(choice) >= choices {
			return n.At("script").Kids[i].Errorf("there is no choice %d; there are %d, the first is 0", choice, choices)
		}
	}
	return nil
}

// AgentIDs returns the ids that the entities of a kind get in the first tick, in ascending
// order, if every entity of the first population finds room.
func (s *Scenario) AgentIDs(k Kind) (ids []uint64) {
	n := 0
	for _, named := range []bool{true, false} {
		for i := range s.Entities.Spawn {
			p := &s.Entities.Spawn[i]
			if (p.Name != "") != named {
				continue
			}
			count := p.Count
			if count == 0 {
				count, _ = p.places(s.lattice)
			}
			for range count {
				if p.Kind == k {
					ids = append(ids, entityID(1, n))
				}
				n++
			}
		}
	}
	return ids
}

// Draw appends the commands for the first tick that the draws of the environment make under
// the scenario's seed.
//
// The i-th draw takes its numbers from the genesis stream "genesis.environment" with the number
// i, in bulk: a parameter the first of index 0, as from + u·(to − from), and the n-th cell that of index n, or
// another if that is drawn already: see lottery.
func (s *Scenario) Draw(list []commands.Command) []commands.Command {
	if s.Environment == nil {
		return list
	}
	for i := range s.Environment.Draws {
		x := &s.Environment.Draws[i]
		draws := rng.Seed(s.Seed).Tick(0).Stream("genesis.environment", uint64(i)).Bulk()
		if x.Param != "" {
			key, _ := s.param(string(x.Param))
			v := x.From + float64(float64(draws.Float32(0))*(x.To-x.From))
			list = append(list, commands.SetParameter(key, v))
			continue
		}
		list = x.cells(list, s, draws)
	}
	return list
}

// cells appends the commands of a draw of cells.
func (x *Draw) cells(list []commands.Command, s *Scenario, draws rng.Bulk) []commands.Command {
	places, cellOf := x.places(s.lattice)
	f := s.field(string(x.Field))
	taken := make(map[int]bool, x.Count)
	drawn := lottery{draws: draws, places: places, free: func(place int) bool { return !taken[place] }}
	for n := range x.Count {
		place := drawn.draw(n)
		taken[place] = true
		at := s.lattice.Coord(cellOf(place))
		for k := range f.Type.Components() {
			to := at
			if f.Type.Kind == fields.VectorKind {
				to = at.Append(int32(k))
			}
			list = append(list, commands.SetField(to, uint32(s.id(x.Field)), float32(x.Value.component(k))))
		}
	}
	return list
}

// Redraw puts what the scenario's seed decides into a configuration's initial values, which
// are those of Config: fields with random layers.
func (s *Scenario) Redraw(c *engine.Config) error {
	for i := range s.Fields {
		f := &s.Fields[i]
		if !f.Initial.random() {
			continue
		}
		initial, err := s.initial(f, nil)
		if err != nil {
			return err
		}
		c.Fields[i].Initial = initial
	}
	return nil
}

// random reports whether the values depend on the seed.
func (l layers) random() bool {
	if l.constant() {
		return false
	}
	for i := l.bottom(); i < len(l); i++ {
		if l[i].Noise != nil || l[i].Choice != nil {
			return true
		}
	}
	return false
}

// Builder returns a view of the scenario for what resolves its references.
func (s *Scenario) Builder() *Builder { return &Builder{s: s} }
