package engine

import (
	"crypto/sha256"
	"errors"

	"github.com/murksim/murksim/internal/wire"
)

// Seal appends the SHA-256 of a state to it, so that a file or a message that holds both
// can be checked by itself. [Unseal] is its inverse.
func Seal(state []byte) []byte {
	sum := sha256.Sum256(state)
	return append(state, sum[:]...)
}

// Unseal returns the state that [Seal] sealed, as a slice of its argument, if its SHA-256
// matches. Otherwise the error is a [*StateError]: [ErrNotState], [ErrStateTruncated] if
// bytes are missing, which a damaged length also looks like, or [ErrStateDamaged].
func Unseal(sealed []byte) (state []byte, err error) {
	if n := len(sealed) - sha256.Size; n >= 0 && sha256.Sum256(sealed[:n]) == [sha256.Size]byte(sealed[n:]) {
		return sealed[:n], nil
	}
	d := wire.Of(sealed)
	err = new(State).frame(d)
	if e, ok := errors.AsType[*StateError](err); ok && e.Kind != ErrStateDamaged {
		return nil, err
	}
	switch at := int(d.Offset()); {
	case err == nil && d.Left() == 0:
		return nil, &StateError{Kind: ErrStateTruncated, Offset: at, Err: ErrUnsealed}
	case err == nil && d.Left() < sha256.Size:
		return nil, &StateError{Kind: ErrStateTruncated, Offset: at, Err: errors.New("its SHA-256 is cut short")}
	}
	return nil, damaged(len(sealed)-sha256.Size, "its SHA-256 does not match")
}

// ErrUnsealed reports a state that no SHA-256 follows. [Unseal] cannot know whether it was
// cut off or never there.
var ErrUnsealed = errors.New("its SHA-256 is missing")
