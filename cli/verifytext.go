package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/foreign"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios/document"
)

func (j *verifyJob) report(v *session.Verdict) error {
	if err := j.Result(v, v.OK); err != nil {
		return err
	}
	if v.Err == nil {
		text := fmt.Sprintf("ok  %s  %s, hash %s%s\n", document.FileName(v.File), v.Progress(), v.FinalHash, v.Builds)
		if v.RunDigest != "" {
			text += "  run digest  " + v.RunDigest + "\n"
		}
		return j.Say("%s", strings.TrimSuffix(text+begins(v), "\n"))
	}
	if j.JSON {
		return nil
	}
	text := words.About(v.File, v.Err).Error() + "\n"
	if e, ok := errors.AsType[*foreign.Error](v.Err); ok { // of the world file, which it names
		text = e.Error() + "\n"
	}
	if v.Code == report.StatusDiverged {
		text = diverged(v) + begins(v)
		if _, inputs := errors.AsType[*session.InputsError](v.Err); v.Tick > 0 && v.File != "-" && j.Foreign == nil && !inputs {
			if next := j.next(v); next != "" {
				text += fmt.Sprintf("  next: %s %s%s\n", j.Name, next, v.Memory)
			}
		}
	} else if v.Ticks > 0 {
		text += fmt.Sprintf("  the %s before it match\n", words.Count(v.Ticks, "whole tick"))
	}
	if hint := j.Hint(v.File, v.Err); hint != "" {
		text += hint[1:] + "\n"
	}
	return j.Warn("%s", strings.TrimSuffix(text, "\n"))
}

// next is the command that tells more of a recording that diverged; "" if none does.
func (j *verifyJob) next(v *session.Verdict) string {
	file, states := words.Argument(v.File), ""
	if v.FromState != "" {
		states = session.StateArguments(j.States...)
	}
	if files.IsPipe(v.File) || j.Hashes != "" && files.IsPipe(j.Hashes) || strings.HasPrefix(v.File, "/dev/fd/") { // which is read once
		return ""
	}
	_, unsteady := errors.AsType[*index.UnsteadyError](v.Err)
	switch {
	case unsteady || noTickIsToBlame(v.Err):
		return fromGenesis(v, "synctest "+file)
	case errors.Is(v.Err, replay.ErrTable) && !errors.Is(v.Err, replay.ErrMismatch): // else the recording is wrong, whatever the table says
		if e, ok := errors.AsType[*replay.TableError](v.Err); ok && e.Alone {
			return "" // it says what is so, and bisect compares states
		}
		if _, err := session.ReadTable(context.Background(), j.Hashes); err != nil {
			return "" // which bisect would read whole
		}
		return fmt.Sprintf("bisect %s %s%s", words.Argument(j.Hashes), file, states)
	case j.asked: // since the result may change with them
		return fmt.Sprintf("bisect %s%s --phases --workers %d", file, states, j.Workers)
	}
	return "diff " + file + states
}

// begins is a line, with its end, that says where the recording begins, if not at genesis.
func begins(v *session.Verdict) string {
	if v.FromState == "" {
		return ""
	}
	return "  from " + v.BeginView.String() + "\n"
}

// fromGenesis is what is said of a recording that begins at the first tick, where synctest begins.
func fromGenesis(v *session.Verdict, text string) string {
	if v.FromState != "" {
		return ""
	}
	return text
}

// diverged is the text about a recording whose replay differs or ends early.
func diverged(v *session.Verdict) string {
	if errors.Is(v.Err, session.ErrIncomplete) {
		return fmt.Sprintf("INCOMPLETE  %s  %s, all match%s\n", document.FileName(v.File), v.Progress(), v.Builds)
	}
	before := ""
	if v.Ticks > 0 {
		before = fmt.Sprintf("   %s before it match", words.Count(v.Ticks, "tick"))
	}
	m, mismatch := errors.AsType[*replay.MismatchError](v.Err)
	if e, ok := errors.AsType[*session.InputsError](v.Err); ok {
		return fmt.Sprintf("DIVERGED  %s  tick %s%s: command %d is not the scenario's%s\n  recorded  %s\n  scenario  %s\n",
			document.FileName(v.File), words.Number(e.Tick), before, e.Command, v.Builds, e.Recorded, e.Given)
	}
	if e, ok := errors.AsType[*index.HiddenError](v.Err); ok && e.Once {
		return fmt.Sprintf("DIVERGED  %s  once: all %s match, now that they were computed again%s\n  %s\n"+
			"  the world does not compute the same each time, or the machine fails%s\n",
			document.FileName(v.File), words.Count(v.Ticks, "tick"), v.Builds, strings.ReplaceAll(words.InWords(e.Err).Error(), "\n", "\n  "),
			fromGenesis(v, "; synctest, called again, may name it"))
	} else if ok {
		return fmt.Sprintf("DIVERGED  %s  only when it is started from the state of tick %s   all %s match from the first tick%s\n  the world remembers something outside its state%s\n",
			document.FileName(v.File), words.Number(e.From), words.Count(v.Ticks, "tick"), v.Builds, fromGenesis(v, ", which synctest names"))
	}
	if e, ok := errors.AsType[*session.WorkersError](v.Err); ok {
		return fmt.Sprintf("DIVERGED  %s  only when one worker computes it   all %s match with several%s\n  %s\n"+
			"  a part of the world depends on the number of workers%s\n",
			document.FileName(v.File), words.Count(v.Ticks, "tick"), v.Builds, strings.ReplaceAll(words.InWords(e.Err).Error(), "\n", "\n  "),
			fromGenesis(v, ", which synctest names"))
	}
	if e, ok := errors.AsType[*session.ChangesError](v.Err); ok {
		return fmt.Sprintf("DIVERGED  %s  only by the hash of the whole state   %s match by what the parts of the world report to have changed%s\n  %s\n"+
			"  a part does not report all that it changes%s\n",
			document.FileName(v.File), words.Count(v.Ticks, "tick"), v.Builds, strings.ReplaceAll(words.InWords(e.Err).Error(), "\n", "\n  "),
			fromGenesis(v, ", which synctest names"))
	}
	if e, ok := errors.AsType[*index.UnsteadyError](v.Err); ok && !mismatch {
		return fmt.Sprintf("DIVERGED  %s  %v%s%s\n", document.FileName(v.File), words.InWords(e.Err), before, v.Builds) + twice(v)
	}
	if !mismatch || m.Tick == 0 {
		return fmt.Sprintf("DIVERGED  %s  %s%s%s\n", document.FileName(v.File), v.Error, before, v.Builds)
	}
	tick := words.Number(m.Tick)
	if v.PlannedTicks > 0 {
		tick += " of " + words.Number(v.PlannedTicks)
	}
	text := fmt.Sprintf("DIVERGED  %s  tick %s   recorded %016x  replayed %016x%s%s\n",
		document.FileName(v.File), tick, m.Recorded, m.Replayed, before, v.Builds)
	text += fmt.Sprintf("  the recorded hash stands at %s\n", words.Spot(m.Line, m.Offset))
	text += twice(v)
	if many, ok := v.Err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap()[1:] {
			text += fmt.Sprintf("  %v\n", e)
		}
	}
	return text
}

// twice says of a tick that was computed twice with two outcomes which they are; "" if there is none.
func twice(v *session.Verdict) string {
	e, ok := errors.AsType[*index.UnsteadyError](v.Err)
	if !ok {
		return ""
	}
	return fmt.Sprintf("  %s:\n  %s%s\n", session.Twice(e), session.Remembers, fromGenesis(v, "; synctest may name it"))
}
