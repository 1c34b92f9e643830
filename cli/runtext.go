package cli

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// headline says what is about to run.
func (j *runJob) headline() error {
	s, dropped, kept := j.Scenario, int64(0), ""
	if j.resumed != nil {
		dropped, kept = j.resumed.cut, j.resumed.kept
		j.other = newOtherBuild(j.resumed.header.Build, replay.ThisBuild())
	}
	if err := j.Emit(startObject{
		Event: "start", Dropped: dropped, Kept: kept, Scenario: s.Name, Seed: words.Whole(s.Seed), PlannedTicks: s.Ticks, Space: s.Lattice().Space().String(),
		Fields: len(s.Fields), Propagators: len(s.Propagators), Systems: len(s.Systems), otherBuild: j.other, BeginView: session.ViewBegin(j.began),
	}); err != nil {
		return err
	}
	parts := []string{s.Lattice().Space().String(), words.Count(uint64(len(s.Fields)), "field")}
	if n := len(s.Propagators); n > 0 {
		parts = append(parts, words.Count(uint64(n), "propagator"))
	}
	if n := len(s.Systems); n > 0 {
		parts = append(parts, words.Count(uint64(n), "system"))
	}
	err := j.Say("%-9s %s, seed %d", s.Name, strings.Join(parts, ", "), s.Seed)
	if j.other.line != "" {
		err = cmp.Or(err, j.Say("%s", j.other.line))
	}
	if err != nil || dropped == 0 {
		return err
	}
	if j.resumed.kept != "" {
		return j.Say("goes on   after tick %s, where a frame is cut short; its %s are kept in %s", words.Number(j.start), words.Count(uint64(dropped), "byte"), words.Argument(j.resumed.kept))
	}
	return j.Say("goes on   after tick %s, where a frame is cut short; its %s are dropped", words.Number(j.start), words.Count(uint64(dropped), "byte"))
}

// A runResult is the end of a run with --json.
type runResult struct {
	Event        string      `json:"event"` // "end"
	Scenario     string      `json:"scenario"`
	Seed         words.Whole `json:"seed"`
	Ticks        uint64      `json:"ticks"`
	PlannedTicks uint64      `json:"planned_ticks"`
	session.BeginView
	Stopped      bool              `json:"stopped,omitempty"` // by an interrupt
	TicksPerSec  float64           `json:"ticks_per_second"`
	FinalHash    string            `json:"final_hash"`
	RunDigest    string            `json:"run_digest,omitempty"` // of a run that is recorded, or whose scenario expects one
	StateHash    string            `json:"state_hash,omitempty"`
	Recording    string            `json:"recording,omitempty"`
	Bytes        int64             `json:"bytes,omitempty"`
	Parts        []string          `json:"parts,omitempty"`  // the recordings of --split; recording is the last
	States       []string          `json:"states,omitempty"` // those at which parts begin that do not hold them
	Stats        string            `json:"stats,omitempty"`
	Export       string            `json:"export,omitempty"`
	Saved        string            `json:"saved,omitempty"` // a state
	SavedBytes   int64             `json:"saved_bytes,omitempty"`
	Audited      *auditedView      `json:"audited,omitempty"`
	Refused      map[string]uint64 `json:"refused,omitempty"`
	FirstRefused *refusal          `json:"first_refused,omitempty"`
	Events       map[string]uint64 `json:"refused_events,omitempty"`     // of the world's own
	Unreached    int               `json:"unreached_commands,omitempty"` // of the scenario, for ticks after its last
	Expect       []expectResult    `json:"expect,omitempty"`
	Changed      *changeResult     `json:"changed,omitempty"` // unless --quiet
}

type expectResult struct {
	Text    string `json:"text"`
	OK      bool   `json:"ok"`
	Reached bool   `json:"reached"`
	From    uint64 `json:"from_tick,omitempty"` // the first tick checked, if the run continued from a state
	To      uint64 `json:"to_tick,omitempty"`   // if it ended early
}

func (e *expectResult) failed() bool { return e.Reached && !e.OK }

// summary reports a run that ended, and fails if it is not what was expected.
func (j *runJob) summary(m *report.Meter) error {
	ticks := j.World.Tick()
	r := runResult{
		Event: "end", Scenario: j.Scenario.Name, Seed: words.Whole(j.Scenario.Seed), FirstRefused: j.first, Ticks: ticks, PlannedTicks: j.Scenario.Ticks, Stopped: ticks < j.Scenario.Ticks, TicksPerSec: m.Rate(ticks - j.start),
		FinalHash: words.Hash16(j.World.Hash()), Refused: j.refused.byName(), Events: j.refusedEvents.byName(), BeginView: session.ViewBegin(j.began),
	}
	if j.recorder != nil && (ticks > 0 || !j.murk.regular()) {
		j.recordings(&r)
	}
	r.RunDigest = j.runDigest()
	if j.stateHash {
		r.StateHash = hex.EncodeToString(j.digest[:])
	}
	r.Unreached, _ = j.Scenario.Unreached()
	r.Stats, r.Changed = j.stats.path, j.change.result(j.Scenario, j.World)
	if j.export.missing == nil {
		r.Export = j.export.path
	}
	r.Saved, r.SavedBytes, r.Audited = j.saveState, j.savedBytes, j.auditing.view()
	failed := 0
	for _, e := range j.Checker.Results() {
		result := expectResult{e.Text, e.OK, e.Reached, e.From, e.To}
		r.Expect = append(r.Expect, result)
		if result.failed() {
			failed++
		}
	}
	if err := j.Emit(r); err != nil {
		return err
	}
	if err := j.print(&r); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d expectations failed%s", j.Scenario.Name, failed, len(r.Expect), j.failures(&r))
	}
	return nil
}

// runDigest returns the digest of all ticks since the recording, or the run, began; "" if their hashes were not taken.
func (j *runJob) runDigest() string {
	if j.recorder != nil {
		if text := words.HexDigest(j.recorder.RunDigest()); text != "" {
			return text
		}
	}
	return words.HexDigest(j.Checker.RunDigest())
}

// failures names the failed expectations that have not been printed.
func (j *runJob) failures(r *runResult) string {
	var b strings.Builder
	for _, e := range r.Expect {
		if e.failed() && (j.Quiet || j.JSON) {
			b.WriteString("\n  " + e.Text)
		}
	}
	return b.String()
}

// print is the summary for people.
func (j *runJob) print(r *runResult) error {
	stopped := ""
	if r.Stopped {
		stopped = "  stopped early"
	}
	lines := []string{fmt.Sprintf("%s/%s ticks  %s ticks/s%s", words.Number(r.Ticks), words.Number(r.PlannedTicks), words.Speed(r.TicksPerSec), stopped)}
	if r.FromState != "" {
		lines = append(lines, "from      "+r.BeginView.String())
	}
	if r.Recording != "" {
		first := ""
		if n := len(r.Parts); n > 0 {
			first = fmt.Sprintf("%s and %s, the last in ", document.FileName(r.Parts[0]), words.Count(uint64(n-1), "more part"))
		}
		lines = append(lines, fmt.Sprintf("recorded  %s%s  %s   final hash %s", first, document.FileName(r.Recording), words.Size(r.Bytes), r.FinalHash))
		if n := len(r.States); n == 1 {
			lines = append(lines, "state     "+document.FileName(r.States[0])+", at which its part begins")
		} else if n > 1 {
			lines = append(lines, fmt.Sprintf("states    %s and %d more, the last in %s",
				document.FileName(r.States[0]), n-1, document.FileName(r.States[n-1])))
		}
	} else {
		lines = append(lines, fmt.Sprintf("final hash %s", r.FinalHash))
	}
	if r.RunDigest != "" {
		lines = append(lines, "run digest  "+r.RunDigest)
	}
	if r.StateHash != "" {
		lines = append(lines, "state hash  "+r.StateHash)
	}
	lines = append(lines, j.refusedLines()...)
	if n, tick := j.Scenario.Unreached(); n > 0 {
		lines = append(lines, unreached(n, tick))
	}
	for _, e := range r.Expect {
		lines = append(lines, "expect    "+e.Text)
	}
	if r.Stats != "" {
		lines = append(lines, fmt.Sprintf("stats     %s  %s", document.FileName(r.Stats), j.stats.table.Summary()))
	}
	if j.export.holds != "" {
		lines = append(lines, fmt.Sprintf("export    %s  %s", document.FileName(r.Export), j.export.holds))
	}
	if r.Saved != "" {
		lines = append(lines, fmt.Sprintf("saved     %s  %s", document.FileName(r.Saved), words.Size(r.SavedBytes)))
	}
	if r.Audited != nil {
		lines = append(lines, r.Audited.line())
	}
	lines = append(lines, j.change.lines(j.Scenario)...)
	if r.Recording != "" && r.Recording != "-" && r.Recording != os.DevNull {
		lines = append(lines, "next      "+j.Name+" verify "+words.Argument(r.Recording)+j.lastState()+j.maxMemory.Flag())
	}
	return j.Say("%s", strings.Join(lines, "\n"))
}

// held says which ticks a recording has after an error. The recorder may be some
// ticks behind the world when a write fails.
func (j *runJob) held(err error) string {
	if e, ok := errors.AsType[*replay.WriteError](err); ok {
		return "the ticks before tick " + words.Number(e.Tick)
	}
	return ticksText(j.firstTick(), j.World.Tick())
}

// ticksText names the ticks from one to another.
func ticksText(first, last uint64) string {
	if last > first {
		return "ticks " + words.Number(first) + " to " + words.Number(last)
	}
	return "tick " + words.Number(first)
}

// firstTick returns the first tick of the recording.
func (j *runJob) firstTick() uint64 {
	if p := j.split.last(); p != nil {
		return p.after + 1
	}
	if j.began != nil {
		return j.began.Tick + 1
	}
	return 1
}

// unreached says how many commands are for ticks after the last.
func unreached(n int, tick uint64) string {
	return fmt.Sprintf("unreached %s of the scenario, the first at tick %s", words.Count(uint64(n), "command"), words.Number(tick))
}
