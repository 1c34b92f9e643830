package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/reasons"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/ask"
	"github.com/murksim/murksim/scenarios/document"
)

// A whyJob tells why a number of a recording is what it is.
type whyJob struct {
	*app
	session.Visitor
	tick   uint64
	field  string
	cell   string
	entity string
	depth  uint64

	picture string // an SVG; "": none
	force   bool
}

func (a *app) whyCommand() *cobra.Command {
	j := &whyJob{app: a, Visitor: session.Visitor{Opener: a.Session, MaxMemory: session.DefaultMaxMemory}}
	c := &cobra.Command{
		Use:   "why RECORDING --tick N --field NAME --cell COORDINATE",
		Short: "Tell why a cell or an entity has its value",
		Long: `Why finds the latest tick, up to --tick, in which a number changed, and what changed it: a
command, and who sent it; an event, and what scheduled it; or a part of the tick, such as a
propagator or a rule, and of a rule which branch was taken. It then computes the tick again, at
most 256 times: without one of its commands, without an entity that was near or as if it had not
moved, with one of the numbers near it or a parameter as it was a tick before, and with other
numbers drawn. It shows which of them would have made another value of it: the causes, and what
there would have been without each, those first that matter most.

A number is named by --field and --cell, or by --field, for an attribute, and --entity. For
one component of a vector write its number behind the name, as in flow_1.

With --depth it goes on with the first cause, and its causes, so many steps back. --picture draws
these steps where they lie in the world.

Exit status: 0 it is told, 1 the recording is damaged, has no such tick or cannot be replayed
here, 2 usage, 3 a tick is not as recorded.`,
		Example: `  murksim why heat.murk --tick 500 --field heat --cell 24,24
  murksim why heat.murk --tick 500 --field heat --cell 24,24 --depth 5
  murksim why heat.murk --tick 500 --field heat --cell 24,24 --depth 9 --picture why.svg
  murksim why predators.murk --tick 300 --field energy --entity 17`,
		Args: arguments(cobra.ExactArgs(1), "one recording"),
		RunE: func(c *cobra.Command, args []string) error {
			given := c.Flags().Changed
			switch {
			case !given("tick"):
				return report.Usage("why needs --tick, up to which the number is looked at")
			case j.field == "":
				return report.Usage("why needs --field: whose number it is")
			case !given("cell") && !given("entity"):
				return report.Usage("why needs --cell or --entity: where the number is")
			case given("cell") && given("entity"):
				return report.Usage("why takes --cell or --entity, not both")
			case j.depth == 0:
				return report.Usage("--depth must be 1 or more")
			case args[0] == "-":
				return report.Usage("why takes a file, not standard input")
			}
			if err := j.checkPicture(args[0]); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			return j.run(ctx, args[0])
		},
	}
	f := c.Flags()
	f.Var((*tickFlag)(&j.tick), "tick", "the tick")
	f.StringVar(&j.field, "field", "", "the field, or the attribute, by `name`")
	f.StringVar(&j.cell, "cell", "", "the cell, a `coordinate` such as 24,24")
	f.StringVar(&j.entity, "entity", "", "the entity, by its name or `id`")
	f.Uint64Var(&j.depth, "depth", 1, "how many `steps` to go back, from cause to cause")
	f.StringVar(&j.picture, "picture", "", "draw the steps on the world, as an SVG `file`")
	f.BoolVar(&j.force, "force", false, "overwrite the picture if it exists")
	a.visitorFlags(f, &j.Visitor)
	return c
}

func (j *whyJob) run(ctx context.Context, name string) error {
	err := j.tell(ctx, name)
	switch {
	case ctx.Err() != nil:
		return session.Interrupted(name)
	case errors.Is(err, ask.ErrRemembers):
		return j.remembers(name)
	}
	return j.accused(ctx, name, j.MaxMemory, err)
}

// tell finds the number, and tells of it step by step.
func (j *whyJob) tell(ctx context.Context, name string) error {
	cursor, err := j.Cursor(ctx, name, 1)
	if err != nil {
		return j.Opener.Diverged(name, err)
	}
	defer cursor.Close()
	if err := cursor.Has(name, j.tick); err != nil {
		return err
	}
	y := ask.NewWhy(cursor.Cursor)
	if err := cursor.Seek(j.tick); err != nil {
		return j.Opener.Diverged(name, err)
	}
	n, w := session.Names{Scenario: cursor.Scenario}, cursor.World()
	s := reasons.NewSpeaker(n, w)
	s.More = "; --json has them"
	p, err := j.place(w, n)
	if err != nil {
		return err
	}
	if p.Entity != 0 && j.entity != strconv.FormatUint(p.Entity, 10) { // it is called by its name
		var kinds error
		if begin, _ := cursor.Ticks(); begin > 0 { // nothing shows how what lives there was made
			kinds = n.Scenario.CheckKinds(w)
		}
		if err := cmp.Or(kinds, session.CheckNames(ctx, j.Opener, name, n.Scenario, j.tick)); err != nil {
			return words.About(name, err)
		}
	}
	picture := pathPicture{title: fmt.Sprintf("Why %s at tick %s of %s", s.Name(p), words.Number(j.tick), document.FileName(name))}
	for tick, step := j.tick, uint64(0); step < j.depth; step++ {
		c, err := y.Latest(ctx, p, tick)
		if err != nil {
			return j.Opener.Diverged(name, err)
		}
		r := s.Change(c)
		r.Event, r.File = "change", name
		if err := j.Emit(r); err != nil {
			return err
		}
		lines := s.Lines(&r)
		if err := j.Say("%s", strings.Join(lines, "\n")); err != nil {
			return err
		}
		if j.picture != "" {
			if err := picture.add(cursor, c, lines); err != nil {
				return j.Opener.Diverged(name, err)
			}
		}
		i := slices.IndexFunc(c.Causes, func(x ask.Cause) bool { return x.Kind == ask.CauseNumber })
		if c.Command != nil || i < 0 {
			break
		}
		p, tick = c.Causes[i].Place, c.Tick-1
	}
	if j.picture == "" {
		return nil
	}
	return j.writeFrom(ctx, j.picture, bytes.NewReader(picture.svg()), j.force)
}

// place finds the number that is asked for in a world.
func (j *whyJob) place(w *engine.World, names session.Names) (p ask.Place, err error) {
	name, number, _ := strings.Cut(j.field, "_")
	at := slices.IndexFunc(w.Defs(), func(d fields.Def) bool { return d.Name == j.field })
	if at < 0 {
		at = slices.IndexFunc(w.Defs(), func(d fields.Def) bool { return d.Name == name && d.Type.Kind == fields.VectorKind })
		if p.Component, err = strconv.Atoi(number); err != nil || at >= 0 && (p.Component < 0 || p.Component >= w.Defs()[at].Type.Components()) {
			at = -1
		}
	}
	own := len(names.Scenario.Fields) // those behind them are the engine's
	if at < 0 || at >= own {
		var names []string
		for _, d := range w.Defs()[:own] {
			names = append(names, d.Name)
		}
		return p, report.Usage("there is no field %q%s", j.field, document.Suggestion(j.field, names))
	}
	d := &w.Defs()[at]
	switch p.Field = fields.ID(at); {
	case d.Type.Kind == fields.VectorKind && d.Name == j.field:
		return p, report.Usage("%s is a vector; name one of its components, as in %s_0", j.field, j.field)
	case (d.Domain == fields.Entities) != (j.cell == ""):
		return p, report.Usage("%s is a field of %s", d.Name, map[bool]string{true: "entities: give --entity, not --cell", false: "cells: give --cell, not --entity"}[d.Domain == fields.Entities])
	case j.cell == "":
		for _, id := range w.Entities().Live() {
			if strconv.FormatUint(id, 10) == j.entity || names.Entity(id) == j.entity {
				p.Entity = id
				return p, nil
			}
		}
		if p.Entity, err = strconv.ParseUint(j.entity, 10, 64); err == nil && p.Entity > 0 {
			return p, nil // it may have lived before
		}
		if e := names.Scenario.Entities; e != nil && slices.Contains(e.Kinds, j.entity) {
			return p, report.Usage("%s is a kind; name an entity by its name or its id, which export --entities lists", j.entity)
		}
		return p, fmt.Errorf("no entity %s lives at tick %s; one that died is asked for by its id, which export --entities lists", words.Printable(j.entity), words.Number(w.Tick()))
	}
	c, err := parseCell("--cell", j.cell)
	if err != nil {
		return p, err
	}
	var ok bool
	if p.Cell, ok = w.Lattice().Rank(c); !ok {
		return p, report.Usage("--cell %s: there is no such cell in %v", words.Printable(j.cell), w.Lattice().Space())
	}
	return p, nil
}
