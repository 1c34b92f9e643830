package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// A Player replays a recording into the world of a world file and checks every
// tick.
type Player struct {
	World    *engine.World
	Frame    replay.Frame // the last one read; valid until the next Step
	Receipts []Receipt    // of the last step, in the original's order; valid until the next Step
	Failed   error        // why the last step's tick failed, as the file says it did; nil if it did not

	file    *File
	r       *replay.Reader
	actions *actionQueue
	step    int // calls made
	next    int // index of the next of file.Steps

	accepted []int // which of the step's commands the queue took
}

// NewPlayer builds the world and compares it with the recording's header. A config
// hash of 0 was not recorded. The world may take maxMemory bytes. An *[Error] is
// about the world file, also if it does not fit the header.
func NewPlayer(f *File, r *replay.Reader, workers int, maxMemory uint64) (*Player, error) {
	w, actions, err := f.world(workers, maxMemory)
	if err != nil {
		return nil, &Error{File: f.name, Err: err}
	}
	h := r.Header
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
	return &Player{World: w, file: f, r: r, actions: actions}, nil
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

// Step replays the next step call, which is a frame of the recording or a tick that
// failed. At the end it returns io.EOF; a *[replay.MismatchError] says that the
// hashes differ, an *[engine.TickError] that a tick fails that did not, a *[DivergedError]
// that one succeeds that failed or that steps and frames do not belong together, a
// *[replay.FormatError] that the recording is damaged.
func (p *Player) Step() error {
	if n := p.file.StepCount; n > 0 && p.step == n {
		return p.end()
	}
	p.step++
	var s *Step
	if p.next < len(p.file.Steps) && p.file.Steps[p.next].Step == p.step {
		s = &p.file.Steps[p.next]
		p.next++
	}
	if s != nil && s.ResetSeed != nil {
		p.World.Reset(uint64(*s.ResetSeed))
	}
	if s != nil {
		for _, a := range s.Actions {
			p.actions.push(a.Agent, a.Direction)
		}
	}
	if s != nil && s.Error != nil && string(s.Error) != "null" {
		return p.fail(s)
	}
	return p.frame()
}

// end is the end of the steps, which must be that of the recording.
func (p *Player) end() error {
	if err := p.r.Next(&p.Frame); err != nil {
		return err
	}
	return &DivergedError{p.Frame.Tick, "the recording goes on after the last step of the world file"}
}

// fail replays a step whose tick failed.
func (p *Player) fail(s *Step) error {
	p.begin()
	for i := range s.Commands {
		c, err := s.Commands[i].command()
		if err != nil {
			return &Error{File: p.file.name, Err: fmt.Errorf("step %d: commands[%d]: %w", s.Step, i, err)}
		}
		p.submit(i, c)
	}
	tick := p.World.Tick() + 1
	receipts, err := p.World.Step()
	p.receive(receipts)
	if p.Failed = err; err == nil {
		return &DivergedError{tick, fmt.Sprintf("step %d succeeds here; it failed with %s", s.Step, s.Error)}
	}
	return nil
}

// frame replays a step that the recording holds.
func (p *Player) frame() error {
	p.begin()
	if err := p.r.Next(&p.Frame); err == io.EOF && p.step <= p.file.lastStep() {
		return &DivergedError{p.World.Tick() + 1, fmt.Sprintf("the recording ends before step %d of %d", p.step, p.file.lastStep())}
	} else if err != nil {
		return err
	}
	tick := p.World.Tick() + 1
	if p.Frame.Tick != tick {
		return &DivergedError{tick, fmt.Sprintf("the frame of step %d is of tick %d", p.step, p.Frame.Tick)}
	}
	for i := range p.Frame.Records {
		c, err := p.Frame.Records[i].Command()
		if err != nil {
			return err
		}
		p.submit(i, c)
	}
	receipts, err := p.World.Step()
	p.receive(receipts)
	if err != nil {
		return err
	}
	if got := p.World.Hash(); got != p.Frame.Hash {
		const hashSize = 8
		return &replay.MismatchError{Offset: p.r.Offset() - hashSize, Tick: tick, What: "state hash", Recorded: p.Frame.Hash, Replayed: got}
	}
	return nil
}

// A DivergedError says that a tick went otherwise than the recording or the world
// file says, for another reason than its hash.
type DivergedError struct {
	Tick   uint64
	Reason string
}

// Error implements error.
func (e *DivergedError) Error() string { return fmt.Sprintf("tick %d: %s", e.Tick, e.Reason) }

// Unwrap gives [replay.ErrMismatch].
func (e *DivergedError) Unwrap() error { return replay.ErrMismatch }

// A Receipt is what the original says of a command.
type Receipt struct {
	Command  int // index among the step's commands
	Accepted bool
	Tick     uint64 // at which it was applied, or 0
	Reason   string // why not, or ""
}

// reasons are the original's names of what it tells apart.
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

func (p *Player) begin() {
	p.Receipts, p.accepted, p.Failed = p.Receipts[:0], p.accepted[:0], nil
}

func (p *Player) submit(i int, c commands.Command) {
	if err := p.World.Submit(c); err != nil {
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

// An Action is what an agent is to do.
type Action struct {
	Agent     uint16
	Direction Heading
}

// UnmarshalJSON implements [json.Unmarshaler]: [agent, "north"].
func (a *Action) UnmarshalJSON(b []byte) error {
	var name string
	if err := pair(b, &a.Agent, &name); err != nil {
		return err
	}
	var err error
	if a.Direction, err = parseHeading(name); err != nil {
		return &valueError{bytes.Clone(b), err}
	}
	return nil
}

// A Command is a command as a world file writes it. Keys that are absent mean the
// default: user's priority, no source, no expiry.
type Command struct {
	Type     string  `json:"type"`
	Coord    []int32 `json:"coord"`
	FieldID  uint32  `json:"field_id"`
	Bits     string  `json:"value_bits"` // of a float32, such as 0x3f800000
	Priority *uint8  `json:"priority_class"`
	Source   *Number `json:"source_id"`
	Sequence *Number `json:"source_seq"`
	Expires  *Number `json:"expires_after_tick"`

	// What the original does not look at.
	Arrival remark `json:"arrival_seq"`
	Target  remark `json:"target_coord"`
	Entity  remark `json:"entity_id"`
	Values  remark `json:"field_values"`
	Params  remark `json:"params"`
	Key     remark `json:"key"`
	TypeID  remark `json:"type_id"`
	Data    remark `json:"data_hex"`
	Value   remark `json:"value"`
}

func (c *Command) command() (commands.Command, error) {
	out := commands.Custom(0, nil)
	if c.Type == "set_field" {
		bits, err := strconv.ParseUint(strings.TrimPrefix(c.Bits, "0x"), 16, 32)
		if err != nil {
			return out, fmt.Errorf("value_bits: %w", err)
		}
		if len(c.Coord) > space.MaxDim {
			return out, fmt.Errorf("coord: %d components; at most %d", len(c.Coord), space.MaxDim)
		}
		out = commands.SetField(space.At(c.Coord...), c.FieldID, math.Float32frombits(uint32(bits)))
		out.Bits = bits
	}
	if c.Priority != nil {
		out.Priority = *c.Priority
	}
	if c.Source != nil {
		out.HasSource, out.Source = true, uint64(*c.Source)
	}
	if c.Sequence != nil {
		out.HasSeq, out.SourceSeq = true, uint64(*c.Sequence)
	}
	if c.Expires != nil {
		out.Expires = uint64(*c.Expires)
	}
	return out, nil
}
