package environment

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios"
)

// A Player acts for the agents of a scenario that is run, as its policy says. It keeps nothing
// from tick to tick: what it does in one depends on the state before it, the seed and the
// tick's number. So a run can go on from any state.
type Player struct {
	l     *lane
	quiet bool // nobody acts
}

// NewPlayer returns a player for the world of a scenario that has an environment.
func NewPlayer(s *scenarios.Scenario, w *engine.World) (*Player, error) {
	m, err := newModel(s)
	if err != nil {
		return nil, err
	}
	l := &lane{m: m, s: *s, w: w}
	n := m.agents()
	l.agents, l.alive = make([]observe.Agent, n), make([]bool, n)
	l.wanted, l.before = make([]bool, n), make([]int32, n)
	return &Player{l, s.Environment.Policy.None}, nil
}

// Next returns the first tick after the given one for which Append may append commands.
func (p *Player) Next(after uint64) uint64 {
	e := p.l.m.env
	next, every := e.Warmup+1, uint64(e.TicksPerStep)
	switch {
	case after == 0 && len(e.Draws) > 0:
		return 1
	case p.quiet:
		return ^uint64(0)
	case after >= next:
		return after + every - (after-next)%every
	}
	return next
}

// Append appends the commands that come after the scenario's own in a tick, which is the next
// one of the world: the draws in the first, then what agents do.
func (p *Player) Append(list []commands.Command, tick uint64) []commands.Command {
	l, e := p.l, p.l.m.env
	if tick == 1 {
		list = l.s.Draw(list)
	}
	if p.quiet || tick <= e.Warmup || (tick-1-e.Warmup)%uint64(e.TicksPerStep) != 0 {
		return list
	}
	l.list, l.data = list, nil
	l.find()
	draws := rng.Seed(l.s.Seed).Tick(tick).Stream("environment.policy", 0).Bulk()
	step := (tick - 1 - e.Warmup) / uint64(e.TicksPerStep)
	for i := range l.agents {
		if !l.alive[i] {
			continue
		}
		words := draws.Words(l.number(i))
		for k := range l.m.controls {
			d := &l.m.controls[k]
			v := d.from + float32(words.Float32()*(d.to-d.from))
			l.act(d, i, float64(v))
		}
		if l.m.controls == nil {
			d := &l.m.choices[p.choice(i, step, &words)]
			l.act(d, i, d.value)
		}
	}
	return l.list
}

// choice returns what an agent chooses in a step.
func (p *Player) choice(agent int, step uint64, words *rng.Words) int {
	policy, n := &p.l.m.env.Policy, len(p.l.m.choices)
	switch {
	case policy.Script != nil:
		return int(policy.Script[step%uint64(len(policy.Script))])
	case policy.Climb != "":
		return p.climb(agent)
	}
	return int(words.Below(uint64(n)))
}

// climb returns the choice that leads to the highest neighbour, if it is higher than the
// agent's cell: the first one of equal ones. Else it is the choice that does nothing, or the
// first.
func (p *Player) climb(agent int) (best int) {
	l := p.l
	id := l.s.Builder().Field(l.m.env.Policy.Climb)
	at := l.agents[agent].Cell
	most := l.w.Value(id, int(at))
	for i := range l.m.choices {
		if l.m.choices[i].sort == doNothing {
			best = i
			break
		}
	}
	for i := range l.m.choices {
		d := &l.m.choices[i]
		if d.sort != doMove {
			continue
		}
		if to := l.m.ways.from(at, d.dir); to >= 0 {
			if v := l.w.Value(id, int(to)); v > most {
				best, most = i, v
			}
		}
	}
	return best
}
