package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios/document"
)

// A runExport is a file of another program that a run writes: what export makes of the
// recording.
type runExport struct {
	exportFlags
	path   string
	ranged bool // --export-every is given

	plan  *export.Plan
	ticks export.Ticks
	sink  export.Sink // nil: not begun
	out   *output
	added uint64
	lost  bool // an error of it has been told
	ended bool
	holds string // for people, when it is there

	missing error // the run ended too early for the file
}

func (x *runExport) flags(f *pflag.FlagSet) {
	f.StringVar(&x.path, "export", "", "also write what export makes of the recording, to a `file` whose ending says what")
	x.add(f, "export-")
}

// check looks at the flags.
func (x *runExport) check(given func(flag string) bool) error {
	x.ranged = given("export-every")
	switch {
	case x.path == "":
		for _, flag := range []string{"force", "every", "fields", "region", "entities", "scale", "map", "mask", "component", "cell", "slice", "fps", "dialect", "protocol", "metadata"} {
			if given("export-" + flag) {
				return report.Usage("--export-%s needs --export", flag)
			}
		}
		return nil
	case files.Dashed(x.path) == "-":
		return report.Usage("--export writes a file, not standard output")
	}
	return x.parse(x.path, given)
}

// last reports whether the file shows the last tick only.
func (x *runExport) last() bool { return x.format.Last && !x.ranged }

// beginExport makes a plan before anything is written, and finds what is wrong with it.
func (j *runJob) beginExport() (err error) {
	x := &j.export
	if x.path == "" {
		return nil
	}
	if x.plan, err = export.NewPlan(j.Scenario, x.selected); err != nil {
		return words.About(j.title, err)
	}
	x.ticks = export.Ticks{From: j.start, Every: x.every, Count: (j.last()-j.start)/x.every + 1}
	if x.last() {
		x.ticks = export.Ticks{From: j.last(), Every: 1, Count: 1}
	}
	if err := x.try(x.path, x.plan, x.ticks); err != nil {
		return err
	}
	if !x.format.Picture || x.last() {
		return nil
	}
	m, err := x.plan.NewMeasure(x.look)
	if err != nil {
		return words.About(x.path, err)
	}
	if m != nil {
		return report.Usage("--export of a .%s needs --export-scale, such as 0..100: which values there are is not known before the end\n"+
			"  or let %s export find them in the recording", x.format.Ending, j.Name)
	}
	return nil
}

// programPatience is how long another program that helps to make the file may take after a signal.
const programPatience = 5 * time.Second

// start begins the file, with the state before the first tick.
func (x *runExport) start(ctx context.Context, j *runJob) (err error) {
	x.out.whole = true
	if x.out.older() && !x.force { // it has just come
		return x.exists(x.path)
	}
	if x.last() {
		return nil
	}
	if x.sink, err = x.format.Open(x.out, x.plan, x.ticks, x.look); err != nil {
		return words.About(x.path, err)
	}
	context.AfterFunc(ctx, func() { time.AfterFunc(programPatience, x.sink.Discard) })
	j.Watchers = append(j.Watchers, x)
	if err := x.Observe(j.World); err != nil {
		return words.About(x.path, err)
	}
	return nil
}

// Next implements [runner.Watcher].
func (x *runExport) Next(after uint64) uint64 {
	if after < x.ticks.From {
		return x.ticks.From
	}
	if n := (after-x.ticks.From)/x.ticks.Every + 1; n < x.ticks.Count {
		return x.ticks.From + n*x.ticks.Every
	}
	return runner.Never
}

// Observe implements [runner.Watcher]. A panic of the sink is its error: the recording of the run must not end with it.
func (x *runExport) Observe(w *engine.World) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = x.failed(fmt.Errorf("panic: %v", v))
		}
	}()
	x.added++
	return x.failed(x.sink.Add(w))
}

// failed names the file in an error of its sink, after which there is no file.
func (x *runExport) failed(err error) error {
	if err == nil {
		return nil
	}
	x.lost = true
	if _, named := errors.AsType[*fs.PathError](err); named {
		return err
	}
	return &fs.PathError{Op: "export", Path: x.path, Err: err}
}

// discard gives up a file that is not whole.
func (x *runExport) discard() {
	if x.sink != nil && !x.ended {
		x.ended = true
		x.sink.Discard()
	}
}

// end ends the file, which then holds the ticks that there were. A format with room for all
// that were planned takes no fewer.
func (x *runExport) end(j *runJob) (keep bool, err error) {
	defer x.discard()
	switch {
	case !j.ticked() || x.lost:
		return false, nil
	case x.last():
		if err := x.drawLast(j.World); err != nil {
			return false, err
		}
	case x.added < x.ticks.Count && x.plan.Fixed(x.format):
		x.missing = x.tooFew(j)
		return false, nil
	}
	if err := x.failed(x.sink.Close()); err != nil {
		return false, err
	}
	x.ended, x.holds = true, x.sink.Summary()
	if n, err := x.out.Seek(0, io.SeekEnd); err == nil { // not into a pipe
		x.holds += ", " + words.Size(n)
	}
	return true, nil
}

// drawLast draws a picture of the last state.
func (x *runExport) drawLast(w *engine.World) error {
	m, err := x.plan.NewMeasure(x.look)
	if err != nil {
		return words.About(x.path, err)
	}
	if m != nil {
		if err := m.Add(w); err != nil {
			return words.About(x.path, err)
		}
		x.look.Range = m.Range()
	}
	x.ticks.From = w.Tick()
	if x.sink, err = x.format.Open(x.out, x.plan, x.ticks, x.look); err != nil {
		return words.About(x.path, err)
	}
	return x.Observe(w)
}

// tooFew says why there is no file after a run that ended early.
func (x *runExport) tooFew(j *runJob) error {
	text := fmt.Sprintf("it was not written: a .%s is laid out for all ticks up to %s, and the run ended after tick %s",
		x.format.Ending, words.Number(x.ticks.Last()), words.Number(j.World.Tick()))
	if j.recorder != nil && j.murk.regular() {
		text += fmt.Sprintf("\n  %s export %s -o %s%s%s%s takes those that there are", j.Name, words.Argument(j.output), words.Argument(x.path), x.typed(), j.apart(), j.maxMemory.Flag())
	}
	return words.About(j.Scenario.Name, words.NewProblem(document.FileName(x.path)+": "+text, nil))
}
