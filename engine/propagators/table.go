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
	rule    string   // that it is of; "" if it is of transitions
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
	p, err := newTablePlan(l, states, transitions)
	if err != nil {
		return nil, err
	}
	return p.table(), nil
}

// CheckTable returns the error that [NewTable] returns, without making the table.
func CheckTable(l *space.Lattice, states int, transitions []Transition) error {
	_, err := newTablePlan(l, states, transitions)
	return err
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
	var rows, places [longest]uint16
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
