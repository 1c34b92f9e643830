package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
)

// An examiner looks into a run, as the flags ask for it.
type examiner struct {
	*app
	evidence.Chain
}

// examinations are the commands that do so.
func (a *app) examinations() []*cobra.Command {
	return []*cobra.Command{a.auditBisectCommand(), a.auditDiffCommand(), a.auditDiagnoseCommand(), a.auditStateCommand()}
}

func (a *app) examiner() *examiner {
	return &examiner{a, evidence.Chain{Builder: a.newBuilder(), Close: func() {}}}
}

func (x *examiner) flags(f *pflag.FlagSet) {
	f.StringVar(&x.ID, "run", "", "the run, by its `id` or the beginning of it (default: the only one)")
	builderFlags(f, &x.Builder)
}

func (x *examiner) repeatFlag(f *pflag.FlagSet) {
	x.Repeat = compare.Repeats
	f.Var(rangeFlag[int]{&x.Repeat, mostRepeats}, "repeat", "compute the tick so many `times` more, to see whether it comes to the same")
}

// mostRepeats is how often a tick is computed anew at most.
const mostRepeats = 1000

// failure is an error of a command that only works on evidence that is whole.
func (x *examiner) failure(ctx context.Context, err error) error {
	_, broken := errors.AsType[*audit.EvidenceError](err)
	_, exits := errors.AsType[*report.Error](err)
	switch {
	case err == nil || exits:
		return err
	case ctx.Err() != nil:
		err = errors.New("interrupted")
	}
	if x.Evidence != nil {
		err = fmt.Errorf("run %s: %w", x.Evidence.Run().ID, words.InWords(err))
	}
	if broken {
		return report.Exit(report.StatusEvidence, err)
	}
	return err
}

// An auditBisectResult is what audit bisect prints with --json.
type auditBisectResult struct {
	Event     string               `json:"event"` // "bisect"
	Run       string               `json:"run"`
	From      uint64               `json:"from_tick"`
	To        uint64               `json:"to_tick"`
	Verdict   string               `json:"verdict"`
	EqualTick *uint64              `json:"equal_tick,omitempty"` // the last that is equal
	Tick      *uint64              `json:"first_divergent_tick,omitempty"`
	Expected  string               `json:"expected_hash,omitempty"`
	Hash      string               `json:"calculated_hash,omitempty"`
	Sections  []string             `json:"differing_sections,omitempty"`
	Stable    *bool                `json:"stable,omitempty"`
	Repeats   []compare.RepeatView `json:"repeats,omitempty"`
	Compared  int                  `json:"compared_hashes"`
	Replayed  uint64               `json:"replayed_ticks"`
	Table     string               `json:"table,omitempty"`
	Row       string               `json:"row,omitempty"`
	Reason    string               `json:"reason,omitempty"`
	Halted    string               `json:"halted,omitempty"`
}

func (a *app) auditBisectCommand() *cobra.Command {
	x := a.examiner()
	c := &cobra.Command{
		Use:   "bisect SOURCE",
		Short: "Find the first tick that differs, and whether it comes to the same each time",
		Long: `Bisect computes a run again, as audit does, and finds the same first tick whose hash is not the
committed one, but compares few hashes: the first, the last, and log2(n) of the n ticks between.
It computes about 2n ticks at most, for it keeps the state of the last tick that is equal.

Then it computes the tick three times more (--repeat) from the state before it. It is stable if
all hashes are the same: then this program has other code or data than the one that recorded the
run. If not, it depends on more than the state: the order of a map, a clock, or something that a
propagator remembers.

Nothing is written into the database. The last line is a verdict as that of audit.

Exit status: 0 PASS, 1 the source cannot be read or the run not be computed here, 3 FAIL,
4 EVIDENCE, 5 the run is halted, and passes.`,
		Example: `  murksim audit bisect run.db
  murksim audit bisect run.db --run 01234567 --repeat 10
  murksim audit bisect heat.audit --json`,
		Args: arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := x.untilSignal(c.Context())
			defer stop()
			x.Source = args[0]
			return x.tellBisect(ctx)
		},
	}
	x.flags(c.Flags())
	x.repeatFlag(c.Flags())
	return c
}

// tellBisect bisects and prints what came of it.
func (x *examiner) tellBisect(ctx context.Context) error {
	v := new(auditReport)
	b := new(audit.Bisection)
	err := x.Open(ctx, "run")
	defer func() { x.Close() }()
	if x.Evidence == nil {
		return err
	}
	if err == nil {
		v.From, v.To, v.computed = x.Evidence.Run().First, x.Found.Tick, x.Found.Hash
		err = x.Say("evidence  %s, %s: whole", words.Count(x.Found.Ticks, "link"), words.Count(x.Found.Inputs, "input"))
	}
	halt, unread := x.Evidence.Halt(ctx)
	if err = cmp.Or(err, unread); err == nil {
		if halt != nil {
			v.Halted, v.code = halt.Code, report.StatusHalted
		}
		b, _, err = x.Bisect(ctx)
	}
	if err == nil && b.Step != nil {
		err = b.Step.Divergence()
	}
	if v.conclude(err); v.Verdict == "ERROR" {
		return x.failure(ctx, err)
	}
	if err := x.printBisect(v, b); err != nil {
		return err
	}
	if v.code != report.StatusOK {
		return report.Exit(v.code, nil)
	}
	return nil
}

func (x *examiner) printBisect(v *auditReport, b *audit.Bisection) error {
	r := auditBisectResult{
		Event: "bisect", Run: x.Evidence.Run().ID.String(), From: v.From, To: v.To, Verdict: v.Verdict, Tick: v.Tick, Expected: v.Expected, Hash: v.Hash, Sections: v.Sections,
		Compared: b.Compared, Replayed: b.Replayed, Table: v.Table, Row: v.Row, Reason: v.Reason, Halted: v.Halted,
	}
	var lines []string
	if v.Halted != "" {
		lines = append(lines, "halted    "+v.Halted)
	}
	if s := b.Step; s != nil {
		if s.EqualBefore {
			before := s.Tick - 1
			r.EqualTick = &before
		}
		r.Stable, r.Repeats = stability(s)
		lines = append(lines, fmt.Sprintf("searched  %s compared, %s computed", hashes(b.Compared+2), words.Count(b.Replayed, "tick")))
		lines = append(lines, stableLines(s)...)
		if s.Before == nil {
			lines = append(lines, "genesis   the first tick differs: another configuration, or another way to write the state")
		}
		if v.Reason != "" {
			lines = append(lines, fmt.Sprintf("fails     tick %s cannot be computed: %s", words.Number(s.Tick), v.Reason))
		}
		if len(v.Sections) > 0 {
			lines = append(lines, "differs   in the section "+strings.Join(v.Sections, ", "))
		}
	}
	if err := x.Result(r, v.code == report.StatusOK); err != nil {
		return err
	}
	lines = append(lines, v.line())
	for i := range lines {
		lines[i] = words.Clean(lines[i])
	}
	return x.Say("%s", strings.Join(lines, "\n"))
}

func hashes(n int) string {
	return strings.TrimSuffix(words.Count(uint64(n), "hash"), "s") + map[bool]string{true: "es"}[n != 1]
}

// stability says what the computations of a tick came to. Of one computation that is nothing.
func stability(s *audit.Step) (stable *bool, list []compare.RepeatView) {
	total := 0
	for _, o := range s.Outcomes {
		v := compare.RepeatView{Error: o.Err, Times: o.Times}
		if o.Err == "" {
			v.Hash = o.Hash.String()
		}
		list = append(list, v)
		total += o.Times
	}
	if total < 2 {
		return nil, nil
	}
	is := s.Stable()
	return &is, list
}

// stableLines say the same for people.
func stableLines(s *audit.Step) (lines []string) {
	stable, list := stability(s)
	total := 0
	for _, v := range list {
		total += v.Times
	}
	switch {
	case stable == nil:
	case *stable:
		lines = append(lines, fmt.Sprintf("stable    tick %s, computed %d times, comes to the same", words.Number(s.Tick), total))
	default:
		lines = append(lines, fmt.Sprintf("unstable  tick %s, computed %d times from the same state:", words.Number(s.Tick), total))
		for _, v := range list {
			what := "hash " + v.Hash
			if v.Error != "" {
				what = words.Printable(v.Error)
			}
			lines = append(lines, fmt.Sprintf("            %-8s  %s", words.Times(v.Times), what))
		}
	}
	return lines
}
