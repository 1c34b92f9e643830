package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// A cutJob records some ticks of a recording again, as a recording of their own.
type cutJob struct {
	*app
	session.Visitor
	from, to uint64
	output   string
	force    bool
	names    []string  // of all recordings
	parts    []string  // of a run, which follow each other
	reading  string    // the recording that is read
	source   io.Closer // it, but for the first
}

func (a *app) cutCommand() *cobra.Command {
	j := &cutJob{app: a, Visitor: session.Visitor{Opener: a.Session, MaxMemory: session.DefaultMaxMemory}}
	c := &cobra.Command{
		Use:   "cut RECORDING... -o PART",
		Short: "Make a recording of some ticks of another one, or of a run's parts",
		Long: `Cut goes to the state before tick A, computes the ticks from A to B, compares each with the
recording, and writes them as a recording of their own, which begins at that state. The part
verifies by itself: it holds the state while that has 1 MiB at most. A larger one is written
beside it, as PART.state, for --state.

Without --from it begins where the recording does, without --to it ends where that ends.

Given the parts of a run --split, in order, it takes the ticks from all of them: each must be of
the same run, and go on from the state with which the one before ends. So cut joins parts, too.

Exit status: 0 the part is written, 3 a tick is not as recorded or a part does not go
on from the one before, and nothing is written, 1 a recording is damaged or cannot be read.`,
		Example: `  murksim cut heat.murk --from 400 --to 500 -o part.murk
  murksim verify part.murk
  murksim cut heat.murk heat.2.murk heat.3.murk -o whole.murk`,
		Args: arguments(cobra.MinimumNArgs(1), "one recording or more"),
		RunE: func(c *cobra.Command, args []string) error {
			switch given := c.Flags().Changed; {
			case j.output == "":
				return report.Usage("cut needs --output")
			case len(args) == 1 && !given("from") && !given("to"):
				return report.Usage("cut of one recording needs --from or --to")
			case given("from") && j.from == 0:
				return report.Usage("--from must be 1 or more: the first tick that the part holds")
			case given("to") && j.to == 0:
				return report.Usage("--to must be 1 or more: the last tick that the part holds")
			case given("to") && j.to < j.from:
				return report.Usage("--to must be %s or more, as --from is, not %s", words.Number(j.from), words.Number(j.to))
			}
			j.names = args
			for _, name := range args {
				if err := twoFiles("cut", name, j.output); err != nil {
					return err
				}
			}
			if err := spares(j.output, j.read()...); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			name, err := j.holding(args)
			if err != nil {
				return err
			}
			return j.cut(ctx, name)
		},
	}
	f := c.Flags()
	a.visitorFlags(f, &j.Visitor)
	f.Uint64Var(&j.from, "from", 0, "the first `tick` of the part (default the recording's first)")
	f.Uint64Var(&j.to, "to", 0, "its last `tick` (default the recording's last)")
	f.StringVarP(&j.output, "output", "o", "", "the new recording (a `file`)")
	f.BoolVar(&j.force, "force", false, "overwrite the file, and PART.state, if they exist")
	return c
}

// A cutResult is what cut prints with --json.
type cutResult struct {
	Event  string `json:"event"` // "cut"
	File   string `json:"file"`
	Output string `json:"output"`
	From   uint64 `json:"from"`
	To     uint64 `json:"to"`
	State  string `json:"state,omitempty"` // the file of the state, if the part does not hold it
	Hash   string `json:"hash"`            // after its last tick
}

// cut writes the part.
func (j *cutJob) cut(ctx context.Context, name string) error {
	at := uint64(0)
	if j.from > 0 {
		at = j.from - 1
	}
	j.reading = name
	v, err := j.begin(ctx, name, at)
	if err != nil {
		return err
	}
	defer v.Close()
	r := cutResult{Event: "cut", File: name, Output: j.output, From: v.World.Tick() + 1}
	if j.to != 0 && j.to < r.From {
		const none = "%s: it has no tick %s; it begins at the state of tick %s"
		return fmt.Errorf(none, words.Argument(name), words.Number(j.to), words.Number(r.From-1))
	}
	descriptor, state, err := j.start(ctx, v)
	if err != nil {
		return words.About(name, err)
	}
	p, err := j.placePart(ctx, j.output, state, j.force, j.read())
	if err != nil {
		return err
	}
	defer p.Close()
	r.State = p.stateName
	switch err := j.record(ctx, p.file, v, descriptor); {
	case ctx.Err() != nil:
		return session.Interrupted(j.reading)
	case errors.As(err, new(*partError)):
		return report.Exit(report.StatusDiverged, err)
	case err != nil:
		return j.Visited(v, j.reading, v.World.Tick()+1, err)
	}
	if err := p.finish(); err != nil {
		return err
	}
	r.To, r.Hash = v.World.Tick(), words.Hash16(v.World.Hash())
	flag := ""
	switch b := v.Begin; {
	case r.State != "":
		flag = session.StateArguments(r.State)
	case b != nil && b.State == nil && b.Tick+1 == r.From:
		flag = session.StateArguments(j.Opener.States...)
	}
	if err := j.Emit(r); err != nil {
		return err
	}
	return j.Say("cut       %s  ticks %s to %s, hash %s\nnext      %s verify%s %s", words.Argument(j.output), words.Number(r.From), words.Number(r.To), r.Hash, j.Name, flag, words.Argument(j.output))
}

// read lists the files that cut reads.
func (j *cutJob) read() []string {
	return append(append([]string{j.Index}, j.names...), j.Opener.States...)
}

// start returns the descriptor of the part, and the state at which the part begins unless the part or the recording holds that.
func (j *cutJob) start(ctx context.Context, v *session.Visit) (descriptor, state []byte, err error) {
	h := v.Source.Head()
	if b := v.Begin; v.World.Tick() == 0 || b != nil && b.Tick == v.World.Tick() {
		return h.Descriptor, nil, nil
	}
	if err := session.CheckNames(ctx, j.Opener, j.reading, v.Scenario, v.World.Tick()); err != nil {
		return nil, nil, err
	}
	// The part is what the state alone leads to: a world that remembers something outside it differs here, and not in the part.
	w, descriptor, state, err := startAt(v.World, h, v.Scenario, j.Workers)
	if err != nil {
		return nil, nil, err
	}
	v.Player = &replay.Player{World: w, Source: v.Source, From: w.Tick()}
	return descriptor, state, nil
}

// place begins a file, which replaces an older one with --force alone.
func (a *app) place(ctx context.Context, path string, force bool) (*draft.File, error) {
	f, err := a.draft(ctx, path)
	if err == nil && f.Older() && !force {
		err = errors.Join(fmt.Errorf("%s exists; overwrite it with --force", document.FileName(path)), f.Close())
	}
	return f, err
}

// begin goes to the state at which the part begins: that of a tick, or that at which the recording does.
func (j *cutJob) begin(ctx context.Context, name string, tick uint64) (*session.Visit, error) {
	if tick > 0 {
		return j.Visit(ctx, name, tick)
	}
	f, _, err := files.OpenSeekable(name)
	if err != nil {
		return nil, j.About(name, err)
	}
	defer f.Close()
	frames, err := replay.NewReader(io.NewSectionReader(f, 0, 1<<62))
	if err != nil {
		return nil, j.About(name, err)
	}
	if b, err := frames.Head().Begin(); err == nil && b != nil {
		tick = b.Tick
	}
	return j.Visit(ctx, name, tick)
}

// record computes the ticks of the part, each as it was recorded, and records them.
func (j *cutJob) record(ctx context.Context, to *draft.File, v *session.Visit, descriptor []byte) error {
	recorder, err := replay.NewRecorder(to, v.World, descriptor)
	if err != nil {
		return err
	}
	v.World.Record(recorder)
	defer func() {
		v.World.Record(nil)
		if j.source != nil {
			j.source.Close()
		}
	}()
	m := j.Meter(j.to)
	defer m.Clear()
	for j.to == 0 || v.World.Tick() < j.to {
		err := v.Player.Step()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == io.EOF && len(j.parts) > 0:
			if err := j.goOn(ctx, v); err != nil {
				return err
			}
			continue
		case err == io.EOF && j.to == 0 && v.World.Tick() >= j.from:
			return recorder.Flush()
		case err != nil:
			return err
		}
		m.Show(v.World.Tick())
	}
	return recorder.Flush()
}
