package environment

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/scenarios"
)

// Autoreset says when a world whose episode has ended begins another, as Gymnasium defines it.
type Autoreset uint8

// The ways to begin another episode.
const (
	NextStep Autoreset = iota // the next step begins it; the actions of that step are ignored, and its reward is 0
	SameStep                  // the step that ends one begins it; what the agents saw last is in the Final tensors
	Disabled                  // Reset begins it; until then nothing happens in that world, and rewards are 0
)

// A Config describes a Batch. A field left zero takes its default.
type Config struct {
	Scenario  *scenarios.Scenario // required; with an environment
	Worlds    int                 // default 1
	First     uint64              // index of the first world; default 0
	Workers   int                 // goroutines; default 1; nothing depends on it
	Seed      uint64              // master seed of all episodes
	Autoreset Autoreset
	Task      Task // rewards and ends beside those of the scenario; may be nil
}

// Limits of a [Config].
const (
	MaxWorlds  = 1 << 20
	MaxWorkers = engine.MaxWorkers
)

// A Layout says what the tensors of a Batch mean. It must not be changed.
type Layout struct {
	Agents      []string      // names, the same in every world
	Choices     []string      // names of the discrete actions; none if actions are continuous
	Controls    []string      // names of the numbers of continuous actions
	Low, High   []float32     // their bounds
	Observation *observe.Plan // of one agent
	Steps       uint64        // after which an episode is truncated
}

// A Batch is a number of worlds in which agents learn.
type Batch struct {
	config  Config
	m       *model
	lanes   []*lane
	layout  Layout
	workers []worker
	out     Tensors
	bound   bool

	recordWhen func(*Episode) (path string)
	restored   []worldState // during Restore

	choices []int32
	numbers []float32
	reset   []bool // worlds that begin an episode in this call

	do func(b *Batch, w *worker, i int) // what the workers do for each world
	//detcheck:allow goroutine workers take disjoint worlds and are joined; what happens in a world does not depend on who takes it
	next atomic.Int64 // the first world that no worker has taken
	//detcheck:allow goroutine joins them
	wait sync.WaitGroup
}

// A worker has the memory of one goroutine.
type worker struct {
	observer *observe.Observer
	run      func() // in a goroutine of its own
	were     []bool // for whom the episode went on before the step
}

// New makes the worlds. An error in the scenario points at its place.
func New(c Config) (*Batch, error) {
	c.Worlds, c.Workers = max(c.Worlds, 1), max(c.Workers, 1)
	switch {
	case c.Scenario == nil:
		return nil, fmt.Errorf("environment: Scenario is required")
	case c.Worlds > MaxWorlds:
		return nil, fmt.Errorf("environment: Worlds must be at most %d, not %d", MaxWorlds, c.Worlds)
	case c.Workers > MaxWorkers:
		return nil, fmt.Errorf("environment: Workers must be at most %d, not %d", MaxWorkers, c.Workers)
	case c.Autoreset > Disabled:
		return nil, fmt.Errorf("environment: autoreset %d does not exist", c.Autoreset)
	}
	m, err := newModel(c.Scenario)
	if err != nil {
		return nil, err
	}
	m.task = c.Task
	if m.config, err = c.Scenario.Config(1); err != nil {
		return nil, err
	}
	if _, err := c.Scenario.Begin(nil); err != nil { // populations for which there is no room
		return nil, err
	}
	b := &Batch{config: c, m: m, reset: make([]bool, c.Worlds)}
	var like *engine.World
	for i := range c.Worlds {
		l, err := m.lane(c.First+uint64(i), like)
		if err != nil {
			return nil, err
		}
		like, l.master = l.w, c.Seed
		b.lanes = append(b.lanes, l)
	}
	b.layout = m.layout()
	b.workers = make([]worker, min(c.Workers, c.Worlds))
	for i := range b.workers {
		w := &b.workers[i]
		w.run = func() {
			defer b.wait.Done()
			b.work(w)
		}
		w.observer, w.were = m.plan.Observer(), make([]bool, m.agents())
	}
	b.choices = make([]int32, c.Worlds*m.agents())
	return b, nil
}

func (m *model) layout() Layout {
	y := Layout{Agents: m.names, Observation: m.plan, Steps: m.env.Steps}
	for i := range m.choices {
		y.Choices = append(y.Choices, m.choices[i].name)
	}
	for i := range m.controls {
		c := &m.controls[i]
		y.Controls, y.Low, y.High = append(y.Controls, c.name), append(y.Low, c.from), append(y.High, c.to)
	}
	return y
}

// Layout says what the tensors mean.
func (b *Batch) Layout() *Layout { return &b.layout }

// Worlds returns how many worlds there are.
func (b *Batch) Worlds() int { return len(b.lanes) }

// World returns a world, to look at between steps.
func (b *Batch) World(i int) *engine.World { return b.lanes[i].w }

// Scenario returns the scenario of a world, with the seed of the episode that it is in.
func (b *Batch) Scenario(i int) *scenarios.Scenario { return &b.lanes[i].s }

// Failure returns why a world's last step failed; nil if it did not. Such an episode is
// truncated.
func (b *Batch) Failure(i int) error { return b.lanes[i].failure }
