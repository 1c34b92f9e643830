package propagators

import (
	"fmt"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// A Transition says what a cell becomes. See [NewTable].
type Transition struct {
	From   int         // the state of the cell, or [Any]
	When   []Condition // all must hold
	Become int
}

// Any stands for every state in a [Transition].
const Any = -1

// A Condition looks at a cell's neighbours.
type Condition struct {
	State  int    // of neighbours
	Counts uint64 // holds if n neighbours are of the state and bit n is set; see [Between]
	At     string // if not empty, in place of Counts: holds if the neighbour in this direction is of the state
}

// Between returns the mask of the numbers lo to hi, for [Condition] and [Rule].
func Between(lo, hi int) (mask uint64) {
	for n := max(lo, 0); n <= min(hi, 63); n++ {
		mask |= 1 << n
	}
	return mask
}

// A Table is the rule of an [Automaton] with any meaning of its states, made by
// [NewTable] or [NewElementary]. It never changes and may be shared.
//
// For each state of a cell it holds numbers that distinguish all the neighbourhoods that
// matter to that state: the sum of one weight for each neighbour, by the neighbour's
// state and direction. The sum is the index of the next state in a list.
type Table struct {
	names   []string // of the directions
	states  int
	slots   []uint8  // by direction: which weights are its
	first   []uint16 // by state: where its list begins in next
	weights []uint16 // by slot, state of the cell, state of the neighbour
	next    []uint8
}

const (
	tableStates = 256
	tableSize   = 1 << 16 // weights, and places, at most
)

// A TableError says what is wrong with the transitions of a [Table].
type TableError struct {
	Transition int // its index; -1: none in particular
	Condition  int // its index; -1: none in particular
	Reason     string
}

// Error implements error.
func (e *TableError) Error() string {
	switch {
	case e.Transition < 0:
		return "table: " + e.Reason
	case e.Condition < 0:
		return fmt.Sprintf("table: transition %d: %s", e.Transition+1, e.Reason)
	}
	return fmt.Sprintf("table: transition %d: condition %d: %s", e.Transition+1, e.Condition+1, e.Reason)
}

// NewTable makes a table of states 0 to states-1, at most 256, from transitions: the
// first one that fits a cell and its neighbours gives the cell's next state; where
// none fits, the cell stays as it is. Directions are those of the lattice; a name that
// several parts of a product share has the number of the part before it, from 0, as in
// "1.next". The table fits every lattice with the same directions. It can distinguish
// 65,536 neighbourhoods, of all states together. An error is a [*TableError].
func NewTable(l *space.Lattice, states int, transitions []Transition) (*Table, error) {
	if states < 2 || states > tableStates {
		return nil, &TableError{-1, -1, fmt.Sprintf("states must be 2 to %d, not %d", tableStates, states)}
	}
	t := &Table{names: directions(l), states: states, first: make([]uint16, states)}
	if err := t.check(transitions); err != nil {
		return nil, err
	}
	if err := t.assignSlots(transitions); err != nil {
		return nil, err
	}
	for state := range states {
		if err := t.compile(state, transitions); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// NewElementary makes the table of an elementary rule from its Wolfram code: bit 4·a +
// 2·b + c of the code is the next state of a cell of state b whose neighbours in the
// lattice's two directions are a and c.
func NewElementary(l *space.Lattice, code uint8) (*Table, error) {
	names := directions(l)
	if len(names) != 2 {
		return nil, &TableError{-1, -1, fmt.Sprintf("an elementary rule needs a lattice of two directions; this one has %d", len(names))}
	}
	var all []Transition
	for bits := range 8 {
		all = append(all, Transition{
			From: bits >> 1 & 1, Become: int(code >> bits & 1),
			When: []Condition{{State: bits >> 2, At: names[0]}, {State: bits & 1, At: names[1]}},
		})
	}
	return NewTable(l, 2, all)
}

// directions returns unique names of a lattice's directions.
func directions(l *space.Lattice) []string {
	list := l.Directions()
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = d.Name
		if slices.ContainsFunc(list, func(o space.Direction) bool { return o.Name == d.Name && o.Part != d.Part }) {
			names[i] = fmt.Sprintf("%d.%s", d.Part, d.Name)
		}
	}
	return names
}

// check checks that transitions name states and directions that exist.
func (t *Table) check(transitions []Transition) error {
	for i, tr := range transitions {
		if tr.From != Any && !t.has(tr.From) {
			return t.unknown(i, -1, tr.From)
		}
		if !t.has(tr.Become) {
			return t.unknown(i, -1, tr.Become)
		}
		for j, c := range tr.When {
			switch {
			case !t.has(c.State):
				return t.unknown(i, j, c.State)
			case c.At != "" && c.Counts != 0:
				return &TableError{i, j, "has counts and a direction; one of them is needed"}
			case c.At != "" && !slices.Contains(t.names, c.At):
				return &TableError{i, j, fmt.Sprintf("there is no direction %q; use one of %q", c.At, t.names)}
			case c.At == "" && c.Counts&Between(0, len(t.names)) == 0:
				return &TableError{i, j, fmt.Sprintf("never holds: cells have 0 to %d neighbours here", len(t.names))}
			}
		}
	}
	return nil
}

func (t *Table) has(state int) bool { return state >= 0 && state < t.states }

func (t *Table) unknown(transition, condition, state int) error {
	return &TableError{transition, condition, fmt.Sprintf("state must be 0 to %d, not %d", t.states-1, state)}
}

// assignSlots gives each direction that is named weights of its own, and the others shared
// weights.
func (t *Table) assignSlots(transitions []Transition) error {
	t.slots = make([]uint8, len(t.names))
	slots := 1
	for _, tr := range transitions {
		for _, c := range tr.When {
			if d := slices.Index(t.names, c.At); d >= 0 && t.slots[d] == 0 {
				t.slots[d] = uint8(slots)
				slots++
			}
		}
	}
	n := slots * t.states * t.states
	if n > tableSize {
		return &TableError{-1, -1, fmt.Sprintf("%d states and %d directions are too many together", t.states, slots-1)}
	}
	t.weights = make([]uint16, n)
	return nil
}

// A digit is a number that distinguishes neighbourhoods: how many neighbours have a
// state or, with a direction, the state of that neighbour.
type digit struct {
	state, direction int // direction -1: counts
	radix, weight    int
}

// compile appends the list of one state.
func (t *Table) compile(state int, transitions []Transition) error {
	digits, size := []digit(nil), 1
	for i, tr := range transitions {
		if tr.From != state && tr.From != Any {
			continue
		}
		for j, c := range tr.When {
			d := t.digit(c)
			if slices.ContainsFunc(digits, func(o digit) bool { return o.state == d.state && o.direction == d.direction }) {
				continue
			}
			d.weight = size
			digits = append(digits, d)
			if size *= d.radix; len(t.next)+size > tableSize {
				return &TableError{i, j, fmt.Sprintf("the table would have to distinguish more than %d neighbourhoods", tableSize)}
			}
		}
	}
	if len(t.next)+size > tableSize {
		return &TableError{-1, -1, fmt.Sprintf("the table would have to distinguish more than %d neighbourhoods", tableSize)}
	}
	t.first[state] = uint16(len(t.next))
	for _, d := range digits {
		t.weigh(state, d)
	}
	for place := range size {
		t.next = append(t.next, t.become(state, place, digits, transitions))
	}
	return nil
}

// digit returns the digit that a condition tests.
func (t *Table) digit(c Condition) digit {
	if d := slices.Index(t.names, c.At); d >= 0 {
		return digit{direction: d, radix: t.states}
	}
	return digit{state: c.State, direction: -1, radix: len(t.names) + 1}
}

// weigh adds a digit to the weights of a state.
func (t *Table) weigh(state int, d digit) {
	n := t.states
	if d.direction >= 0 {
		row := t.weights[(int(t.slots[d.direction])*n+state)*n:][:n]
		for s := range row {
			row[s] += uint16(s * d.weight)
		}
		return
	}
	for at := state * n; at < len(t.weights); at += n * n {
		t.weights[at+d.state] += uint16(d.weight)
	}
}

// become returns the next state when the digits make up place.
func (t *Table) become(state, place int, digits []digit, transitions []Transition) uint8 {
	holds := func(c Condition) bool {
		want := t.digit(c)
		for _, d := range digits {
			if d.state == want.state && d.direction == want.direction {
				value := place / d.weight % d.radix
				if c.At != "" {
					return value == c.State
				}
				return c.Counts>>value&1 != 0
			}
		}
		panic("propagators: a condition of a table has no digit")
	}
	for _, tr := range transitions {
		if (tr.From == state || tr.From == Any) && !slices.ContainsFunc(tr.When, func(c Condition) bool { return !holds(c) }) {
			return uint8(tr.Become)
		}
	}
	return uint8(state)
}

// fits checks that the lattice has the directions that the table was made for.
func (t *Table) fits(l *space.Lattice) error {
	if t.states == 0 || !slices.Equal(t.names, directions(l)) {
		return &TableError{-1, -1, fmt.Sprintf("was made for a lattice with the directions %q; this one has %q", t.names, directions(l))}
	}
	return nil
}

// step computes a tick.
func (t *Table) step(c *engine.Context, prev, next []float32) {
	var p patch
	var rows, places [piece]uint16
	for r := range runs(c, 1) {
		for i := 0; i < r.count; {
			n := p.fill(&r, prev, i, t.states)
			for j, s := range p.here()[:n] {
				rows[j], places[j] = uint16(int(s)*t.states), t.first[s]
			}
			t.add(&p, r.pattern.Dirs, rows[:n], places[:n])
			e := r.first + i*r.stride
			for _, place := range places[:n] {
				next[e] = float32(t.next[place])
				e += r.stride
			}
			i += n
		}
	}
}

// add adds to each place the weights of the neighbours, given the rows of weights.
func (t *Table) add(p *patch, dirs []uint8, rows, places []uint16) {
	square := t.states * t.states
	weights := func(k int) []uint16 { return t.weights[int(t.slots[dirs[k]])*square:][:square] }
	k := 0
	for ; k+2 <= len(dirs); k += 2 {
		w, v := weights(k), weights(k+1)
		a, b := p.near(k)[:len(places)], p.near(k + 1)[:len(places)]
		for i, row := range rows[:len(places)] {
			places[i] += w[int(row)+int(a[i])] + v[int(row)+int(b[i])]
		}
	}
	for ; k < len(dirs); k++ {
		w, a := weights(k), p.near(k)[:len(places)]
		for i, row := range rows[:len(places)] {
			places[i] += w[int(row)+int(a[i])]
		}
	}
}
