package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/scenarios/document"
)

// A runMemory notes, in the folder of the user's configuration, the last tick of a chain that was committed by this program of this user, with its hashes.
// They commit to all ticks before it. So a run goes on from a snapshot of that chain, and computes the ticks again of one that somebody else has made or changed.
type runMemory string // the file; "": there is no such folder

func memoryOf(run audit.ID) runMemory {
	if session.IndexKey(true) == nil { // which makes the folder where there is a home for it
		return ""
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return runMemory(filepath.Join(folder, "murksim", "runs", run.String()))
}

// note replaces what is noted. Without it a run that goes on takes longer, and that is all.
func (m runMemory) note(tick uint64, hash, inputs audit.Hash) {
	if m == "" || os.MkdirAll(filepath.Dir(string(m)), 0o700) != nil {
		return
	}
	_ = draft.WriteSecret(string(m), []byte(noted(tick, hash, inputs)), true)
}

// noted is the text of a note. Another program does not believe it.
func noted(tick uint64, hash, inputs audit.Hash) string {
	return fmt.Sprintf("%d %s %s %x\n", tick, hash, inputs, session.ProgramID())
}

// vouches returns the noted tick of a chain, if this program has noted the hashes that it has there. If others were noted, or of a tick that the
// chain lacks, otherwise says so.
func (m runMemory) vouches(ctx context.Context, e audit.Evidence) (tick uint64, ok bool, otherwise string) {
	if m == "" {
		return 0, false, ""
	}
	text, err := os.ReadFile(string(m))
	if err != nil {
		return 0, false, ""
	}
	var hash, inputs, program string
	if _, err := fmt.Sscan(string(text), &tick, &hash, &inputs, &program); err != nil {
		return 0, false, ""
	}
	l, err := audit.LinkAt(ctx, e, tick)
	switch {
	case err != nil:
		otherwise = "lacks that tick"
	case l.Hash.String() != hash || l.InputHash.String() != inputs:
		otherwise = "has another one there"
	default:
		return tick, noted(l.Tick, l.Hash, l.InputHash) == string(text), "" // what another program computed, this one does not vouch for
	}
	return 0, false, fmt.Sprintf("a program of yours has committed tick %s of run %s with the hash %s; the chain %s", words.Number(tick), e.Run().ID, hash, otherwise)
}

// heldToNotes returns an error if a chain, from which another run comes, is not as a program of this user committed it.
func heldToNotes(ctx context.Context, source string, e audit.Evidence) error {
	_, _, otherwise := memoryOf(e.Run().ID).vouches(ctx, e)
	if otherwise == "" {
		return nil
	}
	return report.Exit(report.StatusEvidence, fmt.Errorf("%s: %s\n  run --resume --force goes on with that chain, and notes it", document.FileName(source), otherwise))
}

// forget removes what is noted of a run that is complete.
func (m runMemory) forget() {
	if m != "" {
		os.Remove(string(m))
	}
}

// A notingStore notes what is committed, as often as a snapshot is.
type notingStore struct {
	audit.Store
	memory runMemory
}

// Commit implements [audit.Store].
func (s notingStore) Commit(ctx context.Context, b *audit.Batch) error {
	err := s.Store.Commit(ctx, b)
	if n := len(b.Links); err == nil && n > 0 && len(b.Snapshots) > 0 {
		l := &b.Links[n-1]
		s.memory.note(l.Tick, l.Hash, l.InputHash)
	}
	return err
}
