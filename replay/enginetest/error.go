package enginetest

import (
	"fmt"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/diff"
)

// A SyncError reports a tick that has another result when it is computed again. Workers and
// Order are those of the simplest world found that differs: with the run's workers and order the
// world differs because it was restored.
type SyncError struct {
	Tick       uint64
	From       uint64       // the tick of the state from which the other world was restored
	Workers    int          // of the restored world; 0: it was in another process
	Order      bool         // its propagators ran in another order
	Recorded   bool         // it had a recorder, so Context.WantsChanges was another, and the result hangs on that; the run has none
	Unreported error        // what a part changed and did not report to the recorder, so that the hash in a recording is wrong; the states are equal
	Kind, Part string       // of the first part of the tick that differs, as of [engine.Part]; empty: it is not known
	Err        error        // why the tick cannot be computed in the restored world, as it was in the run; nil: it can
	Report     *diff.Report // what differs: a is the run; nil: only the hash, and so the inputs or what became of them

	first int // how many workers the run has
}

// Error implements error.
func (e *SyncError) Error() string {
	if e.Unreported != nil {
		return fmt.Sprintf("enginetest: tick %d has another hash in a recording, which is of what parts report to have changed\n  the first part of the tick that differs: %s\n  %v\n"+
			"A Step that calls Context.Changed must report all that it changes.", e.Tick, e.part(), e.Unreported)
	}
	if e.Err != nil && e.Recorded {
		return fmt.Sprintf("enginetest: tick %d fails, only in a world with a recorder: %v", e.Tick, e.Err)
	}
	if e.Err != nil {
		return fmt.Sprintf("enginetest: tick %d fails, only in a world that was restored from the state of tick %d: %v", e.Tick, e.From, e.Err)
	}
	var b strings.Builder
	how, side, cause := e.explain()
	fmt.Fprintf(&b, "enginetest: tick %d has another result %s", e.Tick, how)
	if e.Part != "" {
		fmt.Fprintf(&b, "\n  the first part of the tick that differs: %s", e.part())
	}
	if e.Report == nil {
		b.WriteString("\n  the hash alone differs, so the commands do, or what became of them")
	} else {
		const most = 5 // differences
		shown := min(most, len(e.Report.Differences))
		for i := range shown {
			b.WriteString("\n  " + describe(&e.Report.Differences[i], side))
		}
		if more := e.Report.Count - shown; more > 0 {
			fmt.Fprintf(&b, "\n  and %d more", more)
		}
	}
	return b.String() + "\n" + cause
}

// part names the part of the tick within a sentence.
func (e *SyncError) part() string {
	switch e.Kind {
	case "":
		return "the tick"
	case engine.PartPropagator, engine.PartSystem:
		return fmt.Sprintf("%s %q", e.Kind, e.Part)
	case engine.PartCommands:
		return "the commands with which it begins"
	}
	return "the events with which it ends"
}

// explain says how the tick was computed, how that is called beside a value, and what may be
// the cause.
func (e *SyncError) explain() (how, side, cause string) {
	const (
		outside = "Something outside of the state influences %s: "
		keep    = "What must be remembered from one tick to the next is a field, which is part of the state."
	)
	from := fmt.Sprintf("the state of tick %d", e.From)
	switch {
	case e.Workers == 0:
		return "in another process, from " + from, "in the other process",
			fmt.Sprintf(outside, e.part()) + "a package variable that keeps a value (tools/detcheck finds it), the environment, a clock, or the order of a map.\n" + keep
	case e.Recorded:
		return "in a world with a recorder", "with a recorder",
			fmt.Sprintf("Context.WantsChanges, or the recorder itself, influences %s.\nWhere changes are wanted, a Step may report them, and must compute the same.", e.part())
	case e.Order:
		return "when propagators that do not depend on each other run in another order", "in the other order",
			fmt.Sprintf("Something that no Spec names goes from one propagator to another and influences %s.\nIt must be a field, or Now must name the fields that are read.", e.part())
	case e.Workers != e.first:
		return fmt.Sprintf("with %s than with %d", workers(e.Workers), e.first), "with " + workers(e.Workers),
			fmt.Sprintf("How the cells are shared among workers influences %s: a sum over a share, or a value that workers hand on.\nSum over all cells in each share, or leave Parallel out of the Spec.", e.part())
	}
	return "in a world restored from " + from, "in the restored world",
		fmt.Sprintf(outside, e.part()) + "a variable that keeps a value, random numbers that are not the world's, a clock, or the order of a map.\n" + keep
}

func workers(n int) string {
	if n == 1 {
		return "1 worker"
	}
	return fmt.Sprintf("%d workers", n)
}

// describe says where two values differ, and what they are in the run and beside it.
func describe(d *diff.Difference, side string) string {
	where := strings.TrimPrefix(d.Path, "/")
	if d.Cell != nil {
		cell := strings.ReplaceAll(strings.Trim(fmt.Sprint(d.Cell), "[]"), " ", ", ")
		where = fmt.Sprintf("field %q, cell [%s]", d.Field, cell)
		if name := "/" + d.Field; !strings.HasSuffix(d.Path, name) { // of a vector
			where += ", component " + d.Path[strings.LastIndex(d.Path, "/")+1:]
		}
	}
	switch d.Kind {
	case diff.Added:
		return fmt.Sprintf("%s: %s only %s", where, d.B, side)
	case diff.Removed:
		return fmt.Sprintf("%s: %s only in the run", where, d.A)
	}
	return fmt.Sprintf("%s: %s in the run, %s %s", where, d.A, d.B, side)
}
