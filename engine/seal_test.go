package engine_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/murksim/murksim/engine"
)

// TestSeal holds that a sealed state opens, and that with any byte cut off, any bit
// flipped, or anything behind it, it does not: what is cut is truncated, but for the
// lengths and the mark what is flipped is damaged.
func TestSeal(t *testing.T) {
	state := inspected(t)
	sealed := engine.Seal(bytes.Clone(state))
	if sum := sha256.Sum256(state); !bytes.Equal(sealed, append(bytes.Clone(state), sum[:]...)) {
		t.Fatalf("Seal = %x, want the state and its SHA-256", sealed)
	}
	if got, err := engine.Unseal(sealed); err != nil || !bytes.Equal(got, state) || &got[0] != &sealed[0] {
		t.Fatalf("Unseal = %x, %v, want the state itself", got, err)
	}
	for n := range sealed {
		state, err := engine.Unseal(sealed[:n])
		if e, ok := errors.AsType[*engine.StateError](err); !ok || e.Kind != engine.ErrStateTruncated || e.Offset > n || state != nil {
			t.Errorf("cut at byte %d: %v, want that it is truncated", n, err)
		}
	}
	if _, err := engine.Unseal(state); !errors.Is(err, engine.ErrUnsealed) {
		t.Errorf("a state alone: %v, want %v", err, engine.ErrUnsealed)
	}
	kinds := map[engine.StateKind]int{}
	for bit := range 8 * len(sealed) {
		bad := bytes.Clone(sealed)
		bad[bit/8] ^= 1 << (bit % 8)
		state, err := engine.Unseal(bad)
		e, ok := errors.AsType[*engine.StateError](err)
		if !ok || state != nil || e.Offset < 0 || e.Offset > len(bad) {
			t.Fatalf("bit %d: %x, %v, want a StateError", bit, state, err)
		}
		kinds[e.Kind]++
	}
	if kinds[engine.ErrNotState] != 8*4 || kinds[engine.ErrStateTruncated] > 5*32 || kinds[engine.ErrStateDamaged] < 8*(len(sealed)-4-5*4) {
		t.Errorf("flipped bits are %v, want 32 in the mark, at most those of five lengths truncated, all others damaged", kinds)
	}
	if _, err := engine.Unseal(append(sealed, 0)); !errors.Is(err, engine.ErrStateDamaged) {
		t.Errorf("a byte too many: %v, want %v", err, engine.ErrStateDamaged)
	}
	if _, err := engine.Unseal([]byte("murksim: 1")); !errors.Is(err, engine.ErrNotState) {
		t.Errorf("a scenario: %v, want %v", err, engine.ErrNotState)
	}
}
