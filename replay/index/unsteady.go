package index

import (
	"errors"
	"fmt"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// An UnsteadyError reports a recording of which a tick does not match, or fails, and was computed twice with two outcomes, both times with the same
// states and commands since the recording begins: its program remembers something outside its worlds, or the machine fails.
type UnsteadyError struct {
	Tick uint64
	Came [2]string // what it came to: a hash, a failure and its text, or "the recorded hash" where that is not known here
	Err  error     // what the second replay found, or the first one, if it found nothing
}

// Error implements error.
func (e *UnsteadyError) Error() string {
	return fmt.Sprintf("%v; tick %d was computed twice, and came to %s and to %s", e.Err, e.Tick, e.Came[0], e.Came[1])
}

// Unwrap returns what was found.
func (e *UnsteadyError) Unwrap() error { return e.Err }

// Disputes reports whether an error of a replay says that a tick came to something else than was recorded: to another hash, or to a failure.
func Disputes(err error) bool {
	_, disputes := outcomeOf(err)
	return disputes
}

// Unsteady returns the [*UnsteadyError] of a recording of which two replays found these errors, where nil says that all ticks match; nil: they do
// not contradict each other. A replay that began at a keyframe says nothing about the ticks before it.
func Unsteady(first, second error) error {
	a, told := outcomeOf(first)
	b, too := outcomeOf(second)
	switch {
	case first == nil && too:
		return &UnsteadyError{b.tick, [2]string{b.recorded, b.came}, second}
	case told && second == nil:
		return &UnsteadyError{a.tick, [2]string{a.came, a.recorded}, first}
	case !told || !too:
	case a.tick == b.tick && a.came != b.came:
		return &UnsteadyError{a.tick, [2]string{a.came, b.came}, second}
	case a.tick < b.tick && a.tick > b.from:
		return &UnsteadyError{a.tick, [2]string{a.came, a.recorded}, second}
	case b.tick < a.tick && b.tick > a.from:
		return &UnsteadyError{b.tick, [2]string{b.recorded, b.came}, second}
	}
	return nil
}

// An outcome is what a replay came to in the first tick that did not come to what was recorded.
type outcome struct {
	tick           uint64
	from           uint64 // tick of the keyframe at which the replay began; 0: it began where the recording does
	came, recorded string
}

// outcomeOf returns the outcome of a replay that ended with an error, unless the error is about something else.
func outcomeOf(err error) (o outcome, ok bool) {
	if m, is := errors.AsType[*replay.MismatchError](err); is && m.Tick > 0 {
		return outcome{m.Tick, m.From, m.Format(m.Replayed), m.Format(m.Recorded)}, true
	}
	e, ok := errors.AsType[*engine.TickError](err)
	if !ok {
		return o, false
	}
	o = outcome{tick: e.Tick, came: Failure(e), recorded: "the recorded hash"}
	if f, is := errors.AsType[*replay.FailedError](err); is {
		o.from = f.From
	}
	return o, true
}

// Failure says in a line what a tick that fails came to.
func Failure(e *engine.TickError) string {
	return strings.ReplaceAll(fmt.Sprintf("a failure (%s: %v)", e.Where, e.Err), "\n", " ")
}
