package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// An auditReport is what came of one run.
type auditReport struct {
	Event    string    `json:"event"`  // "audit"
	Format   int       `json:"format"` // of the report: 1
	Run      string    `json:"run"`
	Label    string    `json:"label,omitempty"`
	Seed     whole     `json:"seed"`
	RateNum  int64     `json:"rate_num"`
	RateDen  int64     `json:"rate_den"`
	Rules    uint32    `json:"rules_version"`
	Recorded string    `json:"recorded_with"` // version of the engine
	Replayed buildView `json:"replayed_with"`
	Start    string    `json:"start"` // genesis or snapshot
	Parent   string    `json:"parent,omitempty"`
	From     uint64    `json:"from_tick"`
	To       uint64    `json:"to_tick"`
	Ticks    uint64    `json:"ticks"`  // that were compared
	Inputs   uint64    `json:"inputs"` // in the evidence
	Verdict  string    `json:"verdict"`
	Tick     *uint64   `json:"first_divergent_tick,omitempty"`
	Expected string    `json:"expected_hash,omitempty"`
	Hash     string    `json:"calculated_hash,omitempty"`
	Sections []string  `json:"differing_sections,omitempty"`
	Table    string    `json:"table,omitempty"` // with EVIDENCE
	Row      string    `json:"row,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Refused  []string  `json:"refused_snapshots,omitempty"`
	Halted   string    `json:"halted,omitempty"` // the code
	Seconds  float64   `json:"seconds"`

	id       audit.ID
	links    uint64 // in the evidence
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
		v.Verdict, v.code, v.Tick = "FAIL", statusDiverged, &diverged.Tick
		v.expected, v.computed = diverged.Expected, diverged.Calculated
		v.Expected, v.Hash = diverged.Expected.String(), diverged.Calculated.String()
		if diverged.Err != nil {
			v.Reason = diverged.Err.Error()
		}
		for _, id := range diverged.Sections {
			v.Sections = append(v.Sections, engine.SectionNames[id-1])
		}
	case broken:
		v.Verdict, v.code = "EVIDENCE", statusEvidence
		words := strings.Fields(evidence.Row)
		v.Table, v.Row, v.Reason = evidence.Table, words[len(words)-1], evidence.Reason
	default:
		v.Verdict, v.code = "ERROR", statusError
		v.Reason = inWords(err).Error()
	}
}

// line is the verdict as the last line of the output.
func (v *auditReport) line() string {
	switch v.Verdict {
	case "PASS":
		return fmt.Sprintf("PASS ticks=%d..%d hash=%s", v.From, v.To, v.Hash)
	case "FAIL":
		return fmt.Sprintf("FAIL tick=%d expected=%s calculated=%s", *v.Tick, v.Expected, v.Hash)
	case "EVIDENCE":
		return fmt.Sprintf("EVIDENCE table=%s row=%s reason=%s", v.Table, v.Row, v.Reason)
	}
	return "ERROR reason=" + v.Reason
}

// conclude keeps and prints the verdict of a run.
func (j *auditJob) conclude(ctx context.Context, name string, src *evidenceSource, x *auditOf) error {
	v := x.report
	if err := x.told(); err != nil {
		return err
	}
	j.measuring.audit.Verdict(v.Verdict)
	text := v.json()
	if j.report != "" {
		if err := j.writeFile(j.report, append(text, '\n'), true); err != nil {
			return err
		}
	}
	if err := j.keep(ctx, name, src, v, text); err != nil {
		fmt.Fprintf(j.errs, "the verdict is not in the database: %v\n", stored(err))
	}
	j.metrics.Halted(v.Halted)
	if v.Halted != "" {
		if err := j.say("halted    %s", v.Halted); err != nil {
			return err
		}
	}
	if v.Verdict == "FAIL" && v.Reason != "" {
		if err := j.say("fails     tick %s cannot be computed: %s", number(*v.Tick), v.Reason); err != nil {
			return err
		}
	}
	if len(v.Sections) > 0 {
		if err := j.say("differs   in the section %s", strings.Join(v.Sections, ", ")); err != nil {
			return err
		}
	}
	return cmp.Or(j.emit(v), j.say("%s", v.line()))
}

// keep adds the verdict to the database, and raises an alarm for one that fails.
func (j *auditJob) keep(ctx context.Context, name string, src *evidenceSource, v *auditReport, text []byte) (err error) {
	x := &alarm{Code: audit.Divergence, Run: v.Run, Expected: v.Expected, Calculated: v.Hash, Reason: v.Reason, id: v.id}
	var db *store.DB
	if src.db != nil && !j.unkept {
		if db, err = store.Open(ctx, name); err == nil {
			defer db.Close()
			row := store.Audit{
				ID: freshID(), Run: v.id, Started: v.started, Finished: time.Now(), Engine: replay.ThisBuild().Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
				From: v.From, To: v.To, Verdict: v.Verdict, Expected: v.expected, Computed: v.computed, Report: string(text),
			}
			if v.Tick != nil {
				row.Divergent = *v.Tick
			}
			if err = db.Audit(ctx, &row); err == nil {
				x.audit = row.ID
			}
		}
	}
	if v.Verdict == "FAIL" {
		x.Tick = *v.Tick
		if j.raise(ctx, db, x, j.halt, j.webhook) && j.halt {
			v.Halted, v.code = x.Code, statusHalted
		}
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
