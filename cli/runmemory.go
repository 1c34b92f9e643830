package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/scenarios/document"
)

// A runMemory notes, in the user's configuration folder, the last tick of a chain that this user's program committed, with its hashes.
// The hashes commit to all ticks before it. So a run can continue from a snapshot of that chain, but computes a chain again if another
// program made or changed it.
type runMemory string // the file; "": there is no such folder

func memoryOf(run audit.ID) runMemory {
	folder, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	path := filepath.Join(folder, "murksim", "runs", run.String())
	if session.IndexKey(true) == nil { // which makes the folder where there is a home for it
		home, err := os.Stat(folder)
		_, note := os.Lstat(path)
		if errors.Is(note, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && !home.IsDir() {
			return "" // as of a user whose home is /dev/null
		}
	}
	return runMemory(path)
}

// note replaces the note, of a chain in a database.
func (m runMemory) note(in string, tick uint64, hash, inputs audit.Hash) error {
	return m.write(noted(tick, hash, inputs) + fmt.Sprintf(inDatabase, in))
}

// noteWrong adds to the note of a chain that a tick of it is wrong. Of another chain than the noted one the note says nothing.
func (m runMemory) noteWrong(ctx context.Context, e audit.Evidence, tick uint64) error {
	n := m.read()
	if n == nil || n.wrong != nil {
		return nil
	}
	if _, err := n.agrees(ctx, e); err != nil {
		return nil
	}
	return m.write(n.text + fmt.Sprintf(wrongAt, tick))
}

// replaced takes a database out of the note: another one is there now, in which the chain was not committed.
func (m runMemory) replaced(in string) error {
	n := m.read()
	if n == nil || n.in != in {
		return nil
	}
	return m.write(strings.ReplaceAll(n.text, fmt.Sprintf(inDatabase, in), ""))
}

// The lines of a note behind the first.
const (
	inDatabase = "in %q\n"
	wrongAt    = "wrong at tick %d\n"
)

// write writes the text of a note.
func (m runMemory) write(text string) error {
	if m == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(string(m)), 0o700); err != nil {
		return err
	}
	return draft.WriteSecret(string(m), []byte(text), true)
}

// noNote says that there is no note, and what that means.
func noNote(why string) string {
	return fmt.Sprintf("note      none: %s; if somebody removes ticks from the end of the chain, nobody will notice", why)
}

// noted returns the first line of a note. A note of another program does not count.
func noted(tick uint64, hash, inputs audit.Hash) string {
	return fmt.Sprintf("%d %s %s %x\n", tick, hash, inputs, session.ProgramID())
}

// A chainNote is what is noted of a run.
type chainNote struct {
	text         string
	run          audit.ID
	tick         uint64
	hash, inputs string
	in           string  // the database; "": an older program noted it
	wrong        *uint64 // a tick that is known to be wrong
}

// read returns what is noted of the run; nil: nothing.
func (m runMemory) read() *chainNote {
	if info, err := os.Stat(string(m)); err != nil || !info.Mode().IsRegular() { // a pipe would block until something writes to it
		return nil
	}
	text, err := os.ReadFile(string(m))
	if err != nil {
		return nil
	}
	run, err := audit.ParseID(filepath.Base(string(m)))
	n, program := &chainNote{text: string(text), run: run}, ""
	if err == nil {
		_, err = fmt.Sscan(n.text, &n.tick, &n.hash, &n.inputs, &program)
	}
	if err != nil {
		return nil
	}
	for line := range strings.Lines(n.text) {
		var tick uint64
		if _, err := fmt.Sscanf(line, wrongAt, &tick); err == nil {
			n.wrong = &tick
		}
		_, _ = fmt.Sscanf(line, inDatabase, &n.in)
	}
	return n
}

// none says why there can be no note; "": there can be one.
func (m runMemory) none() string {
	if m == "" {
		return "there is no folder for your configuration"
	}
	return ""
}

// damaged returns an error for a note that cannot be read, or may be there and cannot be looked for: what it said is not known.
func (m runMemory) damaged() error {
	_, err := os.Lstat(string(m))
	if m == "" || errors.Is(err, fs.ErrNotExist) || m.read() != nil {
		return nil
	}
	wrong, then := "is no note", "remove it to go on without"
	if err != nil {
		wrong, then = "cannot be looked for, "+words.InWords(err).Error(), "let your programs read its folder"
	}
	return report.Exit(report.StatusEvidence, fmt.Errorf("%s %s: what your programs committed is not known; %s, or run --resume --force",
		document.FileName(string(m)), wrong, then))
}

// A noteError says how a chain differs from its note.
type noteError struct {
	*chainNote
	lacks bool
}

// Error implements error.
func (e *noteError) Error() string {
	how := "has another one there"
	if e.lacks {
		how = "lacks that tick"
	}
	return fmt.Sprintf("a program of yours has committed tick %s of run %s with the hash %s; the chain %s", words.Number(e.tick), e.run, e.hash, how)
}

// agrees returns whether this program has noted what a chain has, and a [*noteError] if the chain is not as noted. Ticks that are known
// to be wrong are held against no chain.
func (n *chainNote) agrees(ctx context.Context, e audit.Evidence) (bool, error) {
	if n.wrong != nil && *n.wrong <= n.tick {
		return false, nil
	}
	l, err := audit.LinkAt(ctx, e, n.tick)
	switch {
	case err != nil:
		return false, &noteError{n, true}
	case l.Hash.String() != n.hash || l.InputHash.String() != n.inputs:
		return false, &noteError{n, false}
	}
	return strings.HasPrefix(n.text, noted(l.Tick, l.Hash, l.InputHash)), nil // what another program computed, this one does not vouch for
}

// heldToNotes compares the chain of a run, such as the parent of another run, with the notes of this user's programs.
func heldToNotes(ctx context.Context, src *evidence.Source, e audit.Evidence) error {
	m := memoryOf(e.Run().ID)
	n := m.read()
	if n == nil {
		return m.damaged()
	}
	_, err := n.agrees(ctx, e)
	if err != nil && src.DB != nil { // more may have been committed since it was read
		now, done, opened := src.Run(ctx, n.run)
		if opened != nil {
			return opened
		}
		defer done()
		_, err = n.agrees(ctx, now)
	}
	return n.told(src, err)
}

// parentHeld refuses a run that was forked from another one at or behind a tick that is wrong, if it must be right, and is heldToNotes for
// that other run, if notes count. Its tick is known even if the source does not have it.
func (a *app) parentHeld(src *evidence.Source, right, notes bool) func(ctx context.Context, e audit.Evidence, p *audit.Parent) error {
	return func(ctx context.Context, e audit.Evidence, p *audit.Parent) error {
		if right {
			if err := a.parentRight(ctx, src, e, p); err != nil {
				return err
			}
		}
		switch {
		case !notes:
			return nil
		case e != nil:
			return heldToNotes(ctx, src, e)
		}
		m := memoryOf(p.Run)
		if n := m.read(); n != nil && p.Tick == n.tick && p.Hash.String() != n.hash && (n.wrong == nil || *n.wrong > n.tick) {
			return n.told(src, &noteError{n, false})
		}
		return m.damaged()
	}
}

// parentRight returns an error if a tick of a parent, up to that from which a fork comes, is known to be wrong: by the source, or by this
// user's note of it, and, where the parent is there, also when it is computed again, since the note may be of another copy.
func (a *app) parentRight(ctx context.Context, src *evidence.Source, e audit.Evidence, p *audit.Parent) (err error) {
	var tick uint64
	wrong, says := false, ""
	if src.DB != nil {
		if tick, wrong, err = src.DB.Wrong(ctx, p.Run); err != nil {
			return words.About(src.Name, fmt.Errorf("it is not known whether run %s, from which it comes, was found to be wrong: %v", p.Run, evidence.Stored(err)))
		}
	}
	m := memoryOf(p.Run)
	if n := m.read(); n != nil && n.wrong != nil && *n.wrong <= p.Tick && (!wrong || tick > p.Tick) {
		tick, wrong, says = *n.wrong, true, ", as "+document.FileName(string(m))+" says"
		if e != nil {
			b := a.newBuilder()
			_, err := a.proved(ctx, &b, src.Name, e, p.Tick)
			d, differs := errors.AsType[*audit.DivergenceError](err)
			if !differs {
				return err
			}
			tick, says = d.Tick, ""
		}
	}
	if !wrong || tick > p.Tick {
		return nil
	}
	return report.Exit(report.StatusHalted, fmt.Errorf("%s: it comes from tick %s of run %s, of which tick %s is known to be wrong%s; "+
		"a fork of an earlier tick can be gone on with", document.FileName(src.Name), words.Number(p.Tick), p.Run, words.Number(tick), says))
}

// told adds to an error the name of the source, and what to do.
func (n *chainNote) told(src *evidence.Source, err error) error {
	if err == nil {
		return nil
	}
	return report.Exit(report.StatusEvidence, fmt.Errorf("%s: %w\n  run --resume --force goes on with that chain, and notes it", document.FileName(src.Name), err))
}

// A notingStore notes what is committed, once a second, and at the end.
type notingStore struct {
	audit.Store
	memory runMemory
	in     string     // the database
	last   audit.Link // that is committed and not noted; no hash: there is none
	noted  time.Time
	failed func(error) // is called the first time that there is no note
}

// Commit implements [audit.Store].
func (s *notingStore) Commit(ctx context.Context, b *audit.Batch) error {
	err := s.Store.Commit(ctx, b)
	if n := len(b.Links); err == nil && n > 0 {
		if s.last = b.Links[n-1]; time.Since(s.noted) >= time.Second {
			s.note()
		}
	}
	return err
}

// note notes the last link, if there is one that is not noted yet.
func (s *notingStore) note() {
	if l := &s.last; l.Hash != (audit.Hash{}) {
		was := s.memory.read()
		err := s.memory.note(s.in, l.Tick, l.Hash, l.InputHash)
		if now := s.memory.read(); err == nil && was != nil && was.wrong != nil && now != nil { // an audit has found it meanwhile
			err = s.memory.write(now.text + fmt.Sprintf(wrongAt, *was.wrong))
		}
		if err != nil && s.failed != nil {
			s.failed(err)
			s.failed = nil
		}
	}
	s.last, s.noted = audit.Link{}, time.Now()
}
