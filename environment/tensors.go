package environment

import (
	"fmt"

	"github.com/murksim/murksim/engine/observe"
)

// Tensors are the memory that a Batch of W worlds with A agents each writes to. It belongs to
// the caller, and the Batch uses it until another is bound. All lengths are checked. What is nil is
// not written, but the observations of the plan's element, rewards and ends must be there.
type Tensors struct {
	Float32 []float32 // W × A × Len: what the agents see now
	Uint8   []uint8
	Float16 []uint16
	Mask    []uint8 // W × A × MaskLen: 1 where a number is that of a cell

	FinalFloat32 []float32 // with SameStep: what agents saw last in an episode that has ended in the step
	FinalUint8   []uint8
	FinalFloat16 []uint16

	Rewards    []float64 // W × A
	Terminated []uint8   // W × A: the episode has ended for the agent, by the rules of the environment
	Truncated  []uint8   // W × A: the episode has ended because it has taken all its steps, or its world has halted
	Alive      []uint8   // W × A: the episode goes on for the agent
	Began      []uint8   // W: an episode has begun in the step
	Steps      []uint64  // W: steps of the episode, of the one that has ended in the step if one has
	Returns    []float64 // W × A: its sums of rewards
}

// Bind lets the batch write to tensors.
func (b *Batch) Bind(t *Tensors) error {
	worlds, agents := len(b.lanes), len(b.lanes)*b.m.agents()
	seen, masks, e := agents*b.m.plan.Len(), agents*b.m.plan.MaskLen(), b.m.plan.Element()
	for _, x := range [...]struct {
		name     string
		length   int
		want     int
		required bool
	}{
		{"Float32", len(t.Float32), seen * only(e == observe.Float32), e == observe.Float32},
		{"Uint8", len(t.Uint8), seen * only(e == observe.Uint8), e == observe.Uint8},
		{"Float16", len(t.Float16), seen * only(e == observe.Float16), e == observe.Float16},
		{"Mask", len(t.Mask), masks, false},
		{"FinalFloat32", len(t.FinalFloat32), seen * only(e == observe.Float32), false},
		{"FinalUint8", len(t.FinalUint8), seen * only(e == observe.Uint8), false},
		{"FinalFloat16", len(t.FinalFloat16), seen * only(e == observe.Float16), false},
		{"Rewards", len(t.Rewards), agents, true}, {"Terminated", len(t.Terminated), agents, true},
		{"Truncated", len(t.Truncated), agents, true}, {"Alive", len(t.Alive), agents, false},
		{"Began", len(t.Began), worlds, false}, {"Steps", len(t.Steps), worlds, false}, {"Returns", len(t.Returns), agents, false},
	} {
		if x.length != x.want && (x.length != 0 || x.required) {
			return &ShapeError{x.name, x.length, x.want}
		}
	}
	b.out, b.bound = *t, true
	return nil
}

func only(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A ShapeError reports a slice that does not have the length that the batch needs.
type ShapeError struct {
	Name      string
	Got, Want int
}

// Error implements error.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("environment: %s has %d elements; it needs %d", e.Name, e.Got, e.Want)
}

// flag writes a 0 or 1, unless the tensor is nil.
func flag(to []uint8, i int, v bool) {
	if to != nil {
		to[i] = uint8(only(v))
	}
}

// tell writes what is known about a world after a step.
func (b *Batch) tell(i int) {
	l, agents := b.lanes[i], b.m.agents()
	for k := range agents {
		flag(b.out.Alive, i*agents+k, l.alive[k])
	}
	flag(b.out.Began, i, false)
	if b.out.Steps != nil {
		b.out.Steps[i] = l.steps
	}
	if b.out.Returns != nil {
		copy(b.out.Returns[i*agents:], l.returns)
	}
}

// clear writes that an episode has begun in a world, and nothing else has happened.
func (b *Batch) clear(i int) {
	lo, hi := i*b.m.agents(), (i+1)*b.m.agents()
	clear(b.out.Rewards[lo:hi])
	clear(b.out.Terminated[lo:hi])
	clear(b.out.Truncated[lo:hi])
	b.tell(i)
	flag(b.out.Began, i, true)
}

// idle writes that nothing has happened in a world that waits for a reset. What its agents saw last stays.
func (b *Batch) idle(i int) {
	lo, hi := i*b.m.agents(), (i+1)*b.m.agents()
	clear(b.out.Rewards[lo:hi])
	clear(b.out.Terminated[lo:hi])
	clear(b.out.Truncated[lo:hi])
	b.tell(i)
}

// begun writes that an episode has begun in a world whose last one has ended in this step.
func (b *Batch) begun(i int) {
	for k, alive := range b.lanes[i].alive {
		flag(b.out.Alive, i*b.m.agents()+k, alive)
	}
	flag(b.out.Began, i, true)
}

// fail writes that the world's tick has failed: the episode is truncated for all who were in it.
func (b *Batch) fail(i int, were []bool) {
	lo := i * b.m.agents()
	for k, alive := range were {
		b.out.Rewards[lo+k], b.out.Terminated[lo+k] = 0, 0
		flag(b.out.Truncated, lo+k, alive)
	}
}

// observe writes what the agents of a world see.
func (b *Batch) observe(w *worker, i int) {
	l := b.lanes[i]
	n, masks := b.m.agents()*b.m.plan.Len(), b.m.plan.MaskLen()*b.m.agents()
	lo, hi := i*n, (i+1)*n
	var mask []uint8
	if b.out.Mask != nil {
		mask = b.out.Mask[i*masks : (i+1)*masks]
	}
	var err error
	switch b.m.plan.Element() {
	case observe.Float32:
		err = w.observer.Float32(l.w, l.agents, b.out.Float32[lo:hi], mask)
	case observe.Uint8:
		err = w.observer.Uint8(l.w, l.agents, b.out.Uint8[lo:hi], mask)
	case observe.Float16:
		err = w.observer.Float16(l.w, l.agents, b.out.Float16[lo:hi], mask)
	}
	if err != nil {
		panic(fmt.Sprintf("environment: tensors that Bind has checked: %v", err))
	}
}

// keepFinal copies what the agents of a world see to the final tensors.
func (b *Batch) keepFinal(i int) {
	n := b.m.agents() * b.m.plan.Len()
	lo, hi := i*n, (i+1)*n
	switch {
	case b.out.FinalFloat32 != nil:
		copy(b.out.FinalFloat32[lo:hi], b.out.Float32[lo:hi])
	case b.out.FinalUint8 != nil:
		copy(b.out.FinalUint8[lo:hi], b.out.Uint8[lo:hi])
	case b.out.FinalFloat16 != nil:
		copy(b.out.FinalFloat16[lo:hi], b.out.Float16[lo:hi])
	}
}
