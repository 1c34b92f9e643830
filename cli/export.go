package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// An exportJob writes values of a recording to a file of another program.
type exportJob struct {
	*app
	session.Visitor
	exportFlags
	output          string
	tick, from, to  uint64
	oneTick, hasEnd bool // --tick and --to are given
	hasFrom         bool // --from is given
	parts           bool // of a game that one file cannot hold
	ranged          bool // --from or --every is given

	scenario *scenarios.Scenario
}

func (a *app) exportCommand() *cobra.Command {
	j := &exportJob{app: a, Visitor: session.Visitor{Opener: a.Session, MaxMemory: session.DefaultMaxMemory}}
	c := &cobra.Command{
		Use:   "export RECORDING -o FILE",
		Short: "Write values of a recording to files: arrays, tables, pictures, films",
		Long: `Export replays a recording and writes the states at some ticks to a file, whose ending
decides what it is:

` + formatTable() + `  .mw1      a game of MineWars, as its spectator and each player see it
  .html     a page that shows the recording, and verifies it where it is opened

Without --tick, --from, --to and --every, it takes every tick from 0, which is the world
before the first tick, to the last; for a .png or a .rle, only the last tick. A recording that begins
at a saved state has only the ticks from there on. Export compares the hash of every state
that it writes with the recorded one. docs/EXPORT.md says what each file holds.

A .yrep has every tick as a frame: entities are players, and the section "yrep" of the
scenario says what else to show.

A region is a box, given by two cells as in 40,0..43,100, or a list of cells as in
'20,20;40,71'.

Exit status: 0 the file is written, 3 a state does not match, 1 the recording is damaged
or cannot be replayed here. After the last two there is no new file.`,
		Example: `  murksim export heat.murk -o heat.png
  murksim export heat.murk -o heat.gif --every 10
  murksim export heat.murk -o heat.npz --every 100
  murksim export heat.murk -o corner.csv --fields heat --tick 500 --region 0,0..9,9
  murksim export predators.murk -o animals.csv --entities --every 10
  murksim export life.murk -o life.rle --tick 100
  murksim export game.murk -o game.mw1
  murksim export colony.murk -o colony.yrep`,
		Args: arguments(cobra.ExactArgs(1), "one recording"),
		RunE: func(c *cobra.Command, args []string) error {
			f := c.Flags()
			j.oneTick, j.hasEnd = f.Changed("tick"), f.Changed("to")
			j.hasFrom = f.Changed("from")
			j.ranged = j.hasFrom || f.Changed("every")
			return j.run(c.Context(), args[0], f.Changed)
		},
	}
	f := c.Flags()
	f.StringVarP(&j.output, "output", "o", "", "the `file` to write")
	f.Var((*tickFlag)(&j.tick), "tick", "this tick only")
	f.Var((*tickFlag)(&j.from), "from", "from this tick")
	f.Var((*tickFlag)(&j.to), "to", "to this tick (default the last)")
	f.BoolVar(&j.parts, "parts", false, "write a game in as many files as it needs: game.1.mw1, game.2.mw1 and so on")
	j.add(f, "")
	a.visitorFlags(f, &j.Visitor)
	return c
}

// An exportResult is what export prints with --json.
type exportResult struct {
	Event   string   `json:"event"` // "export"
	File    string   `json:"file"`
	Output  string   `json:"output"`
	Format  string   `json:"format"`
	From    uint64   `json:"from"`
	To      uint64   `json:"to"`
	Every   uint64   `json:"every"`
	Ticks   uint64   `json:"ticks"`
	Holds   string   `json:"holds"`
	Bytes   int64    `json:"bytes"`
	Parts   int      `json:"parts,omitempty"`   // of a game
	Removed []string `json:"removed,omitempty"` // parts of an older export
}

func (j *exportJob) run(ctx context.Context, name string, given func(flag string) bool) error {
	err := j.check(name)
	switch {
	case err != nil:
	case j.isGame():
		if err = j.gameFlags(given); err == nil {
			return j.exportGame(ctx, name)
		}
	case j.isPage():
		return j.exportPage(ctx, name, given)
	case j.parts:
		err = report.Usage("--parts is for a %s", session.GameEnding)
	default:
		err = j.parse(j.output, given)
	}
	if err != nil {
		return err
	}
	ctx, stop := j.untilSignal(ctx)
	defer stop()
	ticks, err := j.survey(ctx, name)
	if err != nil && ctx.Err() != nil {
		return j.interrupted()
	}
	if err != nil {
		return err
	}
	plan, err := export.NewPlan(j.scenario, j.selected)
	if err != nil {
		return fmt.Errorf("%s: %w", words.Argument(name), err)
	}
	if err := j.try(j.output, plan, ticks); err != nil {
		return err
	}
	if err := j.measure(ctx, name, plan, ticks); err != nil {
		return err
	}
	return j.write(ctx, name, plan, ticks)
}

// check looks at the flags alone.
func (j *exportJob) check(name string) error {
	switch {
	case name == "-":
		return report.Usage("export takes a file, not standard input")
	case j.output == "":
		return report.Usage("export needs -o FILE; its ending says what to write")
	case files.Dashed(j.output) == "-":
		return report.Usage("export writes a file, not standard output")
	case files.Same(name, j.output):
		return report.Usage("%s is the recording itself; write to another file", document.FileName(j.output))
	case j.oneTick && (j.hasEnd || j.ranged):
		return report.Usage("--tick is one tick; leave out --from, --to and --every")
	case j.hasEnd && j.to < j.from:
		return report.Usage("--to %d lies before --from %d", j.to, j.from)
	}
	return j.notState(j.output)
}

// survey reads the recording as far as needed to know what is in it and which ticks to take.
func (j *exportJob) survey(ctx context.Context, name string) (t export.Ticks, err error) {
	rec, err := j.OpenRecording(ctx, name)
	if err != nil {
		return t, j.About(name, err)
	}
	defer rec.Close()
	h := rec.Frames.Head()
	begin, err := h.Begin()
	if err != nil {
		return t, words.About(name, err)
	}
	if j.scenario, err = j.ScenarioOf(h); err != nil {
		return t, j.About(name, rec.DescriptorError(h, err))
	}
	if err := cmp.Or(h.Check(j.scenario.Setup(h.Descriptor)), session.CheckMemory(j.scenario, j.MaxMemory)); err != nil { // before anything by cell
		return t, j.Diverged(name, err)
	}
	if j.oneTick {
		return export.Ticks{From: j.tick, Every: 1, Count: 1}, nil
	}
	if begin != nil && !j.hasFrom {
		j.from = begin.Tick
	}
	if !j.hasEnd {
		if j.to, err = j.last(ctx, rec); err != nil {
			return t, err
		}
		if begin != nil {
			j.to = max(j.to, begin.Tick) // where there is no frame
		}
		if !j.ranged && j.format.Last {
			j.from = j.to
		}
		if j.to < j.from {
			return t, fmt.Errorf("%s: it has no tick %s; it ends with tick %s", words.Argument(name), words.Number(j.from), words.Number(j.to))
		}
	}
	if j.to < j.from {
		return t, fmt.Errorf("%s: it has no tick %s; it begins at the state of tick %s", words.Argument(name), words.Number(j.to), words.Number(j.from))
	}
	return export.Ticks{From: j.from, Every: j.every, Count: (j.to-j.from)/j.every + 1}, nil
}

// last reads all frames and returns the tick of the last.
func (j *exportJob) last(ctx context.Context, rec *session.Recording) (tick uint64, err error) {
	var f replay.Frame
	frames := replay.InOrder(rec.Frames)
	for {
		switch err := frames.Next(&f); {
		case err == io.EOF:
			return tick, nil
		case err != nil && tick > 0:
			return 0, fmt.Errorf("%w\n  take the ticks before it: --to %d", words.About(rec.Name, err), tick)
		case err != nil:
			return 0, words.About(rec.Name, err)
		case ctx.Err() != nil:
			return 0, j.interrupted()
		}
		tick = f.Tick
	}
}

func (j *exportJob) interrupted() error {
	return fmt.Errorf("interrupted; %s was not written", document.FileName(j.output))
}

// measure finds the range of values for a picture, for which it replays the ticks once more.
func (j *exportJob) measure(ctx context.Context, name string, p *export.Plan, t export.Ticks) error {
	if !j.format.Picture {
		return nil
	}
	m, err := p.NewMeasure(j.look)
	if err != nil || m == nil {
		return err
	}
	if err := j.each(ctx, name, t, m.Add); err != nil {
		return err
	}
	j.look.Range = m.Range()
	return nil
}

// write makes the file.
func (j *exportJob) write(ctx context.Context, name string, p *export.Plan, t export.Ticks) error {
	file, err := j.draft(ctx, j.output)
	if err != nil {
		return err
	}
	defer file.Close()
	if file.Older() && !j.force { // it has just come
		return j.exists(j.output)
	}
	sink, err := j.format.Open(file, p, t, j.look)
	if err != nil {
		return words.About(j.output, err)
	}
	defer sink.Discard()
	defer context.AfterFunc(ctx, sink.Discard)()
	var failed error // of the file, not of the recording
	add := func(w *engine.World) error {
		failed = sink.Add(w)
		return failed
	}
	if err := j.each(ctx, name, t, add); err != nil {
		if failed != nil {
			return j.failed(ctx, failed)
		}
		return err
	}
	r := exportResult{"export", name, j.output, j.format.Ending, t.From, t.Last(), t.Every, t.Count, "", 0, 0, nil}
	if err := sink.Close(); err != nil {
		return j.failed(ctx, err)
	}
	r.Holds, r.Bytes = sink.Summary(), length(file)
	if _, err := finish(file); err != nil {
		return words.About(j.output, err)
	}
	if err := j.Emit(r); err != nil {
		return err
	}
	if r.Bytes == 0 { // into a pipe
		return j.Say("wrote  %s  %s", words.Argument(j.output), r.Holds)
	}
	return j.Say("wrote  %s  %s, %s", words.Argument(j.output), r.Holds, words.Size(r.Bytes))
}

// failed returns an error of the file. A signal also ends other programs that help to make it.
func (j *exportJob) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return j.interrupted()
	}
	return words.About(j.output, err)
}

// length returns the size of a file; 0 if it has none.
func length(f *draft.File) int64 {
	n, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0
	}
	return n
}

// each visits the ticks one after another and shows progress.
func (j *exportJob) each(ctx context.Context, name string, t export.Ticks, add func(*engine.World) error) error {
	v, err := j.Visit(ctx, name, t.From)
	if err != nil {
		if ctx.Err() != nil {
			return j.interrupted()
		}
		return err
	}
	defer v.Close()
	m := j.Meter(t.Last())
	m.First = t.From
	defer m.Clear()
	for at := t.From; ; {
		if err := add(v.World); err != nil {
			return err
		}
		if at == t.Last() {
			return nil
		}
		at += t.Every
		for v.World.Tick() < at {
			m.Show(v.World.Tick())
			if ctx.Err() != nil {
				return j.interrupted()
			}
			switch err := v.Advance(v.World.Tick()+1 == at); {
			case errors.Is(err, io.EOF):
				return fmt.Errorf("%s: it has no tick %s; it ends with tick %s", words.Argument(name), words.Number(t.Last()), words.Number(v.World.Tick()))
			case err != nil:
				return j.Diverged(name, err)
			}
		}
	}
}
