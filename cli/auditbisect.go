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
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/scenarios"
)

// An examiner computes ticks of a run again, to see where it parts from what was committed, and in what.
type examiner struct {
	auditJob
	source string
	id     string // of the run, or the beginning of it; "": the only one
	repeat int

	evidence audit.Evidence
	scenario *scenarios.Scenario
	found    *audit.Checked
	close    func()
}

// examinations are the commands that do so.
func (a *app) examinations() []*cobra.Command {
	return []*cobra.Command{a.auditBisectCommand(), a.auditDiffCommand(), a.auditDiagnoseCommand(), a.auditStateCommand()}
}

func (a *app) examiner() *examiner {
	return &examiner{auditJob: auditJob{app: a, maxMemory: session.DefaultMaxMemory}, close: func() {}}
}

func (x *examiner) flags(f *pflag.FlagSet) {
	f.StringVar(&x.id, "run", "", "the run, by its `id` or the beginning of it (default: the only one)")
	x.worldFlags(f)
}

func (x *examiner) repeatFlag(f *pflag.FlagSet) {
	x.repeat = compare.Repeats
	f.Var(rangeFlag[int]{&x.repeat, mostRepeats}, "repeat", "compute the tick so many `times` more, to see whether it comes to the same")
}

// mostRepeats is how often a tick is computed anew at most.
const mostRepeats = 1000

// open opens the run and looks at its evidence. The caller must close it, also after an error. The flag names the run.
func (x *examiner) open(ctx context.Context, flag string) error {
	x.maxMemory = x.maxMemory.Share(3) // two worlds and states of both
	src, err := x.openEvidence(ctx, x.source)
	if err != nil {
		return err
	}
	x.close = src.close
	id, err := src.one(ctx, x.id, flag)
	if err != nil {
		return err
	}
	e, done, err := src.evidence(ctx, id)
	if err != nil {
		return err
	}
	x.evidence, x.close = e, func() { done(); src.close() }
	if x.found, err = audit.Check(ctx, x.evidence); err != nil {
		return err
	}
	if _, _, err := src.holdParent(ctx, e); err != nil {
		return err
	}
	x.scenario, err = x.genesis(x.evidence.Run())
	return err
}

// again returns a rerun of the whole run.
func (x *examiner) again(ctx context.Context) (*audit.Rerun, *report.Meter, error) {
	r := &audit.Rerun{Evidence: x.evidence, Descriptor: x.evidence.Run().Genesis, To: x.found.Tick}
	if err := x.place(ctx, x.evidence, x.scenario, r, x.evidence.Run().First); err != nil {
		return nil, nil, err
	}
	m := x.Meter(r.To)
	r.Passed = m.Show
	return r, m, nil
}

// bisect finds the tick in which the run and its rerun part.
func (x *examiner) bisect(ctx context.Context) (b *audit.Bisection, r *audit.Rerun, err error) {
	r, m, err := x.again(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer m.Clear()
	b, err = r.Bisect(ctx, x.repeat)
	return b, r, err
}

// checkTick holds that the run has a tick.
func (x *examiner) checkTick(tick uint64) error {
	switch first := x.evidence.Run().First; {
	case tick < first:
		return report.Usage("--tick must be %s or more, where the run begins, not %s", words.Number(first), words.Number(tick))
	case tick > x.found.Tick:
		return report.Usage("--tick must be at most %s, the last that is committed, not %s", words.Number(x.found.Tick), words.Number(tick))
	}
	return nil
}

// at computes a tick of the run.
func (x *examiner) at(ctx context.Context, tick uint64, repeat int) (*audit.Step, *audit.Rerun, error) {
	if err := x.checkTick(tick); err != nil {
		return nil, nil, err
	}
	r, m, err := x.again(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer m.Clear()
	m.Last, m.Total = tick, tick
	s, err := r.At(ctx, tick, repeat)
	return s, r, err
}

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
	if x.evidence != nil {
		err = fmt.Errorf("run %s: %w", x.evidence.Run().ID, words.InWords(err))
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
			x.source = args[0]
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
	err := x.open(ctx, "run")
	defer func() { x.close() }()
	if x.evidence == nil {
		return err
	}
	if err == nil {
		v.From, v.To, v.computed = x.evidence.Run().First, x.found.Tick, x.found.Hash
		err = x.Say("evidence  %s, %s: whole", words.Count(x.found.Ticks, "link"), words.Count(x.found.Inputs, "input"))
	}
	halt, unread := x.evidence.Halt(ctx)
	if err = cmp.Or(err, unread); err == nil {
		if halt != nil {
			v.Halted, v.code = halt.Code, report.StatusHalted
		}
		b, _, err = x.bisect(ctx)
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
		Event: "bisect", Run: x.evidence.Run().ID.String(), From: v.From, To: v.To, Verdict: v.Verdict, Tick: v.Tick, Expected: v.Expected, Hash: v.Hash, Sections: v.Sections,
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
