package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/replay/enginetest"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
)

// A synctestJob runs a scenario and restores it at every tick.
type synctestJob struct {
	*runJob
	every     uint64
	folder    string        // of the files between two processes: see elsewhere
	answers   bool          // whether this is the other process
	input     *bytes.Buffer // what was read of a scenario on standard input
	processes int           // that were started
	recorded  *recordedInputs
	damage    error // where the recording ends, unless after a whole tick
}

// The files between two processes: a state, and the result of the tick after it.
const (
	beforeFile = "before"
	afterFile  = "after"
)

func (a *app) synctestCommand() *cobra.Command {
	j := &synctestJob{runJob: &runJob{app: a, maxMemory: session.DefaultMaxMemory}}
	c := &cobra.Command{
		Use:   "synctest SCENARIO|RECORDING",
		Short: "Run a scenario and restore it at every tick",
		Long: `Synctest runs a scenario. Before each tick it saves the state, and computes the tick once
more in a world restored from it, with 1, 2, 3 and 8 workers in turn. Every other time,
propagators that do not depend on each other run in another order. Each hundredth tick
(--every) and always the last one is computed in another process, too. State and hash must
be the same. Synctest finds what propagators and systems remember outside the state, which
would break replays that begin at a keyframe and runs that continue from a saved state. It
also finds what a propagator gets from another one other than through fields. It names the
first part of the tick that differs, and values.

Now and then it restores a world that continues beside the run for 2, 4, 8, … ticks. These
ticks must be the same, too. This world is recorded and the run is not, which finds what a
propagator does only where a recorder wants its changes, and changes that it leaves out.

Given a recording, it takes the scenario and the recorded commands, and computes the ticks
again. It takes no recording that begins at a saved state. Of a recording that is damaged it
tests the whole ticks before the damage, and exits with 1.

A package variable that is set once shows only in another process, because all worlds of one
process share it.

Each tick takes as long as building the world. Go programs can test their own worlds with
the package replay/enginetest.

Exit status: 0 all are the same, 3 a tick differs, 1 an error or a damaged recording, 2 usage.`,
		Example: `  murksim synctest heat --ticks 200
  murksim synctest mine.yaml --every 10`,
		Args: arguments(cobra.ExactArgs(1), "one scenario or recording"),
		RunE: func(c *cobra.Command, args []string) error {
			j.answers = j.folder != ""
			return j.run(c.Context(), args[0])
		},
	}
	f := c.Flags()
	ticksFlag(f, &j.ticks, "how many ticks to run (default: the scenario's)")
	seedFlag(f, &j.seed)
	setFlag(f, &j.sets)
	f.Uint64Var(&j.every, "every", 100, "compute one tick in so many, and the last one, in another process, too; 0: none")
	f.StringVar(&j.folder, "answer", "", "compute the tick for the process that started this one, by the files of a folder")
	f.Lookup("answer").Hidden = true
	maxMemoryFlag(f, &j.maxMemory)
	return c
}

// A synctestResult is what synctest prints with --json.
type synctestResult struct {
	Event     string       `json:"event"` // "synctest"
	Scenario  string       `json:"scenario"`
	Seed      words.Whole  `json:"seed"`
	OK        bool         `json:"ok"`
	Ticks     uint64       `json:"ticks"` // that are the same
	Workers   []int        `json:"workers"`
	Processes int          `json:"processes"`          // in which a tick was computed, too
	Tick      uint64       `json:"tick,omitempty"`     // that differs
	From      uint64       `json:"from,omitempty"`     // the tick of the state from which the other world began
	With      int          `json:"with,omitempty"`     // workers of the world that differs; none if it was in another process
	Order     bool         `json:"order,omitempty"`    // its propagators ran in another order
	Recorded  bool         `json:"recorded,omitempty"` // it had a recorder, on which the result or the recorded hash hangs
	Part      string       `json:"part,omitempty"`     // the first of the tick that differs
	Kind      string       `json:"kind,omitempty"`
	State     *diff.Report `json:"state,omitempty"` // what differs, if not the hash alone
	Error     string       `json:"error,omitempty"` // why the tick cannot be computed in the restored world, or what is not reported to the recorder
}

func (j *synctestJob) run(ctx context.Context, name string) error {
	if name == "-" { // another process has to read it again
		j.input = new(bytes.Buffer)
		j.In = io.TeeReader(j.In, j.input)
	} else if files.IsPipe(name) {
		j.every = 0
	}
	s, err := j.scenario(ctx, name)
	if err != nil {
		return err
	}
	defer func() { j.recorded.close() }()
	const held = 4 // a world, two that are restored, and states
	if err := session.CheckMemory(s, j.maxMemory.Share(held)); err != nil {
		return err
	}
	if s.Rules == engine.Murk019.String() {
		return fmt.Errorf("%s: the rules murk-0.1.9 let propagators remember things outside the state; it cannot be saved and restored", s.Name)
	}
	ctx, stop := j.untilSignal(ctx)
	defer stop()
	if j.answers {
		return j.answer(j.subject(ctx, s))
	}
	if j.folder, err = os.MkdirTemp("", "murksim"); err != nil {
		return err
	}
	defer os.RemoveAll(j.folder)
	m, done := j.Meter(s.Ticks), uint64(0)
	subject := j.subject(ctx, s)
	if j.every != 0 {
		subject.Elsewhere = func(state []byte) ([]byte, error) { return j.elsewhere(ctx, name, state) }
	}
	subject.Passed = func(tick uint64) error {
		done = tick
		m.Show(tick)
		return ctx.Err()
	}
	err = enginetest.Sync(subject, s.Ticks)
	m.Clear()
	if ctx.Err() != nil {
		return fmt.Errorf("%s: interrupted; %s are the same", s.Name, words.Count(done, "tick"))
	}
	r := synctestResult{Event: "synctest", Scenario: s.Name, Seed: words.Whole(s.Seed), OK: err == nil, Ticks: done, Workers: subject.Workers, Processes: j.processes}
	return j.report(s, r, err)
}

// scenario returns the scenario of a file, or of a recording.
func (j *synctestJob) scenario(ctx context.Context, name string) (*scenarios.Scenario, error) {
	if !session.BeginsRecording(name) {
		return j.load(name)
	}
	if j.seed != "" || len(j.sets) > 0 || j.ticks > 0 {
		return nil, report.Usage("of a recording the scenario is tested as it was recorded, without --seed, --set and --ticks")
	}
	rec, err := j.OpenRecording(ctx, name)
	if err != nil {
		return nil, j.About(name, err)
	}
	defer rec.Close()
	s, err := j.ScenarioOf(rec.Frames.Head())
	if err != nil {
		return nil, words.About(name, err)
	}
	switch begin, err := rec.Frames.Head().Begin(); {
	case err != nil:
		return nil, words.About(name, err)
	case begin != nil:
		return nil, fmt.Errorf("%s: it begins at the state of tick %s; synctest begins at the first tick, so give it the scenario",
			words.Argument(name), words.Number(begin.Tick))
	}
	j.recorded = &recordedInputs{job: j, name: name}
	ticks, err := j.recorded.count(ctx, rec.Frames)
	if ticks == 0 && err == nil {
		err = errors.New("it has no tick")
	}
	if _, damaged := errors.AsType[*replay.FormatError](err); damaged && ticks > 0 {
		j.damage, err = fmt.Errorf("%w%s", words.About(name, err), j.Hint(name, err)), nil
	}
	s.Ticks = ticks
	return s, words.About(name, err)
}

// recordedInputs are the commands of a recording, tick by tick.
type recordedInputs struct {
	job  *synctestJob
	name string
	rec  *session.Recording
	at   replay.Frame
	list []commands.Command // of the frame
}

// count returns how many ticks are whole. The error says where the recording is damaged behind them.
func (r *recordedInputs) count(ctx context.Context, frames replay.Source) (ticks uint64, err error) {
	frames = replay.InOrder(frames)
	for f := (replay.Frame{}); ; ticks = f.Tick {
		switch err := frames.Next(&f); {
		case err == io.EOF:
			return ticks, nil
		case err != nil:
			return ticks, err
		case ctx.Err() != nil:
			return 0, ctx.Err()
		}
	}
}

// of returns the commands of a tick; several worlds ask for the same tick.
func (r *recordedInputs) of(ctx context.Context, tick uint64) ([]commands.Command, error) {
	if r.rec == nil || tick < r.at.Tick {
		r.close()
		rec, err := r.job.OpenRecording(ctx, r.name)
		if err != nil {
			return nil, err
		}
		r.rec, r.at.Tick = rec, 0
	}
	if r.at.Tick == tick { // another world had them
		return r.list, nil
	}
	for r.at.Tick < tick {
		if err := r.rec.Frames.Next(&r.at); err != nil {
			return nil, err
		}
	}
	r.list = r.list[:0]
	for i := range r.at.Records {
		c, err := r.at.Records[i].Command()
		if err != nil {
			return nil, err
		}
		r.list = append(r.list, c)
	}
	return r.list, nil
}

func (r *recordedInputs) close() {
	if r != nil && r.rec != nil {
		r.rec.Close()
		r.rec = nil
	}
}

// subject returns the scenario's world as both processes make it.
func (j *synctestJob) subject(ctx context.Context, s *scenarios.Scenario) enginetest.Subject {
	x := enginetest.Subject{
		Config: func(workers int) (engine.Config, error) {
			return report.Made(ctx, j.Printer, func(func(float64) error) (engine.Config, error) { return s.Config(workers) })
		},
		Submit: func(w *engine.World) error {
			list, err := (&runner.Run{Scenario: s, World: w}).Scheduled(w.Tick() + 1)
			if err == nil {
				_, _, err = w.SubmitAll(list)
			}
			return err
		},
		Descriptor: s.Descriptor(), Workers: []int{1, 2, 3, 8}, Every: j.every,
	}
	if j.recorded != nil {
		x.Inputs = func(tick uint64) ([]commands.Command, error) { return j.recorded.of(ctx, tick) }
	}
	return x
}

// elsewhere computes a tick in another process of this program.
func (j *synctestJob) elsewhere(ctx context.Context, name string, state []byte) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(j.folder, beforeFile), state, 0o600); err != nil {
		return nil, err
	}
	args := []string{"synctest", "--answer", j.folder, "--max-memory", j.maxMemory.Text}
	for _, set := range j.applied {
		args = append(args, "--set", set)
	}
	c := exec.CommandContext(ctx, self, append(args, "--", name)...)
	if j.input != nil {
		c.Stdin = bytes.NewReader(j.input.Bytes())
	}
	j.processes++
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("another process: %w\n%s", err, bytes.TrimSpace(out))
	}
	return os.ReadFile(filepath.Join(j.folder, afterFile))
}

// answer computes the tick that another process asked for, see elsewhere.
func (j *synctestJob) answer(s enginetest.Subject) error {
	state, err := os.ReadFile(filepath.Join(j.folder, beforeFile))
	if err != nil {
		return err
	}
	result, err := s.Again(state)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(j.folder, afterFile), result, 0o600)
}

// report says how the test ended.
func (j *synctestJob) report(s *scenarios.Scenario, r synctestResult, err error) error {
	e, differs := errors.AsType[*enginetest.SyncError](err)
	if err != nil && !differs {
		return words.About(s.Name, err)
	}
	if differs {
		r.Tick, r.From, r.With, r.Order, r.Part, r.Kind, r.State = e.Tick, e.From, e.Workers, e.Order, e.Part, e.Kind, e.Report
		r.Recorded = e.Recorded
		if err := cmp.Or(e.Err, e.Unreported); err != nil {
			r.Error = err.Error()
		}
	}
	if err := j.Emit(r); err != nil {
		return err
	}
	if differs {
		return report.Exit(report.StatusDiverged, words.About(s.Name, words.NewProblem(words.Bare(e), e)))
	}
	elsewhere := "none"
	if r.Processes > 0 {
		elsewhere = words.Number(uint64(r.Processes))
	}
	err = j.Say("ok        %s  %s: saved, restored and computed again with 1, 2, 3 and 8 workers, and %s in another process", s.Name, words.Count(r.Ticks, "tick"), elsewhere)
	return cmp.Or(err, j.damage)
}
