package scenarios

import (
	"cmp"
	"encoding/hex"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/document"
)

// An Environment makes the scenario one in which agents can learn: what they see, what they
// can do, and what they are rewarded for. Package environment carries it out.
type Environment struct {
	Agents       Agents      `yaml:"agents,required" doc:"Who acts."`
	Actions      Actions     `yaml:"actions,required" doc:"What an agent can do in a step."`
	Observation  []Sight     `yaml:"observation,required" doc:"What an agent sees, in order."`
	Element      string      `yaml:"element" enum:"float32,uint8,float16" default:"float32" doc:"The numbers that observations are made of."`
	Reward       []Term      `yaml:"reward,required" doc:"What an agent gets for a step: the sum of these."`
	Terminated   []Condition `yaml:"terminated" doc:"The episode ends for an agent for which one of these holds, for all agents if it is about the world."`
	Steps        uint64      `yaml:"steps,required" min:"1" max:"1e9" doc:"An episode that has not ended is truncated after so many steps."`
	TicksPerStep uint32      `yaml:"ticks_per_step" default:"1" min:"1" max:"10000" doc:"How many ticks a step has; agents act in the first."`
	Warmup       uint64      `yaml:"warmup" default:"1" min:"1" max:"1000000" doc:"How many ticks pass at the beginning of an episode, before agents act. Populations and draws are there from the first on."`
	Draws        []Draw      `yaml:"draws" doc:"What is drawn anew for each episode, beside initial values and places of populations that are random."`
	Policy       Policy      `yaml:"policy" doc:"Who acts when the scenario is run, and nobody else does: random, none, {climb: FIELD} or {script: [0, 1, …]}; default: random."`

	at *document.Node
}

// Agents are the entities of a kind that there are at the beginning of an episode, or cells.
type Agents struct {
	Kind  Kind   `yaml:"kind" doc:"The entities of this kind in the first population, in its order."`
	Cells []Cell `yaml:"cells" doc:"These cells; they stay where they are."`
}

// Actions are either choices or controls.
type Actions struct {
	Moves    bool      `yaml:"moves" doc:"A choice for each direction of the space, to take a step there."`
	Stay     bool      `yaml:"stay" default:"true" doc:"With moves: a choice before them, to do nothing."`
	Choices  []Choice  `yaml:"choices" doc:"Choices after those of moves."`
	Controls []Control `yaml:"controls" doc:"Numbers that an agent gives in each step, instead of choices."`
}

// A Choice is one of the discrete actions.
type Choice struct {
	Name   string      `yaml:"name" doc:"What it is called; default: what it does."`
	Stay   bool        `yaml:"stay" doc:"Do nothing."`
	Move   string      `yaml:"move" doc:"Take a step in this direction of the space, such as north."`
	Set    *Assignment `yaml:"set" doc:"Set an attribute of the agent, or a field at its cell."`
	Param  *Tuning     `yaml:"param" doc:"Set a parameter."`
	Custom *Calling    `yaml:"custom" doc:"A command of a component's own."`
}

// An Assignment sets an attribute of the agent, or a field at its cell.
type Assignment struct {
	Field FieldRef `yaml:"field,required" doc:"A field of one component."`
	Value *float64 `yaml:"value" doc:"The value; with controls it is left out."`
}

// A Tuning sets a parameter.
type Tuning struct {
	Name  ParamRef `yaml:"name,required" doc:"The parameter."`
	Value *float64 `yaml:"value" doc:"The value; with controls it is left out."`
}

// A Calling is a custom command, whose data is the agent's number as a little-endian uint64
// (an entity's id, or a cell's rank), then the data given here, then, with controls, the
// number as a little-endian float32.
type Calling struct {
	Type uint32 `yaml:"type,required" doc:"Which handler."`
	Data string `yaml:"data" doc:"Bytes in hexadecimal, after the agent's number."`
}

// A Control is a number that an agent gives in each step.
type Control struct {
	Name   string      `yaml:"name" doc:"What it is called; default: what it sets."`
	From   float64     `yaml:"from,required" doc:"Lowest number."`
	To     float64     `yaml:"to,required" doc:"Highest number."`
	Set    *Assignment `yaml:"set" doc:"Set an attribute of the agent, or a field at its cell."`
	Param  *Tuning     `yaml:"param" doc:"Set a parameter."`
	Custom *Calling    `yaml:"custom" doc:"A command of a component's own."`
}

// A Draw is drawn at the beginning of an episode, and done by commands of its first tick.
type Draw struct {
	Param ParamRef `yaml:"param" doc:"A parameter that gets a random value."`
	From  float64  `yaml:"from" doc:"With param: the lowest value."`
	To    float64  `yaml:"to" doc:"With param: a bound above all values."`
	Field FieldRef `yaml:"field" doc:"A field that gets a value at random cells."`
	Region
	Count int   `yaml:"count" default:"1" min:"1" max:"4096" doc:"With field: how many cells of the region."`
	Value Value `yaml:"value" doc:"With field: the value."`
}

// check looks at what the parts of an environment must agree on.
func (e *Environment) check(d *decoder, n *document.Node) error {
	e.at = n
	if len(e.Observation) == 0 {
		return n.At("observation").Errorf("an agent must see something")
	}
	if len(e.Reward) == 0 {
		return n.At("reward").Errorf("no reward is listed; {constant: 0} is none")
	}
	if d.s.Rules == engine.Murk019.String() {
		return n.Errorf("the rules %s have no environment", d.s.Rules)
	}
	return e.Policy.fits(e, len(d.s.lattice.Directions()), n.At("policy"))
}

func (a *Agents) check(d *decoder, n *document.Node) error {
	if cells := n.Get("cells"); cells != nil && len(a.Cells) == 0 {
		return cells.Errorf("no cells are listed")
	}
	if (a.Kind != "") == (a.Cells != nil) {
		return n.Errorf("agents are of a kind, or they are cells")
	}
	if len(a.Cells) > maxTargets {
		return n.At("cells").Errorf("%d agents; at most %d are allowed", len(a.Cells), maxTargets)
	}
	for i := range a.Cells {
		for j := range i {
			if a.Cells[i] == a.Cells[j] {
				return n.At("cells").Kids[i].Errorf("cell %v is listed already", a.Cells[i].Coord)
			}
		}
	}
	if a.Kind != "" && len(d.s.AgentIDs(a.Kind)) == 0 {
		return n.At("kind").Errorf("no population of the first tick is of the kind %q", a.Kind)
	}
	return nil
}

func (a *Actions) check(d *decoder, n *document.Node) error {
	discrete := a.Moves || len(a.Choices) > 0
	switch {
	case discrete == (len(a.Controls) > 0):
		return n.Errorf("actions are choices (moves, choices) or controls")
	case a.Moves && d.agents().Kind == "":
		return n.At("moves").Errorf("agents that are cells cannot move")
	}
	return nil
}

func (c *Choice) check(d *decoder, n *document.Node) error {
	if count(c.Stay, c.Move != "", c.Set != nil, c.Param != nil, c.Custom != nil) != 1 {
		return n.Errorf("a choice does one of stay, move, set, param and custom")
	}
	if c.Move != "" {
		if d.agents().Kind == "" {
			return n.At("move").Errorf("agents that are cells cannot move")
		}
		var names []string
		for _, way := range d.s.lattice.Directions() {
			names = append(names, way.Name)
		}
		if !slices.Contains(names, c.Move) {
			return n.At("move").Errorf("there is no direction %q%s", c.Move, document.Suggestion(c.Move, names))
		}
	}
	if c.Set != nil && c.Set.Value == nil || c.Param != nil && c.Param.Value == nil {
		return n.Errorf("the key \"value\" is missing")
	}
	return nil
}

func (c *Calling) check(_ *decoder, n *document.Node) error {
	if _, err := hex.DecodeString(c.Data); err != nil {
		return n.At("data").Errorf("data is not hexadecimal: %v", err).Because(err)
	}
	return nil
}

func (c *Control) check(d *decoder, n *document.Node) error {
	if count(c.Set != nil, c.Param != nil, c.Custom != nil) != 1 {
		return n.Errorf("a control does one of set, param and custom")
	}
	if !(c.From < c.To) || c.From < -math.MaxFloat32 || c.To > math.MaxFloat32 {
		return n.At("to").Errorf("to must be above from, and both be float32 numbers")
	}
	if c.To-c.From > math.MaxFloat32 {
		return n.At("to").Errorf("from and to must be at most %v apart", math.MaxFloat32)
	}
	if c.Set != nil && c.Set.Value != nil || c.Param != nil && c.Param.Value != nil {
		return n.Errorf("a control has no value: the agent gives it")
	}
	return nil
}

// check refuses what an agent cannot set.
func (x *Assignment) check(d *decoder, n *document.Node) error {
	f := d.s.field(string(x.Field))
	switch {
	case f.Type.Components() != 1:
		return n.At("field").Errorf("field %q has %d components; an action sets fields of one", f.Name, f.Type.Components())
	case f.Domain == "entities" && d.agents().Kind == "":
		return n.At("field").Errorf("field %q belongs to entities; the agents are cells", f.Name)
	case f.Mutability == "static":
		return n.At("field").Errorf("field %q is static", f.Name)
	case x.Value == nil:
		return nil
	}
	if why := f.refuses(*x.Value); why != "" {
		return n.At("value").Errorf("%v %s", *x.Value, why)
	}
	return nil
}

func (x *Draw) check(d *decoder, n *document.Node) error {
	if (x.Param != "") == (x.Field != "") {
		return n.Errorf("a draw is of a param or of a field")
	}
	if v := x.take(); v != nil {
		if x.Value != nil {
			return n.At("value").Errorf("the value is given twice")
		}
		x.Value = v
	}
	if x.Param != "" {
		if x.Value != nil || !x.all() || n.Get("count") != nil {
			return n.Errorf("a draw of a param has from and to only")
		}
		if !(x.From < x.To) || math.IsInf(x.To-x.From, 0) {
			return n.At("to").Errorf("to must be above from")
		}
		return nil
	}
	return x.checkField(d, n)
}

func (x *Draw) checkField(d *decoder, n *document.Node) error {
	f := d.s.field(string(x.Field))
	switch {
	case n.Get("from") != nil || n.Get("to") != nil:
		return n.Errorf("from and to go with param")
	case x.Value == nil:
		return n.Errorf("the key \"value\" is missing")
	case f.Domain == "entities":
		return n.At("field").Errorf("field %q belongs to entities; a draw is for cells", f.Name)
	case f.Mutability == "static":
		return n.At("field").Errorf("field %q is static, and draws are made by commands; its initial values may be random", f.Name)
	}
	if err := f.carried(cmp.Or(n.Get("value"), n), x.Value); err != nil {
		return err
	}
	if err := x.checkRegion(n); err != nil {
		return err
	}
	if err := d.spendOf(n, "region", x.steps(d.s.lattice), &d.s.spawnWork, maxSpawn); err != nil {
		return err
	}
	ranks, err := x.ranks(d.s.lattice)
	if err != nil {
		return n.Errorf("%s", plain(err)).Because(err)
	}
	if len(ranks) < x.Count {
		return n.At("count").Errorf("the region has %d cells; %d are to be drawn", len(ranks), x.Count)
	}
	if d.s.orders += x.Count * f.Type.Components(); d.s.orders > maxOrders {
		return n.Errorf("%s", tooManyOrders)
	}
	return nil
}

// count returns how many are true.
func count(list ...bool) (n int) {
	for _, x := range list {
		if x {
			n++
		}
	}
	return n
}

// agents returns the agents of the environment that is being read.
func (d *decoder) agents() *Agents { return &d.s.Environment.Agents }
