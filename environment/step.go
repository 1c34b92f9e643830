package environment

import "fmt"

// An ActionError reports an action that there is not. Nothing has been done.
type ActionError struct {
	World, Agent, Control int
	Got                   string
}

// Error implements error.
func (e *ActionError) Error() string {
	return fmt.Sprintf("environment: the action of agent %d in world %d is %s", e.Agent, e.World, e.Got)
}

// A StepError reports worlds whose tick failed in a step that all others have taken.
type StepError struct {
	World  int // the first of them
	Failed int // how many
	Err    error
}

// Error implements error.
func (e *StepError) Error() string {
	return fmt.Sprintf("environment: world %d, the first of %d that failed: %v", e.World, e.Failed, e.Err)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// StepDiscrete lets each agent take a choice: W × A numbers from 0. It returns a [*ShapeError] or an [*ActionError] and
// does nothing, or a [*StepError] if the ticks of some worlds failed; their episodes are truncated. If
// a recording that [Batch.RecordWhen] wants could not be written, the error says that, too.
func (b *Batch) StepDiscrete(actions []int64) error {
	n := len(b.m.choices)
	switch want := len(b.choices); {
	case n == 0:
		return fmt.Errorf("environment: the actions are continuous")
	case len(actions) != want:
		return &ShapeError{"actions", len(actions), want}
	}
	if err := b.ready(); err != nil {
		return err
	}
	agents := b.m.agents()
	for i, a := range actions {
		if a < 0 || a >= int64(n) {
			return &ActionError{World: i / agents, Agent: i % agents, Got: fmt.Sprintf("%d; there are choices 0 to %d", a, n-1)}
		}
		b.choices[i] = int32(a)
	}
	return b.step()
}

// StepContinuous lets each agent set its numbers: W × A × controls. Those outside of their bounds count as the nearest bound; NaN and
// infinities are an [*ActionError]. Otherwise it is as [Batch.StepDiscrete].
func (b *Batch) StepContinuous(actions []float32) error {
	n, agents := len(b.m.controls), b.m.agents()
	switch want := len(b.choices) * n; {
	case n == 0:
		return fmt.Errorf("environment: the actions are discrete")
	case len(actions) != want:
		return &ShapeError{"actions", len(actions), want}
	}
	if err := b.ready(); err != nil {
		return err
	}
	for i, a := range actions {
		if a-a != 0 {
			at := i / n
			return &ActionError{World: at / agents, Agent: at % agents, Control: i % n, Got: fmt.Sprintf("%v for %s; it must be finite", a, b.m.controls[i%n].name)}
		}
	}
	b.numbers = actions
	err := b.step()
	b.numbers = nil
	return err
}

// ready reports whether a step can be taken.
func (b *Batch) ready() error {
	if !b.bound {
		return fmt.Errorf("environment: no tensors are bound")
	}
	for i, l := range b.lanes {
		if !l.began {
			return fmt.Errorf("environment: world %d was never reset", i)
		}
	}
	return nil
}

// Reset begins an episode in the worlds for which the mask is not 0; nil means all. Seeds are new master seeds, one for all
// worlds or one for each, and episodes are counted from 0 again; nil means the next episode.
func (b *Batch) Reset(seeds []uint64, mask []uint8) error {
	switch n := len(b.lanes); {
	case !b.bound:
		return fmt.Errorf("environment: no tensors are bound")
	case len(seeds) > 1 && len(seeds) != n:
		return &ShapeError{"seeds", len(seeds), n}
	case mask != nil && len(mask) != n:
		return &ShapeError{"mask", len(mask), n}
	}
	for i, l := range b.lanes {
		if b.reset[i] = mask == nil || mask[i] != 0; b.reset[i] && len(seeds) > 0 {
			l.master, l.episode, l.began = seeds[min(i, len(seeds)-1)], 0, false
		}
	}
	return b.recordEnded(b.each((*Batch).resetWorld))
}

// resetWorld begins an episode in a world, if it is one of those to be reset.
func (b *Batch) resetWorld(w *worker, i int) {
	if !b.reset[i] {
		return
	}
	b.lanes[i].begin()
	b.clear(i)
	b.observe(w, i)
}

// step takes a step in all worlds.
func (b *Batch) step() error {
	return b.recordEnded(b.each((*Batch).stepWorld))
}

// each lets the workers do something for each world, a share of them at a time.
func (b *Batch) each(do func(b *Batch, w *worker, i int)) error {
	b.do = do
	b.next.Store(0)
	b.wait.Add(len(b.workers) - 1)
	for i := range b.workers[1:] {
		//detcheck:allow goroutine workers take disjoint worlds and are joined before any is looked at
		go b.workers[1+i].run()
	}
	b.work(&b.workers[0])
	b.wait.Wait()
	var failed *StepError
	for i, l := range b.lanes {
		if l.failure == nil {
			continue
		}
		if failed == nil {
			failed = &StepError{World: i, Err: l.failure}
		}
		failed.Failed++
	}
	if failed != nil {
		return failed
	}
	return nil
}

// work does what is to be done for worlds that no other worker has taken.
func (b *Batch) work(w *worker) {
	const share = 8
	for {
		hi := int(b.next.Add(share))
		for i := hi - share; i < min(hi, len(b.lanes)); i++ {
			b.guard(w, i)
		}
		if hi >= len(b.lanes) {
			return
		}
	}
}

// guard does what is to be done for a world. A panic outside of a tick and of judge ends its episode.
func (b *Batch) guard(w *worker, i int) {
	l := b.lanes[i]
	l.failure, l.log.ended, l.last.ended = nil, false, false
	defer func() {
		if v := recover(); v != nil {
			copy(w.were, l.alive)
			l.failure = fmt.Errorf("environment: panic: %v", v)
			l.halt()
			b.idle(i)
			b.fail(i, w.were)
		}
	}()
	b.do(b, w, i)
}

// stepWorld takes a step in one world.
func (b *Batch) stepWorld(w *worker, i int) {
	l, agents := b.lanes[i], b.m.agents()
	switch {
	case l.over && b.config.Autoreset == Disabled:
		b.idle(i)
		return
	case l.over: // and NextStep
		l.begin()
		b.clear(i)
		b.observe(w, i)
		return
	}
	copy(w.were, l.alive)
	if b.numbers != nil {
		n := agents * len(b.m.controls)
		l.control(b.numbers[i*n:][:n])
	} else {
		l.choose(b.choices[i*agents:][:agents])
	}
	l.advance()
	lo, hi := i*agents, (i+1)*agents
	if l.failure == nil {
		l.judge(b.out.Rewards[lo:hi], b.out.Terminated[lo:hi], b.out.Truncated[lo:hi])
	}
	if l.failure != nil {
		b.fail(i, w.were)
	}
	b.tell(i)
	b.observe(w, i)
	if l.over && b.config.Autoreset == SameStep {
		b.startOver(w, i)
	}
}

// startOver begins an episode in the step in which the last one has ended.
func (b *Batch) startOver(w *worker, i int) {
	l := b.lanes[i]
	b.keepFinal(i)
	failure := l.failure
	l.begin()
	if failure != nil {
		l.failure = failure
	}
	b.begun(i)
	b.observe(w, i)
}

// judge gives the agents their rewards, and finds out for whom the episode ends. The slices
// may be nil. If the [Task] panics, the world has failed, and no agent gets anything for the step.
func (l *lane) judge(rewards []float64, terminated, truncated []uint8) {
	defer func() {
		if v := recover(); v != nil {
			l.failure = fmt.Errorf("environment: panic: %v", v)
			l.halt()
		}
	}()
	all, late := true, l.steps >= l.m.env.Steps
	l.survey()
	for i := range l.agents {
		l.gained[i] = 0
		acted := l.alive[i]
		ends := !acted && l.steps == 1 // it was gone before it could act
		if acted {
			more, over := l.judgeTask(i)
			l.gained[i] = l.rewardOf(i) + more
			ends = l.endsFor(i) || l.died[i] || over
			l.alive[i] = !ends && !late
		}
		if rewards != nil {
			rewards[i], terminated[i], truncated[i] = l.gained[i], uint8(only(ends)), uint8(only(acted && late && !ends))
		}
		all = all && !l.alive[i]
	}
	for i, reward := range l.gained { // now that all are judged
		l.returns[i] += reward
	}
	if all {
		l.end()
	}
}
