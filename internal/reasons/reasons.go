// Package reasons says in words, and as objects, why numbers of a recording are what they are: the same to those who type and to those who look at a page.
package reasons

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/ask"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// A Number is a number of a recording.
type Number struct {
	Field  string  `json:"field"`
	Cell   []int32 `json:"cell,omitempty"`
	Entity uint64  `json:"entity,omitempty"`
}

// A Change is a step of what why prints with --json.
type Change struct {
	Event string `json:"event"` // "change"
	File  string `json:"file"`
	Tick  uint64 `json:"tick"` // in which the number changed, or at which the recording begins, with this value
	Number
	Before    string  `json:"before,omitempty"`
	After     string  `json:"after"`
	Part      string  `json:"part,omitempty"` // of the tick, by its name
	Kind      string  `json:"kind,omitempty"`
	By        string  `json:"by,omitempty"`      // of events of the tick: the part that scheduled the one that changed it
	Terms     []Term  `json:"terms,omitempty"`   // how the part came to it
	Command   string  `json:"command,omitempty"` // that set it
	Scheduled *Event  `json:"scheduled,omitempty"`
	Later     []Later `json:"later,omitempty"` // what later parts of the tick made of it
	Causes    []Cause `json:"causes,omitempty"`
	Together  bool    `json:"together,omitempty"` // the causes are one only together
	Untried   int     `json:"untried,omitempty"`  // what may be causes, and cannot be put back or was not tried
}

// A Term is a part of a computation, and what it came to.
type Term struct {
	What  string `json:"what"`
	Value string `json:"value"`
}

// An Event says of a command that is an event of the world how it came about.
type Event struct {
	Tick    uint64 `json:"tick"`
	Part    string `json:"part,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Command string `json:"command,omitempty"` // for which it was scheduled
}

// A Later is a later part of a tick that changed a number.
type Later struct {
	Part  string `json:"part"`
	Kind  string `json:"kind"`
	After string `json:"after"`

	By    string `json:"by,omitempty"`
	Terms []Term `json:"terms,omitempty"`
}

// A Cause is a number, a command, an entity or a draw, without which a change would have been another one.
type Cause struct {
	*Number
	Without   uint64   `json:"without,omitempty"` // an entity that stood near
	Moved     uint64   `json:"moved,omitempty"`   // an entity that moved
	From      []int32  `json:"from,omitempty"`
	To        []int32  `json:"to,omitempty"`
	Drawn     []string `json:"drawn,omitempty"` // the parts that drew
	Parameter string   `json:"parameter,omitempty"`
	Command   string   `json:"command,omitempty"`
	Scheduled *Event   `json:"scheduled,omitempty"`
	Before    string   `json:"before,omitempty"` // of the tick before
	After     string   `json:"after,omitempty"`
	Else      string   `json:"else"` // what would have come of it, had it stayed as it was
}

// A Speaker says in words what changed.
type Speaker struct {
	More string // said where not all causes are shown: how to see them

	names   scenarios.Names
	lattice *space.Lattice
	defs    []fields.Def
}

// NewSpeaker returns one of a scenario's world.
func NewSpeaker(names scenarios.Names, w *engine.World) *Speaker {
	return &Speaker{names: names, lattice: w.Lattice(), defs: slices.Clone(w.Defs())}
}

// number names a number.
func (s *Speaker) number(p ask.Place) (v Number) {
	d := &s.defs[p.Field]
	if v.Field = d.Name; d.Type.Kind == fields.VectorKind {
		v.Field += "_" + strconv.Itoa(p.Component)
	}
	if v.Entity = p.Entity; p.Entity == 0 {
		v.Cell = s.cell(p.Cell)
	}
	return v
}

// Name names a number for people.
func (s *Speaker) Name(p ask.Place) string {
	n := s.number(p)
	return s.name(&n)
}

// name names a number for people.
func (s *Speaker) name(v *Number) string {
	if v.Entity != 0 {
		return v.Field + " of " + s.names.Entity(v.Entity)
	}
	return v.Field + " at " + coordinate(v.Cell)
}

// value says a value.
func (s *Speaker) value(p ask.Place, n ask.Number) string {
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

// Change is a change with its names.
func (s *Speaker) Change(c *ask.Change) Change {
	r := Change{Tick: c.Tick, Number: s.number(c.Place), After: s.value(c.Place, c.After), Together: c.Together, Untried: c.Untried}
	if len(c.Steps) > 0 {
		r.Before, r.Part, r.Kind, r.Terms = s.value(c.Place, c.Before), c.Steps[0].Part, c.Steps[0].Kind, terms(c.Steps[0].Terms)
		r.By = c.Steps[0].By
	}
	if c.Command != nil {
		r.Command, r.Scheduled = s.order(c.Command)
	}
	for _, x := range c.Steps[min(1, len(c.Steps)):] {
		r.Later = append(r.Later, Later{x.Part, x.Kind, s.value(c.Place, x.Number), x.By, terms(x.Terms)})
	}
	for i := range c.Causes {
		r.Causes = append(r.Causes, s.cause(c, &c.Causes[i]))
	}
	return r
}

// cause is a cause with its names.
func (s *Speaker) cause(c *ask.Change, x *ask.Cause) Cause {
	v := Cause{Else: s.value(c.Place, x.Else)}
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
		v.Number, v.Before, v.After = &n, s.value(x.Place, x.Before), s.value(x.Place, x.After)
	}
	return v
}

// order says a command in words, and of an event how it came about.
func (s *Speaker) order(o *ask.Order) (string, *Event) {
	if !o.Event {
		return words.Command(s.names, &o.Command), nil
	}
	e := &Event{Tick: o.Scheduled, Part: o.By.Part, Kind: o.By.Kind}
	if o.Later != nil {
		e.Command = words.Command(s.names, &o.Later.Command)
	}
	return s.names.Describe(&o.Command), e
}

// text says how an event came about.
func (e *Event) text() string {
	text := "scheduled in tick " + words.Number(e.Tick)
	if e.Part != "" {
		text += ", by " + partText(e.Kind, e.Part)
	}
	return text
}

func terms(terms []engine.Term) (list []Term) {
	for _, t := range terms {
		list = append(list, Term{t.What, t.Value})
	}
	return list
}

// cell is the coordinate of a cell.
func (s *Speaker) cell(rank int) []int32 {
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

// MostCauses is how many causes are shown.
const MostCauses = 8

// Lines say a change to people.
func (s *Speaker) Lines(r *Change) (lines []string) {
	lines, _ = s.LinesOf(r)
	return lines
}

// LinesOf returns the lines that say a change, and the number of the line that says its first cause; the next ones say the others.
func (s *Speaker) LinesOf(r *Change) (lines []string, cause int) {
	if r.Part == "" && r.Entity != 0 && r.After == "none" {
		return []string{fmt.Sprintf("tick %s  %s has not lived since the recording begins", words.Number(r.Tick), s.names.Entity(r.Entity))}, 1
	}
	if r.Part == "" {
		return []string{fmt.Sprintf("tick %s  %s is %s from where the recording begins", words.Number(r.Tick), s.name(&r.Number), r.After)}, 1
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
	lines = append(lines, fmt.Sprintf("tick %s  %s  %s → %s, by %s", words.Number(r.Tick), s.name(&r.Number), r.Before, first, by))
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
	return append(lines, s.because(r)...), len(lines)
}

// because says the causes of a change, one in a line.
func (s *Speaker) because(r *Change) (lines []string) {
	var rows [][]string
	for i := range r.Causes {
		if i == MostCauses {
			rows = append(rows, []string{fmt.Sprintf("and %d more%s", len(r.Causes)-i, s.More)})
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
func (s *Speaker) row(x *Cause) []string {
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
	return []string{s.name(x.Number), x.Before + " → " + x.After, otherwise}
}

// termLines say how a part came to a number.
func termLines(terms []Term) (lines []string) {
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
