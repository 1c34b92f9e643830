package cli

import (
	"context"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
)

// A bisectJob searches, as the flags ask for it.
type bisectJob struct {
	*app
	compare.Search
	commands  []string
	explained []words.Block // in what two states differ
}

const bisectLong = `Bisect finds the tick in which two runs begin to differ, if the hashes of a run must be
asked for or are known for some ticks only. It compares two sides, a and b, in this order:
the named files, each a recording, or a table of hashes as run --hashes writes it, or some
lines of such a table; then the programs of --command. A single recording is compared with a
replay of it here. Only the column state of a table counts; verify --hashes compares every
field.

A program is run once for each question, with the number of the tick in place of {tick}. It
prints the hash of the state after that tick: 16 hexadecimal digits in the first line, or an
object of JSON with the key hash or final_hash, as seek and run print them with --json. Any
exit status but 0 is an error, except 3 together with a hash: that is how seek says that a
replay gives another hash than recorded. No shell is used: words are separated by spaces,
words in quotes are one, and nothing else is special. For pipes write sh -c '...'.

For n ticks it takes log2(n) questions, and one for the last tick. They find a tick that
differs while the one before it is equal: both have been compared. The tick is certainly the
first only if runs that differ stay different, because the hash of a tick does not cover
earlier ticks. For the same reason, ask seek with --no-index, so that it does not start from
a state of the recorded run. Two recordings, or a recording and its replay, are compared
tick by tick, so that tick is certainly the first.

Then the tick is computed three times more, by each program and in each replay, from the
state before it. It is stable if all hashes are the same: then two builds have different
code. If not, it depends on more than the state: the order of a map, a clock, or something
that a propagator remembers. Finally it shows what differs, as diff does.

With --phases it compares the tick part by part: the commands, each propagator and system,
the checks of what they wrote, and the events with which the tick ends. It names the first
part that differs, the fields and, if both sides are replayed here, the values; for an
unstable tick also the first part whose result varies. If the sides already differ before
the tick, it names none. A program must print the parts in a JSON object, as seek --phases
does.

The parts of a recorded tick come from a replay that gives its hash. If this build does not
give it, name the build that made the recording with --command: with --phases, a program
that agrees with the recording stands in for it, and is compared with the replay here.

For a chain (a database or bundle of run --audit) it does what audit bisect does.

Exit status: 0 equal, 3 they differ, 1 a program fails or a file is damaged, 2 usage; for a
chain also 4 the evidence is broken, 5 the run is halted, and equal.`

func (a *app) bisectCommand() *cobra.Command {
	j := &bisectJob{app: a, Search: compare.Search{Comparison: compare.Comparison{Visitor: session.Visitor{Opener: a.Session, MaxMemory: session.DefaultMaxMemory}, Keep: true}}}
	c := &cobra.Command{
		Use:   "bisect [RECORDING|TABLE]...",
		Short: "Find the tick in which two runs begin to differ, by questions",
		Long:  bisectLong,
		Example: `  murksim bisect heat.murk
  murksim bisect heat.murk other.murk --phases
  murksim bisect heat.murk --command './other seek heat.murk --no-index --tick {tick} --json'
  murksim bisect --to 1000 --command './old run heat --until {tick} --no-record --json' \
    --command './new run heat --until {tick} --no-record --json'
  murksim bisect heat.murk --phases \
    --command './old seek heat.murk --no-index --tick {tick} --phases --json'
  murksim bisect heat.murk --phases \
    --command 'env MURKSIM_KERNELS=plain murksim seek heat.murk --no-index --tick {tick} --phases --json'
  murksim bisect hashes.tsv heat.murk --json`,
		RunE: func(c *cobra.Command, args []string) error {
			if chains, err := ofChains(c, args, "workers", "max-memory"); err != nil {
				return err
			} else if chains {
				return a.bisectChain(c.Context(), args, &j.Visitor)
			}
			j.Several = len(args) > 1
			if err := j.check(args, c.Flags().Changed); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			return j.run(ctx)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&j.commands, "command", nil, "a `program` that prints the hash of a tick, with {tick} for its number; can be repeated")
	f.Var((*tickFlag)(&j.From), "from", "a tick that is compared first and should be equal (default: none)")
	f.Var((*tickFlag)(&j.To), "to", "the last tick to compare (default: the last one that the files have)")
	f.BoolVar(&j.Phases, "phases", false, "name the first part of the tick that differs: commands, a propagator, a system, checks, events")
	workersFlag(f, &j.Workers, "goroutines that share the work of a replay (default: one per core where that pays)")
	a.visitorFlags(f, &j.Visitor)
	return c
}

// check looks at the command line, and makes the sides.
func (j *bisectJob) check(names []string, given func(flag string) bool) error {
	bounded := given("to")
	j.Begun = given("from")
	if slices.Contains(names, "-") {
		return report.Usage("bisect takes files, not standard input")
	}
	switch n := len(names) + len(j.commands); {
	case n > 2:
		return report.Usage("bisect compares 2 sides, not %d", n)
	case n == 0 || n == 1 && len(j.commands) == 1:
		return report.Usage("bisect needs two sides: recordings, tables of hashes or --command; or one recording, to compare it with a replay")
	}
	for i, name := range names {
		j.Pair[i] = &compare.SearchSide{BisectView: compare.BisectView{File: name}}
	}
	for i, text := range j.commands {
		q, err := compare.ParseProgram(text)
		if err != nil {
			return err
		}
		j.Pair[len(names)+i] = &compare.SearchSide{BisectView: compare.BisectView{Command: text}, Program: q}
	}
	switch {
	case j.Pair[1] == nil && session.IsTable(names[0]):
		return report.Usage("%s is a table of hashes; bisect needs something to compare it with", words.Argument(names[0]))
	case j.Exact() && (j.Begun || bounded):
		return report.Usage("--from and --to are for programs and tables; recordings are compared tick by tick")
	case len(names) == 0 && !bounded:
		return report.Usage("--to must say the last tick to ask for; programs do not tell")
	case bounded && (j.To == 0 || j.To < j.From):
		return report.Usage("--to must be a tick above 0, and not before --from")
	case j.Begun && bounded && j.To-j.From == math.MaxUint64: // one tick more than can be counted
		return report.Usage("--to must be below %s if --from is 0", words.Number(j.To))
	case j.Index != "" && len(names) != 1:
		return report.Usage("--index takes one recording, not %d", len(names))
	case j.Index != "" && session.IsTable(names[0]):
		return report.Usage("--index takes a recording; %s is a table of hashes", words.Argument(names[0]))
	}
	return nil
}

func (j *bisectJob) run(ctx context.Context) error {
	defer j.Close()
	if err := j.Find(ctx); err != nil {
		return err
	}
	if j.Found.Status == "ticks" && j.Alike() {
		j.explained = j.text().differences() // before the worlds go back
	}
	if err := j.Examine(ctx); err != nil {
		return err
	}
	return j.tell()
}
