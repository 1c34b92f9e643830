package environment

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/observe"
)

// A Task gives rewards and ends that a scenario cannot say, beside those that it says. It must
// depend on what it is shown alone. Workers call it for several worlds at once. If it panics, the episode ends as with a tick that fails.
type Task interface {
	// Judge returns what an agent gets for a step beside the reward of the scenario, and whether the episode
	// ends for it. It is called after the step, for each agent whose episode went on, in their order.
	Judge(v *View, agent int) (reward float64, ends bool)
}

// A View is a world after a step, as a [Task] sees it during a call. It must not be changed.
type View struct {
	World  *engine.World
	Agents []observe.Agent // where each stands; cell -1: it lives no more
	Before []int32         // the cell of each before the step; -1: it had died already
	Steps  uint64          // of the episode, with this one
}

// judgeTask asks the task, if there is one.
func (l *lane) judgeTask(agent int) (reward float64, ends bool) {
	if l.m.task == nil {
		return 0, false
	}
	l.view = View{World: l.w, Agents: l.agents, Before: l.before, Steps: l.steps}
	return l.m.task.Judge(&l.view, agent)
}
