package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
)

// A Live is a run that can be watched while it is still going. Its recorder writes to it too, and its loop goes
// through [Live.Gate].
type Live struct {
	// Flush writes all recorded ticks. The run's goroutine calls it between ticks.
	Flush func() error

	// Rest, unless nil, is called in the same way before the run pauses for a while.
	Rest func() error

	world   *engine.World
	tape    *tape
	own     bool // nothing else records the run
	grows   bool // another process writes the recording; there is no run here
	flushed time.Time
	due     time.Time // when the next tick is due

	mu      sync.Mutex
	held    bool
	speed   float64       // times the tick rate; infinity: as fast as possible
	changed chan struct{} // closed when held, speed or stopped changes
	last    uint64        // the last tick on the tape
	next    uint64        // the latest tick in which an order submitted now is applied
	stopped error         // why the run must end; nil: it goes on
	ended   bool
	problem error  // why the run or the tape ended
	seq     uint64 // number of the last order
	orders  []waiting
}

// A waiting is a command that may not have been applied yet.
type waiting struct {
	by      uint64 // the latest tick in which it is applied
	command commands.Command
}

// NewLive returns a run that proceeds at its tick rate, or is held before its first tick. Its recording must
// be written to it from the first byte on.
func NewLive(w *engine.World, held bool) *Live {
	return &Live{world: w, tape: &tape{most: mostTape}, held: held, speed: 1, changed: make(chan struct{}), last: w.Tick(), next: w.Tick() + 1}
}

// Write appends bytes of the recording. It never fails.
func (l *Live) Write(b []byte) (int, error) { return l.tape.Write(b) }

const (
	mostTape    = 512 << 20 // bytes of the recording, if the run is also recorded elsewhere
	mostOwnTape = 64 << 20  // bytes, if it is not
)

// flushEvery is how long a new tick may stay invisible to viewers.
const flushEvery = 15 * time.Millisecond

// errFull is the error of a tape that is full.
type errFull struct{ most int }

func (e errFull) Error() string {
	return fmt.Sprintf("the viewer holds at most %d MiB of a run", e.most>>20)
}

const slow = 250 * time.Millisecond // from one tick to the next

// Gate is for [runner.Run]: it blocks while the run is held, and keeps its pace.
func (l *Live) Gate(ctx context.Context) error {
	for ctx.Err() == nil {
		l.mu.Lock()
		held, speed, changed, stopped := l.held, l.speed, l.changed, l.stopped
		l.mu.Unlock()
		if stopped != nil {
			return stopped
		}
		now := time.Now()
		wait := time.Duration(math.MaxInt64)
		switch {
		case held:
			l.due = time.Time{}
		case math.IsInf(speed, 1):
			l.due = now
			wait = 0
		default:
			if l.due.IsZero() {
				l.due = now
			}
			wait = l.due.Sub(now)
		}
		if wait > 0 || now.Sub(l.flushed) > flushEvery {
			if err := l.Show(); err != nil {
				return err
			}
			rest() // for a page whose engine has one thread
		}
		if wait > slow && l.Rest != nil {
			if err := l.Rest(); err != nil {
				return err
			}
		}
		if wait <= 0 {
			l.expect(2)
			const most = 1e6 // seconds
			l.due = l.due.Add(time.Duration(min(l.world.Dt()/speed, most) * float64(time.Second)))
			if late := now.Add(-100 * time.Millisecond); l.due.Before(late) { // lost time is not made up
				l.due = late
			}
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-changed:
			l.due = time.Time{}
		case <-timer.C:
		}
		timer.Stop()
	}
	return ctx.Err()
}

// expect sets the latest tick in which an order submitted now is applied, as a number of ticks
// after the last one.
func (l *Live) expect(ticks uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = l.world.Tick() + ticks
}

// Show makes the ticks so far visible to readers. It is called between ticks.
func (l *Live) Show() error {
	if l.Flush != nil {
		if err := l.Flush(); err != nil {
			return err
		}
	}
	l.flushed = time.Now()
	room := l.tape.mark()
	l.mu.Lock()
	defer l.mu.Unlock()
	if room {
		l.last = l.world.Tick()
		return nil
	}
	l.problem = errFull{l.tape.most}
	if l.own {
		return l.problem
	}
	return nil
}

// End says, after the last tick, that there are no more, and why.
func (l *Live) End(err error) {
	if !l.grows {
		err = cmp.Or(err, l.Show())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended = true; err != nil && !errors.Is(err, context.Canceled) {
		l.problem = err
	}
}

// A runAnswer describes the state of a run.
type runAnswer struct {
	Last  uint64   `json:"last"` // the last tick so far
	Held  bool     `json:"held,omitempty"`
	Speed *float64 `json:"speed,omitempty"` // times the tick rate; none: as fast as possible
	Ended bool     `json:"ended,omitempty"`
	Error string   `json:"error,omitempty"`
}

func (l *Live) state() *runAnswer {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &runAnswer{Last: l.last, Held: l.held, Ended: l.ended}
	if !math.IsInf(l.speed, 1) {
		a.Speed = &l.speed
	}
	if l.problem != nil {
		a.Error = plain(l.problem)
	}
	return a
}

// drive holds a run, or lets it go on at a speed; speed 0 means as fast as possible.
func (l *Live) drive(held bool, speed float64) error {
	if !(speed == 0 || speed >= 1e-3 && speed <= 1e6) {
		return fmt.Errorf("the speed must be 0, for as fast as possible, or 0.001 to 1000000, not %v", speed)
	}
	if speed == 0 {
		speed = math.Inf(1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held, l.speed = held, speed
	l.wake()
	return nil
}

// Stop ends the run with an error before its next tick.
func (l *Live) Stop(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = err
	l.wake()
}

// wake makes the gate notice a change.
func (l *Live) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Viewer is the source number of commands from the viewer.
const Viewer = 1<<32 - 1

// submit submits an order for the next tick, in the scenario's notation.
func (l *Live) submit(s *scenarios.Scenario, order []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.problem != nil {
		return cmp.Or(l.problem, errors.New("the run has ended"))
	}
	list, err := s.Order(order, l.next)
	if err != nil {
		return err
	}
	for i := range list {
		l.seq++
		list[i] = list[i].From(Viewer, l.seq)
	}
	if _, err := l.world.SubmitTogether(list); err != nil {
		return err
	}
	l.orders = slices.DeleteFunc(l.orders, func(o waiting) bool { return o.by <= l.last })
	for _, c := range list {
		l.orders = append(l.orders, waiting{l.next, c})
	}
	return nil
}

// waiting returns the commands that were ordered but not applied by the end of a tick. Receipts are
// those of the tick.
func (l *Live) waiting(tick uint64, receipts []commands.Receipt) (list []commands.Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.orders {
		o := &l.orders[i]
		done := slices.ContainsFunc(receipts, func(r commands.Receipt) bool { return sameOrder(r.Command, &o.command) })
		if o.by > tick && !done {
			list = append(list, o.command)
		}
	}
	return list
}

// sameOrder reports whether two commands are the same order of a viewer.
func sameOrder(a, b *commands.Command) bool {
	return a.Source == b.Source && a.SourceSeq == b.SourceSeq
}

// A Start describes how a run starts.
type Start struct {
	Name     string // for people
	Scenario *scenarios.Scenario
	State    []byte // a saved state to continue from; nil: genesis
	Workers  int
	Held     bool // the run waits before its first tick

	Again string             // the gallery's name for starting another run; "": none
	Set   map[string]float64 // the settings it was started with

	inputs  *follower          // inputs after the state, from the recording that was forked; nil: the scenario's
	waiting []commands.Command // ordered in the forked run, but not in its recording yet
}

// NewRun returns the recording of a run that proceeds while a session shows it. Nothing is stored on
// disk.
func NewRun(c Start) (*Recording, error) {
	run, err := runner.New(runner.Config{Scenario: c.Scenario, Workers: c.Workers, State: c.State})
	if err != nil {
		return nil, err
	}
	l := NewLive(run.World, c.Held)
	l.own, l.tape.most = true, mostOwnTape
	descriptor := c.Scenario.Descriptor()
	if c.State != nil {
		begin, err := replay.NewBegin(c.State)
		if err == nil {
			descriptor, err = begin.Describe(descriptor)
		}
		if err != nil {
			return nil, err
		}
	}
	recorder, err := replay.NewRecorder(l, run.World, descriptor)
	if err != nil {
		return nil, err
	}
	run.World.Record(recorder)
	l.Flush, run.Gate, run.Checker = recorder.Flush, l.Gate, nil
	if c.inputs != nil {
		run.Due = due(c.inputs, c.waiting, run.Scheduled)
	}
	if err := l.Show(); err != nil {
		return nil, err
	}
	again := runner.Config{Scenario: c.Scenario, Workers: c.Workers, State: c.State}
	r, err := Open(Config{Name: c.Name, Live: l, Build: func(*replay.Header) (*engine.World, *scenarios.Scenario, error) {
		run, err := runner.New(again)
		if err != nil {
			return nil, nil, err
		}
		return run.World, again.Scenario, nil
	}})
	if err == nil {
		r.again, r.set = c.Again, c.Set
		r.drive = func(ctx context.Context) { l.End(run.To(ctx, again.Scenario.Ticks)) }
	}
	return r, err
}

// checkNames returns an error if an entity to which the scenario gives a name is not made as the scenario makes it: what goes on by itself would reach another.
func (r *Recording) checkNames() error {
	if r.scenario.LastNamed() == 0 {
		return nil
	}
	frames, err := r.frames()
	if err != nil {
		return err
	}
	return runner.CheckNames(frames, r.scenario, r.scenario.LastNamed())
}

// fork returns a run that continues from a tick of a recording. It gets the commands that follow in the recording;
// where the recording ends, it gets the commands that are waiting there and those of the scenario.
func (r *Recording) fork(tick uint64, held bool, deadline time.Time) (c Start, err error) {
	if err := r.show.to(tick, deadline); err != nil {
		return c, err
	}
	if f := r.show.player.Frame(); r.show.wrong(tick) {
		return c, fmt.Errorf("tick %d is not as recorded, so nothing goes on from it: recorded %016x, replayed %016x",
			tick, f.Hash, r.show.player.World.Hash())
	}
	if e := r.check.differing(); e != nil && e.Tick <= tick {
		return c, fmt.Errorf("tick %d is not as recorded, so nothing goes on from it, or from later ones: recorded %016x, replayed %016x", e.Tick, e.Recorded, e.Replayed)
	}
	if tick >= r.scenario.Ticks {
		return c, fmt.Errorf("tick %d is the last that is planned: there is nothing after it", r.scenario.Ticks)
	}
	if err := r.checkNames(); err != nil {
		return c, err
	}
	c = Start{Name: forked(r.Name, tick), Scenario: r.scenario, Held: held, Workers: 1}
	if r.scenario.PlannedTicks() == 0 { // a fork must end
		own := *r.scenario
		if own.Ticks = r.end(); tick >= own.Ticks {
			return c, fmt.Errorf("tick %d is the last of the recording: nothing says what comes after it", own.Ticks)
		}
		c.Scenario = &own
	}
	if tick > 0 {
		if c.State, err = r.show.player.World.Save(r.scenario.Descriptor()); err != nil {
			return c, err
		}
	}
	if r.Live != nil {
		c.waiting = r.Live.waiting(tick, r.show.player.Receipts())
	}
	at, bytes := r.show.position(), r.bytes()
	c.inputs = &follower{replay.ResumeReader(bytes.from(at.Offset), r.head, at), bytes}
	return c, nil
}

// forked returns the name of a fork: "heat.murk forked at 200", and for a fork of that, "heat.murk
// forked at 200, 300".
func forked(name string, tick uint64) string {
	if strings.Contains(name, " forked at ") {
		return fmt.Sprintf("%s, %d", name, tick)
	}
	return fmt.Sprintf("%s forked at %d", name, tick)
}

// due returns a function that lists a tick's commands: first the recording's; after its end, once, those that
// were waiting there, together with those scheduled in the run.
func due(from *follower, waiting []commands.Command, scheduled func(uint64) ([]commands.Command, error)) func(uint64) ([]commands.Command, error) {
	var frame replay.Frame
	return func(tick uint64) (list []commands.Command, err error) {
		if from == nil {
			return scheduled(tick)
		}
		if err := from.Next(&frame); err != nil {
			if from = nil; err == io.EOF {
				list, err := scheduled(tick)
				return append(waiting, list...), err
			}
			return nil, err
		}
		if frame.Tick != tick {
			return nil, fmt.Errorf("the recording has tick %d instead", frame.Tick)
		}
		if list, err = frame.Commands(list); err != nil {
			return nil, err
		}
		for i := range list {
			waiting = slices.DeleteFunc(waiting, func(w commands.Command) bool { return sameOrder(&w, &list[i]) })
		}
		slices.SortFunc(list, func(a, b commands.Command) int { return cmp.Compare(a.Arrival, b.Arrival) }) // in order of arrival
		return list, nil
	}
}

// rest yields the processor where there is only one thread.
func rest() {
	if runtime.GOOS == "js" {
		time.Sleep(time.Millisecond)
	}
}

// control drives a run or submits an order to it.
func (r *Recording) control(q *request, a *answer) error {
	if r.Live == nil || r.Live.grows {
		return errors.New("that is a recording; fork it")
	}
	a.head = struct{}{}
	if q.Op == "drive" {
		return r.Live.drive(q.Hold, q.Speed)
	}
	return r.Live.submit(r.scenario, q.Order)
}
