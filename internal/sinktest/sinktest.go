// Package sinktest has writers that misbehave, for tests of what writes.
package sinktest

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
)

// A Sink does something else instead of a write, once.
type Sink struct {
	bytes.Buffer
	At      int // the write, from 1
	Instead func() (int, error)

	writes int
}

// Write implements [io.Writer].
func (s *Sink) Write(b []byte) (int, error) {
	if s.writes++; s.writes == s.At {
		return s.Instead()
	}
	return s.Buffer.Write(b)
}

// Misbehaviours returns by name what a sink may do instead of a write. A panic with nil is
// one only with GODEBUG=panicnil=1.
func Misbehaviours() map[string]func() (int, error) {
	return map[string]func() (int, error){
		"ends its goroutine": func() (int, error) { runtime.Goexit(); return 0, nil },
		"panics":             func() (int, error) { panic("sink") },
		"panics with nil":    func() (int, error) { panic(nil) },
		"gives a nil error":  func() (int, error) { return 0, (*engine.ArgError)(nil) },
	}
}

// Apart calls f in a goroutine of its own, which f may end: then the error is
// [engine.ErrGoexit].
func Apart(t *testing.T, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		err := engine.ErrGoexit
		defer func() { done <- err }()
		err = f()
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("it hangs")
		return nil
	}
}
