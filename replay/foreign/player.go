package foreign

import (
	"errors"
	"fmt"
	"math"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// A Player replays a recording into the world of a world file and checks every
// tick. It is a [replay.Player] with a source of its own, the recording together with the
// steps in the file; commands go through the world's queue, as they did in the original.
type Player struct {
	World    *engine.World
	Receipts []Receipt // of the last step, in the original's order; valid until the next Step
	Failed   error     // why the last step's tick failed, as it did in the original; nil if it did not

	player   *replay.Player
	steps    *steps
	accepted []int // which of the step's commands the queue took
}

// NewPlayer builds the world and compares it with the recording's header. A config
// hash of 0 means that none was recorded. The world may take maxMemory bytes. An [*Error] is
// about the world file, which includes that it does not fit the header.
func NewPlayer(f *File, recording replay.Source, workers int, maxMemory uint64) (*Player, error) {
	w, actions, err := f.world(workers, maxMemory)
	if err != nil {
		return nil, &Error{File: f.name, Err: err}
	}
	h := *recording.Head()
	setup := w.Setup(h.Descriptor)
	if h.ConfigHash == 0 {
		h.ConfigHash = setup.Hash()
	}
	if err := h.Check(setup); err != nil {
		if e, ok := errors.AsType[*replay.MismatchError](err); ok {
			err = fmt.Errorf("it is not of this recording: %s is %s here, %s in its header", e.What, e.Format(e.Replayed), e.Format(e.Recorded))
		}
		return nil, &Error{File: f.name, Err: err}
	}
	p := &Player{World: w, steps: &steps{Source: recording, file: f, world: w, actions: actions}}
	p.player = &replay.Player{World: w, Source: p.steps, Feed: p.feed}
	return p, nil
}

// Step replays the next step call, which is a frame of the recording or a tick that
// failed. At the end it returns io.EOF. A [*replay.MismatchError] reports hashes that
// differ, an [*engine.TickError] a tick that fails but did not in the original, a
// [*DivergedError] one that succeeds but failed there, or steps and frames that do not belong
// together, and a [*replay.FormatError] a damaged recording.
func (p *Player) Step() error {
	p.Receipts, p.accepted, p.Failed = p.Receipts[:0], p.accepted[:0], nil
	return p.player.Step()
}

// feed steps the world as the original did.
func (p *Player) feed(inputs []commands.Command) error {
	for i := range inputs {
		p.submit(i, inputs[i])
	}
	tick := p.World.Tick() + 1
	receipts, err := p.World.Step()
	p.receive(receipts)
	s := p.steps.failing
	if s == nil {
		return err
	}
	if p.Failed = err; err == nil {
		return &DivergedError{tick, fmt.Sprintf("step %d succeeds here; it failed with %s", s.Step, s.Error)}
	}
	return nil
}

// world builds the world of the file.
func (f *File) world(workers int, maxMemory uint64) (*engine.World, *actionQueue, error) {
	c, actions, err := f.config(workers)
	if err != nil {
		return nil, nil, err
	}
	need, err := c.Memory()
	if err != nil {
		return nil, nil, err
	}
	if need > maxMemory {
		return nil, nil, fmt.Errorf("its world may take %d bytes of memory; the limit is %d", need, maxMemory)
	}
	w, err := engine.New(c)
	return w, actions, err
}

// A DivergedError reports a tick that differs from the recording or the world file in
// something other than its hash.
type DivergedError struct {
	Tick   uint64
	Reason string
}

// Error implements error.
func (e *DivergedError) Error() string { return fmt.Sprintf("tick %d: %s", e.Tick, e.Reason) }

// Unwrap returns [replay.ErrMismatch].
func (e *DivergedError) Unwrap() error { return replay.ErrMismatch }

// A Receipt is the original's receipt of a command.
type Receipt struct {
	Command  int // index among the step's commands
	Accepted bool
	Tick     uint64 // at which it was applied, or 0
	Reason   string // why not, or ""
}

// reasons holds the names of the reasons that the original distinguishes.
var reasons = map[commands.Reason]string{
	commands.QueueFull:    "QueueFull",
	commands.Stopped:      "TickDisabled",
	commands.Expired:      "Stale",
	commands.RolledBack:   "TickRollback",
	commands.Unsupported:  "UnsupportedCommand",
	commands.UnknownField: "NotApplied",
	commands.StaticField:  "NotApplied",
	commands.OutsideSpace: "NotApplied",
}

func (p *Player) submit(i int, c commands.Command) {
	if _, err := p.World.Submit(c); err != nil {
		reason, _ := errors.AsType[commands.Reason](err)
		p.Receipts = append(p.Receipts, Receipt{Command: i, Reason: reasons[reason]})
		return
	}
	p.accepted = append(p.accepted, i)
}

// receive adds the engine's receipts. Arrival numbers count the commands that the
// queue took.
func (p *Player) receive(receipts []commands.Receipt) {
	first := uint64(math.MaxUint64)
	for i := range receipts {
		first = min(first, receipts[i].Arrival)
	}
	for i := range receipts {
		r := &receipts[i]
		v := Receipt{Command: p.accepted[r.Arrival-first]}
		switch r.Reason {
		case commands.Applied:
			v.Accepted, v.Tick = true, p.World.Tick()
		case commands.Expired, commands.RolledBack:
			v.Accepted, v.Reason = true, reasons[r.Reason]
		default:
			v.Reason = reasons[r.Reason]
		}
		p.Receipts = append(p.Receipts, v)
	}
}
