package rng

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A Set holds the streams that a world draws from in one tick. The zero value is
// ready for [Set.Begin]. It keeps the memory of its busiest tick, about 400 bytes a
// stream, and with [ChaCha8] allocates nothing once it has that; for a number a
// cell, [Bulk] is the better tool. It must not be used from two goroutines, but
// the Bulks that it returns may.
type Set struct {
	generator Generator
	master    Seed
	number    uint64   // of the tick
	tick      TickSeed // made when the tick first asks for a stream

	slots  []*slot // the first used ones belong to this tick, in order of first use
	used   int
	sorted []*slot // scratch of Append

	// table finds slots by name and number: open addressing, a power of two long and
	// at most half full. An entry of an earlier round is free.
	table []entry
	round uint32
}

// A slot is the stream of one name and number in one tick.
type slot struct {
	name   string
	number uint64
	seed   StreamSeed
	opened bool   // stream is seeded; a slot that only gives bulk draws needs none
	stream Stream // its count is that of all draws, bulk calls included
}

type entry struct {
	round uint32
	slot  int32
}

// Begin ends the tick before and starts another: every stream starts anew.
// Streams taken before must not be used any more.
func (s *Set) Begin(g Generator, master Seed, tick uint64) {
	s.generator, s.master, s.number, s.used = g, master, tick, 0
	if s.round++; s.round == 0 { // 2**32 ticks: entries of old rounds would come to life
		clear(s.table)
		s.round = 1
	}
}

// Stream returns the stream of a name and a number (0 for the main one, an entity's
// id for its own): at its start when first asked for in this tick, where it was left
// from then on. It panics if [CheckName] refuses the name.
func (s *Set) Stream(name string, number uint64) *Stream {
	t := s.slot(name, number)
	if !t.opened {
		t.stream.start(s.generator, &t.seed)
		t.opened = true
	}
	return &t.stream
}

// Bulk returns the bulk draws of a name and a number for count indices. Every call
// counts as one draw of that stream, with count as the value. It panics if
// [CheckName] refuses the name or count is negative.
func (s *Set) Bulk(name string, number uint64, count int) Bulk {
	if count < 0 {
		panic(fmt.Sprintf("rng: bulk draws of %q for %d indices", name, count))
	}
	t := s.slot(name, number)
	t.stream.draws++
	t.stream.last = uint64(count)
	return t.seed.Bulk()
}

// Append appends the draws of this tick as the state's section "random" has them:
// LE32 count, then of every stream drawn from, by name and number,
//
//	LE32 length of name ‖ name ‖ LE64 number ‖ LE64 draws ‖ LE64 last value
func (s *Set) Append(b []byte) []byte {
	s.sorted = s.sorted[:0]
	for _, t := range s.slots[:s.used] {
		if t.stream.draws > 0 {
			s.sorted = append(s.sorted, t)
		}
	}
	//detcheck:allow sort no two streams have the same name and number
	slices.SortFunc(s.sorted, compareSlots)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.sorted)))
	for _, t := range s.sorted {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t.name)))
		b = append(b, t.name...)
		b = binary.LittleEndian.AppendUint64(b, t.number)
		b = binary.LittleEndian.AppendUint64(b, t.stream.draws)
		b = binary.LittleEndian.AppendUint64(b, t.stream.last)
	}
	return b
}

// compareSlots is a total order: no two slots of a tick share name and number.
func compareSlots(a, b *slot) int {
	if c := strings.Compare(a.name, b.name); c != 0 {
		return c
	}
	return cmp.Compare(a.number, b.number)
}

// slot returns the slot of a name and a number, a new one if this tick has none.
func (s *Set) slot(name string, number uint64) *slot {
	if 2*s.used >= len(s.table) {
		s.grow()
	}
	e := s.find(name, number)
	if e.round != s.round {
		*e = entry{s.round, int32(s.used)}
		s.add(name, number)
	}
	return s.slots[e.slot]
}

// find returns the table entry of a name and a number, or the free one where it belongs.
func (s *Set) find(name string, number uint64) *entry {
	mask := uint32(len(s.table) - 1)
	for i := hash(name, number) & mask; ; i = (i + 1) & mask {
		e := &s.table[i]
		if e.round != s.round {
			return e
		}
		if t := s.slots[e.slot]; t.number == number && t.name == name {
			return e
		}
	}
}

// add takes the next slot into use.
func (s *Set) add(name string, number uint64) {
	if s.used == 0 {
		s.tick = s.master.Tick(s.number)
	}
	seed := s.tick.Stream(name, number)
	if s.used == len(s.slots) {
		s.slots = append(s.slots, new(slot))
	}
	t := s.slots[s.used]
	t.name, t.number, t.seed, t.opened = name, number, seed, false
	t.stream.draws, t.stream.last = 0, 0
	s.used++
}

// grow doubles the table and enters the slots of this tick again.
func (s *Set) grow() {
	if s.round == 0 {
		panic("rng: a Set is drawn from before Begin")
	}
	s.table = make([]entry, max(16, 2*len(s.table)))
	for i, t := range s.slots[:s.used] {
		*s.find(t.name, t.number) = entry{s.round, int32(i)}
	}
}

// hash is FNV-1a of the name, mixed with the number. It decides where an entry
// stands in the table and nothing else.
func hash(name string, number uint64) uint32 {
	h := uint32(2166136261)
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	mixed := (number ^ uint64(h)) * 0x9e3779b97f4a7c15
	return uint32(mixed>>32) ^ h
}
