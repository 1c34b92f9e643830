package components

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
)

type automaton struct {
	Field      scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The states, categorical or whole numbers of a scalar; for a rule 0 is dead, 1 alive, and higher states are ageing cells."`
	Rule       string             `yaml:"rule" hint:"a Wolfram code, such as 30, is an elementary rule: write \"elementary: 30\"" doc:"Such as B3/S23: the counts of live neighbours for birth and survival; other notations of Golly are read, too."`
	Elementary *uint8             `yaml:"elementary" doc:"The Wolfram code of a rule on a line or a ring."`
	Table      []transition       `yaml:"table" doc:"The transitions; the first that fits gives the next state, and if none fits the cell keeps its state."`
}

type transition struct {
	From   scenarios.Value `yaml:"from" doc:"The cell's state; any if left out."`
	When   []condition     `yaml:"when" doc:"Conditions on its neighbours; all must hold."`
	Become scenarios.Value `yaml:"become,required" doc:"Its next state."`
}

type condition struct {
	State scenarios.Value `yaml:"state,required" doc:"A state of neighbours."`
	Min   *uint8          `yaml:"min" max:"63" doc:"At least this many neighbours have the state; default 0."`
	Max   *uint8          `yaml:"max" max:"63" doc:"At most this many; default all."`
	At    string          `yaml:"at" doc:"The neighbour in this direction has the state, such as north, or next on a line."`
}

// Check implements [scenarios.ParamsChecker].
func (p *automaton) Check(b *scenarios.Builder) error {
	made := 0
	for _, there := range [...]bool{p.Rule != "", p.Elementary != nil, p.Table != nil} {
		if there {
			made++
		}
	}
	if made != 1 {
		return errors.New("an automaton needs one of rule, elementary and table")
	}
	if p.Rule != "" {
		if code := strings.TrimLeft(p.Rule, "Ww"); code != "" && strings.Trim(code, "0123456789") == "" {
			return engine.ArgErrorf("rule", "%q is not a rule such as B3/S23; for a Wolfram code write \"elementary: %s\"", p.Rule, code)
		}
		n, err := propagators.ParseNotation(b.Lattice(), p.Rule)
		if err != nil {
			return &engine.ArgError{Arg: "rule", Err: err}
		}
		p.Rule = n.String() // descriptors have one spelling
		return nil
	}
	if err := p.checkStates(); err != nil {
		return err
	}
	err := p.checkTable(b)
	if e, ok := errors.AsType[*propagators.TableError](err); ok {
		return &engine.ArgError{Arg: p.place(e), Err: err}
	}
	return err
}

// PatternRule implements [scenarios.RuleTeller].
func (p *automaton) PatternRule(b *scenarios.Builder) (scenarios.FieldRef, string) {
	if p.Rule == "" {
		return p.Field, ""
	}
	n, err := propagators.ParseNotation(b.Lattice(), p.Rule)
	if err != nil {
		return p.Field, ""
	}
	return p.Field, n.Golly(b.Lattice())
}

// SpellRule implements [scenarios.RuleTeller].
func (p *automaton) SpellRule(b *scenarios.Builder, rule string) string {
	n, err := propagators.ParseNotation(b.Lattice(), rule)
	if err != nil {
		return ""
	}
	text, _, _ := strings.Cut(n.Golly(b.Lattice()), ":")
	return text
}

// checkStates checks that what the table names are states.
func (p *automaton) checkStates() error {
	for i, t := range p.Table {
		at := fmt.Sprintf("table.%d", i)
		for j, c := range t.When {
			if err := checkState(fmt.Sprintf("%s.when.%d.state", at, j), c.State); err != nil {
				return err
			}
		}
		if err := cmp.Or(checkState(at+".from", t.From), checkState(at+".become", t.Become)); err != nil {
			return err
		}
	}
	return nil
}

// checkState checks that a value, if there is one, is a state.
func checkState(arg string, v scenarios.Value) error {
	if v == nil {
		return nil
	}
	if x := v[0]; !(x >= 0 && x < 256 && x == math.Floor(x)) {
		return engine.ArgErrorf(arg, "%v is no state; states are whole numbers from 0 to 255", x)
	}
	return nil
}

// place returns the path of what an error of the table is about.
func (p *automaton) place(e *propagators.TableError) string {
	switch {
	case p.Elementary != nil:
		return "elementary"
	case e.Transition < 0:
		return "table"
	case e.Condition < 0:
		return fmt.Sprintf("table.%d", e.Transition)
	}
	return fmt.Sprintf("table.%d.when.%d", e.Transition, e.Condition)
}

// Work implements [scenarios.WorkUser]: a condition is looked at in each neighbourhood, 64 at
// a time, and for each state.
func (p *automaton) Work(*scenarios.Builder) uint64 {
	const places, states = 1 << 16, 1 << 8
	steps := uint64(0)
	for i := range p.Table {
		steps += states + uint64(len(p.Table[i].When))*(places/64+states)
	}
	if steps > 0 {
		steps += places
	}
	return steps
}

// checkTable returns the error that table returns, without making a table of transitions.
func (p *automaton) checkTable(b *scenarios.Builder) error {
	if p.Elementary != nil {
		_, err := p.table(b)
		return err
	}
	states, all := p.transitions(b)
	return propagators.CheckTable(b.Lattice(), states, all)
}

// table makes the table, if there is no rule.
func (p *automaton) table(b *scenarios.Builder) (*propagators.Table, error) {
	if p.Elementary != nil {
		return propagators.NewElementary(b.Lattice(), *p.Elementary)
	}
	states, all := p.transitions(b)
	return propagators.NewTable(b.Lattice(), states, all)
}

// transitions returns the transitions of the table and how many states they have.
func (p *automaton) transitions(b *scenarios.Builder) (states int, all []propagators.Transition) {
	states = categories(b, p.Field)
	for _, t := range p.Table {
		tr := propagators.Transition{From: propagators.Any, Become: state(t.Become)}
		if t.From != nil {
			tr.From = state(t.From)
		}
		states = max(states, tr.From+1, tr.Become+1)
		for _, c := range t.When {
			tr.When = append(tr.When, c.condition())
			states = max(states, state(c.State)+1)
		}
		all = append(all, tr)
	}
	return max(2, states), all
}

// categories returns how many values a categorical field has; 0 for another field.
func categories(b *scenarios.Builder, r scenarios.FieldRef) int {
	if t := b.Defs()[b.Field(r)].Type; t.Kind == fields.CategoricalKind {
		return t.N
	}
	return 0
}

// state returns a value that is one, as a number.
func state(v scenarios.Value) int { return int(min(max(v[0], 0), 255)) }

func (c *condition) condition() propagators.Condition {
	to := propagators.Condition{State: state(c.State), At: c.At}
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

func (p *automaton) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	if p.Rule != "" {
		n, err := propagators.ParseNotation(b.Lattice(), p.Rule)
		a := n.Automaton(b.Lattice())
		a.Name, a.Field = name, b.Field(p.Field)
		return a, err
	}
	table, err := p.table(b)
	return propagators.Automaton{Name: name, Field: b.Field(p.Field), Table: table}, err
}

type distances struct {
	Source   scenarios.FieldRef `yaml:"source,required" is:"a field of cells" doc:"A cell is a source where this field is not 0, unless it is an obstacle."`
	Blocks   scenarios.FieldRef `yaml:"blocks" is:"a field of cells" doc:"Cells where this field is not 0 are obstacles."`
	Distance scenarios.FieldRef `yaml:"distance,required" is:"a scalar field" doc:"Gets the number of steps, 0 at a source."`
	Limit    int                `yaml:"limit" min:"0" doc:"The search stops at this distance, in steps, which saves time; 0 is no limit."`
	Far      float64            `yaml:"far" default:"-1" doc:"The value of obstacles and of cells that are unreachable or beyond the limit, in steps; must not be 0."`
}

func (p *distances) Check(*scenarios.Builder) error {
	switch {
	case p.Distance == p.Source:
		return engine.ArgErrorf("distance", "source and distance are both %q", p.Source)
	case p.Distance == p.Blocks:
		return engine.ArgErrorf("distance", "blocks and distance are both %q", p.Blocks)
	case float32(p.Far) == 0:
		return engine.ArgErrorf("far", "far is 0 as a float32, which is the distance of a source")
	}
	return nil
}

func (p *distances) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Distance{
		Name: name, Source: b.Field(p.Source), Blocks: b.Optional(p.Blocks), Distance: b.Field(p.Distance), Limit: p.Limit, Far: p.Far,
	}, nil
}

type majority struct {
	Field  scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The states, categorical or whole numbers of a scalar."`
	States *int               `yaml:"states" min:"2" max:"256" doc:"How many there are, 2 to 256; default: the values of a categorical field, 2 of a scalar one."`
	Self   bool               `yaml:"self" doc:"The cell votes, too."`
	Ties   string             `yaml:"ties" enum:"keep,lowest" default:"keep" doc:"keep or lowest: which state wins a tie, the cell's own state or the lowest of the tied states."`
	Noise  float64            `yaml:"noise" min:"0" max:"1" doc:"The probability, 0 to 1, per tick and not per second, that a cell copies one neighbour at random instead."`
}

func (p *majority) Check(b *scenarios.Builder) error {
	if n := categories(b, p.Field); n > 0 && p.States != nil && *p.States > n {
		return engine.ArgErrorf("states", "field %q has %d values", p.Field, n)
	}
	return nil
}

func (p *majority) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	ties, err := propagators.ParseTies(p.Ties)
	m := propagators.Majority{Name: name, Field: b.Field(p.Field), Self: p.Self, Ties: ties, Noise: p.Noise}
	if p.States != nil {
		m.States = *p.States
	} else {
		m.States = max(2, categories(b, p.Field))
	}
	return m, err
}

type percolation struct {
	Field  scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"0 is untouched, 1 wet, 2 closed; a 1 is a source."`
	Open   *float64           `yaml:"open" min:"0" max:"1" doc:"The probability, 0 to 1, that a cell is open."`
	OpenIn scenarios.FieldRef `yaml:"open_in" is:"a field of cells" doc:"Instead: a field with the probability for each cell, read when the liquid reaches it; up to 0 is never, from 1 on always."`
}

func (p *percolation) Check(*scenarios.Builder) error {
	switch {
	case (p.Open == nil) == (p.OpenIn == ""):
		return errors.New("a percolation needs one of open and open_in")
	case p.OpenIn == p.Field:
		return engine.ArgErrorf("open_in", "field and open_in are both %q", p.Field)
	}
	return nil
}

func (p *percolation) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	made := propagators.Percolation{Name: name, Field: b.Field(p.Field), OpenIn: b.Optional(p.OpenIn)}
	if p.Open != nil {
		made.Open = *p.Open
	}
	return made, nil
}

type sight struct {
	Viewer  scenarios.FieldRef `yaml:"viewer,required" is:"a field of cells" doc:"A cell has a viewer where this field is not 0."`
	Blocks  scenarios.FieldRef `yaml:"blocks" is:"a field of cells" doc:"Cells where this field is not 0 block the view; they can be seen themselves."`
	Visible scenarios.FieldRef `yaml:"visible,required" is:"a scalar field" doc:"Gets the number of viewers that see the cell."`
	Radius  int                `yaml:"radius,required" min:"1" max:"16384" doc:"The range of sight, in steps, 1 to 16,384: a diamond on square4, a square on square8, a hexagon on hex."`
}

func (p *sight) Check(*scenarios.Builder) error {
	switch p.Visible {
	case p.Viewer:
		return engine.ArgErrorf("visible", "viewer and visible are both %q", p.Viewer)
	case p.Blocks:
		return engine.ArgErrorf("visible", "blocks and visible are both %q", p.Blocks)
	}
	return nil
}

func (p *sight) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Sight{
		Name: name, Viewer: b.Field(p.Viewer), Blocks: b.Optional(p.Blocks), Visible: b.Field(p.Visible), Radius: p.Radius,
	}, nil
}
