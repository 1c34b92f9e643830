package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios/document"
)

// An indexJob writes the index of a recording.
type indexJob struct {
	*app
	output    string
	budget    session.Size
	maxMemory session.Size
}

func (a *app) indexCommand() *cobra.Command {
	j := &indexJob{app: a, budget: defaultIndexBudget, maxMemory: session.DefaultMaxMemory}
	c := &cobra.Command{
		Use:   "index RECORDING",
		Short: "Make the index of a recording, which makes seek quick",
		Long: `Index replays a recording, checks every tick as verify does, and writes an index beside it:
where each frame begins, the state at some ticks, and a digest of every field at every tick.
With it, seek starts from the nearest state. A run writes one itself. Nothing depends on it,
and it can be rebuilt at any time. Without --output it is written to RECORDING.idx.

Each state has a seal, made with a key in the user's configuration folder that other users
cannot read. So nothing that others write into an index changes a result.

The budget limits the states and the hashes of parts of fields. The data for every tick
comes on top: about ten bytes for each field that changes.

Exit status: 0 every tick matches, 3 one does not, 1 the file is damaged or cannot be
replayed here. After the last two there is no new index.`,
		Example: `  murksim index heat.murk
  murksim index --budget 1GiB -o /tmp/heat.idx heat.murk`,
		Args: arguments(cobra.ExactArgs(1), "one recording"),
		RunE: func(c *cobra.Command, args []string) error { return j.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	f.StringVarP(&j.output, "output", "o", "", "write the index to a `file` of another name")
	f.Var(&j.budget, "budget", "how many bytes of states and hashes the index may have")
	j.stateFlag(f)
	maxMemoryFlag(f, &j.maxMemory)
	return c
}

// An indexResult is what index prints with --json.
type indexResult struct {
	Event     string `json:"event"` // "index"
	File      string `json:"file"`
	Index     string `json:"index"`
	Ticks     uint64 `json:"ticks"`
	Keyframes int    `json:"keyframes"`
	Bytes     int64  `json:"bytes"`
}

var defaultIndexBudget = session.Size{Text: "256MiB", Bytes: index.DefaultBudget}

func (j *indexJob) run(ctx context.Context, name string) error {
	if name == "-" {
		return report.Usage("index takes a file, not standard input")
	}
	if files.Dashed(j.output) == "-" {
		return report.Usage("index writes a file, not standard output")
	}
	j.output = cmp.Or(j.output, session.IndexName(name))
	if files.Same(name, j.output) {
		return report.Usage("%s is the recording itself; write to another file", j.output)
	}
	if err := j.notState(j.output); err != nil {
		return err
	}
	if files.IsPipe(j.output) {
		return report.Usage("%s is no regular file, which an index must be", document.FileName(j.output))
	}
	if err := replaceable(j.output, indexMark, "index"); err != nil {
		return err
	}
	ctx, stop := j.untilSignal(ctx) // which must not leave a part of an index
	defer stop()
	rec, err := j.OpenRecording(ctx, name)
	if ctx.Err() != nil {
		return interrupted(name)
	}
	if err != nil {
		return j.About(name, err)
	}
	defer rec.Close()
	if _, bytes := rec.Frames.(*replay.Reader); !bytes {
		return words.About(name, j.LinesError(name))
	}
	p, err := rec.Player(ctx, 0, j.maxMemory)
	if ctx.Err() != nil {
		return interrupted(name)
	}
	if err != nil {
		return j.Diverged(name, err)
	}
	file, err := j.draft(ctx, j.output)
	if ctx.Err() != nil && file == nil {
		return interrupted(name)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	m := j.Meter(rec.Scenario.PlannedTicks())
	m.First = p.World.Tick()
	p.Before = func() error {
		m.Show(p.World.Tick())
		return ctx.Err()
	}
	ticks, err := index.Rebuild(file, p, j.budget.Indexed(), session.IndexKey(true))
	m.Clear()
	if ctx.Err() != nil {
		return interrupted(name)
	}
	if err != nil {
		return j.Diverged(name, err)
	}
	if _, err := finish(file); err != nil {
		return words.About(j.output, err)
	}
	return j.summary(name, ticks)
}

func interrupted(name string) error {
	return fmt.Errorf("%s: interrupted; there is no new index", words.Argument(name))
}

func (j *indexJob) summary(name string, ticks uint64) error {
	x, length, err := session.OpenIndex(j.output)
	if err != nil {
		return words.About(j.output, err)
	}
	defer x.Close()
	r := indexResult{"index", name, j.output, ticks, len(x.Keyframes()), length}
	if err := j.Emit(r); err != nil {
		return err
	}
	return j.Say("%s  %s, %s, %s", words.Argument(j.output), words.Count(ticks, "tick"), words.Count(uint64(r.Keyframes), "keyframe"), words.Size(length))
}
