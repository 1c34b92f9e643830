package session

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios/worlds"
)

// Damaged says whether an error lies in the input's bytes.
func Damaged(err error) bool {
	_, format := errors.AsType[*replay.FormatError](err)
	_, line := errors.AsType[*replay.LineError](err)
	_, game := errors.AsType[*minewars.Error](err)
	_, match := errors.AsType[*yrep.Error](err)
	return format || line || game || match
}

// Interrupted is the error of a comparison that was interrupted.
func Interrupted(name string) error { return fmt.Errorf("%s: interrupted", words.Argument(name)) }

// Interruption says how far a verification came.
func Interruption(ticks uint64) string {
	if ticks == 0 {
		return "interrupted before its first tick was replayed"
	}
	return fmt.Sprintf("interrupted; the %s before that match", words.Count(ticks, "tick"))
}

// Diverged gives an error of a replay its exit status.
func (a *Session) Diverged(name string, err error) error {
	_, code := Outcome(err)
	return report.Exit(code, a.About(name, err))
}

// originalVersion is what recordings of the original engine say.
const originalVersion = "0.1.9"

var releasePattern = regexp.MustCompile(`^[0-9A-Za-z.+-]{1,64}$`)

// DescribeBuild names a build, which a recording may claim to be anything.
func DescribeBuild(b replay.Build) string {
	parts := []string{b.Version, b.Target, b.Toolchain}
	if b.Flags != "" {
		parts = append(parts, b.Flags)
	}
	return words.Printable(strings.TrimSpace(strings.Join(parts, " ")))
}

// A file of SQLite, which holds chains, begins with DatabaseMark.
const DatabaseMark = "SQLite format 3\x00"

// Hint tells how to get a recording from what is none, or from one that is too old or damaged.
func (a *Session) Hint(name string, err error) string {
	scenario := strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
	if errors.Is(err, replay.ErrMagic) && scenario || errors.Is(err, fs.ErrNotExist) && worlds.IsEmbedded(name) {
		return "\n  " + a.Name + " run " + words.Argument(name) + " makes one"
	}
	for _, mark := range []string{audit.BundleMark, DatabaseMark} {
		if chain, err := files.Begins(name, mark); chain && err == nil {
			return "\n  it holds a chain: " + a.Name + " audit " + words.Argument(name)
		}
	}
	if state, _ := files.Begins(name, StateMark); state {
		return "\n  it is a saved state: " + a.Name + " run SCENARIO --state " + words.Argument(name)
	}
	if Damaged(err) && name != "-" {
		if kind := a.FormatOfFile(name); kind == FormatGameLines {
			return "\n  it is the JSON lines of a game, which cannot be replayed"
		} else if kind == FormatGame {
			return "\n  it is a game: " + a.Name + " inspect " + words.Argument(name)
		} else if kind == FormatGameStream && errors.Is(err, replay.ErrMagic) {
			return "\n  it may be a network stream of a game: " + a.Name + " inspect --stream " + words.Argument(name)
		} else if kind.IsYREP() {
			return "\n  it is a YREP file, which holds what happened and not why, so it cannot be replayed: " + a.Name + " inspect " + words.Argument(name)
		}
	}
	if lines, _ := files.Begins(name, linesMark); lines && errors.Is(err, replay.ErrMagic) {
		return "\n  " + a.LinesError(name).Error()
	}
	if e, ok := errors.AsType[*replay.FormatError](err); ok && e.Kind == replay.ErrVersion && (e.Found == 1 || e.Found == 2) {
		return "\n  make it version 3: " + a.Name + " upgrade " + words.Argument(name) + " NEW"
	}
	if e, ok := errors.AsType[*replay.FormatError](err); ok && e.Frame > 0 && e.Line == 0 && name != "-" && !files.IsPipe(name) {
		return "\n  " + a.Name + " recover " + words.Argument(name) + " -o FILE copies what is whole before that"
	}
	return ""
}

// About names the file that an error is about, and says what to do, see [Session.Hint].
func (a *Session) About(name string, err error) error {
	return fmt.Errorf("%w%s", words.About(name, err), a.Hint(name, err))
}

// Outcome names the result of a verification, and gives its exit status.
func Outcome(err error) (name string, code int) {
	tick, failed := errors.AsType[*engine.TickError](err) // it was recorded, so it succeeded there
	failed = failed && tick.Where != "recorder"           // which could not write
	_, inputs := errors.AsType[*InputsError](err)
	switch {
	case err == nil:
		return "ok", report.StatusOK
	case errors.Is(err, engine.ErrWork):
		return "incompatible", report.StatusError
	case failed || inputs || errors.Is(err, replay.ErrMismatch) || errors.Is(err, replay.ErrTable):
		return "diverged", report.StatusDiverged
	case errors.Is(err, ErrIncomplete):
		return "incomplete", report.StatusDiverged
	case errors.Is(err, replay.ErrIncompatible) || errors.Is(err, replay.ErrVersion):
		return "incompatible", report.StatusError
	case Damaged(err) || errors.Is(err, replay.ErrMalformed):
		return "damaged", report.StatusError
	}
	return "error", report.StatusError
}

// ErrIncomplete reports planned ticks that a recording does not have.
var ErrIncomplete = errors.New("recording is incomplete")
