package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// A Report is the result of auditing one run.
type Report struct {
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
	Hidden   bool              `json:"unconfirmed,omitempty"` // with FAIL: only once, or from the snapshot; not from the first tick
	Table    string            `json:"table,omitempty"`       // with EVIDENCE
	Row      string            `json:"row,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Refused  []string          `json:"refused_snapshots,omitempty"`
	Halted   string            `json:"halted,omitempty"` // the code
	Seconds  float64           `json:"seconds"`

	ID       audit.ID   `json:"-"`
	Broken   uint64     `json:"-"` // with EVIDENCE: the tick, if the row is of one
	Code     int        `json:"-"` // exit status
	Computed audit.Hash `json:"-"` // of the tick of calculated_hash

	links    uint64 // in the evidence
	started  time.Time
	expected audit.Hash
}

// Conclude sets the verdict for an error.
func (v *Report) Conclude(err error) {
	diverged, d := errors.AsType[*audit.DivergenceError](err)
	fault, broken := errors.AsType[*audit.EvidenceError](err)
	switch {
	case err == nil:
		v.Verdict, v.Hash = "PASS", v.Computed.String()
	case d:
		v.Verdict, v.Code, v.Tick = "FAIL", report.StatusDiverged, &diverged.Tick
		v.expected, v.Computed = diverged.Expected, diverged.Calculated
		v.Expected, v.Hash = diverged.Expected.String(), diverged.Calculated.String()
		if diverged.Err != nil {
			v.Reason = diverged.Err.Error()
		}
		for _, id := range diverged.Sections {
			v.Sections = append(v.Sections, engine.SectionNames[id-1])
		}
	case broken:
		v.Verdict, v.Code = "EVIDENCE", report.StatusEvidence
		v.Table, v.Row, v.Reason = fault.Table, keyOf(fault), fault.Reason
		v.Broken = TickOf(fault)
	default:
		v.Verdict, v.Code = "ERROR", report.StatusError
		v.Reason = words.InWords(err).Error()
	}
}

// keyOf returns the key of a row, such as 17 of "tick 17".
func keyOf(e *audit.EvidenceError) string { return e.Row[strings.LastIndexByte(e.Row, ' ')+1:] }

// TickOf returns the tick of a row; 0 if it is of none.
func TickOf(e *audit.EvidenceError) (tick uint64) {
	if strings.HasPrefix(e.Row, "tick ") {
		tick, _ = strconv.ParseUint(keyOf(e), 10, 63)
	}
	return tick
}

// Line is the verdict as the last line of the output.
func (v *Report) Line() string {
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

// What says which run it is.
func (v *Report) What() string {
	text := "run       " + v.Run
	if v.Scenario != "" {
		text += fmt.Sprintf("  %s, seed %d", v.Scenario, uint64(v.Seed))
		if v.Planned > 0 {
			text += fmt.Sprintf(", %s planned", words.Count(v.Planned, "tick"))
		}
	}
	return strings.TrimRight(text+"  "+words.Printable(v.Label), " ")
}

// Kept is the verdict as it is kept in a database.
func (v *Report) Kept() *store.Audit {
	row := &store.Audit{
		ID: FreshID(), Run: v.ID, Started: v.started, Finished: time.Now(), Engine: replay.ThisBuild().Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		From: v.From, To: v.To, Verdict: v.Verdict, Expected: v.expected, Computed: v.Computed, Report: string(v.JSON()),
	}
	if v.Tick != nil {
		row.Divergent = *v.Tick
	}
	return row
}

// JSON is the report as it is kept: all but what differs from one audit to the next stands in a fixed order.
func (v *Report) JSON() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // of which nothing can fail
	return bytes.TrimSpace(b.Bytes())
}
