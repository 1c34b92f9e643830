package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
)

// An auditJob audits runs, as the flags ask for it.
type auditJob struct {
	*app
	runs      []string
	all       bool
	from      tickFlag
	fromState bool // from is given
	to        tickFlag
	toTick    bool // to is given
	complete  bool
	follow    bool
	jobs      int
	many      bool // several runs are audited: what each finds is printed with its verdict
	report    string
	unkept    bool
	halt      bool
	webhook   string
	evidence.Builder
	measuring measuring
}

func (a *app) auditCommand() *cobra.Command {
	j := &auditJob{app: a, Builder: a.newBuilder()}
	c := &cobra.Command{
		Use:   "audit SOURCE",
		Short: "Check a run against its chain, and compute it again",
		Long: `Audit takes a run from a database that run --audit wrote, or from a bundle of audit export.
It checks the evidence: no input and no hash may have been lost, added, changed, moved or
exchanged since it was committed. It refuses a snapshot that is not the state of its tick;
it does not need all snapshots. Then it computes the run again from its genesis and compares
the hash of every tick.

A source is a file, or postgres://user@host/name. The verdict is the last line:

  PASS ticks=0..1000 hash=...        every tick is what was committed
  FAIL tick=X expected=... calculated=...
                                     tick X is the first that is not
  EVIDENCE table=... row=... reason=...
                                     the first row that cannot be as it was committed
  INCOMPLETE ticks=0..500 planned=1000 hash=...
                                     with --complete: every tick that is there passes, but some are missing

Once printed, the verdict is also stored in the database, unless --no-verdict is given or
the database cannot be written to. A FAIL is an alert there, too. Audit refuses a database
in which something runs that murksim did not make, such as a trigger.

--follow audits a run while it is still running, until it ends. On Ctrl-C, the verdict
covers the ticks so far. The audit of a fork begins at the state where it was forked, and
compares that state with the parent if the parent is in the same source.

Exit status: 0 PASS, 1 the source cannot be read or the run not be computed here, 3 FAIL or
INCOMPLETE, 4 EVIDENCE, 5 the run is halted.`,
		Example: `  murksim run heat --audit run.db
  murksim audit run.db
  murksim audit run.db --from-snapshot 500
  murksim audit run.db --follow --metrics :9090
  murksim audit run.db --all --jobs 4
  murksim audit postgres://auditor@db.example/murksim --run 01234567-89ab-4def-8123-456789abcdef
  murksim audit heat.audit --report heat.json`,
		Args: auditArguments,
		RunE: func(c *cobra.Command, args []string) error {
			if err := j.check(c.Flags().Changed, args[0]); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			return j.run(ctx, args[0])
		},
	}
	j.flags(c.Flags())
	c.AddCommand(append(a.examinations(), a.auditListCommand(), a.auditExportCommand(), a.auditImportCommand(), a.auditForkCommand(), a.auditKeyCommand(), a.auditSignCommand(), a.auditCosignCommand(), a.auditStampCommand(), a.auditProveCommand(), a.auditCheckCommand())...)
	return c
}

// check looks at the flags together, and at the source.
func (j *auditJob) check(given func(string) bool, source string) error {
	j.fromState, j.toTick = given("from-snapshot"), given("to")
	switch {
	case j.all && len(j.runs) > 0:
		return report.Usage("--all and --run cannot be used together")
	case j.follow && (j.all || len(j.runs) > 1):
		return report.Usage("--follow takes one run")
	case j.complete && (j.toTick || j.follow):
		return report.Usage("--complete asks for all ticks that are planned; it goes neither with --to nor with --follow")
	case given("jobs") && j.jobs < 1:
		return report.Usage("--jobs must be 1 or more, not %d", j.jobs)
	case j.halt && j.unkept:
		return report.Usage("--halt and --no-verdict cannot be used together")
	}
	if err := cmp.Or(checkAddress("--webhook", j.webhook), sparesSource(j.report, source), j.measuring.check(given)); err != nil {
		return err
	}
	if j.report != "" {
		return replaceable(j.report, `{"event":"audit"`, "report of an audit")
	}
	return nil
}

// auditArguments takes one source, and reports a mistyped subcommand.
func auditArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if _, err := os.Stat(args[0]); errors.Is(err, fs.ErrNotExist) {
			if mean := didYouMean(c, args[0]); mean != "" {
				return report.Usage("there is no source %q, and no subcommand%s\nSee: %s --help", args[0], mean, c.CommandPath())
			}
		}
	}
	return arguments(cobra.ExactArgs(1), "one source")(c, args)
}

// flags adds the flags of audit itself.
func (j *auditJob) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&j.runs, "run", nil, "audit this run, by its `id` or the beginning of it; can be repeated")
	f.BoolVar(&j.all, "all", false, "audit all runs of the source")
	f.Var(&j.from, "from-snapshot", "begin at the snapshot of this `tick`, instead of at genesis")
	f.Var(&j.to, "to", "end with this `tick` (default: the last that is committed)")
	f.BoolVar(&j.complete, "complete", false, "require all ticks that the run plans: a chain that ends earlier is INCOMPLETE")
	f.BoolVar(&j.follow, "follow", false, "continue with ticks committed meanwhile, until the run has ended")
	f.IntVar(&j.jobs, "jobs", 0, "how many runs are audited at the same time (default: one per core)")
	f.StringVar(&j.report, "report", "", "write the report, JSON, to a `file`")
	f.BoolVar(&j.unkept, "no-verdict", false, "do not write the verdict into the database")
	f.BoolVar(&j.halt, "halt", false, "halt a run that fails: nothing more is committed of it")
	f.StringVar(&j.webhook, "webhook", "", "send alerts to an `address`, too, by POST")
	builderFlags(f, &j.Builder)
	j.measuring.flags(f)
}

func (a *app) newBuilder() evidence.Builder {
	return evidence.Builder{Opener: a.Session, MaxMemory: session.DefaultMaxMemory}
}

// builderFlags adds the flags that say how ticks are computed again.
func builderFlags(f *pflag.FlagSet, b *evidence.Builder) {
	workersFlag(f, &b.Workers, sharing)
	maxMemoryFlag(f, &b.MaxMemory)
}

// run audits the runs, several at the same time, and returns the worst outcome.
func (j *auditJob) run(ctx context.Context, name string) error {
	src, err := evidence.Open(ctx, j.Session, name)
	if err != nil {
		return err
	}
	defer src.Close()
	picked, err := src.Pick(ctx, j.runs, j.all, "name one with --run, or say --all")
	switch {
	case err != nil:
		return err
	case j.report != "" && len(picked) > 1:
		return report.Usage("--report takes one run, not %d", len(picked))
	case j.halt && src.DB == nil:
		return report.Usage("--halt needs a database; nothing can be added to a bundle")
	case j.follow && src.DB == nil:
		return report.Usage("--follow needs a database; a bundle does not grow")
	}
	if j.jobs == 0 {
		j.jobs = runtime.GOMAXPROCS(0)
	}
	j.many = len(picked) > 1
	if j.jobs = min(j.jobs, len(picked)); j.jobs > 1 && j.Workers == 0 {
		j.Workers = 1 // the others have the other cores
	}
	if err := j.measuring.audits(j.app); err != nil {
		return err
	}
	p := &evidence.Progress{Meter: j.Meter(0), Measured: j.measuring.audit}
	parting, stop := report.After(ctx, report.PartingTime)
	defer stop()
	how := evidence.Reach{Follow: j.follow}
	if j.fromState {
		how.From = (*uint64)(&j.from)
	}
	if j.toTick {
		how.To = (*uint64)(&j.to)
	}
	say := func(lines []string) {
		for _, line := range lines {
			_ = j.Say("%s", words.Clean(line)) // what comes of it must not depend on who reads it; the program ends with that error
		}
	}
	if j.many {
		say = nil
	}
	verdicts := inOrder(len(picked), j.jobs, func(i int) *evidence.Audit { return evidence.AuditRun(ctx, j.Builder, src, &picked[i], how, p, say) })
	worst := report.StatusOK
	var unwritten error
	for i := range picked {
		x := <-verdicts[i]
		if err := ctx.Err(); err != nil && !x.Ended {
			for _, rest := range verdicts[i+1:] { // which read the source
				<-rest
			}
			return fmt.Errorf("run %s: interrupted", x.Report.Run)
		}
		unwritten = cmp.Or(unwritten, j.conclude(parting, src, x)) // the verdicts of the others are kept, too
		worst = report.Worse(worst, x.Report.Code)
	}
	if unwritten == nil && worst != report.StatusOK {
		return report.Exit(worst, nil)
	}
	return unwritten
}

// inOrder calls f for 0 to n-1, some at a time, and returns a channel for what each returns.
func inOrder[T any](n, some int, f func(i int) T) []chan T {
	results := make([]chan T, n)
	slots := make(chan struct{}, some)
	for i := range results {
		results[i] = make(chan T, 1)
	}
	go func() {
		for i := range results {
			slots <- struct{}{}
			go func() {
				results[i] <- f(i)
				<-slots
			}()
		}
	}()
	return results
}
