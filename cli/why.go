package cli

import (
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
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/ask"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
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

With --depth it goes on with the first cause, and its causes, so many steps back.

Exit status: 0 it is told, 1 the recording is damaged, has no such tick or cannot be replayed
here, 2 usage, 3 a tick is not as recorded.`,
		Example: `  murksim why heat.murk --tick 500 --field heat --cell 24,24
  murksim why heat.murk --tick 500 --field heat --cell 24,24 --depth 5
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
	a.visitorFlags(f, &j.Visitor)
	return c
}

// A numberView is a number of a recording.
type numberView struct {
	Field  string  `json:"field"`
	Cell   []int32 `json:"cell,omitempty"`
	Entity uint64  `json:"entity,omitempty"`
}

// A whyResult is a step of what why prints with --json.
type whyResult struct {
	Event string `json:"event"` // "change"
	File  string `json:"file"`
	Tick  uint64 `json:"tick"` // in which the number changed, or at which the recording begins, with this value
	numberView
	Before    string      `json:"before,omitempty"`
	After     string      `json:"after"`
	Part      string      `json:"part,omitempty"` // of the tick, by its name
	Kind      string      `json:"kind,omitempty"`
	By        string      `json:"by,omitempty"`      // of events of the tick: the part that scheduled the one that changed it
	Terms     []termView  `json:"terms,omitempty"`   // how the part came to it
	Command   string      `json:"command,omitempty"` // that set it
	Scheduled *eventView  `json:"scheduled,omitempty"`
	Later     []laterView `json:"later,omitempty"` // what later parts of the tick made of it
	Causes    []causeView `json:"causes,omitempty"`
	Together  bool        `json:"together,omitempty"` // the causes are one only together
	Untried   int         `json:"untried,omitempty"`  // what may be causes, and cannot be put back or was not tried
}

// A termView is a part of a computation, and what it came to.
type termView struct {
	What  string `json:"what"`
	Value string `json:"value"`
}

// An eventView says of a command that is an event of the world how it came about.
type eventView struct {
	Tick    uint64 `json:"tick"`
	Part    string `json:"part,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Command string `json:"command,omitempty"` // for which it was scheduled
}

// A laterView is a later part of a tick that changed a number.
type laterView struct {
	Part  string `json:"part"`
	Kind  string `json:"kind"`
	After string `json:"after"`

	By    string     `json:"by,omitempty"`
	Terms []termView `json:"terms,omitempty"`
}

// A causeView is a number, a command, an entity or a draw, without which a change would have been another one.
type causeView struct {
	*numberView
	Without   uint64     `json:"without,omitempty"` // an entity that stood near
	Moved     uint64     `json:"moved,omitempty"`   // an entity that moved
	From      []int32    `json:"from,omitempty"`
	To        []int32    `json:"to,omitempty"`
	Drawn     []string   `json:"drawn,omitempty"` // the parts that drew
	Parameter string     `json:"parameter,omitempty"`
	Command   string     `json:"command,omitempty"`
	Scheduled *eventView `json:"scheduled,omitempty"`
	Before    string     `json:"before,omitempty"` // of the tick before
	After     string     `json:"after,omitempty"`
	Else      string     `json:"else"` // what would have come of it, had it stayed as it was
}

func (j *whyJob) run(ctx context.Context, name string) error {
	err := j.tell(ctx, name)
	switch {
	case ctx.Err() != nil:
		return session.Interrupted(name)
	case errors.Is(err, ask.ErrRemembers):
		return fmt.Errorf("%s: %s; %s synctest may name the part", document.FileName(name), session.Remembers, j.Name)
	}
	return err
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
	s := speaker{n, w.Lattice(), slices.Clone(w.Defs())}
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
	for tick, step := j.tick, uint64(0); step < j.depth; step++ {
		c, err := y.Latest(ctx, p, tick)
		if err != nil {
			return j.Opener.Diverged(name, err)
		}
		r := s.view(c)
		r.Event, r.File = "change", name
		if err := j.Emit(r); err != nil {
			return err
		}
		if err := j.Say("%s", strings.Join(s.lines(&r), "\n")); err != nil {
			return err
		}
		i := slices.IndexFunc(c.Causes, func(x ask.Cause) bool { return x.Kind == ask.CauseNumber })
		if c.Command != nil || i < 0 {
			break
		}
		p, tick = c.Causes[i].Place, c.Tick-1
	}
	return nil
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

// A speaker says in words what changed.
type speaker struct {
	names   session.Names
	lattice *space.Lattice
	defs    []fields.Def
}

// number names a number.
func (s *speaker) number(p ask.Place) (v numberView) {
	d := &s.defs[p.Field]
	if v.Field = d.Name; d.Type.Kind == fields.VectorKind {
		v.Field += "_" + strconv.Itoa(p.Component)
	}
	if v.Entity = p.Entity; p.Entity == 0 {
		v.Cell = s.cell(p.Cell)
	}
	return v
}

// name names a number for people.
func (s *speaker) name(v *numberView) string {
	if v.Entity != 0 {
		return v.Field + " of " + s.names.Entity(v.Entity)
	}
	return v.Field + " at " + coordinate(v.Cell)
}

// value says a value.
func (s *speaker) value(p ask.Place, n ask.Number) string {
	switch {
	case !n.Exists:
		return "none"
	case s.defs[p.Field].Element == fields.Float32:
		return s.names.Value(uint32(p.Field), float32(n.Value))
	}
	return shortest(n.Value)
}

// shortest writes a number with as many digits as it takes.
func shortest(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// view is a change with its names.
func (s *speaker) view(c *ask.Change) whyResult {
	r := whyResult{Tick: c.Tick, numberView: s.number(c.Place), After: s.value(c.Place, c.After), Together: c.Together, Untried: c.Untried}
	if len(c.Steps) > 0 {
		r.Before, r.Part, r.Kind, r.Terms = s.value(c.Place, c.Before), c.Steps[0].Part, c.Steps[0].Kind, termViews(c.Steps[0].Terms)
		r.By = c.Steps[0].By
	}
	if c.Command != nil {
		r.Command, r.Scheduled = s.order(c.Command)
	}
	for _, x := range c.Steps[min(1, len(c.Steps)):] {
		r.Later = append(r.Later, laterView{x.Part, x.Kind, s.value(c.Place, x.Number), x.By, termViews(x.Terms)})
	}
	for i := range c.Causes {
		r.Causes = append(r.Causes, s.cause(c, &c.Causes[i]))
	}
	return r
}

// cause is a cause with its names.
func (s *speaker) cause(c *ask.Change, x *ask.Cause) causeView {
	v := causeView{Else: s.value(c.Place, x.Else)}
	switch x.Kind {
	case ask.CausePresence:
		v.Without = x.Entity
	case ask.CauseMove:
		v.Moved, v.From, v.To = x.Entity, s.cell(x.From), s.cell(x.To)
	case ask.CauseDraw:
		v.Drawn = x.Drawn
	case ask.CauseParameter:
		v.Parameter, v.Before, v.After = s.names.Parameter(x.Parameter), shortest(x.Before.Value), shortest(x.After.Value)
	case ask.CauseCommand:
		v.Command, v.Scheduled = s.order(x.Order)
	default:
		n := s.number(x.Place)
		v.numberView, v.Before, v.After = &n, s.value(x.Place, x.Before), s.value(x.Place, x.After)
	}
	return v
}

// order says a command in words, and of an event how it came about.
func (s *speaker) order(o *ask.Order) (string, *eventView) {
	if !o.Event {
		return session.DescribeCommand(s.names, &o.Command), nil
	}
	e := &eventView{Tick: o.Scheduled, Part: o.By.Part, Kind: o.By.Kind}
	if o.Later != nil {
		e.Command = session.DescribeCommand(s.names, &o.Later.Command)
	}
	return s.names.Describe(&o.Command), e
}

// text says how an event came about.
func (e *eventView) text() string {
	text := "scheduled in tick " + words.Number(e.Tick)
	if e.Part != "" {
		text += ", by " + partText(e.Kind, e.Part)
	}
	return text
}

func termViews(terms []engine.Term) (list []termView) {
	for _, t := range terms {
		list = append(list, termView{t.What, t.Value})
	}
	return list
}

// cell is the coordinate of a cell.
func (s *speaker) cell(rank int) []int32 {
	c := s.lattice.Coord(rank)
	return c.AppendTo(nil)
}

// coordinate says a coordinate.
func coordinate(c []int32) string { return strings.ReplaceAll(fmt.Sprint(c), " ", ", ") }

// partText names a part of a tick.
func partText(kind, name string) string {
	if kind == name {
		return map[string]string{engine.PartCommands: "a command", engine.PartEvents: "an event of the tick", engine.PartChecks: "the bounds of its field"}[kind]
	}
	return kind + " " + name
}

// stepText names the part of a tick that changed a number, and of an event which part scheduled it.
func stepText(kind, name, by string) string {
	if by != "" {
		return "an event of " + by
	}
	return partText(kind, name)
}

// mostCauses is how many causes are shown.
const mostCauses = 8

// lines say a change to people.
func (s *speaker) lines(r *whyResult) (lines []string) {
	if r.Part == "" && r.Entity != 0 && r.After == "none" {
		return []string{fmt.Sprintf("tick %s  %s has not lived since the recording begins", words.Number(r.Tick), s.names.Entity(r.Entity))}
	}
	if r.Part == "" {
		return []string{fmt.Sprintf("tick %s  %s is %s from where the recording begins", words.Number(r.Tick), s.name(&r.numberView), r.After)}
	}
	by := stepText(r.Kind, r.Part, r.By)
	switch {
	case r.Scheduled != nil:
		by = "an event"
	case r.Command != "":
		by = "a command"
	}
	first := r.After
	if len(r.Later) > 0 {
		first = "…"
	}
	lines = append(lines, fmt.Sprintf("tick %s  %s  %s → %s, by %s", words.Number(r.Tick), s.name(&r.numberView), r.Before, first, by))
	switch {
	case r.Scheduled != nil:
		lines = append(lines, "  event    "+r.Command+"  "+r.Scheduled.text())
		if r.Scheduled.Command != "" {
			lines = append(lines, "  command  "+r.Scheduled.Command)
		}
	case r.Command != "":
		lines = append(lines, "  command  "+r.Command)
	}
	lines = append(lines, termLines(r.Terms)...)
	for _, x := range r.Later {
		lines = append(lines, fmt.Sprintf("  then     → %s, by %s", x.After, stepText(x.Kind, x.Part, x.By)))
		lines = append(lines, termLines(x.Terms)...)
	}
	var rows [][]string
	for i := range r.Causes {
		if i == mostCauses {
			rows = append(rows, []string{fmt.Sprintf("and %d more; --json has them", len(r.Causes)-i)})
			break
		}
		rows = append(rows, s.row(&r.Causes[i]))
	}
	label := "because"
	for _, row := range words.Aligned(rows) {
		lines = append(lines, fmt.Sprintf("  %-7s  %s", label, row))
		label = ""
	}
	switch {
	case r.Together:
		lines = append(lines, "           none of them alone, but all together")
	case len(r.Causes) == 0 && r.Command == "":
		lines, label = append(lines, "  because  of nothing alone that was tried: without any one thing near it it would be the same"), ""
	}
	if r.Untried > 0 {
		lines = append(lines, fmt.Sprintf("  %-7s  %s more near it, which cannot be put back, or were not tried", label, words.Number(uint64(r.Untried))))
	}
	return lines
}

// row says a cause.
func (s *speaker) row(x *causeView) []string {
	otherwise := "else " + x.Else
	switch {
	case x.Without != 0:
		return []string{s.names.Entity(x.Without), "was near", otherwise}
	case x.Moved != 0:
		return []string{s.names.Entity(x.Moved), coordinate(x.From) + " → " + coordinate(x.To), otherwise}
	case len(x.Drawn) > 0:
		return []string{strings.Join(x.Drawn, " or "), "drew numbers", otherwise}
	case x.Parameter != "":
		return []string{"parameter " + x.Parameter, x.Before + " → " + x.After, otherwise}
	case x.Scheduled != nil:
		return []string{x.Command, x.Scheduled.text(), otherwise}
	case x.Command != "":
		return []string{x.Command, "", otherwise}
	}
	return []string{s.name(x.numberView), x.Before + " → " + x.After, otherwise}
}

// termLines say how a part came to a number.
func termLines(terms []termView) (lines []string) {
	var rows [][]string
	for _, t := range terms {
		if t.What == t.Value {
			t.Value = ""
		}
		rows = append(rows, []string{t.What, t.Value})
	}
	label := "terms"
	for _, row := range words.Aligned(rows) {
		lines = append(lines, fmt.Sprintf("  %-7s  %s", label, strings.TrimRight(row, " ")))
		label = ""
	}
	return lines
}
