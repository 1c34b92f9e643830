package cli

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/foreign"
	"github.com/murksim/murksim/scenarios/document"
)

// A verifyJob checks recordings, as the flags ask for it.
type verifyJob struct {
	*app
	session.Verification
	world string // the file
	each  bool
	asked bool // for so many workers
}

func (a *app) verifyCommand() *cobra.Command {
	j := &verifyJob{app: a, Verification: session.Verification{MaxMemory: session.DefaultMaxMemory}}
	c := &cobra.Command{
		Use:   "verify RECORDING...",
		Short: "Replay recordings and check every tick",
		Long:  aboutVerify,
		Example: `  murksim verify heat.murk
  murksim verify --json *.murk
  murksim verify --hashes heat.tsv heat.murk
  murksim verify --complete --inputs heat.murk
  murksim verify --follow live.murk
  murksim verify --state half.state rest.murk
  murksim verify --world foraging.json foraging.murkreplay`,
		Args: arguments(cobra.MinimumNArgs(1), "one recording or more"),
		RunE: func(c *cobra.Command, args []string) error {
			if j.Hashes != "" && len(args) > 1 {
				return report.Usage("--hashes takes one recording, not %d", len(args))
			}
			if j.Follow && (len(args) > 1 || args[0] == "-") {
				return report.Usage("--follow takes one recording in a file")
			}
			if c.Flags().Changed("world") {
				if err := j.readWorld(args); err != nil {
					return err
				}
			}
			if j.each {
				j.Row = j.tell
			}
			j.Several, j.asked = len(args) > 1, c.Flags().Changed("workers")
			ctx, stop := j.untilSignal(c.Context()) // so that the line of progress does not stay
			defer stop()
			return j.all(ctx, args)
		},
	}
	j.flags(c.Flags())
	return c
}

const aboutVerify = `Verify rebuilds the world of a recording from the file alone, feeds it the recorded
commands, and compares the hash of every tick. A recording may also be JSON lines, as
convert writes them. - reads standard input.

If there is an index beside a recording, its parts are replayed in parallel, in --workers
worlds. Each part must end in exactly the state in which the next one begins, byte for byte.
So this is as strong as a replay from the first tick, whoever made the index. The states
between the parts get this user's seal in the index, so that seek can start from them.

A scenario gives commands, too. With --inputs, the recorded commands must be exactly those,
as in a run by murksim; other programs may have submitted more.

With --follow it verifies a recording that a process is writing: it waits for more ticks until
that process has ended, all planned ticks are there, or one does not match.

A recording that begins at a saved state is verified from there on, by the SHA-256 of the
state and the hashes of the ticks. Only a recording of the run that saved the state shows
how the state came about. --state names the state's file if the recording does not hold the
state.

A recording of the original Murk engine does not describe its world; --world names a
file that does (see docs/FOREIGN.md).

Exit status: 0 every tick matches, 3 one does not (or, with --complete, some of the planned
ticks are missing), 1 the file is damaged or cannot be replayed here. A header that says
another seed or size than the scenario in it counts as 3: no tick of that scenario can
match. With several files, the worst status counts, 3 before 1. Ctrl-C ends with 1 and says
how many ticks match. The "status" of --json is ok, diverged, incomplete, damaged,
incompatible (another program or build is needed) or error (such as no such file).`

func (j *verifyJob) flags(f *pflag.FlagSet) {
	f.StringVar(&j.Hashes, "hashes", "", "compare every field with a `file` that run --hashes wrote")
	j.stateFlag(f)
	f.StringVar(&j.world, "world", "", "the world of the recording, a JSON `file`")
	f.BoolVar(&j.each, "each", false, "report every tick, too")
	f.BoolVar(&j.Follow, "follow", false, "wait for more ticks while another process writes the recording")
	f.BoolVar(&j.Inputs, "inputs", false, "fail if a tick has other commands than the scenario gives")
	f.BoolVar(&j.Complete, "complete", false, "fail if ticks that were planned are missing")
	workersFlag(f, &j.Workers, sharing)
	maxMemoryFlag(f, &j.MaxMemory)
}

// readWorld reads the file of --world.
func (j *verifyJob) readWorld(recordings []string) error {
	switch {
	case len(recordings) > 1:
		return report.Usage("--world takes one recording, not %d", len(recordings))
	case j.world == "-" && recordings[0] == "-":
		return report.Usage("--world and the recording cannot both be standard input")
	case j.Complete:
		return report.Usage("--complete needs planned ticks, which a world file does not have")
	case j.Inputs:
		return report.Usage("--inputs needs a scenario, which a world file does not have")
	}
	in := j.In
	if j.world != "-" {
		f, err := os.Open(j.world)
		if err != nil {
			return words.About(j.world, err)
		}
		defer f.Close()
		in = f
	}
	var err error
	if j.Foreign, err = foreign.Parse(document.FileName(j.world), in); err != nil {
		if _, ok := errors.AsType[*foreign.Error](err); !ok { // which names the file
			return words.About(j.world, err)
		}
	}
	return err
}

// all verifies every file and returns the worst outcome.
func (j *verifyJob) all(ctx context.Context, names []string) error {
	worst := report.StatusOK
	for _, name := range names {
		v := j.Verify(ctx, name, j.Verification)
		if ctx.Err() != nil {
			return words.About(name, words.NewProblem(session.Interruption(v.Ticks), ctx.Err()))
		}
		if w, ok := j.Out.(*report.Output); ok && w.Failed() != nil { // reports of ticks: no process would read the verdict
			return w.Failed()
		}
		if err := j.report(v); err != nil {
			return err
		}
		worst = report.Worse(worst, v.Code)
	}
	if worst != report.StatusOK {
		return report.Exit(worst, nil)
	}
	return nil
}

// tell prints a tick, for --each.
func (j *verifyJob) tell(row session.TickRow) error {
	text := "ok"
	if row.Failed != "" {
		text = "failed, as it did: " + row.Failed
	}
	if err := j.Emit(row); err != nil {
		return err
	}
	return j.Say("%-8s %s  %s", words.Number(row.Tick), row.Hash, text)
}
