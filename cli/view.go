package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/site"
)

// A viewJob serves the viewer.
type viewJob struct {
	*app
	session.Visitor
	yrep   yrepFlags
	server viewServer
	sets   []string
	seed   string
	closes []func()

	gallery *gallery
}

func (a *app) viewCommand() *cobra.Command {
	j := &viewJob{app: a, Visitor: session.Visitor{Opener: a.Session, MaxMemory: session.DefaultMaxMemory}, server: viewServer{app: a}}
	c := &cobra.Command{
		Use:   "view [FILE...]",
		Short: "Look at recordings, runs, games and sweeps in the browser",
		Long: `View serves a page that shows a world at any tick. It prints the address, which is hard to
guess and accepts connections from this computer only. Ctrl-C ends it.

For a recording, each tick is computed again and compared with what was recorded. Given two
recordings with the same space and fields, the page shows them side by side, with their
differences and the first tick at which they differ.

A scenario or a saved state runs while you watch it; nothing of that run is kept. The page
can change parameters and give commands. It can fork a recording or a run at any tick; the
fork continues on its own and is compared with the original.

A game of MineWars (.mw1, with its parts given in order) and a YREP file are shown in the
same way. They hold what happened but not why, so there is nothing to verify. If one is
damaged, the page shows the intact part and says where the damage is.

A recording that another process is writing grows on the page, too.

For the folder of a sweep, the page shows the table and its picture, updated while the sweep
runs, and opens the recordings that were kept.

Without a file the page shows the scenarios that come with murksim.

Exit status: 0 it was ended, 1 a file is damaged or cannot be replayed here.`,
		Example: `  murksim view
  murksim view heat.murk --open
  murksim view a.murk b.murk
  murksim view minewars --seed 7
  murksim view mine.yaml --set space.rows=64
  murksim view heat --state half.state
  murksim view game.1.mw1 game.2.mw1
  murksim view match.yrep
  murksim view heat-sweep/`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			kind := session.FormatRecording
			if len(args) > 0 && args[0] != "-" {
				if isSweep(args[0]) {
					return j.viewSweep(c, args)
				}
				kind = j.FormatOfFile(args[0])
			}
			if len(args) == 0 && (len(j.sets) > 0 || j.seed != "" || len(j.States) > 0) {
				return report.Usage("--set, --seed and --state need a scenario")
			}
			if err := cmp.Or(j.fits(kind, args, c.Flags().Changed), listenAddress("listen", defaultListen, &j.server.listen)); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			return j.run(ctx, kind, args)
		},
	}
	f := c.Flags()
	j.server.flags(f)
	setFlag(f, &j.sets)
	f.StringVar(&j.seed, "seed", "", "master seed of the scenario, a whole `number` or random (default: the scenario's)")
	a.visitorFlags(f, &j.Visitor)
	j.yrep.add(f)
	return c
}

func (j *viewJob) run(ctx context.Context, kind session.Format, names []string) error {
	defer j.closeAll()
	j.gallery = &gallery{app: j.app, limit: j.MaxMemory.Share(view.WorldsOfSource)}
	if len(names) > 0 {
		j.gallery.own = map[string][]string{}
	}
	sources, err := j.sources(ctx, kind, names)
	if err != nil {
		return j.interruptedOr(ctx, err)
	}
	if err := j.server.listens(); err != nil {
		return err
	}
	session := view.NewSession(sources...)
	session.Memory, session.Gallery = j.MaxMemory.Bytes, j.gallery
	return j.server.serve(ctx, site.Config{Session: session, Film: j.gallery.film}, names...)
}

// closeAll closes the files that were opened.
func (j *viewJob) closeAll() {
	for _, f := range j.closes {
		f()
	}
}

// sources opens what the user wants to see.
func (j *viewJob) sources(ctx context.Context, kind session.Format, names []string) (list []view.Source, err error) {
	switch kind {
	case session.FormatGame:
		g, err := j.game(names)
		return []view.Source{g}, err
	case session.FormatYREP:
		m, err := j.match(names[0])
		return []view.Source{m}, err
	}
	var all []*view.Recording
	for _, name := range names {
		r, err := j.source(ctx, name, j.MaxMemory.Share(view.WorldsOfSource*uint64(len(names))))
		if err != nil {
			return nil, err
		}
		all, list = append(all, r), append(list, r)
	}
	if len(all) == 2 {
		return list, all[0].Comparable(all[1])
	}
	return list, nil
}

// interruptedOr returns an error, or nil if an interrupt caused it: that is how a viewer ends.
func (j *viewJob) interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// source opens a recording, or a run of a scenario, to show it. Each of its worlds may take up to the limit of memory.
func (j *viewJob) source(ctx context.Context, name string, limit session.Size) (*view.Recording, error) {
	state, err := files.Begins(name, session.StateMark)
	switch ending := strings.ToLower(filepath.Ext(name)); {
	case worlds.IsEmbedded(name), ending == ".yaml", ending == ".yml":
		return j.begin(ctx, name, limit)
	case err == nil && state:
		return j.goOn(ctx, name, limit)
	case err != nil && ending == "":
		return j.begin(ctx, name, limit) // which says what there is
	case len(j.sets) > 0 || j.seed != "":
		return nil, report.Usage("--set and --seed are for scenarios; %s is none", document.FileName(name))
	}
	return j.recording(ctx, name, limit)
}

// begin begins a run of a scenario, at genesis or in the state of --state.
func (j *viewJob) begin(ctx context.Context, name string, limit session.Size) (*view.Recording, error) {
	s, err := (&runJob{app: j.app, sets: j.sets, seed: j.seed, maxMemory: limit}).load(name)
	if err != nil {
		return nil, err
	}
	var state []byte
	switch len(j.States) {
	case 0:
	case 1:
		if state, err = openState(ctx, j.States[0], s); err != nil {
			return nil, words.About(j.States[0], session.StateProblem(err))
		}
	default:
		return nil, report.Usage("a run starts from one state; there are %d", len(j.States))
	}
	again := ""
	if state == nil && name != "-" {
		again, j.gallery.own[name] = name, j.sets
	}
	return j.start(s, state, again, limit)
}

// openState reads a state of a scenario.
func openState(ctx context.Context, name string, s *scenarios.Scenario) ([]byte, error) {
	b, err := session.ReadState(ctx, name, s)
	if err != nil {
		return nil, err
	}
	return engine.Unseal(b)
}

// start starts a run. If the name is not empty, another run can be started by it.
func (j *viewJob) start(s *scenarios.Scenario, state []byte, again string, limit session.Size) (*view.Recording, error) {
	if err := session.CheckMemory(s, limit); err != nil {
		return nil, err
	}
	r, err := view.NewRun(view.Start{Name: s.Name, Scenario: s, State: state, Workers: max(j.Workers, 1), Held: true, Again: again})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return r, nil
}

// goOn starts a run from a saved state, for a scenario that comes with murksim.
func (j *viewJob) goOn(ctx context.Context, name string, limit session.Size) (*view.Recording, error) {
	for _, info := range worlds.Embedded() {
		s, err := worlds.Open(j.Registry, info.Name)
		if err != nil {
			return nil, err
		}
		b, err := openState(ctx, name, s)
		if err != nil {
			if ctx.Err() != nil || errors.As(err, new(*engine.StateError)) {
				return nil, words.About(name, session.StateProblem(err))
			}
			continue // too large for this one
		}
		saved, err := engine.ReadState(b)
		if err != nil {
			return nil, words.About(name, session.StateProblem(err))
		}
		if s.Seed = saved.Seed; sha256.Sum256(s.Descriptor()) == saved.Descriptor {
			return j.start(s, b, "", limit)
		}
	}
	return nil, fmt.Errorf("%s: it is a saved state, and not one of a scenario that comes with murksim; %s view SCENARIO --state %s",
		document.FileName(name), j.Name, words.Argument(name))
}

// recording opens a recording for a session, on whose page one that is still being written grows. Each of its worlds may take up to the limit of memory.
func (j *viewJob) recording(ctx context.Context, name string, limit session.Size) (*view.Recording, error) {
	switch writes, err := written(name); {
	case err != nil:
		return nil, j.About(name, err)
	case !writes:
		return j.whole(ctx, name, limit)
	}
	grows, err := files.Follow(ctx, name, draft.Writing)
	if err != nil {
		return nil, j.About(name, err)
	}
	j.closes = append(j.closes, func() { grows.Close() })
	c, err := j.config(ctx, name, limit)
	if err != nil {
		return nil, err
	}
	r, err := view.Grows(c, grows)
	if err != nil {
		return nil, j.About(name, err)
	}
	return r, nil
}

// whole opens a recording with the ticks that are whole now, as verify does, also if it is still being written. Each of its worlds may take up to the limit
// of memory.
func (j *viewJob) whole(ctx context.Context, name string, limit session.Size) (*view.Recording, error) {
	writes, err := written(name) // asked first: what is cut short because it was being written must not count as damaged
	if err != nil {
		return nil, j.About(name, err)
	}
	f, size, err := files.OpenSeekable(name)
	if err != nil {
		return nil, j.About(name, err)
	}
	j.closes = append(j.closes, func() { f.Close() })
	c, err := j.config(ctx, name, limit)
	if err != nil {
		return nil, err
	}
	c.Recording, c.Size, c.Written = f, size, writes
	r, err := view.Open(c)
	if writes && errors.Is(err, replay.ErrTruncated) {
		return nil, fmt.Errorf("%w\n  it is still being written, or locked: open it again in a moment", words.About(name, err))
	}
	if err != nil {
		return nil, j.About(name, err)
	}
	return r, nil
}

// config returns what opens a recording, but for its bytes.
func (j *viewJob) config(ctx context.Context, name string, limit session.Size) (view.Config, error) {
	x, err := j.IndexOf(name)
	if err != nil {
		return view.Config{}, err
	}
	j.closes = append(j.closes, x.Close)
	c := view.Config{Name: name, Build: func(h *replay.Header) (*engine.World, *scenarios.Scenario, error) {
		rec := &session.Recording{Session: j.Session, Name: name}
		w, err := rec.Builder(ctx, j.Workers, limit)(h)
		return w, rec.Scenario, err
	}}
	if x != nil {
		c.Index = x.Index
	}
	return c, nil
}

// written reports whether a recording is still being written, as far as locks tell.
func written(name string) (bool, error) {
	if files.IsPipe(name) {
		return false, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return draft.Writing(f), nil
}
