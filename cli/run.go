package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/watch"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A runJob is one run of a scenario, as the flags ask for it.
type runJob struct {
	*app
	output    string
	ticks     uint64
	seed      string
	sets      []string
	workers   int
	noRecord  bool
	force     bool // replaces what people did in an earlier run
	noIndex   bool
	resume    string
	events    bool
	sync      syncFlag
	saveEvery uint64
	hashes    string
	until     uint64
	state     string
	saveState string
	stateHash bool
	maxMemory session.Size

	indexBudget session.Size
	stats       runStats
	export      runExport
	watch       string   // a field, or firstField; "": none
	serving     *serving // nil: the run is not served
	view        bool
	viewer      *runViewer // nil: the run is not shown in a browser
	auditing    auditing
	measuring   measuring
	startState  []byte // from which the run starts; nil: genesis

	*runner.Run
	title         string        // the scenario's name, or the recording that the run goes on with
	source        string        // the scenario, as it was named
	applied       []string      // what replaced its values: --set, then --ticks and --seed
	start         uint64        // the tick of the state that the run starts from
	began         *replay.Begin // the state at which the recording, or the run, begins; nil: genesis
	digest        [sha256.Size]byte
	savedBytes    int64       // of the state at the end
	outputs       []*output   // all, in the order in which they end
	murk          *output     // the recording; nil: none
	hashesOut     *output     // likewise
	stateOut      *output     // likewise
	claim         *draft.File // locks the names of the states that --save-every writes; nil: it writes none
	beside        string      // where the recording is after a failure that left an older one its name
	resumed       *resumption // nil: a new recording
	looked        fs.FileInfo // the file that the recording may replace; nil: there is none
	doubtful      bool        // what went wrong with it may be the fault of a keyframe
	other         otherBuild  // that made what the run goes on with
	recorder      *replay.Recorder
	split         splitting
	index         *runIndex // nil if there is none
	staleGone     bool      // so is that of an older recording
	table         *replay.TableWriter
	lines         lineCounter // of the table
	refused       tally       // commands
	first         *refusal    // of them
	refusedEvents tally
	change        *change        // nil with --quiet
	watcher       *watch.Watcher // nil without --watch
}

func (a *app) runCommand() *cobra.Command {
	j := &runJob{app: a, Run: new(runner.Run), maxMemory: session.DefaultMaxMemory, indexBudget: defaultIndexBudget, refused: tally{}, refusedEvents: tally{}}
	c := &cobra.Command{
		Use:   "run SCENARIO",
		Short: "Run a scenario and record it",
		Long:  aboutRun,
		Example: `  murksim run heat
  murksim run heat --ticks 5000 --seed random -o long.murk
  murksim run heat --set propagators.diffusion.rate=2 --set space.rows=256
  murksim run mine.yaml --hashes mine.tsv --no-record
  murksim run heat --watch
  murksim run heat --view --open
  murksim run predators --stats predators.csv --stats-every 10
  murksim run heat --export heat.npz --export-every 100
  murksim run heat --until 500 --save-state half.state
  murksim run heat --state half.state
  murksim run --resume heat.murk
  murksim run heat --realtime --metrics :9090
  cat mine.yaml | murksim run - -o mine.murk`,
		Args: runArguments,
		RunE: func(c *cobra.Command, args []string) error {
			if err := j.check(c.Flags().Changed); err != nil {
				return err
			}
			return j.run(c.Context(), strings.Join(args, ""))
		},
	}
	j.worldFlags(c.Flags())
	j.flags(c.Flags())
	return c
}

// worldFlags adds the flags that say what runs, and how it is recorded.
func (j *runJob) worldFlags(f *pflag.FlagSet) {
	f.StringVarP(&j.output, "output", "o", "", "the recording `file`, or - for standard output (default: such as heat.murk, or heat-from-500.murk; replaces an older recording, once there are ticks, but none of what people or programs did in a run)")
	f.BoolVar(&j.force, "force", false, "replace any older recording; with --resume of a database, instead: continue a chain that is not as this program committed it")
	ticksFlag(f, &j.ticks, "how many ticks to run (default: the scenario's)")
	seedFlag(f, &j.seed)
	setFlag(f, &j.sets)
	workersFlag(f, &j.workers, sharing)
	f.BoolVar(&j.noRecord, "no-record", false, "record nothing")
	f.BoolVar(&j.noIndex, "no-index", false, "write no index beside the recording")
	f.Var(&j.indexBudget, "index-budget", "how many bytes of states and hashes the index may have")
	countFlag(f, &j.split.every, "split", "begin another recording every so many ticks, such as heat.2.murk, each of which verifies by itself")
	f.Var(&j.sync, "sync", "write through to the disk every so many ticks, as in --sync=100, or at least this often, as in --sync=500ms; without a value: every second")
	f.Lookup("sync").NoOptDefVal = "1s"
	j.measuring.flags(f)
	maxMemoryFlag(f, &j.maxMemory)
}

// flags adds the others of run.
func (j *runJob) flags(f *pflag.FlagSet) {
	f.BoolVar(&j.Realtime, "realtime", false, "run at the scenario's tick rate instead of as fast as possible")
	f.BoolVar(&j.events, "events", false, "print what happens, a line for each event, if the scenario tells a story")
	f.StringVar(&j.resume, "resume", "", "continue a recording, a `file`, that a run has left unfinished, or the chain of a database")
	f.StringVar(&j.hashes, "hashes", "", "also write a table of every field's hash at every tick to a `file`")
	j.stats.flags(f)
	j.export.flags(f)
	watchFlag(f, &j.watch, "draw a field in the terminal while the run goes")
	countFlag(f, &j.until, "until", "end the run after this tick, even if more are planned")
	f.StringVar(&j.state, "state", "", "start from a saved state, a `file`, instead of from genesis; with --resume the one at which the recording begins")
	f.StringVar(&j.saveState, "save-state", "", "write the state at the end of the run to a `file`")
	countFlag(f, &j.saveEvery, "save-every", "write the state every so many ticks, to files such as heat-500.state beside the recording")
	j.auditing.flags(f)
	j.viewFlags(f)
	f.BoolVar(&j.stateHash, "state-hash", false, "print the SHA-256 of the state at the end of the run")
}

// runArguments accepts one scenario, or none with --resume.
func runArguments(c *cobra.Command, args []string) error {
	if c.Flags().Changed("resume") {
		return withWatch(cobra.NoArgs, "no scenario with --resume")(c, args)
	}
	return withWatch(cobra.ExactArgs(1), "one scenario")(c, args)
}

// check looks at the flags together.
func (j *runJob) check(given func(flag string) bool) error {
	j.output, j.hashes, j.saveState = files.Dashed(j.output), files.Dashed(j.hashes), files.Dashed(j.saveState)
	switch {
	case j.watch != "" && j.events:
		return report.Usage("--watch and --events cannot be used together: both would write to the terminal")
	case j.noRecord && j.output != "":
		return report.Usage("--no-record and --output cannot be used together")
	case j.noRecord && j.sync.text != "":
		return report.Usage("--no-record and --sync cannot be used together")
	case slices.ContainsFunc(j.sets, func(s string) bool { return !strings.Contains(s, "=") }):
		return report.Usage("--set must be path=value; one of %q has no =", j.sets)
	}
	files := []struct{ flag, file string }{{"output", j.output}, {"hashes", j.hashes}, {"stats", j.stats.path}, {"export", j.export.path}, {"state", j.state}, {"save-state", j.saveState}}
	for _, f := range files {
		if strings.HasPrefix(f.file, "--") { // the next flag
			return report.Usage("--%s must be a file; write ./%s if %q is one", f.flag, f.file, f.file)
		}
	}
	return cmp.Or(j.checkWatch(), j.checkSplit(), j.stats.check(given), j.export.check(given), j.checkResume(given), j.checkState(given), j.auditing.check(j, given), j.checkView(given), j.measuring.check(given))
}

func (j *runJob) run(ctx context.Context, name string) error {
	ctx, stop, err := j.prepare(ctx, name)
	defer stop()
	defer j.unclaimStates()
	if err == errComplete {
		abandon(j.outputs)
		j.auditing.discard()
		return j.complete()
	}
	if err == nil {
		err = cmp.Or(j.create(ctx, name), ctx.Err())
	}
	if err != nil {
		j.export.discard()
		j.abandonIndex()
		abandon(j.outputs)
		j.serving.discard()
		j.viewer.discard()
		j.auditing.discard()
		return j.unlessInterrupted(ctx, err)
	}
	m := j.Meter(j.Scenario.Ticks)
	if m.First = j.start; j.until != 0 {
		m.Last = j.until
	}
	m.Active = m.Active && j.serving == nil
	if err := j.headline(); err != nil {
		j.serving.discard()
		j.auditing.discard()
		return errors.Join(append([]error{err}, j.finish()...)...)
	}
	if err = inTurn(func() error { return j.measuring.announce(j.app) }, j.sendHeader, func() error { return j.serving.open(ctx) }, func() error { return j.viewer.open(ctx) }); err == nil {
		m.Started = time.Now() // clients may have been waited for
		err = j.loop(ctx, m)
	}
	m.Clear()
	j.viewer.ended(err)
	j.serving.part(ctx, err)
	errs := slices.DeleteFunc(append([]error{err, j.auditing.end(ctx, j.app, j.World.Tick()+1, err)}, j.finish()...), func(err error) bool { return err == nil })
	j.serving.close(ctx, len(errs) > 0)
	j.watcher.Wait()
	if len(errs) > 0 {
		_ = j.viewer.stay(ctx, true)
		stop()
		return j.explain(errs)
	}
	err = errors.Join(j.serving.summary(), j.summary(m), j.export.missing)
	err = errors.Join(err, j.viewer.stay(ctx, false))
	stop()
	return err
}

// prepare makes the world, at its first tick or where the run continues.
func (j *runJob) prepare(ctx context.Context, name string) (_ context.Context, stop context.CancelFunc, err error) {
	stop, j.title = func() {}, words.Argument(j.resume)
	var scenario *scenarios.Scenario
	if j.resume == "" && !j.auditing.resumes {
		if scenario, err = j.load(name); err != nil {
			return ctx, stop, err
		}
		j.title = scenario.Name
	}
	// Up to here a signal ends the process. From here on there is something to end well.
	ctx, stop = j.untilSignal(ctx)
	switch {
	case j.auditing.resumes:
		err = j.rejoin(ctx)
	case j.resume != "":
		err = j.reopen(ctx)
	default:
		err = j.build(ctx, scenario)
	}
	if err == nil {
		err = inTurn(j.begin, func() error { return j.auditing.open(ctx) })
	}
	return ctx, stop, err
}

// unlessInterrupted returns the error of what comes before the first tick.
func (j *runJob) unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: interrupted before the first tick", j.title)
	}
	return err
}

// load reads the scenario, as the flags change it.
func (j *runJob) load(name string) (*scenarios.Scenario, error) {
	sets := j.sets
	if j.ticks > 0 {
		sets = append(sets, fmt.Sprintf("ticks=%d", j.ticks))
	}
	switch {
	case j.seed == "random":
		sets = append(sets, fmt.Sprintf("seed=%d", rng.Fresh()))
	case j.seed != "":
		n, err := strconv.ParseUint(j.seed, 10, 64)
		if err != nil {
			return nil, report.Usage("--seed must be random or a whole number from 0 to 18446744073709551615, not %q", j.seed)
		}
		sets = append(sets, fmt.Sprintf("seed=%d", n))
	}
	j.source, j.applied = name, sets
	s, err := j.LoadScenario(name, sets, j.maxMemory)
	if err == nil && !j.JSON {
		j.warn(s)
	}
	return s, err
}

// create opens the outputs and begins the recording.
func (j *runJob) create(ctx context.Context, scenario string) (err error) {
	if err := cmp.Or(j.nameOutput(ctx), j.syncable()); err != nil {
		return err
	}
	if err := j.splittable(); err != nil {
		return err
	}
	if err := j.openOutputs(ctx, scenario); err != nil {
		return err
	}
	if err := j.claimStates(ctx); err != nil {
		return err
	}
	var recorders []engine.Settler
	if j.murk != nil {
		if err := j.record(ctx); err != nil {
			return err
		}
		recorders = append(recorders, j.recorder)
		if j.index != nil {
			recorders = append(recorders, j.index)
		}
	}
	if j.hashesOut != nil {
		j.lines.w = j.hashesOut
		j.table = replay.NewTableWriter(&j.lines, j.World.Defs())
		recorders = append(recorders, j.table)
	}
	if j.stats.out != nil {
		if err := j.beginStats(); err != nil {
			return err
		}
	}
	if j.export.out != nil {
		if err := j.export.start(ctx, j); err != nil {
			return err
		}
	}
	if j.viewer != nil {
		r, err := j.recordForView()
		if err != nil {
			return err
		}
		recorders = append(recorders, r)
	}
	if j.auditing.db != nil {
		r, err := j.auditing.begin(ctx, j)
		if err != nil {
			return err
		}
		recorders = append(recorders, r)
	}
	j.measuring.measure(j)
	if len(recorders) > 0 { // without any, nothing looks at the ticks of a sweep
		j.World.Record(engine.Recorders(recorders...))
	}
	return nil
}

// record begins the recording and its index, or continues them.
func (j *runJob) record(ctx context.Context) (err error) {
	if j.resumed != nil {
		return j.goOn(ctx)
	}
	descriptor, err := j.descriptor()
	if err != nil {
		return err
	}
	if j.recorder, err = replay.NewRecorder(j.murk, j.World, descriptor); err == nil {
		j.beginIndex(descriptor)
	}
	return err
}

// sendHeader hands the header of a recording that goes into a pipe on to its reader at once.
func (j *runJob) sendHeader() error {
	if j.recorder == nil || j.murk.regular() {
		return nil
	}
	return j.recorder.Flush()
}

// loop runs the ticks until they are done, one fails, or the context ends.
func (j *runJob) loop(ctx context.Context, m *report.Meter) error {
	const soon = 100 * time.Millisecond // a run that is killed early leaves something, too
	last := flushed{time.Now().Add(soon - time.Second), time.Now(), j.start}
	j.startWatch(m)
	j.Passed = func() error {
		m.Show(j.World.Tick())
		j.watcher.See(j.World)
		j.serving.note(j.Late())
		return j.flush(&last)
	}
	j.viewer.resting(func() error {
		last = flushed{tick: last.tick} // it is due
		return j.flush(&last)
	})
	j.saveEach()
	j.splits(ctx)
	j.Receipts = j.count
	err := j.To(ctx, j.last())
	j.measuring.run.End()
	if j.watcher.End(j.World); err != ctx.Err() {
		return err
	}
	return nil
}

// last returns the tick at which the run must end.
func (j *runJob) last() uint64 {
	if j.until != 0 {
		return min(j.Scenario.Ticks, j.until)
	}
	return j.Scenario.Ticks
}

// count counts the commands and events that were refused.
func (j *runJob) count(receipts []commands.Receipt) error {
	if j.change != nil {
		j.change.counts.Add(receipts)
	}
	if j.stats.table != nil {
		j.stats.table.Count(receipts)
	}
	j.serving.receipts(j.World.Tick(), receipts)
	j.measuring.run.Receipts(receipts)
	for i := range receipts {
		switch r := receipts[i].Reason; {
		case r == commands.Applied:
		case receipts[i].Event:
			j.refusedEvents[r]++
		default:
			j.noteRefused(&receipts[i])
			j.refused[r]++
		}
	}
	return nil
}

// begin makes the story, with --events, before anything is written.
func (j *runJob) begin() error {
	err := inTurn(func() error { return j.stats.known(j) }, j.beginExport, j.beginWatch, j.beginChange, func() error { return j.measuring.start(j.app) }, func() error { return j.serving.begin(j) }, j.viewer.begin)
	if err != nil || !j.events {
		return err
	}
	story := j.Scenario.Story(j.World)
	if story == nil {
		return report.Usage("--events needs a scenario with a story, such as colony; %s has none", j.Scenario.Name)
	}
	j.Watchers = append(j.Watchers, runner.EveryTick(func(w *engine.World) error { return j.printEvents(story.Observe(w)) }))
	return nil
}

// printEvents prints what happened in a tick.
func (j *runJob) printEvents(list []scenarios.Happening) error {
	for _, h := range list {
		if err := j.Emit(struct {
			Event string `json:"event"`
			scenarios.Happening
		}{"happening", h}); err != nil {
			return err
		}
		if err := j.Say("%s", h.String()); err != nil {
			return err
		}
	}
	return nil
}

func (j *runJob) flushRecording(sync bool) error {
	switch {
	case j.recorder == nil || !j.ticked() && j.murk.regular(): // a header alone is to replace no older file
		return nil
	case sync:
		return j.recorder.Sync()
	}
	return j.recorder.Flush()
}

func (j *runJob) flushTable() error {
	if j.table == nil || !j.ticked() {
		return nil
	}
	return j.table.Flush()
}

// ticked reports whether there has been a tick in this run.
func (j *runJob) ticked() bool { return j.World.Tick() > j.start }

// finish writes out, publishes and closes what is open, also after an error. It returns an
// error, or nil, of each.
func (j *runJob) finish() (errs []error) {
	end := func(o *output, keep bool, failed error) (beside string) {
		beside, err := o.end(keep, failed != nil)
		errs = append(errs, failed, err)
		return beside
	}
	if j.recorder != nil {
		err := j.flushRecording(j.sync.text != "")
		j.beside = j.endRecording(&errs, err)
		whole := errors.Join(errs...) == nil
		defer func() { j.endIndex(whole) }() // until then it can make room for what follows
	}
	if j.table != nil {
		err := j.flushTable()
		if err != nil { // the last line may be written in part
			_ = j.hashesOut.Truncate(j.lines.whole)
		}
		end(j.hashesOut, j.lines.n > 1 && (err == nil || !j.hashesOut.older()), err) // the first names the columns
	}
	if j.stats.table != nil {
		keep, err := j.stats.end(j.ticked())
		end(j.stats.out, keep, err)
	}
	if j.export.out != nil {
		keep, err := j.export.end(j)
		end(j.export.out, keep, err)
	}
	err := j.save()
	if j.stateOut == nil {
		return append(errs, err)
	}
	end(j.stateOut, err == nil, err)
	return errs
}

// recorded reports whether the recording has a whole tick, given an error of writing it.
func (j *runJob) recorded(err error) bool {
	if e, ok := errors.AsType[*replay.WriteError](err); ok {
		return e.Tick > j.firstTick()
	}
	return j.World.Tick() >= j.firstTick()
}

// explain says what failed, and which files the run leaves.
func (j *runJob) explain(errs []error) error {
	err := words.About(j.Scenario.Name, errs[0])
	if j.export.missing != nil {
		err = fmt.Errorf("%w\n  %v", err, j.export.missing)
	}
	for i, e := range errs {
		follows := func(earlier error) bool { return errors.Is(earlier, e) }
		if !slices.ContainsFunc(errs[:i], follows) && i > 0 {
			err = fmt.Errorf("%w\n  %v", err, words.About(j.Scenario.Name, e))
		}
	}
	for _, e := range j.Checker.Results() {
		if e.Reached && !e.OK {
			err = fmt.Errorf("%w\n  before that: %s", err, e.Text)
		}
	}
	if j.recorder != nil && j.murk.regular() {
		err = fmt.Errorf("%w\n  the run ended after tick %s; %s", err, words.Number(j.World.Tick()), j.left(errors.Join(errs...)))
	} else if e, ok := errors.AsType[*replay.WriteError](errors.Join(errs...)); ok {
		lost := "no tick was recorded"
		if e.Tick > j.firstTick() {
			lost = "the first tick that is lost is tick " + words.Number(e.Tick)
		}
		err = fmt.Errorf("%w\n  %s", err, lost)
	}
	j.noteHalt(errors.Join(errs...))
	if errors.Is(err, engine.ErrArithmetic) || errors.Is(err, store.ErrHalted) || j.auditing.halted {
		return report.Exit(report.StatusHalted, err)
	}
	return err
}

// left says where the recording is after an error, and what it holds.
func (j *runJob) left(err error) string {
	older, output := j.murk.older(), document.FileName(j.output)
	if p := j.split.last(); p != nil {
		output = document.FileName(p.path)
	}
	switch {
	case j.beside != "" && older:
		return fmt.Sprintf("%s holds %s%s; %s is still the older recording",
			document.FileName(j.beside), j.held(err), j.split.besideState(), output)
	case j.beside != "":
		return fmt.Sprintf("%s holds %s", document.FileName(j.beside), j.held(err))
	case len(j.split.parts) > 1 && !j.recorded(err):
		return j.leftBefore(older)
	case older:
		return "no tick was recorded; " + output + " is still the older recording"
	case !j.recorded(err):
		return "no tick was recorded"
	case !j.murk.file.Placed():
		return output + " does not hold its ticks"
	}
	return output + " holds " + j.held(err)
}
