package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios/document"
)

// compareGolden runs a scenario and compares it with a recording that was kept, as diff does. What the run recorded stays beside that one if they differ.
func (j *checkJob) compareGolden(ctx context.Context, name string) error {
	if _, err := os.Stat(j.golden); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w\n  %s run %s -o %s makes it", j.About(j.golden, err), j.Name, words.Argument(name), words.Argument(j.golden))
		}
		return j.About(j.golden, err)
	}
	ctx, stop := j.untilSignal(ctx) // a signal ends the run, which then is whole, and the comparison
	defer stop()
	now, err := j.nameNew(ctx, name)
	if err != nil {
		return err
	}
	differ, err := j.compareRun(ctx, name, now)
	if differ {
		return err
	}
	if gone := os.Remove(now); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, words.About(now, gone))
	}
	return err
}

// compareRun records a run to a file and compares it. It reports whether they differ.
func (j *checkJob) compareRun(ctx context.Context, name, now string) (differ bool, err error) {
	d := &diffJob{app: j.app, Comparison: compare.Comparison{Visitor: session.Visitor{Opener: j.Session, MaxMemory: j.maxMemory}}}
	defer d.Close()
	if err = j.record(ctx, name, now); err == nil && ctx.Err() == nil {
		err = d.Compare(ctx, []string{j.golden, now})
	}
	switch {
	case ctx.Err() != nil:
		return false, session.Interrupted(name)
	case err != nil:
		return false, err
	}
	if d.Complete(); d.Result.OK {
		return false, j.sayGolden(now, d)
	}
	err = d.report()
	said := j.Say("new       %s; if the change is meant, put it in the place of %s", words.Argument(now), document.FileName(j.golden))
	return true, cmp.Or(said, err)
}

// nameNew names the recording of the run: GOLDEN.new.murk, in the place of what an earlier check has left. What could not be made again stays, as for
// any run: then it is the next free name.
func (j *checkJob) nameNew(ctx context.Context, scenario string) (string, error) {
	s, err := j.LoadScenario(scenario, nil, j.maxMemory)
	if err != nil {
		return "", err
	}
	base := strings.TrimSuffix(j.golden, session.RecordingEnding) + ".new"
	name := base + session.RecordingEnding
	run := &runJob{app: j.app, Run: &runner.Run{Scenario: s}}
	for i := 2; ; i++ {
		info, err := os.Lstat(name)
		if err != nil || info.Mode().IsRegular() && replaceable(name, session.RecordingMark, "recording") == nil && run.holds(ctx, name, false) == "" {
			return name, nil
		}
		name = fmt.Sprintf("%s%d%s", base, i, session.RecordingEnding)
	}
}

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
