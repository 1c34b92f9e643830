package audit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/murksim/murksim/replay/audit"
)

// A standstill is a store that does not answer.
type standstill struct{ begun chan struct{} }

func (s standstill) Commit(ctx context.Context, _ *audit.Batch) error {
	close(s.begun)
	<-ctx.Done()
	return ctx.Err()
}

// TestAbort: a recorder whose store does not answer ends when it is told to, for the reason that is given.
func TestAbort(t *testing.T) {
	s, w := world(t, "heat")
	store := standstill{make(chan struct{})}
	r, err := audit.NewRecorder(store, w, s.Descriptor(), 0)
	if err != nil {
		t.Fatal(err)
	}
	reason := errors.New("it does not answer")
	go func() {
		<-store.begun
		r.Abort(reason)
	}()
	if err := r.Flush(); !errors.Is(err, reason) {
		t.Errorf("Flush: %v, want %v", err, reason)
	}
	if err := r.Close(); !errors.Is(err, reason) {
		t.Errorf("Close: %v, want %v", err, reason)
	}
}
