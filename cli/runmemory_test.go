package cli

import (
	"crypto/sha256"
	"testing"

	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay/audit"
)

// TestNoteOfAnotherProgram: what another program noted of a chain, this one does not believe.
func TestNoteOfAnotherProgram(t *testing.T) {
	note := noted(3, audit.Hash{}, audit.Hash{})
	defer func(id func() [sha256.Size]byte) { session.ProgramID = id }(session.ProgramID)
	session.ProgramID = func() [sha256.Size]byte { return [sha256.Size]byte{1} }
	if noted(3, audit.Hash{}, audit.Hash{}) == note {
		t.Error("a note does not tell which program made it")
	}
}
