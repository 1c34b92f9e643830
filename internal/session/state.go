package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// StateArguments returns the flags that name files of states, as they are typed on a command line.
func StateArguments(paths ...string) (flags string) {
	for _, path := range paths {
		flags += " --state " + words.Argument(path)
	}
	return flags
}

// A BeginView says where a recording begins that does not begin at genesis, with --json.
type BeginView struct {
	FromTick  uint64 `json:"from_tick,omitempty"`       // the first
	FromState string `json:"from_state_hash,omitempty"` // SHA-256 of the state before it
}

// ViewBegin says where a recording begins; nil is genesis.
func ViewBegin(b *replay.Begin) BeginView {
	if b == nil {
		return BeginView{}
	}
	return BeginView{b.Tick + 1, fmt.Sprintf("%x", b.SHA256)}
}

// String says the same for people, after the word from.
func (v BeginView) String() string {
	return fmt.Sprintf("tick %s on, from the state with the SHA-256 %s", words.Number(v.FromTick), v.FromState)
}

// ErrStateStdin refuses standard input as the file of a state, which may have to be read twice.
var ErrStateStdin = words.NewProblem("--state takes a file, not standard input", replay.ErrBegin)

// StateMark is what every saved state begins with.
const StateMark = "MSS2"

// StateProblem says what is wrong with a state.
func StateProblem(err error) error {
	e, ok := errors.AsType[*engine.StateError](err)
	if !ok {
		return err
	}
	text := fmt.Sprintf("%v (byte %s)", e.Err, words.Number(uint64(e.Offset)))
	switch {
	case e.Kind == engine.ErrStateOther: // the bytes are whole
		text = e.Err.Error()
	case e.Kind == engine.ErrNotState:
		text = fmt.Sprintf("not a saved state: at byte 0, where %q belongs, stands something else", StateMark)
	case errors.Is(err, engine.ErrUnsealed):
		text = "truncated: " + text + "\n  the file was cut there, or written before states had one; save it again"
	case e.Kind == engine.ErrStateTruncated:
		text = "truncated: " + text
	case e.Kind == engine.ErrStateDamaged:
		text = "damaged: " + text
	}
	return words.NewProblem(text, err)
}

// ReadState reads the file of a state as far as one of the scenario's world can reach. It
// looks at the first bytes and the file's size before it reads the rest.
func ReadState(ctx context.Context, path string, s *scenarios.Scenario) ([]byte, error) {
	most, err := s.MaxState()
	if err != nil {
		return nil, err
	}
	f, err := files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const (
		first = 1 << 20           // bytes; where there are more, they must begin well
		head  = 4 + 8 + 2 + 2 + 4 // of a state, and of its first section
	)
	var b bytes.Buffer
	if _, err := b.ReadFrom(io.LimitReader(f, first)); err != nil {
		return nil, err
	}
	if b.Len() == first {
		_, err := engine.ReadState(b.Bytes()[:head])
		if e, ok := errors.AsType[*engine.StateError](err); ok && e.Kind != engine.ErrStateTruncated {
			return nil, err
		}
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if info.Size() > most {
			return nil, fmt.Errorf("it has %s; a state of %s takes %s at most", words.Size(info.Size()), s.Name, words.Size(most))
		}
		b.Grow(int(max(0, min(info.Size(), math.MaxInt)-first)) + bytes.MinRead) // so that nothing is copied
	}
	if _, err := b.ReadFrom(io.LimitReader(f, most+1-int64(b.Len()))); err != nil {
		return nil, err
	}
	if int64(b.Len()) > most {
		return nil, fmt.Errorf("it has more than %s, which a state of %s takes at most", words.Size(most), s.Name)
	}
	return b.Bytes(), nil
}
