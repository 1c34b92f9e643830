package environment

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios"
)

// A Player acts for the agents of a scenario's run, following its policy. It keeps nothing from
// tick to tick: its actions depend only on the state before the tick, the seed and the tick's
// number. So a run can continue from any state.
type Player struct {
	l     *lane
	quiet bool // no agent acts
}

// NewPlayer returns a player for the world of a scenario that has an environment.
func NewPlayer(s *scenarios.Scenario, w *engine.World) (*Player, error) {
	m, err := newModel(s)
	if err != nil {
		return nil, err
	}
	l := m.seat()
	l.w = w
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
	draws, step := l.policyDraws(), (tick-1-e.Warmup)/uint64(e.TicksPerStep)
	for i := range l.agents {
		if !l.alive[i] {
			continue
		}
		words := draws.Words(l.number(i))
		for k := range l.m.controls {
			d := &l.m.controls[k]
			l.act(d, i, float64(d.random(&words)))
		}
		if l.m.controls == nil {
			d := &l.m.choices[l.policy(i, step, &words)]
			l.act(d, i, d.value)
		}
	}
	return l.list
}

// policyDraws are the draws of a policy for the next tick.
func (l *lane) policyDraws() rng.Bulk {
	return rng.Seed(l.s.Seed).Tick(l.w.Tick()+1).Stream("environment.policy", 0).Bulk()
}

// random returns a number between the bounds of a control.
func (d *effect) random(words *rng.Words) float32 {
	return d.from + float32(words.Float32()*(d.to-d.from))
}

// policy returns what an agent chooses in a step, by the policy of the scenario.
func (l *lane) policy(agent int, step uint64, words *rng.Words) int {
	policy := &l.m.env.Policy
	switch {
	case policy.Script != nil:
		return int(policy.Script[step%uint64(len(policy.Script))])
	case policy.Climb != "":
		return l.climb(agent)
	case policy.None:
		return l.m.idle()
	}
	return int(words.Below(uint64(len(l.m.choices))))
}

// idle returns the choice that does nothing, or the first.
func (m *model) idle() int {
	for i := range m.choices {
		if m.choices[i].sort == doNothing {
			return i
		}
	}
	return 0
}

// climb returns the choice that leads to the highest neighbour, if it is higher than the
// agent's cell: the first one of equal ones. Else the agent is idle.
func (l *lane) climb(agent int) int {
	id := l.m.climbed
	at, best := l.agents[agent].Cell, l.m.idle()
	most := l.w.Value(id, int(at))
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

// Policy writes what the scenario's policy would do in the next step, as actions for StepDiscrete; agents whose episode is
// over are idle. So it is known how well it does. To be idle is the first choice that does nothing; the first of all, if none does.
func (b *Batch) Policy(actions []int64) error {
	if len(b.m.choices) == 0 || len(actions) != len(b.choices) {
		return &ShapeError{"actions", len(actions), len(b.choices) * only(len(b.m.choices) > 0)}
	}
	for i, l := range b.lanes {
		draws := l.policyDraws()
		for k := range l.agents {
			at := i*len(l.agents) + k
			if actions[at] = int64(b.m.idle()); l.alive[k] && l.agents[k].Cell >= 0 {
				words := draws.Words(l.number(k))
				actions[at] = int64(l.policy(k, l.steps, &words))
			}
		}
	}
	return nil
}

// PolicyContinuous is Policy for StepContinuous: random numbers, or zeros within their bounds.
func (b *Batch) PolicyContinuous(actions []float32) error {
	n := len(b.m.controls)
	if n == 0 || len(actions) != len(b.choices)*n {
		return &ShapeError{"actions", len(actions), len(b.choices) * n}
	}
	for i, l := range b.lanes {
		draws := l.policyDraws()
		for k := range l.agents {
			words := draws.Words(l.number(k))
			for c := range l.m.controls {
				d, v := &l.m.controls[c], float32(0)
				if !l.m.env.Policy.None {
					v = d.random(&words)
				}
				actions[(i*len(l.agents)+k)*n+c] = min(max(v, d.from), d.to)
			}
		}
	}
	return nil
}
