package propagators

import (
	"encoding/base64"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/murksim/murksim/space"
)

// stateSets are sets of live neighbours: bit i of a set is neighbour i of a block.
type stateSets [4]uint64

func (s *stateSets) has(set uint8) bool { return s[set/64]>>(set%64)&1 != 0 }
func (s *stateSets) add(set uint8)      { s[set/64] |= 1 << (set % 64) }

// A block says where the neighbours lie to which the bits of a rule belong, in the order of reading, the cell itself among them.
type block struct {
	mark   string // at the end of a rule
	places [][2]int8
}

// The blocks that Golly knows. Its hexes are squares without two corners.
var (
	block9 = block{"", [][2]int8{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 0}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}}
	block7 = block{"H", [][2]int8{{-1, -1}, {-1, 0}, {0, -1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}}}
	block5 = block{"V", [][2]int8{{-1, 0}, {0, -1}, {0, 0}, {0, 1}, {1, 0}}}
)

// blockOf returns the block of a lattice and by direction of the lattice the place in it, without the cell itself. On hexes left and right are
// exchanged, because ours lean to the other side. It is nil for other lattices.
func blockOf(l *space.Lattice) (b *block, order []uint8) {
	y, ok := plane(l)
	if !ok {
		return nil, nil
	}
	switch len(l.Directions()) {
	case 8:
		b = &block9
	case 6:
		b = &block7
	case 4:
		b = &block5
	default:
		return nil, nil
	}
	for _, d := range l.Directions() {
		_, row, col := y.Place(d.Step)
		if y.Shift != 0 {
			col = -col
		}
		k := 0
		for _, p := range b.places {
			if p == [2]int8{int8(row), int8(col)} {
				order = append(order, uint8(k))
			}
			if p != [2]int8{} {
				k++
			}
		}
	}
	return b, order
}

// A ruleSets is a rule by the set of neighbours that are alive.
type ruleSets struct {
	block         *block
	order         []uint8 // by direction of the lattice: which bit of a set
	born, survive stateSets
	states        int
}

// readMap reads a rule that is written as bits: MAP, base64, and perhaps a number of states.
func readMap(l *space.Lattice, s string) (*ruleSets, error) {
	r := &ruleSets{}
	if r.block, r.order = blockOf(l); r.block == nil {
		return nil, fmt.Errorf("MAP is for squares and hexes, not for %s", l.Kind())
	}
	text, states, more := s, "", false
	if i := strings.LastIndexByte(s, '/'); i >= 0 && len(s)-i <= 5 && strings.Trim(s[i+1:], "0123456789") == "" && (len(strings.TrimRight(s[:i], "=")) == r.size()) {
		text, states, more = s[:i], s[i+1:], true
	}
	text = strings.TrimSuffix(text, "==")
	if len(text) != r.size() {
		return nil, fmt.Errorf("has %d characters behind MAP; %d, for %d cells, are needed on %s", len(text), r.size(), len(r.block.places), l.Kind())
	}
	bytes, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("what stands behind MAP is not base64: %w", err)
	}
	if len(bytes) != r.bytes() {
		return nil, fmt.Errorf("what stands behind MAP is not base64")
	}
	for i := range 1 << len(r.block.places) {
		if bytes[i/8]>>(7-i%8)&1 != 0 {
			if set, self := r.block.split(r.inOrder(i, !more)); self {
				r.survive.add(set)
			} else {
				r.born.add(set)
			}
		}
	}
	if more && states == "" {
		return nil, fmt.Errorf("states are missing after the slash")
	}
	r.states, err = tableStatesOf(states)
	return r, err
}

// size is how long the base64 of a rule is.
func (r *ruleSets) size() int { return base64.RawStdEncoding.EncodedLen(r.bytes()) }

// bytes is how many bytes its bits take.
func (r *ruleSets) bytes() int { return 1 << len(r.block.places) / 8 }

// inOrder returns the pattern that bit i of a rule is for. Without a number of states, that is in QuickLife, Golly 3.3 takes the rows
// of hexes from below; in Generations it takes them in the order of reading.
func (r *ruleSets) inOrder(i int, quickLife bool) int {
	if r.block == &block7 && quickLife {
		return i&0x1c | i<<5&0x60 | i>>5&3
	}
	return i
}

// split returns the neighbours that are alive in a pattern of a block, and whether the cell is: the highest bit is the first place.
func (b *block) split(pattern int) (set uint8, self bool) {
	k := 0
	for i, p := range b.places {
		alive := pattern>>(len(b.places)-1-i)&1 != 0
		if p == [2]int8{} {
			self = alive
			continue
		}
		if alive {
			set |= 1 << k
		}
		k++
	}
	return set, self
}

// tableStatesOf reads a number of states that a table can have.
func tableStatesOf(s string) (int, error) {
	n, err := parseStates(s)
	if err == nil && n > tableStates {
		err = fmt.Errorf("such a rule has at most %d states, not %d", tableStates, n)
	}
	return n, err
}

// readHensel reads counts with letters, for squares with eight neighbours.
func readHensel(l *space.Lattice, p *ruleParts) (*ruleSets, error) {
	r := &ruleSets{}
	r.block, r.order = blockOf(l)
	var err error
	if r.born, err = parseHensel(p.born); err != nil {
		return nil, err
	}
	if r.survive, err = parseHensel(p.survive); err != nil {
		return nil, err
	}
	r.states, err = tableStatesOf(p.states)
	return r, err
}

// counts returns the rule as one of counts, if it is one.
func (r *ruleSets) counts() (c Rule, ok bool) {
	c.States = r.states
	n := len(r.block.places) - 1
	for k, sets := range [2]*stateSets{&r.born, &r.survive} {
		var mask, seen uint64
		for set := range 1 << n {
			count := bits.OnesCount8(uint8(set))
			alive := sets.has(uint8(set))
			if seen>>count&1 != 0 && (mask>>count&1 != 0) != alive {
				return Rule{}, false
			}
			if seen |= 1 << count; alive {
				mask |= 1 << count
			}
		}
		if k == 0 {
			c.Born = mask
		} else {
			c.Survive = mask
		}
	}
	return c, true
}

// String returns the rule with letters if it can be said so, else as bits.
func (r *ruleSets) String() string {
	if born, survive, ok := r.letters(); ok {
		text := "B" + born + "/S" + survive
		if r.states > 2 {
			text += "/" + strconv.Itoa(r.states)
		}
		return text
	}
	text := "MAP" + r.base64()
	if r.states > 2 {
		text += "/" + strconv.Itoa(r.states)
	}
	return text
}

// golly returns the rule as Golly writes it, without what is said of the space.
func (r *ruleSets) golly() string {
	if born, survive, ok := r.letters(); ok && r.states > 2 {
		return survive + "/" + born + "/" + strconv.Itoa(r.states)
	}
	return r.String()
}

// letters returns the rule as counts with letters, if it can be said so.
func (r *ruleSets) letters() (born, survive string, ok bool) {
	if r.block != &block9 {
		return "", "", false
	}
	if born, ok = henselString(&r.born); ok {
		survive, ok = henselString(&r.survive)
	}
	return born, survive, ok
}

func (r *ruleSets) base64() string {
	bytes := make([]byte, r.bytes())
	for i := range 1 << len(r.block.places) {
		set, self := r.block.split(r.inOrder(i, r.states == 2))
		if !self && r.born.has(set) || self && r.survive.has(set) {
			bytes[i/8] |= 1 << (7 - i%8)
		}
	}
	return base64.RawStdEncoding.EncodeToString(bytes)
}

// table makes the table of the rule: for a cell that is dead or alive the index is the set of neighbours that are.
func (r *ruleSets) table(l *space.Lattice) *Table {
	n, sets := len(r.order), 1<<len(r.order)
	t := &Table{
		names: directions(l), states: r.states, rule: r.String(), slots: make([]uint8, n),
		first: make([]uint16, r.states), weights: make([]uint16, n*r.states*r.states), next: make([]uint8, 2*sets+r.states-2),
	}
	for d, bit := range r.order {
		t.slots[d] = uint8(d)
		for own := range 2 {
			t.weights[(d*r.states+own)*r.states+1] = 1 << bit
		}
	}
	last := uint8(0) // what a cell becomes that dies
	if r.states > 2 {
		last = 2
	}
	t.first[1] = uint16(sets)
	for set := range sets {
		if r.born.has(uint8(set)) {
			t.next[set] = 1
		}
		if t.next[sets+set] = last; r.survive.has(uint8(set)) {
			t.next[sets+set] = 1
		}
	}
	for own := 2; own < r.states; own++ {
		t.first[own] = uint16(2*sets + own - 2)
		if own+1 < r.states {
			t.next[t.first[own]] = uint8(own + 1)
		}
	}
	return t
}
