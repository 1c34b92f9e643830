package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// compareGolden runs a scenario and compares it with a recording that was kept, as diff does. What the run recorded stays beside that one if they differ.
func (j *checkJob) compareGolden(ctx context.Context, name string) error {
	if _, err := os.Stat(j.golden); err != nil {
		return j.About(j.golden, err)
	}
	now := freeName(strings.TrimSuffix(j.golden, session.RecordingEnding) + ".new")
	if err := j.record(ctx, name, now); err != nil {
		return err
	}
	d := &diffJob{app: j.app, Comparison: compare.Comparison{Visitor: session.Visitor{Opener: j.Session, MaxMemory: j.maxMemory}}}
	defer d.Close()
	if err := d.Compare(ctx, []string{j.golden, now}); err != nil {
		return err
	}
	if d.Complete(); d.Result.OK {
		return errors.Join(j.sayGolden(now, d), words.About(now, os.Remove(now)))
	}
	err := d.report()
	return cmp.Or(j.Say("new       %s; if the change is meant, put it in the place of %s", words.Argument(now), document.FileName(j.golden)), err)
}

// freeName returns the name of a recording that is not there yet: what another check has left, or anyone else, stays.
func freeName(base string) string {
	name := base + session.RecordingEnding
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); err != nil {
			return name
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
	return j.Say("%s\nrun digest  %s", d.text().headline(), digest)
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
