package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// conclude prints the verdict of a run, stores it in the database, and raises an alarm if there is cause. It prints first, so that the
// user sees the verdict even if the database never takes it. Only with --halt, it stores the verdict first, since the printed one says
// whether the run is halted. If printing or writing fails, that is an error, but undoes nothing else.
func (j *auditJob) conclude(ctx context.Context, src *evidence.Source, x *evidence.Audit) error {
	v := x.Report
	j.measuring.audit.Verdict(v.Verdict)
	alarmed, row := alarmOf(v), v.Kept() // to the database the ticks that there are have passed, also with --complete
	keep := func() {
		if err := j.keep(ctx, src, v, row, alarmed); err != nil {
			j.Warn("the verdict is not in the database: %v", gaveUp(ctx, err))
		}
	}
	if j.halt {
		keep()
	} else {
		defer keep()
	}
	if j.complete && v.Verdict == "PASS" && v.To < v.Planned {
		v.Verdict, v.Code = "INCOMPLETE", report.StatusDiverged
	}
	if v.Verdict == "FAIL" && !v.Hidden {
		j.noteWrong(ctx, src, v.ID, *v.Tick)
	}
	return j.print(x)
}

// noteWrong notes that a tick of a run is wrong, in this user's note of it, if there is one: it counts for every copy of the chain.
func (a *app) noteWrong(ctx context.Context, src *evidence.Source, id audit.ID, tick uint64) {
	e, done, err := src.Run(ctx, id)
	if err == nil {
		err = memoryOf(id).noteWrong(ctx, e, tick)
		done()
	}
	if err != nil {
		a.Warn("your note of run %s does not have that tick %d is wrong: %v", id, tick, words.InWords(err))
	}
}

// print prints a verdict, and writes the report.
func (j *auditJob) print(x *evidence.Audit) error {
	v := x.Report
	j.metrics.Halted(v.Halted)
	var unwritten error
	if j.report != "" {
		unwritten = j.writeFile(j.report, append(v.JSON(), '\n'), true)
	}
	lines := append([]string{v.What()}, x.Lines...)
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
	if v.Hidden {
		lines = append(lines, "only      "+v.Reason)
	} else if v.Verdict == "FAIL" && v.Reason != "" {
		lines = append(lines, fmt.Sprintf("fails     tick %s cannot be computed: %s", words.Number(*v.Tick), v.Reason))
	}
	if len(v.Sections) > 0 {
		lines = append(lines, "differs   in the section "+strings.Join(v.Sections, ", "))
	}
	err := j.Emit(v)
	for _, line := range append(lines, v.Line()) {
		err = cmp.Or(err, j.Say("%s", words.Clean(line)))
	}
	return cmp.Or(err, unwritten)
}

// alarmOf returns the alarm for a verdict; nil: it needs none.
func alarmOf(v *evidence.Report) *alarm {
	switch v.Verdict {
	case "FAIL":
		return &alarm{Code: audit.Divergence, Run: v.Run, Tick: *v.Tick, Expected: v.Expected, Calculated: v.Hash, Reason: v.Reason,
			Hidden: v.Hidden, id: v.ID}
	case "EVIDENCE":
		return &alarm{Code: audit.EvidenceFault, Run: v.Run, Tick: v.Broken, Reason: fmt.Sprintf("%s, row %s: %s", v.Table, v.Row, v.Reason), id: v.ID}
	}
	return nil
}

// keep adds a verdict to the database, and raises an alarm unless it is nil.
func (j *auditJob) keep(ctx context.Context, src *evidence.Source, v *evidence.Report, row *store.Audit, x *alarm) (err error) {
	var db *store.DB
	if src.DB != nil && !j.unkept && v.ID.String() == v.Run { // else there is no such run to which it could belong
		if db, err = src.DB.Writable(ctx); err == nil {
			defer db.Close()
		}
	}
	halt := j.halt && !v.Hidden // the chain is as its program computed it
	switch {
	case x == nil && db != nil:
		return db.Audit(ctx, row)
	case x != nil && j.raise(ctx, db, row, x, halt, j.webhook) && halt:
		v.Halted, v.Code = x.Code, report.StatusHalted
	}
	return err
}
