package environment

import (
	"fmt"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios"
)

// A lane is one world with its agents, and the episode that it is in.
type lane struct {
	m       *model
	s       scenarios.Scenario // with the seed of the episode
	config  engine.Config
	initial []fields.Initial
	w       *engine.World

	index   uint64 // of the world
	master  uint64
	episode uint64 // its number, from 0
	began   bool   // whether there has been an episode
	over    bool   // the episode has ended

	agents []observe.Agent // cell -1: it lives no more
	alive  []bool          // whether the episode goes on for the agent
	died   []bool          // in this step
	wanted []bool          // it chose to move in this step
	before []int32         // its cell at the beginning of the step
	shared []float64       // by gauge: those of the world, at the last survey
	known  []float64       // of gauges whose change counts: by gauge, then agent

	steps   uint64
	returns []float64 // sums of rewards of the episode, by agent
	gained  []float64 // rewards of the step, by agent
	log     script    // of the episode
	last    script    // of the one before
	failure error     // of the last tick

	view View // for the task
	list []commands.Command
	data []byte // of custom commands
}

// lane makes a lane. Its world shares what never changes with another world, if there is one.
func (m *model) lane(index uint64, like *engine.World) (*lane, error) {
	l := m.seat()
	l.index, l.config = index, m.config
	l.config.Fields = slices.Clone(m.config.Fields) // whose initial values Redraw replaces
	var err error
	if like != nil {
		l.w, err = like.Fork()
	} else {
		l.w, err = engine.New(l.config)
	}
	if err != nil {
		return nil, l.s.Locate(err)
	}
	l.initial = make([]fields.Initial, len(l.s.Fields))
	return l, nil
}

// seat makes a lane whose agents are yet to be found in a world.
func (m *model) seat() *lane {
	n := m.agents()
	l := &lane{
		m: m, s: *m.s, agents: make([]observe.Agent, n), alive: make([]bool, n), died: make([]bool, n), wanted: make([]bool, n), before: make([]int32, n),
		returns: make([]float64, n), gained: make([]float64, n), shared: make([]float64, len(m.gauges)), known: make([]float64, len(m.gauges)*n),
	}
	for i := range l.agents {
		l.agents[i] = observe.Agent{Cell: -1, Slot: -1}
	}
	return l
}

// EpisodeSeed returns the seed of the world in an episode. The first is 0. Where the agents
// that are spawned find no room, another attempt is made with another seed.
//
// It is the first two words, low word first, of index attempt of the bulk draws of the stream "environment" with the world's
// index as its number, at the tick of the episode's number, under the master seed.
func EpisodeSeed(master, world, episode, attempt uint64) uint64 {
	w := rng.Seed(master).Tick(episode).Stream("environment", world).Bulk().Block(attempt, 0)
	return uint64(w[0]) | uint64(w[1])<<32
}

// attempts is how many seeds an episode has, of which it takes the first with room for the agents that are spawned.
const attempts = 64

// begin begins the next episode.
func (l *lane) begin() {
	if l.began {
		l.episode++
	}
	l.began = true
	for attempt := range uint64(attempts) {
		crowded, err := l.beginWith(EpisodeSeed(l.master, l.index, l.episode, attempt))
		if l.failure = err; !crowded || err != nil {
			break
		}
		l.failure = fmt.Errorf("environment: %d attempts to place the first population found a cell that was full", attempts)
	}
	if l.failure != nil {
		l.halt()
	}
}

// beginWith begins an episode under a seed; crowded reports that one of the first population
// found no room.
func (l *lane) beginWith(seed uint64) (crowded bool, err error) {
	l.turn(seed)
	l.steps, l.over = 0, false
	clear(l.returns)
	if err := l.genesis(seed); err != nil {
		return false, err
	}
	return l.warm()
}

// drawn reports whether an episode of this number can have its seed: one that comes after seeds without room. Whether it has room itself, play
// finds out. The world is in no episode then.
func (l *lane) drawn(x *script) bool {
	for attempt := range uint64(attempts) {
		seed := EpisodeSeed(x.master, l.index, x.number, attempt)
		if seed == x.seed {
			return true
		}
		if l.genesis(seed) != nil {
			break
		}
		if crowded, err := l.warm(); !crowded || err != nil {
			break
		}
	}
	return false
}

// genesis puts the world back to tick 0 under a seed.
func (l *lane) genesis(seed uint64) error {
	l.s.Seed = seed
	if err := l.s.Redraw(&l.config); err != nil {
		return err
	}
	for i := range l.initial {
		l.initial[i] = l.config.Fields[i].Initial
	}
	return l.w.Renew(seed, l.initial)
}

// warm computes the ticks before the agents act, and finds the agents.
func (l *lane) warm() (crowded bool, err error) {
	l.list = l.s.Draw(l.s.CommandsAt(1))
	receipts, err := l.tick()
	if err != nil {
		return false, err
	}
	for i := range receipts {
		if r := &receipts[i]; r.Reason == commands.Occupied && r.Command.Kind == commands.KindSpawn {
			return true, nil
		}
	}
	for l.w.Tick() < l.m.env.Warmup {
		l.due()
		if _, err := l.tick(); err != nil {
			return false, err
		}
	}
	l.find()
	clear(l.died)
	clear(l.wanted)
	l.learn()
	return false, nil
}

// due makes the list that of the scenario's own commands for the next tick.
func (l *lane) due() {
	l.list, l.data = l.list[:0], l.data[:0]
	if next := l.w.Tick() + 1; l.s.NextCommands(next-1) == next {
		l.list = append(l.list, l.s.CommandsAt(next)...)
	}
}

// tick submits the list and computes a tick.
func (l *lane) tick() ([]commands.Receipt, error) {
	if _, taken, err := l.w.SubmitAll(l.list); err != nil {
		return nil, fmt.Errorf("tick %d: command %d of %d: %w", l.w.Tick()+1, taken+1, len(l.list), err)
	}
	return l.w.Step()
}

// find finds the agents in a world in which an episode begins.
func (l *lane) find() {
	for i, cell := range l.m.cells {
		l.agents[i], l.alive[i] = observe.Agent{Cell: cell, Slot: -1}, true
	}
	if l.m.ids == nil {
		return
	}
	ids, cells := l.w.Borrow(l.m.id).Uint64, l.w.Borrow(l.m.cell).Int32
	for i, id := range l.m.ids {
		slot := slices.Index(ids, id)
		l.agents[i], l.alive[i] = observe.Agent{Cell: -1, Slot: -1}, slot >= 0
		if slot >= 0 {
			l.agents[i] = observe.Agent{Cell: cells[slot], Slot: int32(slot)}
		}
	}
}

// follow finds the agents again after ticks, in the slots in which they were.
func (l *lane) follow() {
	if l.m.ids == nil {
		return
	}
	ids, cells := l.w.Borrow(l.m.id).Uint64, l.w.Borrow(l.m.cell).Int32
	for i := range l.agents {
		a := &l.agents[i]
		l.died[i] = false
		switch {
		case a.Cell < 0:
		case ids[a.Slot] == l.m.ids[i]:
			a.Cell = cells[a.Slot]
		default:
			*a, l.died[i] = observe.Agent{Cell: -1, Slot: -1}, true
		}
	}
}

// halt ends the episode of a world that has failed.
func (l *lane) halt() {
	clear(l.alive)
	l.end()
}

// prepare begins a step: the list is that of its first tick.
func (l *lane) prepare() {
	l.due()
	for i := range l.agents {
		l.wanted[i], l.before[i] = false, l.agents[i].Cell
	}
}

// choose lets the agents take choices; those for which the episode is over do nothing.
func (l *lane) choose(choices []int32) {
	l.prepare()
	l.log.choices = append(l.log.choices, choices...)
	for i, c := range choices {
		if l.alive[i] && l.agents[i].Cell >= 0 {
			d := &l.m.choices[c]
			l.act(d, i, d.value)
		}
	}
}

// control lets the agents set their numbers.
func (l *lane) control(numbers []float32) {
	l.prepare()
	l.log.numbers = append(l.log.numbers, numbers...)
	n := len(l.m.controls)
	for i := range l.agents {
		if !l.alive[i] || l.agents[i].Cell < 0 {
			continue
		}
		for k := range l.m.controls {
			d := &l.m.controls[k]
			l.act(d, i, float64(min(max(numbers[i*n+k], d.from), d.to)))
		}
	}
}

// advance computes the ticks of a step that choose or control has prepared.
func (l *lane) advance() {
	for i := range l.m.env.TicksPerStep {
		if i > 0 {
			l.due()
		}
		if _, l.failure = l.tick(); l.failure != nil {
			l.follow() // the ticks before have happened
			l.halt()
			return
		}
	}
	l.steps++
	l.log.steps++
	l.follow()
}
