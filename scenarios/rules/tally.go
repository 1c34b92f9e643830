package rules

import (
	"math"

	"github.com/murksim/murksim/exact/fixed"
)

// A told is what a term comes to in the cells of a block.
type told struct {
	where  []float32 // bits where it counts; nil: in all
	number []float32
	units  []int64 // of fixed numbers; nil: they are none
	truth  bool    // number has bits
}

// value is that of one of them, and whether it counts.
func (t *told) value(i int) (v float64, held bool) {
	held = t.where == nil || math.Float32bits(t.where[i]) != 0
	switch {
	case t.units != nil:
		return fixed.Fixed(t.units[i]).Float64(), held
	case t.truth:
		return float64(math.Float32bits(t.number[i]) & 1), held
	}
	return float64(t.number[i]), held
}

// keep keeps all in a state, by cell.
func (t *told) keep(b *block, state *State) {
	for i := range b.n {
		cell := b.index(i)
		state.values[cell], state.held[cell] = t.value(i)
	}
}

// A tally takes what a term comes to in cells together, in the order of their ranks, or for entities, by ascending id.
type tally struct {
	op    Op
	n     int     // how many there were
	count int     // for how many of them it is 1
	r     float64 // the sum, the least, the most
	seen  []bool  // by category
}

// begin begins with none.
func (t *tally) begin(x *total, s *Scope) {
	if x.op == Distinct && t.seen == nil {
		t.seen = make([]bool, len(lists(s.Fields)[x.rule.Set[0].Type.List]))
	}
	clear(t.seen)
	t.op, t.n, t.count, t.r = x.op, 0, 0, 0
}

// each takes those that are held.
func (t *tally) each(values []float64, held []bool) {
	for i, v := range values {
		if held[i] {
			t.take(v)
		}
	}
}

// take takes one.
func (t *tally) take(v float64) {
	switch {
	case t.op == Sum || t.op == Mean:
		t.r += v
	case t.op == Distinct && v >= 0 && v < float64(len(t.seen)): // a NaN is no category
		t.seen[int(v)] = true
	case t.op == Distinct:
	case t.n == 0, t.op == Least && v < t.r, t.op == Most && v > t.r:
		t.r = v
	}
	if t.n++; v == 1 {
		t.count++
	}
}

// block takes those of a block.
func (t *tally) block(n int, x *told) {
	counts := t.op == Count || t.op == Any || t.op == All
	if x.where != nil || x.units != nil || t.op == Distinct || x.truth != counts || n == 0 {
		for i := range n {
			if v, held := x.value(i); held {
				t.take(v)
			}
		}
		return
	}
	if extreme := t.op == Least || t.op == Most; extreme && t.n == 0 {
		t.r = float64(x.number[0])
	}
	t.n += n
	switch {
	case counts:
		count := uint32(0)
		for _, v := range x.number {
			count += math.Float32bits(v) & 1
		}
		t.count += int(count)
	case t.op == Least:
		least := float32(t.r) // which it was as a float32
		for _, v := range x.number {
			if v < least {
				least = v
			}
		}
		t.r = float64(least)
	case t.op == Most:
		most := float32(t.r)
		for _, v := range x.number {
			if v > most {
				most = v
			}
		}
		t.r = float64(most)
	default:
		r := t.r
		for _, v := range x.number {
			r += float64(v)
		}
		t.r = r
	}
}
