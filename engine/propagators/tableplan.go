package propagators

import (
	"fmt"
	"math/bits"

	"github.com/murksim/murksim/space"
)

// A tablePlan is the transitions of a table with all that they name looked up, and how many
// neighbourhoods there are for each state.
type tablePlan struct {
	names       []string
	states      int
	transitions []Transition
	tests       [][]test // by transition: its conditions
	slots       []uint8  // by direction, as in Table
	slotCount   int
	digits      [][]digit // by state
	sizes       []int     // by state: neighbourhoods
}

// A test is a condition with its direction looked up: the values that one digit must have.
type test struct {
	key    int    // of the digit: a direction or, from the number of directions on, the count of a state
	value  int    // in a direction
	counts uint64 // otherwise
}

// A digit is a number that distinguishes neighbourhoods: how many neighbours have a
// state or, with a direction, the state of that neighbour.
type digit struct {
	key           int // as that of a test
	radix, weight int
	below         []placeSet // by value, once they are needed: where the digit is less
}

// newTablePlan looks up what the transitions name. An error is a [*TableError].
func newTablePlan(l *space.Lattice, states int, transitions []Transition) (*tablePlan, error) {
	if states < 2 || states > tableStates {
		return nil, &TableError{-1, -1, fmt.Sprintf("states must be 2 to %d, not %d", tableStates, states)}
	}
	p := &tablePlan{names: directions(l), states: states, transitions: transitions}
	if err := p.lookUp(); err != nil {
		return nil, err
	}
	if err := p.assignSlots(); err != nil {
		return nil, err
	}
	return p, p.assignDigits()
}

// lookUp checks that transitions name states and directions that exist, and notes which.
func (p *tablePlan) lookUp() error {
	directions := make(map[string]int, len(p.names))
	for d, name := range p.names {
		directions[name] = d
	}
	p.tests = make([][]test, len(p.transitions))
	for i, tr := range p.transitions {
		if tr.From != Any && !p.has(tr.From) {
			return p.unknown(i, -1, tr.From)
		}
		if !p.has(tr.Become) {
			return p.unknown(i, -1, tr.Become)
		}
		p.tests[i] = make([]test, len(tr.When))
		for j, c := range tr.When {
			d, named := directions[c.At]
			switch {
			case !p.has(c.State):
				return p.unknown(i, j, c.State)
			case c.At != "" && c.Counts != 0:
				return &TableError{i, j, "has counts and a direction; one of them is needed"}
			case c.At != "" && !named:
				return &TableError{i, j, fmt.Sprintf("there is no direction %q; use one of %q", c.At, p.names)}
			case c.At == "" && c.Counts&Between(0, len(p.names)) == 0:
				return &TableError{i, j, fmt.Sprintf("never holds: cells have 0 to %d neighbours here", len(p.names))}
			case c.At == "":
				p.tests[i][j] = test{key: len(p.names) + c.State, counts: c.Counts}
			default:
				p.tests[i][j] = test{key: d, value: c.State}
			}
		}
	}
	return nil
}

func (p *tablePlan) has(state int) bool { return state >= 0 && state < p.states }

func (p *tablePlan) unknown(transition, condition, state int) error {
	return &TableError{transition, condition, fmt.Sprintf("state must be 0 to %d, not %d", p.states-1, state)}
}

// assignSlots gives each direction that is named weights of its own, and the others shared
// weights.
func (p *tablePlan) assignSlots() error {
	p.slots, p.slotCount = make([]uint8, len(p.names)), 1
	for _, tests := range p.tests {
		for _, c := range tests {
			if c.key < len(p.names) && p.slots[c.key] == 0 {
				p.slots[c.key] = uint8(p.slotCount)
				p.slotCount++
			}
		}
	}
	if p.slotCount*p.states*p.states > tableSize {
		return &TableError{-1, -1, fmt.Sprintf("%d states and %d directions are too many together", p.states, p.slotCount-1)}
	}
	return nil
}

// assignDigits lists the digits of each state in the order in which transitions name them.
func (p *tablePlan) assignDigits() error {
	p.digits, p.sizes = make([][]digit, p.states), make([]int, p.states)
	seen := make([]int, len(p.names)+p.states) // by key: the state before which the digit has been seen
	all := 0
	tooMany := func(transition, condition int) error {
		return &TableError{transition, condition, fmt.Sprintf("the table would have to distinguish more than %d neighbourhoods", tableSize)}
	}
	for state := range p.states {
		size := 1
		for i := range p.transitions {
			if !p.concerns(i, state) {
				continue
			}
			for j, c := range p.tests[i] {
				if seen[c.key] == state+1 {
					continue
				}
				seen[c.key] = state + 1
				d := digit{key: c.key, radix: p.radix(c.key), weight: size}
				p.digits[state] = append(p.digits[state], d)
				if size *= d.radix; all+size > tableSize {
					return tooMany(i, j)
				}
			}
		}
		if all += size; all > tableSize {
			return tooMany(-1, -1)
		}
		p.sizes[state] = size
	}
	return nil
}

// concerns reports whether a transition is for cells of a state.
func (p *tablePlan) concerns(transition, state int) bool {
	from := p.transitions[transition].From
	return from == state || from == Any
}

// radix returns how many values a digit has.
func (p *tablePlan) radix(key int) int {
	if key < len(p.names) {
		return p.states
	}
	return len(p.names) + 1
}

// table makes the table.
func (p *tablePlan) table() *Table {
	t := &Table{
		names: p.names, states: p.states, slots: p.slots,
		first: make([]uint16, p.states), weights: make([]uint16, p.slotCount*p.states*p.states),
	}
	for state := range p.states {
		t.first[state] = uint16(len(t.next))
		for _, d := range p.digits[state] {
			p.weigh(t, state, d)
		}
		t.next = p.appendNext(t.next, state)
	}
	return t
}

// weigh adds a digit to the weights of a state.
func (p *tablePlan) weigh(t *Table, state int, d digit) {
	n := t.states
	if d.key < len(p.names) {
		row := t.weights[(int(t.slots[d.key])*n+state)*n:][:n]
		for s := range row {
			row[s] += uint16(s * d.weight)
		}
		return
	}
	for at := state * n; at < len(t.weights); at += n * n {
		t.weights[at+d.key-len(p.names)] += uint16(d.weight)
	}
}

// appendNext appends the list of a state: its next state in each neighbourhood. It goes
// through the transitions once, and takes from the set of the places that are open yet
// those that fit, 64 places at a time.
func (p *tablePlan) appendNext(next []uint8, state int) []uint8 {
	first, size := len(next), p.sizes[state]
	digits := p.digits[state]
	of := make([]int, len(p.names)+p.states) // by key: the digit
	for i, d := range digits {
		of[d.key] = i
	}
	for range size {
		next = append(next, uint8(state))
	}
	open, fits := newPlaceSet(size), newPlaceSet(size)
	open.add(0, size)
	for i, left := 0, size; i < len(p.transitions) && left > 0; i++ {
		if !p.concerns(i, state) {
			continue
		}
		copy(fits, open)
		for _, c := range p.tests[i] {
			digits[of[c.key]].keep(fits, c, len(p.names), size)
		}
		for w, word := range fits {
			open[w] &^= word
			left -= bits.OnesCount64(word)
			for ; word != 0; word &= word - 1 {
				next[first+w*64+bits.TrailingZeros64(word)] = uint8(p.transitions[i].Become)
			}
		}
	}
	return next
}

// keep removes from a set the places where a test of the digit does not hold.
func (d *digit) keep(set placeSet, c test, directions, size int) {
	if d.key < directions {
		d.remove(set, 0, c.value, size)
		d.remove(set, c.value+1, d.radix, size)
		return
	}
	for low := 0; low < d.radix; {
		low += bits.TrailingZeros64(^(c.counts >> low)) // those that hold
		high := low + bits.TrailingZeros64(c.counts>>low)
		d.remove(set, min(low, d.radix), min(high, d.radix), size)
		low = high
	}
}

// remove removes the places where the digit is at least low and less than high.
func (d *digit) remove(set placeSet, low, high, size int) {
	if low == high {
		return
	}
	if d.below == nil {
		d.below = make([]placeSet, d.radix+1)
	}
	for _, value := range [...]int{low, high} {
		if d.below[value] == nil {
			d.below[value] = newPlaceSet(size)
			d.below[value].add(0, value*d.weight)
			d.below[value].repeat(d.radix*d.weight, size)
		}
	}
	l, h := d.below[low], d.below[high]
	for w := range set {
		set[w] &^= h[w] &^ l[w]
	}
}

// A placeSet has a bit for each neighbourhood of a state.
type placeSet []uint64

func newPlaceSet(size int) placeSet { return make(placeSet, (size+63)/64) }

// add adds the places from low to below high.
func (s placeSet) add(low, high int) {
	for low < high {
		n := min(64-low%64, high-low)
		s[low/64] |= (1<<n - 1) << (low % 64)
		low += n
	}
}

// repeat repeats the first n places, of which the others are none yet, up to a size.
func (s placeSet) repeat(n, size int) {
	for ; n < size; n *= 2 {
		words, shift := n/64, n%64
		for i := words; i >= 0; i-- { // a word is read before it gets more
			word := s[i]
			if i+words < len(s) {
				s[i+words] |= word << shift
			}
			if i+words+1 < len(s) {
				s[i+words+1] |= word >> (64 - shift)
			}
		}
	}
}
