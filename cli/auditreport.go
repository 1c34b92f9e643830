package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// An auditReport is what came of one run.
type auditReport struct {
	Event    string            `json:"event"`  // "audit"
	Format   int               `json:"format"` // of the report: 1
	Run      string            `json:"run"`
	Label    string            `json:"label,omitempty"`
	Scenario string            `json:"scenario,omitempty"` // its name
	Planned  uint64            `json:"planned_ticks,omitempty"`
	Seed     words.Whole       `json:"seed"`
	RateNum  int64             `json:"rate_num"`
	RateDen  int64             `json:"rate_den"`
	Rules    uint32            `json:"rules_version"`
	Recorded string            `json:"recorded_with"` // version of the engine
	Replayed session.BuildView `json:"replayed_with"`
	Start    string            `json:"start"` // genesis or snapshot
	Parent   string            `json:"parent,omitempty"`
	Held     *bool             `json:"parent_held,omitempty"` // of a fork: it was held against its parent, which the source has
	From     uint64            `json:"from_tick"`
	To       uint64            `json:"to_tick"`
	Ticks    uint64            `json:"ticks"`  // that were compared
	Inputs   uint64            `json:"inputs"` // in the evidence
	Verdict  string            `json:"verdict"`
	Tick     *uint64           `json:"first_divergent_tick,omitempty"`
	Expected string            `json:"expected_hash,omitempty"`
	Hash     string            `json:"calculated_hash,omitempty"`
	Sections []string          `json:"differing_sections,omitempty"`
	Table    string            `json:"table,omitempty"` // with EVIDENCE
	Row      string            `json:"row,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Refused  []string          `json:"refused_snapshots,omitempty"`
	Halted   string            `json:"halted,omitempty"` // the code
	Seconds  float64           `json:"seconds"`

	id       audit.ID
	hidden   bool   // with FAIL: only from the snapshot, not from the first tick
	links    uint64 // in the evidence
	broken   uint64 // with EVIDENCE: the tick, if the row is of one
	code     int
	started  time.Time
	expected audit.Hash
	computed audit.Hash
}

// conclude says what an error comes to.
func (v *auditReport) conclude(err error) {
	diverged, d := errors.AsType[*audit.DivergenceError](err)
	evidence, broken := errors.AsType[*audit.EvidenceError](err)
	switch {
	case err == nil:
		v.Verdict, v.Hash = "PASS", v.computed.String()
	case d:
		v.Verdict, v.code, v.Tick = "FAIL", report.StatusDiverged, &diverged.Tick
		v.expected, v.computed = diverged.Expected, diverged.Calculated
		v.Expected, v.Hash = diverged.Expected.String(), diverged.Calculated.String()
		if diverged.Err != nil {
			v.Reason = diverged.Err.Error()
		}
		for _, id := range diverged.Sections {
			v.Sections = append(v.Sections, engine.SectionNames[id-1])
		}
	case broken:
		v.Verdict, v.code = "EVIDENCE", report.StatusEvidence
		v.Table, v.Row, v.Reason = evidence.Table, keyOf(evidence), evidence.Reason
		v.broken = tickOf(evidence)
	default:
		v.Verdict, v.code = "ERROR", report.StatusError
		v.Reason = words.InWords(err).Error()
	}
}

// keyOf returns the key of a row, such as 17 of "tick 17".
func keyOf(e *audit.EvidenceError) string { return e.Row[strings.LastIndexByte(e.Row, ' ')+1:] }

// tickOf returns the tick of a row; 0 if it is of none.
func tickOf(e *audit.EvidenceError) (tick uint64) {
	if strings.HasPrefix(e.Row, "tick ") {
		tick, _ = strconv.ParseUint(keyOf(e), 10, 63)
	}
	return tick
}

// line is the verdict as the last line of the output.
func (v *auditReport) line() string {
	switch v.Verdict {
	case "PASS":
		return fmt.Sprintf("PASS ticks=%d..%d hash=%s", v.From, v.To, v.Hash)
	case "INCOMPLETE":
		return fmt.Sprintf("INCOMPLETE ticks=%d..%d planned=%d hash=%s", v.From, v.To, v.Planned, v.Hash)
	case "FAIL":
		return fmt.Sprintf("FAIL tick=%d expected=%s calculated=%s", *v.Tick, v.Expected, v.Hash)
	case "EVIDENCE":
		return fmt.Sprintf("EVIDENCE table=%s row=%s reason=%s", v.Table, v.Row, v.Reason)
	}
	return "ERROR reason=" + v.Reason
}

// conclude prints the verdict of a run, keeps it, and raises an alarm if there is cause. So the verdict is told even if the database never
// takes it. Only with --halt it is kept first, since what is printed says whether the run is halted. What cannot be printed or written is an error that takes nothing of
// that back.
func (j *auditJob) conclude(ctx context.Context, src *evidence.Source, x *auditOf) error {
	v := x.report
	j.measuring.audit.Verdict(v.Verdict)
	alarmed, row := v.alarm(), v.row() // to the database the ticks that there are have passed, also with --complete
	keep := func() {
		if err := j.keep(ctx, src, v, row, alarmed); err != nil {
			fmt.Fprintf(j.Errs, "the verdict is not in the database: %v\n", gaveUp(ctx, err))
		}
	}
	if j.halt {
		keep()
	} else {
		defer keep()
	}
	if j.complete && v.Verdict == "PASS" && v.To < v.Planned {
		v.Verdict, v.code = "INCOMPLETE", report.StatusDiverged
	}
	return j.print(x)
}

// print prints a verdict, and writes the report.
func (j *auditJob) print(x *auditOf) error {
	v := x.report
	j.metrics.Halted(v.Halted)
	var unwritten error
	if j.report != "" {
		unwritten = j.writeFile(j.report, append(v.json(), '\n'), true)
	}
	lines := append([]string{v.what()}, x.lines...)
	switch {
	case v.Verdict != "PASS" && v.Verdict != "INCOMPLETE" || v.To >= v.Planned:
	case j.toTick:
		lines = append(lines, fmt.Sprintf("until     tick %s of %s that are planned, as --to says", words.Number(v.To), words.Number(v.Planned)))
	default:
		lines = append(lines, fmt.Sprintf("open      it ends with tick %s of %s that are planned", words.Number(v.To), words.Number(v.Planned)))
	}
	if v.Halted != "" {
		lines = append(lines, "halted    "+v.Halted)
	}
	if v.hidden {
		lines = append(lines, "only      "+v.Reason)
	} else if v.Verdict == "FAIL" && v.Reason != "" {
		lines = append(lines, fmt.Sprintf("fails     tick %s cannot be computed: %s", words.Number(*v.Tick), v.Reason))
	}
	if len(v.Sections) > 0 {
		lines = append(lines, "differs   in the section "+strings.Join(v.Sections, ", "))
	}
	err := j.Emit(v)
	for _, line := range append(lines, v.line()) {
		err = cmp.Or(err, j.Say("%s", words.Clean(line)))
	}
	return cmp.Or(err, unwritten)
}

// what says which run it is.
func (v *auditReport) what() string {
	text := "run       " + v.Run
	if v.Scenario != "" {
		text += fmt.Sprintf("  %s, seed %d, %s planned", v.Scenario, uint64(v.Seed), words.Count(v.Planned, "tick"))
	}
	return strings.TrimRight(text+"  "+words.Printable(v.Label), " ")
}

// alarm returns what a verdict gives cause to; nil: nothing.
func (v *auditReport) alarm() *alarm {
	switch v.Verdict {
	case "FAIL":
		return &alarm{Code: audit.Divergence, Run: v.Run, Tick: *v.Tick, Expected: v.Expected, Calculated: v.Hash, Reason: v.Reason, id: v.id}
	case "EVIDENCE":
		return &alarm{Code: audit.EvidenceFault, Run: v.Run, Tick: v.broken, Reason: fmt.Sprintf("%s, row %s: %s", v.Table, v.Row, v.Reason), id: v.id}
	}
	return nil
}

// row is the verdict as it is kept in a database.
func (v *auditReport) row() *store.Audit {
	row := &store.Audit{
		ID: freshID(), Run: v.id, Started: v.started, Finished: time.Now(), Engine: replay.ThisBuild().Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		From: v.From, To: v.To, Verdict: v.Verdict, Expected: v.expected, Computed: v.computed, Report: string(v.json()),
	}
	if v.Tick != nil {
		row.Divergent = *v.Tick
	}
	return row
}

// keep adds a verdict to the database, and raises an alarm unless it is nil.
func (j *auditJob) keep(ctx context.Context, src *evidence.Source, v *auditReport, row *store.Audit, x *alarm) (err error) {
	var db *store.DB
	if src.DB != nil && !j.unkept && v.id.String() == v.Run { // else there is no such run to which it could belong
		if db, err = src.DB.Writable(ctx); err == nil {
			defer db.Close()
			if err = db.Audit(ctx, row); err == nil && x != nil {
				x.audit = row.ID
			}
		}
	}
	halt := j.halt && !v.hidden // the chain is as its program computed it
	if x != nil && j.raise(ctx, db, x, halt, j.webhook) && halt {
		v.Halted, v.code = x.Code, report.StatusHalted
	}
	return err
}

// json is the report as it is kept: all but what differs from one audit to the next stands in a fixed order.
func (v *auditReport) json() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // of which nothing can fail
	return bytes.TrimSpace(b.Bytes())
}
