package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/view"
)

// A gallery offers scenarios: those that come with murksim, or the one on show.
type gallery struct {
	app   *app
	limit session.Size        // of a world
	own   map[string][]string // scenarios on show, as they were named, with their --set; nil: those that come with murksim

	mu    sync.Mutex // one film at a time
	films map[string][]byte
}

// open opens a scenario by its name in the gallery.
func (g *gallery) open(name string, sets ...string) (*scenarios.Scenario, error) {
	if g.own == nil && worlds.IsEmbedded(name) {
		return worlds.Open(g.app.Registry.Within(g.limit.Bytes), name, sets...)
	}
	if own, ok := g.own[name]; ok {
		return g.app.LoadScenario(name, slices.Concat(own, sets), g.limit)
	}
	return nil, fmt.Errorf("there is no scenario %q", name)
}

// List implements [view.Gallery].
func (g *gallery) List() (list []view.GalleryItem) {
	if g.own != nil {
		return nil
	}
	for _, info := range worlds.Embedded() {
		if s, err := g.open(info.Name); err == nil { // a test opens all
			list = append(list, view.NewGalleryItem(s))
		}
	}
	return list
}

// Begin implements [view.Gallery].
func (g *gallery) Begin(name, seed string, set map[string]float64) (c view.Start, err error) {
	var sets []string
	if seed != "" {
		if _, err := strconv.ParseUint(seed, 10, 64); err != nil {
			return c, fmt.Errorf("the seed must be a whole number from 0 to 18446744073709551615, not %q", seed)
		}
		sets = append(sets, "seed="+seed)
	}
	plain, err := g.open(name)
	if err != nil {
		return c, err
	}
	for _, path := range slices.Sorted(maps.Keys(set)) {
		settings := plain.Settings()
		i := slices.IndexFunc(settings, func(s scenarios.Setting) bool { return s.Path == path })
		if i < 0 {
			return c, fmt.Errorf("%s has no setting %q", name, path)
		}
		form := byte('g')
		if settings[i].Whole {
			form = 'f' // without an exponent
		}
		sets = append(sets, path+"="+strconv.FormatFloat(set[path], form, -1, 64))
	}
	s, err := g.open(name, sets...)
	if err == nil {
		err = session.CheckMemory(s, g.limit)
	}
	if err != nil {
		return c, err
	}
	return view.Start{Name: s.Name, Scenario: s, Workers: 1, Again: name, Set: set}, nil
}

// film returns a scenario's first ticks as a film, a GIF.
func (g *gallery) film(name string) ([]byte, error) {
	if g.own != nil {
		return nil, errors.New("there are films of the scenarios that come with murksim")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if b, ok := g.films[name]; ok {
		return b, nil
	}
	s, err := g.open(name)
	if err != nil {
		return nil, err
	}
	b, err := film(s)
	if err != nil {
		return nil, err
	}
	if g.films == nil {
		g.films = map[string][]byte{}
	}
	g.films[name] = b
	return b, nil
}

// film draws the first ticks of a scenario, as many as it can compute quickly.
func film(s *scenarios.Scenario) ([]byte, error) {
	const (
		frames = 30
		rate   = 10      // frames a second
		work   = 6 << 20 // cells times ticks
		side   = 224     // pixels
	)
	ticks := max(frames, min(s.Ticks, work/uint64(s.Lattice().Cells())))
	t := export.Ticks{From: 0, Every: max(1, ticks/frames), Count: frames}
	look := export.Look{Rate: rate, Slice: -1}
	if slices.ContainsFunc(s.Fields, func(f scenarios.Field) bool { return f.Name == render.Wall }) {
		look.Mask = render.Wall
	}
	if s.Lattice().Dim() > 1 { // a line is as wide as fits, with the ticks below each other
		look.Cell = render.Fit(s.Lattice(), side)
	}
	plan, err := export.NewPlan(s, export.Selection{Fields: []string{filmed(s)}})
	if err != nil {
		return nil, err
	}
	measure, err := plan.NewMeasure(look)
	if err != nil {
		return nil, err
	}
	if measure != nil {
		if err := each(s, t, measure.Add); err != nil {
			return nil, err
		}
		look.Range = measure.Range()
	}
	format, err := export.FormatOf("film.gif")
	if err != nil {
		return nil, err
	}
	var b memory
	sink, err := format.Open(&b, plan, t, look)
	if err != nil {
		return nil, err
	}
	defer sink.Discard()
	if err := each(s, t, sink.Add); err != nil {
		return nil, err
	}
	err = sink.Close()
	return b.Bytes(), err
}

// each calls a function with the world of a scenario at some ticks.
func each(s *scenarios.Scenario, t export.Ticks, look func(*engine.World) error) error {
	run, err := runner.New(runner.Config{Scenario: s, Workers: 1})
	if err != nil {
		return err
	}
	for n := range t.Count {
		if err := run.To(context.Background(), t.From+n*t.Every); err != nil {
			return err
		}
		if err := look(run.World); err != nil {
			return err
		}
	}
	return nil
}

// filmed returns the field that shows most of a scenario: the first field of cells that changes.
func filmed(s *scenarios.Scenario) (name string) {
	for i := range s.Fields {
		d := s.Fields[i].Def()
		switch {
		case d.Domain != fields.Cells:
		case d.Mutability != fields.Static:
			return d.Name
		case name == "":
			name = d.Name
		}
	}
	return name
}

// A memory is a file that is written from its beginning to its end.
type memory struct{ bytes.Buffer }

// Seek implements io.Seeker.
func (*memory) Seek(int64, int) (int64, error) { return 0, errors.ErrUnsupported }
