package scenarios

import (
	"cmp"
	"errors"
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/space"
)

// latticeKinds follow rules from cell to cell.
var latticeKinds = []kind{
	{"automaton", 1, "Runs a cellular automaton such as Conway's Life or WireWorld.", "", func() params { return new(automaton) }},
	{"majority", 1, "Gives every cell the state that most of its neighbours have.", "", func() params { return new(majority) }},
	{"percolation", 1, "Lets a liquid seep from cell to cell through those that are open by chance.", "", func() params { return new(percolation) }},
	{"distance", 1, "Computes how many steps away the nearest source is, around obstacles.", "", func() params { return new(distances) }},
	{"sight", 1, "Counts for every cell the viewers that see it.", "", func() params { return new(sight) }},
}

type automaton struct {
	Field      FieldRef     `yaml:"field,required" is:"a field of cells" doc:"The states; for a rule 0 is dead, 1 alive, and above a cell that ages."`
	Rule       string       `yaml:"rule" doc:"Such as B3/S23: the counts of live neighbours for birth and survival."`
	Elementary *uint8       `yaml:"elementary" doc:"The Wolfram code of a rule on a line or a ring."`
	Table      []transition `yaml:"table" doc:"What becomes of which state; the first that fits counts, and where none fits the cell stays as it is."`
}

type transition struct {
	From   Value       `yaml:"from" doc:"The cell's state; any if left out."`
	When   []condition `yaml:"when" doc:"What its neighbours must be like; all must hold."`
	Become Value       `yaml:"become,required" doc:"Its next state."`
}

type condition struct {
	State Value  `yaml:"state,required" doc:"Of neighbours."`
	Min   *uint8 `yaml:"min" max:"63" doc:"So many neighbours at least are of the state; default 0."`
	Max   *uint8 `yaml:"max" max:"63" doc:"So many at most; default all."`
	At    string `yaml:"at" doc:"The neighbour in this direction is of the state, such as north, or next on a line."`
}

func (p *automaton) check(d *decoder, n *node) error {
	made := 0
	for _, there := range [...]bool{p.Rule != "", p.Elementary != nil, p.Table != nil} {
		if there {
			made++
		}
	}
	if made != 1 {
		return n.errorf("an automaton needs one of rule, elementary and table")
	}
	if p.Rule != "" {
		if _, err := propagators.ParseRule(p.Rule); err != nil {
			return n.get("rule").errorf("%s", plain(err)).because(err)
		}
		return nil
	}
	_, err := p.table(d.s.lattice, d.s.field(string(p.Field)))
	if e, ok := errors.AsType[*propagators.TableError](err); ok {
		return p.place(n, e).errorf("%s", plain(err)).because(err)
	}
	return err
}

// place is where the error of a table stands.
func (p *automaton) place(n *node, e *propagators.TableError) *node {
	if p.Elementary != nil {
		return n.get("elementary")
	}
	n = n.get("table")
	if e.Transition >= 0 {
		n = n.kids[e.Transition]
		if e.Condition >= 0 {
			n = n.get("when").kids[e.Condition]
		}
	}
	return n
}

// table makes the table, if there is no rule.
func (p *automaton) table(l *space.Lattice, f *Field) (*propagators.Table, error) {
	if p.Elementary != nil {
		return propagators.NewElementary(l, *p.Elementary)
	}
	states := len(f.Values)
	var all []propagators.Transition
	for _, t := range p.Table {
		tr := propagators.Transition{From: propagators.Any, Become: t.Become.state()}
		if t.From != nil {
			tr.From = t.From.state()
		}
		states = max(states, tr.From+1, tr.Become+1)
		for _, c := range t.When {
			tr.When = append(tr.When, c.condition())
			states = max(states, c.State.state()+1)
		}
		all = append(all, tr)
	}
	return propagators.NewTable(l, max(2, states), all)
}

// checkState checks that a value of a mapping's key is a state.
func checkState(n *node, key string, v Value) error {
	if v == nil {
		return nil
	}
	if x := v.component(0); !(x >= 0 && x < 256 && x == math.Floor(x)) {
		at := n.get(key)
		return at.errorf("%s is no state; states are whole numbers from 0 to 255", at.what())
	}
	return nil
}

func (t *transition) check(_ *decoder, n *node) error {
	return cmp.Or(checkState(n, "from", t.From), checkState(n, "become", t.Become))
}

func (c *condition) check(_ *decoder, n *node) error { return checkState(n, "state", c.State) }

// state is a value that is one, as a number.
func (v Value) state() int { return int(v.component(0)) }

func (c *condition) condition() propagators.Condition {
	to := propagators.Condition{State: c.State.state(), At: c.At}
	if c.At == "" || c.Min != nil || c.Max != nil {
		lo, hi := uint8(0), uint8(63)
		if c.Min != nil {
			lo = *c.Min
		}
		if c.Max != nil {
			hi = *c.Max
		}
		to.Counts = propagators.Between(int(lo), int(hi))
	}
	return to
}

func (p *automaton) propagator(b *builder, name string) (engine.Propagator, error) {
	a := propagators.Automaton{Name: name, Field: b.field(p.Field)}
	var err error
	if p.Rule != "" {
		a.Rule, err = propagators.ParseRule(p.Rule)
	} else {
		a.Table, err = p.table(b.lattice, b.s.field(string(p.Field)))
	}
	return a, err
}

type distances struct {
	Source   FieldRef `yaml:"source,required" is:"a field of cells" doc:"A cell is a source where this is not 0."`
	Blocks   FieldRef `yaml:"blocks" is:"a field of cells" doc:"No way leads through cells where this is not 0."`
	Distance FieldRef `yaml:"distance,required" is:"a scalar field" doc:"Gets the number of steps, 0 at a source."`
	Limit    int      `yaml:"limit" min:"0" doc:"The farthest that is looked; 0 is no limit."`
	Far      float64  `yaml:"far" default:"-1" doc:"For obstacles, and for cells that no way leads to or that lie beyond the limit; not 0."`
}

func (p *distances) check(_ *decoder, n *node) error {
	switch {
	case p.Distance == p.Source:
		return n.get("distance").errorf("source and distance are both %q", p.Source)
	case p.Distance == p.Blocks:
		return n.get("distance").errorf("blocks and distance are both %q", p.Blocks)
	case float32(p.Far) == 0:
		return n.get("far").errorf("far is 0 as a float32, which is the distance of a source")
	}
	return nil
}

func (p *distances) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Distance{
		Name: name, Source: b.field(p.Source), Blocks: b.optional(p.Blocks), Distance: b.field(p.Distance), Limit: p.Limit, Far: p.Far,
	}, nil
}

type majority struct {
	Field  FieldRef `yaml:"field,required" is:"a field of cells" doc:"The states."`
	States *int     `yaml:"states" min:"2" max:"256" doc:"How many there are; default: the values of a categorical field, 2 of a scalar one."`
	Self   bool     `yaml:"self" doc:"A cell has a vote itself."`
	Ties   string   `yaml:"ties" enum:"keep,lowest" default:"keep" doc:"Who wins at equal votes: the cell's own state, or the lowest of those that have them."`
	Noise  float64  `yaml:"noise" min:"0" max:"1" doc:"The odds, each tick, that a cell follows one neighbour at random instead."`
}

func (p *majority) check(d *decoder, n *node) error {
	f := d.s.field(string(p.Field))
	if values := len(f.Values); values > 0 && p.States != nil && *p.States > values {
		return n.get("states").errorf("field %q has %d values", f.Name, values)
	}
	return nil
}

func (p *majority) propagator(b *builder, name string) (engine.Propagator, error) {
	ties, err := propagators.ParseTies(p.Ties)
	m := propagators.Majority{Name: name, Field: b.field(p.Field), Self: p.Self, Ties: ties, Noise: p.Noise}
	if p.States != nil {
		m.States = *p.States
	} else {
		m.States = max(2, len(b.s.field(string(p.Field)).Values))
	}
	return m, err
}

type percolation struct {
	Field  FieldRef `yaml:"field,required" is:"a field of cells" doc:"0 is untouched, 1 wet, 2 closed; a 1 is a source."`
	Open   *float64 `yaml:"open" min:"0" max:"1" doc:"The odds that a cell is open."`
	OpenIn FieldRef `yaml:"open_in" is:"a field of cells" doc:"Instead: a field with the odds of each cell."`
}

func (p *percolation) check(_ *decoder, n *node) error {
	switch {
	case (p.Open == nil) == (p.OpenIn == ""):
		return n.errorf("a percolation needs one of open and open_in")
	case p.OpenIn == p.Field:
		return n.get("open_in").errorf("field and open_in are both %q", p.Field)
	}
	return nil
}

func (p *percolation) propagator(b *builder, name string) (engine.Propagator, error) {
	made := propagators.Percolation{Name: name, Field: b.field(p.Field), OpenIn: b.optional(p.OpenIn)}
	if p.Open != nil {
		made.Open = *p.Open
	}
	return made, nil
}

type sight struct {
	Viewer  FieldRef `yaml:"viewer,required" is:"a field of cells" doc:"Somebody looks from where this is not 0."`
	Blocks  FieldRef `yaml:"blocks" is:"a field of cells" doc:"Nobody looks through cells where this is not 0; they can be seen themselves."`
	Visible FieldRef `yaml:"visible,required" is:"a scalar field" doc:"Gets the number of viewers that see the cell."`
	Radius  int      `yaml:"radius,required" min:"1" max:"16384" doc:"How far anybody sees, in steps."`
}

func (p *sight) check(_ *decoder, n *node) error {
	switch p.Visible {
	case p.Viewer:
		return n.get("visible").errorf("viewer and visible are both %q", p.Viewer)
	case p.Blocks:
		return n.get("visible").errorf("blocks and visible are both %q", p.Blocks)
	}
	return nil
}

func (p *sight) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.Sight{
		Name: name, Viewer: b.field(p.Viewer), Blocks: b.optional(p.Blocks), Visible: b.field(p.Visible), Radius: p.Radius,
	}, nil
}
