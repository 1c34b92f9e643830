package cli

import (
	"errors"
	"fmt"
	"io"
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

// A verdict is what came of one recording.
type verdict struct {
	Event        string `json:"event"` // "verdict"
	File         string `json:"file"`
	OK           bool   `json:"ok"`
	Status       string `json:"status"`
	Ticks        uint64 `json:"ticks"` // that match
	PlannedTicks uint64 `json:"planned_ticks,omitempty"`
	session.BeginView
	FailedTicks uint64    `json:"failed_ticks,omitempty"` // that failed as the world file says
	FinalHash   string    `json:"final_hash,omitempty"`   // after the last tick that matches
	RunDigest   string    `json:"run_digest,omitempty"`   // of all ticks, if all match
	Recorded    buildView `json:"recorded_with,omitzero"`
	Replayed    buildView `json:"replayed_with"`
	Error       string    `json:"error,omitempty"`
	Differs     string    `json:"differs,omitempty"`  // "state hash", or a field of the header
	RecordedAs  string    `json:"recorded,omitempty"` // what it is in the recording
	ReplayedAs  string    `json:"replayed,omitempty"` // and in the replay
	Tick        whole     `json:"tick,omitempty"`     // at which it fails
	Byte        *int64    `json:"byte,omitempty"`     // at which it fails
	Line        int64     `json:"line,omitempty"`     // instead, in JSON lines

	path   string // of the file here, where File is its name for people
	begin  uint64 // tick after which the recording begins
	code   int    // exit status
	err    error
	builds string // who recorded and who replayed, if they are not alike
	memory string // a flag that other commands need
}

// at notes where it fails: a line of JSON lines, or a byte.
func (v *verdict) at(line int64, offset *int64) {
	if v.Line = line; line == 0 {
		v.Byte = offset
	}
}

func (j *verifyJob) report(v *verdict) error {
	if err := j.Result(v, v.OK); err != nil {
		return err
	}
	if v.err == nil {
		text := fmt.Sprintf("ok  %s  %s, hash %s%s\n", document.FileName(v.File), v.progress(), v.FinalHash, v.builds)
		if v.RunDigest != "" {
			text += "  run digest  " + v.RunDigest + "\n"
		}
		return j.Say("%s", strings.TrimSuffix(text+v.from(), "\n"))
	}
	if j.JSON {
		return nil
	}
	text := words.About(v.File, v.err).Error() + "\n"
	if e, ok := errors.AsType[*foreign.Error](v.err); ok { // of the world file, which it names
		text = e.Error() + "\n"
	}
	if v.code == report.StatusDiverged {
		text = v.diverged() + v.from()
		if _, inputs := errors.AsType[*session.InputsError](v.err); v.Tick > 0 && v.File != "-" && j.foreign == nil && !inputs {
			if next := j.next(v); next != "" {
				text += fmt.Sprintf("  next: %s %s%s\n", j.Name, next, v.memory)
			}
		}
	} else if v.Ticks > 0 {
		text += fmt.Sprintf("  the %s before it match\n", words.Count(v.Ticks, "whole tick"))
	}
	if hint := j.HintAt(v.path, v.File, v.err); hint != "" {
		text += hint[1:] + "\n"
	}
	_, err := io.WriteString(j.Errs, text)
	return err
}

// next is the command that tells more of a recording that diverged; "" if none does.
func (j *verifyJob) next(v *verdict) string {
	file, states := words.Argument(v.File), ""
	if v.FromState != "" {
		states = session.StateArguments(j.States...)
	}
	if files.IsPipe(v.path) || strings.HasPrefix(v.path, "/dev/fd/") { // which is read once
		return ""
	}
	_, hidden := errors.AsType[*index.HiddenError](v.err)
	_, unsteady := errors.AsType[*index.UnsteadyError](v.err)
	switch {
	case (hidden || unsteady) && v.FromState != "": // synctest begins at the first tick
		return ""
	case hidden || unsteady:
		return "synctest " + file
	case errors.Is(v.err, replay.ErrTable) && !errors.Is(v.err, replay.ErrMismatch): // else the recording is wrong, whatever the table says
		if e, ok := errors.AsType[*replay.TableError](v.err); ok && e.Alone {
			return "" // it says what is so, and bisect compares states
		}
		return fmt.Sprintf("bisect %s %s%s", words.Argument(j.hashes), file, states)
	case j.asked: // since the result may change with them
		return fmt.Sprintf("bisect %s%s --phases --workers %d", file, states, j.workers)
	}
	return "diff " + file + states
}

// from is a line, with its end, that says where the recording begins, if not at genesis.
func (v *verdict) from() string {
	if v.FromState == "" {
		return ""
	}
	return "  from " + v.BeginView.String() + "\n"
}

// progress is how many ticks match, and of how many.
func (v *verdict) progress() string {
	if v.PlannedTicks > 0 {
		return words.Number(v.Ticks) + " of " + words.Number(v.PlannedTicks) + " planned ticks"
	}
	text := words.Count(v.Ticks, "tick")
	if v.FailedTicks > 0 {
		text += " and " + words.Number(v.FailedTicks) + " that failed"
	}
	return text
}

// diverged is what is said of a recording whose replay differs, or ends early.
func (v *verdict) diverged() string {
	if errors.Is(v.err, session.ErrIncomplete) {
		return fmt.Sprintf("INCOMPLETE  %s  %s, all match%s\n", document.FileName(v.File), v.progress(), v.builds)
	}
	before := ""
	if v.Ticks > 0 {
		before = fmt.Sprintf("   %s before it match", words.Count(v.Ticks, "tick"))
	}
	m, mismatch := errors.AsType[*replay.MismatchError](v.err)
	if e, ok := errors.AsType[*session.InputsError](v.err); ok {
		return fmt.Sprintf("DIVERGED  %s  tick %s%s: command %d is not the scenario's%s\n  recorded  %s\n  scenario  %s\n",
			document.FileName(v.File), words.Number(e.Tick), before, e.Command, v.builds, e.Recorded, e.Given)
	}
	if e, ok := errors.AsType[*index.HiddenError](v.err); ok && e.Once {
		return fmt.Sprintf("DIVERGED  %s  once: all %s match, now that they were computed again%s\n  %s\n  the world does not compute the same each time, or the machine fails; synctest, called again, may name it\n",
			document.FileName(v.File), words.Count(v.Ticks, "tick"), v.builds, words.InWords(e.Err))
	} else if ok {
		names := ", which synctest names"
		if v.FromState != "" { // synctest begins at the first tick
			names = ""
		}
		return fmt.Sprintf("DIVERGED  %s  only when it is started from the state of tick %s   all %s match from the first tick%s\n  the world remembers something outside its state%s\n",
			document.FileName(v.File), words.Number(e.From), words.Count(v.Ticks, "tick"), v.builds, names)
	}
	if !mismatch || m.Tick == 0 {
		return fmt.Sprintf("DIVERGED  %s  %s%s%s\n", document.FileName(v.File), v.Error, before, v.builds)
	}
	tick := words.Number(m.Tick)
	if v.PlannedTicks > 0 {
		tick += " of " + words.Number(v.PlannedTicks)
	}
	text := fmt.Sprintf("DIVERGED  %s  tick %s   recorded %016x  replayed %016x%s%s\n",
		document.FileName(v.File), tick, m.Recorded, m.Replayed, before, v.builds)
	text += fmt.Sprintf("  the recorded hash stands at %s\n", words.Spot(m.Line, m.Offset))
	if e, ok := errors.AsType[*index.UnsteadyError](v.err); ok {
		text += fmt.Sprintf("  tick %s was computed twice here, and came to %016x and to %016x:\n  the world remembers something outside its state, or the machine fails; synctest may name it\n", words.Number(e.Tick), e.Hashes[0], e.Hashes[1])
	}
	if many, ok := v.err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap()[1:] {
			text += fmt.Sprintf("  %v\n", e)
		}
	}
	return text
}

// made notes who recorded and who replayed.
func (v *verdict) made(recorded replay.Build) {
	v.Recorded = viewBuild(recorded)
	replayed := replay.ThisBuild()
	if recorded != replayed {
		v.builds = fmt.Sprintf("   (recorded by %s, replayed by %s)", session.DescribeBuild(recorded), session.DescribeBuild(replayed))
	}
}
