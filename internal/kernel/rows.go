package kernel

import (
	"iter"
	"math"
	"slices"
)

// Rows are elements of fields that lie in a pattern: Rows rows, the first elements of
// which are Pitch apart, of Count elements each, Stride apart; First is the first of
// all. Rows and Count are at least 1, Stride and Pitch positive.
type Rows struct{ First, Count, Stride, Rows, Pitch int }

// last returns the last element.
func (r *Rows) last() int { return r.First + (r.Rows-1)*r.Pitch + (r.Count-1)*r.Stride }

// longest is how many elements of a row vector code is given at once. The scheduler
// cannot interrupt it.
const longest = 1 << 16

// split cuts rows after their first longest elements.
func (r Rows) split() (head, tail Rows) {
	head, tail = r, r
	head.Count = longest
	tail.First += longest * r.Stride
	tail.Count -= longest
	return head, tail
}

// check panics unless all elements lie in out, and their neighbours in in. After it,
// nothing that vector code touches is elsewhere.
func (r *Rows) check(out, in []float32, n *Neighbours) {
	least, most := 0, 0
	for _, o := range n.Offsets {
		least, most = min(least, o), max(most, o)
	}
	first, last := r.First, r.last()
	if r.Count < 1 || r.Rows < 1 || r.Stride < 1 || r.Pitch < 1 || last < first {
		panic("kernel: rows that make no sense")
	}
	_, _, _ = out[first:last+1], in[first+least*n.Scale], in[last+most*n.Scale]
}

// within panics unless all elements lie in both columns.
func (r *Rows) within(a, b []float32) { _, _ = a[r.First:r.last()+1], b[r.First:r.last()+1] }

// pieces yields the first element of each piece of the rows, and how far it extends.
func (r Rows) pieces() iter.Seq2[int, int] {
	return func(yield func(first, extent int) bool) {
		for range r.Rows {
			for at := 0; at < r.Count; at += piece {
				if !yield(r.First+at*r.Stride, (min(piece, r.Count-at)-1)*r.Stride+1) {
					return
				}
			}
			r.First += r.Pitch
		}
	}
}

// Neighbours say where the neighbours of an element are.
type Neighbours struct {
	Offsets []int // from the element to each, in the order in which they are summed
	Scale   int   // what each offset is multiplied by: the components of a cell
}

var negativeZero = float32(math.Copysign(0, -1)) // where a sum begins

// mostNeighbours is how many neighbours vector code can sum.
const mostNeighbours = 40

// bytes returns the offsets in bytes.
func (n *Neighbours) bytes(buffer *[mostNeighbours]int) []int {
	for k, o := range n.Offsets {
		buffer[k] = 4 * n.Scale * o
	}
	return buffer[:len(n.Offsets)]
}

// large is the length of fields of which the cache of a core does not hold two. The
// processor does not see what will be needed of them soon enough, because it does not look
// beyond a page of memory. To store them past the cache brought nothing more, and takes
// thrice as long where the cache does hold them.
const large = 1 << 18

// ahead returns how many bytes from an element what will soon be needed of its neighbours' column is, to be
// fetched ahead of need; 0: nothing is fetched.
func (n *Neighbours) ahead(in []float32) int {
	if len(in) < large {
		return 0
	}
	return 4*n.Scale*slices.Max(n.Offsets) + 1024
}
