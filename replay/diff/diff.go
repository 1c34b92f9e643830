// Package diff finds the tick at which two runs diverge, and what differs there.
//
// [Recordings] finds the tick in two recordings and [Bisect] by questions, [States] compares
// its two saved states element by element, [Columns] those of a part of it, and [Repeat] finds out whether a step gives the
// same result each time.
package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A Kind says how a part of the state differs.
type Kind string

// The kinds.
const (
	Changed Kind = "changed"
	Added   Kind = "added"   // only the second state has it
	Removed Kind = "removed" // only the first has it
)

// A Difference is one number, entity, event or stream in which two states differ.
type Difference struct {
	Path  string  `json:"path"` // such as /entities/52428801/altitude or /cells/3,4/food
	Kind  Kind    `json:"kind"`
	Field string  `json:"field,omitempty"` // of an element of a cell or entity
	Cell  []int32 `json:"cell,omitempty"`  // coordinate of an element of a cell
	A     string  `json:"a,omitempty"`     // in the first state; empty if it is absent
	B     string  `json:"b,omitempty"`
	Delta string  `json:"delta,omitempty"` // B - A, of numbers
	Ulps  uint32  `json:"ulps,omitempty"`  // from A to B in units in the last place, of float32s; 0 from -0 to 0

	// Observable is true if a number of a column or parameter is off by more than 0.0001
	// units, or an entity is missing. It ranks differences; every one is a failure.
	Observable bool `json:"observable"`
}

// String returns the difference on one line.
func (d *Difference) String() string {
	switch {
	case d.Kind != Changed:
		return fmt.Sprintf("%s %s (%s)", d.Path, d.Kind, d.A+d.B)
	case d.Delta != "":
		return fmt.Sprintf("%s: %s → %s (%s)", d.Path, d.A, d.B, d.Delta)
	}
	return fmt.Sprintf("%s: %s → %s", d.Path, d.A, d.B)
}

// A Report says in what two states of one tick differ.
type Report struct {
	Tick        uint64       `json:"tick"`
	Sections    []string     `json:"sections"`    // of the state, in which they differ
	Fields      []Field      `json:"fields"`      // in which they differ, by field id
	Entities    Entities     `json:"entities"`    // that differ
	Count       int          `json:"count"`       // of all differences
	Differences []Difference `json:"differences"` // by path; of each part the first [MaxDifferences] at most
	Observable  bool         `json:"observable"`  // whether one of all differences is
}

// A Field says how much of a field differs. Of attributes only entities count that live in
// both states.
type Field struct {
	Name   string     `json:"name"`
	Domain string     `json:"domain"` // cells or entities
	Differ int        `json:"differ"` // cells or entities whose values differ
	Of     int        `json:"of"`     // how many there are
	Most   Difference `json:"most"`   // the largest one; the first of several
}

// Entities counts entities, by their ids.
type Entities struct {
	Added   int `json:"added"`   // only in the second state
	Removed int `json:"removed"` // only in the first
	Changed int `json:"changed"` // in both, with other attributes or in another slot
}

// MaxDifferences is the most differences that a [Report] lists of one part of the state,
// which is a field, the lives of entities, or a section. It counts them all.
const MaxDifferences = 64

// Equal reports whether nothing differs.
func (r *Report) Equal() bool { return len(r.Sections) == 0 }

// Text returns a report for people: a headline, then at most so many differences.
func (r *Report) Text(limit int) string {
	if r.Equal() {
		return fmt.Sprintf("tick %d: the states are equal\n", r.Tick)
	}
	var b strings.Builder
	severity := "sub-threshold: no number is off by more than 0.0001"
	if r.Observable {
		severity = "observable"
	}
	fmt.Fprintf(&b, "tick %d: differences in %s: %d (%s)\n", r.Tick, strings.Join(r.Sections, ", "), r.Count, severity)
	for i := range r.Differences[:min(limit, len(r.Differences))] {
		fmt.Fprintf(&b, "  %v\n", &r.Differences[i])
	}
	if more := r.Count - min(limit, len(r.Differences)); more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	return b.String()
}

// States compares two saved states of one tick of a world, of which it reads only the
// columns and cells. Paths name entities by their ids and cells by their
// coordinates, so that they do not depend on slots. It returns an error for a state that
// cannot be read, or that is of another tick or world.
func States(w *engine.World, a, b []byte) (*Report, error) {
	c := comparison{w: w}
	var err error
	if c.a, err = engine.ReadState(a); err != nil {
		return nil, fmt.Errorf("diff: first state: %w", err)
	}
	if c.b, err = engine.ReadState(b); err != nil {
		return nil, fmt.Errorf("diff: second state: %w", err)
	}
	if c.a.Tick != c.b.Tick {
		return nil, fmt.Errorf("diff: the states are of ticks %d and %d", c.a.Tick, c.b.Tick)
	}
	for i, s := range []*engine.State{c.a, c.b} {
		if err := fit(w, s); err != nil {
			return nil, fmt.Errorf("diff: state %d: %w", i+1, err)
		}
	}
	c.report.Tick = c.a.Tick
	for i, compare := range [...]func(){c.meta, c.parameters, c.columns, c.events, c.draws} {
		if bytes.Equal(c.a.Sections[i], c.b.Sections[i]) {
			continue
		}
		c.report.Sections, c.listed = append(c.report.Sections, engine.SectionNames[i]), 0
		compare()
	}
	c.sort()
	return &c.report, nil
}

// Columns compares columns of two worlds, by field id, such as those that a part of a tick
// has left. A column may be empty in both: one of cells that are the same, and if no column of
// entities differs, all of these. World.rest is not among them.
func Columns(w *engine.World, tick uint64, a, b []fields.Column) *Report {
	c := comparison{w: w, a: stateOf(w, a), b: stateOf(w, b)}
	c.report.Tick, c.report.Sections = tick, []string{}
	if c.columns(); c.report.Count > 0 {
		c.report.Sections = append(c.report.Sections, "fields")
	}
	c.sort()
	return &c.report
}

// stateOf returns a state that has columns alone.
func stateOf(w *engine.World, columns []fields.Column) *engine.State {
	s := new(engine.State)
	for id := range columns {
		s.Columns = append(s.Columns, engine.StateColumn{Element: w.Defs()[id].Element, Bytes: columns[id].AppendBytes(nil)})
	}
	return s
}

// sort puts the differences in the order of their paths.
func (c *comparison) sort() {
	slices.SortStableFunc(c.report.Differences, func(x, y Difference) int { return comparePaths(x.Path, y.Path) })
}

// comparePaths orders paths; numbers in them count as numbers.
func comparePaths(x, y string) int {
	for x != "" && y != "" {
		a, b := number(x), number(y)
		if a > 0 && b > 0 {
			if order := cmp.Or(cmp.Compare(a, b), strings.Compare(x[:a], y[:b])); order != 0 {
				return order // a path has no leading zeros
			}
			x, y = x[a:], y[b:]
			continue
		}
		if x[0] != y[0] {
			break
		}
		x, y = x[1:], y[1:]
	}
	return strings.Compare(x, y)
}

// number returns how many digits a text begins with.
func number(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// fit checks that a state has the columns of the world. There may be room for another
// number of entities.
func fit(w *engine.World, s *engine.State) error {
	defs, cells, slots := w.Defs(), w.Lattice().Cells(), -1
	if want := len(defs) - 1; len(s.Columns) != want { // all but world.rest
		return fmt.Errorf("it has %d columns; the world's have %d", len(s.Columns), want)
	}
	for id := range s.Columns {
		have, d := &s.Columns[id], &defs[id]
		want := cells * d.Type.Components()
		if d.Domain == fields.Entities {
			if n := d.Type.Components(); slots < 0 && have.Len()%n == 0 {
				slots = have.Len() / n
			}
			want = slots * d.Type.Components()
		}
		if have.Element != d.Element || have.Len() != want {
			return fmt.Errorf("column %q is not the world's", d.Name)
		}
	}
	return nil
}

// A comparison is one call of States.
type comparison struct {
	w      *engine.World
	a, b   *engine.State
	listed int // differences of the part that is being compared
	report Report
}

// add counts a difference, and lists it if its part has room.
func (c *comparison) add(d Difference) {
	c.report.Count++
	c.report.Observable = c.report.Observable || d.Observable
	if c.listed < MaxDifferences {
		c.listed++
		c.report.Differences = append(c.report.Differences, d)
	}
}

// text adds two texts, if they differ; an empty one means that the part is absent.
func (c *comparison) text(path, a, b string) {
	switch {
	case a == b:
	case a == "":
		c.add(Difference{Path: path, Kind: Added, B: b})
	case b == "":
		c.add(Difference{Path: path, Kind: Removed, A: a})
	default:
		c.add(Difference{Path: path, Kind: Changed, A: a, B: b})
	}
}
