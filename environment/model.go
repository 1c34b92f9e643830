package environment

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// A model is an environment made ready for use. It does not change, and all worlds share it.
type model struct {
	s       *scenarios.Scenario
	config  engine.Config // of all worlds, but for initial values; a player has none
	env     *scenarios.Environment
	lattice *space.Lattice
	ways    ways

	ids   []uint64 // of the agents, if they are entities; else nil
	cells []int32  // of the agents, if they are cells
	names []string // of the agents

	id, kind, cell fields.ID // the engine's columns of entities

	choices  []effect
	controls []effect
	gauges   []gauge   // those of the terms of the reward, then those of the ends
	terms    int       // how many are of the reward
	climbed  fields.ID // by the scenario's policy, if it climbs
	plan     *observe.Plan
	task     Task // may be nil
}

// newModel compiles the environment of a scenario.
func newModel(s *scenarios.Scenario) (*model, error) {
	e := s.Environment
	if e == nil {
		return nil, fmt.Errorf("environment: scenario %q has no environment", s.Name)
	}
	m := &model{s: s, env: e, lattice: s.Lattice()}
	b := s.Builder()
	m.id, m.kind, m.cell = engine.EntityColumns(len(s.Fields))
	if e.Agents.Kind != "" {
		m.ids = s.AgentIDs(e.Agents.Kind)
	}
	for i := range e.Agents.Cells {
		rank, _ := m.lattice.Rank(e.Agents.Cells[i].Coord)
		m.cells = append(m.cells, int32(rank))
	}
	if e.Policy.Climb != "" {
		m.climbed = b.Field(e.Policy.Climb)
	}
	m.nameAgents()
	m.addActions(b)
	for i := range e.Reward {
		m.gauges = append(m.gauges, m.term(b, &e.Reward[i]))
	}
	m.terms = len(m.gauges)
	for i := range e.Terminated {
		m.gauges = append(m.gauges, m.condition(b, &e.Terminated[i]))
	}
	var err error
	m.plan, err = Sights(s)
	return m, err
}

// agents returns how many there are.
func (m *model) agents() int { return len(m.names) }

// nameAgents names the agents after their kind, or their scenario's names for them.
func (m *model) nameAgents() {
	kind := string(m.env.Agents.Kind)
	for i, id := range m.ids {
		name := m.s.EntityName(id)
		if name == fmt.Sprintf("entity %d", id) {
			name = fmt.Sprintf("%s_%d", kind, i)
		}
		m.names = append(m.names, name)
	}
	for i := range m.cells {
		m.names = append(m.names, fmt.Sprintf("cell_%d", i))
	}
}

// ways knows where each direction leads from each cell.
type ways struct {
	pattern []int32   // of each cell
	offsets [][]int32 // by pattern: for each direction the neighbour's rank minus the cell's own; 0: there is none
}

func newWays(l *space.Lattice) ways {
	w := ways{pattern: make([]int32, l.Cells()), offsets: make([][]int32, len(l.Patterns()))}
	for _, s := range l.Spans() {
		for k := range s.Count {
			w.pattern[s.First+k*s.Stride] = int32(s.Pattern.ID)
		}
	}
	for _, p := range l.Patterns() {
		to := make([]int32, len(l.Directions()))
		for k, dir := range p.Dirs {
			to[dir] = int32(p.Offsets[k])
		}
		w.offsets[p.ID] = to
	}
	return w
}

// from returns the cell in a direction from another; -1 if there is none.
func (w *ways) from(cell int32, dir int) int32 {
	by := w.offsets[w.pattern[cell]][dir]
	if by == 0 {
		return -1
	}
	return cell + by
}
