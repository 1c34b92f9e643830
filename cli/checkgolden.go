package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A goldenRun is a run that is compared with a recording that was kept. It is recorded under a name that no other process has,
// until it differs.
type goldenRun struct {
	*checkJob
	scenario string
	loaded   *scenarios.Scenario
	stem     string // of the names of both recordings
	tag      string // what follows it in the name of the new one
}

// compareGolden runs a scenario and compares it with a recording that was kept, as diff does. What the run recorded stays beside that one if they differ.
func (j *checkJob) compareGolden(ctx context.Context, name string) error {
	if _, err := os.Stat(j.golden); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w\n  %s run %s -o %s makes it", j.About(j.golden, err), j.Name, words.Argument(name), words.Argument(j.golden))
		}
		return j.About(j.golden, err)
	}
	s, err := j.LoadScenario(name, nil, j.maxMemory)
	if err != nil {
		return err
	}
	ctx, stop := j.untilSignal(ctx) // a signal ends the run, which then is whole, and the comparison
	defer stop()
	g := &goldenRun{j, name, s, strings.TrimSuffix(j.golden, session.RecordingEnding), ".new-" + rng.FreshID() + session.RecordingEnding}
	err = g.compare(ctx)
	if gone := os.Remove(g.now()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, words.About(g.now(), gone))
	}
	return err
}

// now is the file of the new recording.
func (g *goldenRun) now() string { return g.stem + g.tag }

// compare records the run and compares it, also if it fails after some ticks. A recording that differs, or that an error names,
// gets another name.
func (g *goldenRun) compare(ctx context.Context) error {
	ran := g.record(ctx, g.scenario, g.now())
	if ctx.Err() != nil {
		return session.Interrupted(g.scenario)
	}
	if ours, err := files.Begins(g.now(), session.RecordingMark); ran != nil && (err != nil || !ours) {
		return ran
	}
	d := &diffJob{app: g.app, Comparison: compare.Comparison{Visitor: session.Visitor{Opener: g.Session, MaxMemory: g.maxMemory}}}
	end := sync.OnceFunc(d.Close)
	defer end()
	err := d.Compare(ctx, []string{g.golden, g.now()})
	switch {
	case ctx.Err() != nil:
		return session.Interrupted(g.scenario)
	case err != nil:
		end()
		return g.failed(ctx, ran, err)
	}
	if d.Complete(); d.Result.OK { // then the one that was kept holds what the run's error tells of the new one
		return cmp.Or(g.sayGolden(g.now(), d), g.told(ran, g.golden))
	}
	end() // so that the file can be renamed
	to, err := g.place(ctx)
	if err != nil {
		return cmp.Or(ran, err)
	}
	g.rename(d, to)
	err = d.report()
	said := g.Say("new       %s; if the change is meant, put it in the place of %s", words.Argument(to), document.FileName(g.golden))
	if ran != nil {
		e, _ := errors.AsType[*report.Error](g.told(ran, to))
		return report.Exit(report.StatusDiverged, e.Err)
	}
	return cmp.Or(said, err)
}

// failed joins the error of the run, if there is one, with that of the comparison. If they name the new recording it stays, under
// its other name.
func (g *goldenRun) failed(ctx context.Context, ran, err error) error {
	if ran != nil {
		e, code := ran, report.StatusError
		if x, ok := errors.AsType[*report.Error](ran); ok {
			e, code = x.Err, x.Code
		}
		err = report.Exit(code, fmt.Errorf("%w\n  %w", e, err))
	}
	if !strings.Contains(err.Error(), g.tag) {
		return err
	}
	to, late := g.place(ctx)
	if late != nil {
		return errors.Join(err, late)
	}
	return g.told(err, to)
}

// place gives the new recording its name: GOLDEN.new.murk, in the place of what an earlier check has left. What could not be made again
// stays, as for any run: then it is the next free name.
func (g *goldenRun) place(ctx context.Context) (name string, err error) {
	name = g.stem + ".new" + session.RecordingEnding
	run := &runJob{app: g.app, Run: &runner.Run{Scenario: g.loaded}}
	for i := 2; ; i++ {
		info, err := os.Lstat(name)
		if err != nil || info.Mode().IsRegular() && replaceable(name, session.RecordingMark, "recording") == nil &&
			writtenElsewhere(name) == nil && run.holds(ctx, name, false) == "" {
			break
		}
		name = fmt.Sprintf("%s.new%d%s", g.stem, i, session.RecordingEnding)
	}
	if err := os.Rename(g.now(), name); err != nil {
		return "", words.About(name, err)
	}
	removeIndex(name)
	return name, nil
}

// rename makes a comparison name the file that the new recording became.
func (g *goldenRun) rename(d *diffJob, to string) {
	for _, s := range d.Sides {
		s.Error = g.named(s.Error, to)
	}
	d.Sides[1].File = to
	for i, note := range d.Notes {
		d.Notes[i] = g.named(note, to)
	}
}

// named makes a text name another file instead of the new recording.
func (g *goldenRun) named(text, to string) string {
	return strings.ReplaceAll(text, g.tag, strings.TrimPrefix(to, g.stem))
}

// told makes an error do so. It returns a [*report.Error], or nil.
func (g *goldenRun) told(err error, to string) error {
	if err == nil {
		return nil
	}
	e := report.Exit(report.StatusError, err)
	if x, ok := errors.AsType[*report.Error](err); ok {
		e = x
	}
	if e.Err == nil {
		return e
	}
	return report.Exit(e.Code, &renamedError{e.Err, g.named(e.Err.Error(), to)})
}

// A renamedError is an error whose text names another file.
type renamedError struct {
	error
	text string
}

// Error implements error.
func (e *renamedError) Error() string { return e.text }

// Unwrap returns the error.
func (e *renamedError) Unwrap() error { return e.error }

// sayGolden says that the recordings are equal, and prints the digest of their ticks.
func (j *checkJob) sayGolden(name string, d *diffJob) error {
	f, err := os.Open(name)
	if err != nil {
		return words.About(name, err)
	}
	defer f.Close()
	sum, err := replay.ReadSum(f)
	if err != nil {
		return j.About(name, err)
	}
	digest := words.HexDigest(sum.RunDigest().Sum(), true)
	if err := j.Emit(goldenObject{"golden", j.golden, digest}); err != nil {
		return err
	}
	a := &d.Sides[0].SideView
	return j.Say("EQUAL  %s  %s, hash %s\nrun digest  %s", document.FileName(j.golden), words.Count(a.Ticks, "tick"), a.Hash, digest)
}

// A goldenObject says with --json that a run is as it was kept.
type goldenObject struct {
	Event  string `json:"event"` // "golden"
	File   string `json:"file"`
	Digest string `json:"run_digest"`
}

// record runs a scenario and says nothing but errors.
func (j *checkJob) record(ctx context.Context, name, to string) error {
	quiet, lines := j.Quiet, j.JSON
	defer func() { j.Quiet, j.JSON = quiet, lines }()
	j.Quiet, j.JSON = true, false
	c := j.runCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{name, "-o", to, "--no-index", "--max-memory", j.maxMemory.Text})
	return c.ExecuteContext(ctx)
}
