package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/foreign"
	"github.com/murksim/murksim/scenarios/document"
)

// A verifyJob checks recordings, as the flags ask for it.
type verifyJob struct {
	*app
	verification
	world string // the file
	each  bool
	asked bool // for so many workers
}

// A verification says how recordings are verified.
type verification struct {
	opener    *session.Session
	hashes    string              // a table with which they are compared, too; "": none
	foreign   *foreign.File       // what their world is; nil: the header says it
	complete  bool                // all planned ticks are wanted
	inputs    bool                // all commands must be the scenario's
	row       func(tickRow) error // is told of each tick; nil: nobody is
	workers   int
	maxMemory session.Size
}

func (a *app) verifyCommand() *cobra.Command {
	j := &verifyJob{app: a, verification: verification{opener: a.Session, maxMemory: session.DefaultMaxMemory}}
	c := &cobra.Command{
		Use:   "verify RECORDING...",
		Short: "Replay recordings and check every tick",
		Long:  aboutVerify,
		Example: `  murksim verify heat.murk
  murksim verify --json *.murk
  murksim verify --hashes heat.tsv heat.murk
  murksim verify --complete --inputs heat.murk
  murksim verify --state half.state rest.murk
  murksim verify --world foraging.json foraging.murkreplay`,
		Args: arguments(cobra.MinimumNArgs(1), "one recording or more"),
		RunE: func(c *cobra.Command, args []string) error {
			if j.hashes != "" && len(args) > 1 {
				return report.Usage("--hashes takes one recording, not %d", len(args))
			}
			if c.Flags().Changed("world") {
				if err := j.readWorld(args); err != nil {
					return err
				}
			}
			if j.each {
				j.row = j.tell
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

With an index beside a recording its parts are replayed at the same time, in --workers
worlds. Each must end in every byte of the state in which the next one begins, so that this
is as strong as a replay from the first tick, whoever made the index. The states between the
parts get a seal of this user in the index, from which seek goes on.

A scenario gives commands, too. With --inputs the recorded ones must be these and no
others, as of a run by murksim; a program may have submitted more.

A recording that begins at a saved state is verified from there on, by the SHA-256 of the
state and the hashes of the ticks. How the state came about only a recording of the run that
saved it shows. --state names the state's file where the recording does not hold the state.

A recording of the original Murk engine does not describe its world; --world names a
file that does (see docs/FOREIGN.md).

Exit status: 0 every tick matches, 3 one does not (or, with --complete, some of the
planned ticks are missing), 1 the file is damaged or cannot be replayed here. A header
that says another seed or size than the scenario in it counts as 3: no tick of that
scenario can match. Of several files the worst counts, 3 before 1. Ctrl-C ends with 1
and says how many ticks match. The "status" that --json tells is ok,
diverged, incomplete, damaged, incompatible (another program or build is needed) or
error (such as no such file).`

func (j *verifyJob) flags(f *pflag.FlagSet) {
	f.StringVar(&j.hashes, "hashes", "", "compare every field with a `file` that run --hashes wrote")
	j.stateFlag(f)
	f.StringVar(&j.world, "world", "", "the world of the recording, a JSON `file`")
	f.BoolVar(&j.each, "each", false, "report every tick, too")
	f.BoolVar(&j.inputs, "inputs", false, "fail if a tick has other commands than the scenario gives")
	f.BoolVar(&j.complete, "complete", false, "fail if ticks that were planned are missing")
	workersFlag(f, &j.workers, sharing)
	maxMemoryFlag(f, &j.maxMemory)
}

// readWorld reads the file of --world.
func (j *verifyJob) readWorld(recordings []string) error {
	switch {
	case len(recordings) > 1:
		return report.Usage("--world takes one recording, not %d", len(recordings))
	case j.world == "-" && recordings[0] == "-":
		return report.Usage("--world and the recording cannot both be standard input")
	case j.complete:
		return report.Usage("--complete needs planned ticks, which a world file does not have")
	case j.inputs:
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
	if j.foreign, err = foreign.Parse(document.FileName(j.world), in); err != nil {
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
		v := verdict{Event: "verdict", File: name, path: name}
		j.verify(ctx, &v)
		if ctx.Err() != nil {
			return words.About(name, words.NewProblem(interruption(v.Ticks), ctx.Err()))
		}
		if w, ok := j.Out.(*report.Output); ok && w.Failed() != nil { // reports of ticks: nobody hears the verdict
			return w.Failed()
		}
		if err := j.report(&v); err != nil {
			return err
		}
		worst = max(worst, v.code)
	}
	if worst != report.StatusOK {
		return report.Exit(worst, nil)
	}
	return nil
}

// interruption says how far a verification came.
func interruption(ticks uint64) string {
	if ticks == 0 {
		return "interrupted before its first tick was replayed"
	}
	return fmt.Sprintf("interrupted; the %s before that match", words.Count(ticks, "tick"))
}

func (j *verification) verify(ctx context.Context, v *verdict) {
	rec, err := j.opener.OpenRecording(ctx, v.path)
	if err == nil {
		v.made(rec.Frames.Head().Build)
		if begin, err := rec.Frames.Head().Begin(); err == nil && begin != nil { // else the player says so
			v.begin, v.BeginView = begin.Tick, session.ViewBegin(begin)
		}
		err = j.play(ctx, rec, v)
		rec.Close()
	}
	v.Replayed = viewBuild(replay.ThisBuild())
	v.Status, v.code = session.Outcome(err)
	if v.err = err; err == nil {
		v.OK = true
		return
	}
	v.Error = words.InWords(err).Error()
	if e, ok := errors.AsType[*replay.FormatError](err); ok {
		v.Tick = whole(e.Tick)
		v.at(e.Line, &e.Offset)
	}
	if e, ok := errors.AsType[*replay.MismatchError](err); ok {
		v.Tick = whole(e.Tick)
		v.at(e.Line, &e.Offset)
		v.Differs, v.RecordedAs, v.ReplayedAs = e.What, e.Format(e.Recorded), e.Format(e.Replayed)
	}
	if e, ok := errors.AsType[*replay.LineError](err); ok {
		v.at(e.Line, nil)
	}
	if e, ok := errors.AsType[*engine.TickError](err); ok {
		v.Tick = whole(e.Tick)
	}
	if e, ok := errors.AsType[*foreign.DivergedError](err); ok {
		v.Tick = whole(e.Tick)
	}
	if e, ok := errors.AsType[*session.InputsError](err); ok {
		v.Tick = whole(e.Tick)
	}
	if e, ok := errors.AsType[*replay.TableError](err); ok {
		v.Tick = whole(e.Tick)
	}
}

func (j *verification) play(ctx context.Context, rec *session.Recording, v *verdict) error {
	if done, err := j.inParts(ctx, rec, v); done {
		return err
	}
	p, err := j.start(ctx, rec, v)
	if err != nil {
		return err
	}
	var table *replay.TableReader
	if j.hashes != "" {
		f, err := files.Open(ctx, j.hashes)
		if err != nil {
			return fmt.Errorf("%v", words.About(j.hashes, err))
		}
		defer f.Close()
		if table, err = replay.NewTableReader(document.FileName(j.hashes), f, p.world.Defs()); err != nil {
			return err
		}
	}
	m := j.opener.Meter(v.PlannedTicks)
	m.First = v.begin
	defer m.Clear()
	if table == nil && j.row == nil && p.whole != nil {
		v.Ticks, err = p.whole(func() error {
			m.Show(p.world.Tick())
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		return j.ended(v, p.world, p.runDigest())
	}
	for ctx.Err() == nil {
		failed, err := p.step()
		switch {
		case err == io.EOF && table != nil:
			return cmp.Or(table.End(), j.ended(v, p.world, p.runDigest()))
		case err == io.EOF:
			return j.ended(v, p.world, p.runDigest())
		case err != nil:
			return errors.Join(err, compare(table, p.world, err))
		}
		if err := j.tick(v, p.world, failed); err != nil {
			return err
		}
		if failed != nil {
			v.FailedTicks++
			continue
		}
		if err := compare(table, p.world, nil); err != nil {
			return err
		}
		v.Ticks++
		m.Show(v.begin + v.Ticks)
	}
	return ctx.Err()
}

// A played is a recording on its way into its world.
type played struct {
	world *engine.World
	step  func() (failed, err error) // failed: the tick failed, as it did when it was recorded

	// whole replays all, faster than step does; nil: there is no such thing.
	whole func(before func() error) (ticks uint64, err error)

	digest func() (sum [sha256.Size]byte, known bool) // of the run; nil: it is not known
}

func (p *played) runDigest() string {
	if p.digest == nil {
		return ""
	}
	return words.HexDigest(p.digest())
}

// start rebuilds the world, by the world file or by what the header holds.
func (j *verification) start(ctx context.Context, rec *session.Recording, v *verdict) (*played, error) {
	if j.foreign != nil {
		p, err := foreign.NewPlayer(j.foreign, rec.Frames, j.workers, j.maxMemory.Bytes)
		if err != nil {
			return nil, err
		}
		step := func() (failed, err error) {
			err = p.Step()
			return p.Failed, err
		}
		return &played{world: p.World, step: step}, nil
	}
	p, err := rec.Player(ctx, j.workers, j.maxMemory)
	if err != nil {
		return nil, err
	}
	v.PlannedTicks, v.memory = rec.Scenario.Ticks, session.MoreMemory(rec.Scenario, j.maxMemory)
	if j.inputs {
		if p.Source, err = rec.GivenInputs(p.World); err != nil {
			return nil, err
		}
	}
	tick := func() (failed, err error) { return nil, p.Step() }
	whole := func(before func() error) (uint64, error) {
		p.Before = before
		return p.Verify()
	}
	return &played{p.World, tick, whole, p.RunDigest}, nil
}

// tick tells of one tick, if each is to be told of.
func (j *verification) tick(v *verdict, w *engine.World, failed error) error {
	if j.row == nil {
		return nil
	}
	row := tickRow{Event: "tick", File: v.File, Tick: w.Tick(), Hash: words.Hash16(w.Hash()), OK: true}
	if failed != nil {
		row.Tick++
		row.Failed = failed.Error()
		if e, ok := errors.AsType[*engine.TickError](failed); ok {
			row.Failed = fmt.Sprintf("%s: %v", e.Where, e.Err)
		}
	}
	return j.row(row)
}

// tell prints a tick, for --each.
func (j *verifyJob) tell(row tickRow) error {
	text := "ok"
	if row.Failed != "" {
		text = "failed, as it did: " + row.Failed
	}
	if err := j.Emit(row); err != nil {
		return err
	}
	return j.Say("%-8s %s  %s", words.Number(row.Tick), row.Hash, text)
}

// A tickRow is one tick with --each and --json.
type tickRow struct {
	Event  string `json:"event"` // "tick"
	File   string `json:"file"`
	Tick   uint64 `json:"tick"`
	Hash   string `json:"hash"` // of the state after it
	OK     bool   `json:"ok"`
	Failed string `json:"failed,omitempty"`
}

// compare looks the tick up in the table, if there is one, and if it was replayed.
func compare(table *replay.TableReader, w *engine.World, failed error) error {
	if table == nil || failed != nil && !errors.Is(failed, replay.ErrMismatch) {
		return nil
	}
	return table.Compare(w)
}

func (j *verification) ended(v *verdict, w *engine.World, digest string) error {
	v.FinalHash, v.RunDigest = words.Hash16(w.Hash()), digest
	if j.complete && v.begin+v.Ticks < v.PlannedTicks {
		return fmt.Errorf("%w: it has %s, all match", session.ErrIncomplete, v.progress())
	}
	return nil
}
