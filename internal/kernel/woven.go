package kernel

import (
	"math"
	"sync"
)

const (
	weaveBlock      = 32 // elements that vector code takes at once, and the least of a row
	weavePeriod     = 32
	weaveLanes      = weavePeriod + weaveBlock // of tables: a block may begin at any phase
	weaveNeighbours = 16
	weaveMasks      = 8
)

// A Weave is the neighbours of elements in rows where every so many
// elements, the period, begin anew. Some neighbours may be of some of them only.
// [Weave.Begin] comes first, then the neighbours in the order in which they are
// summed, and how many every strand has. Vector code knows how the fields lie in
// memory.
type Weave struct {
	decay, k         float32
	n                uint32 // of near
	_                uint32
	step, wrap, back int // of the phase in bytes
	_                [3]int
	degrees          [weaveLanes]float32                          // how many neighbours each element has
	near             [weaveNeighbours]struct{ offset, masks int } // in bytes; masks from the weave's begin, 0: all elements have it
	masks            [weaveMasks]struct{ keep, fill [weaveLanes]uint32 }

	masked                      int
	strands, components, period int
	least, most                 int // of the offsets
}

// masksAt is where masks begin in a Weave, in bytes, on the processors that vector code is for.
const masksAt = 64 + 4*weaveLanes + 16*weaveNeighbours

// Weaves are large, and vector code reads their tables much faster where these do not lie
// across cache lines, as the allocator places what is this large and the stack does not.
//
//detcheck:allow goroutine a weave holds nothing that outlives its use
var weaves = sync.Pool{New: func() any { return new(Weave) }}

// NewWeave returns a weave for Begin; the caller calls Free at the end.
func NewWeave() *Weave {
	//detcheck:allow pkgvar Begin sets all that is read
	return weaves.Get().(*Weave)
}

// Free ends the use of the weave.
func (v *Weave) Free() {
	//detcheck:allow pkgvar Begin sets all that is read
	weaves.Put(v)
}

// Begin empties the weave and gives it strands of so many components each, and the weights that [NewWeights]
// takes. It reports whether the weave can be used: whether there is vector code for it.
func (v *Weave) Begin(strands, components int, k, decay float32) bool {
	v.k, v.decay = k, decay
	v.strands, v.components, v.period = strands, components, strands*components
	v.n, v.masked, v.least, v.most = 0, 0, 0, 0
	if v.period <= weavePeriod {
		v.step, v.wrap = weaveBlock%v.period*4, v.period*4
	}
	return vectors && v.period <= weavePeriod
}

// Neighbour adds the neighbour at an offset, in cells, of the strands whose bits are set. It
// reports whether there was room.
func (v *Weave) Neighbour(offset int, strands uint64) bool {
	if v.n == weaveNeighbours {
		return false
	}
	offset *= v.components
	v.least, v.most = min(v.least, offset), max(v.most, offset)
	near := &v.near[v.n]
	near.offset, near.masks = 4*offset, 0
	if strands != 1<<v.strands-1 {
		if v.masked == weaveMasks {
			return false
		}
		near.masks = masksAt + 8*weaveLanes*v.masked
		m := &v.masks[v.masked]
		for i := range v.period {
			keep := -uint32(strands >> (i / v.components) & 1)
			m.keep[i], m.fill[i] = keep, ^keep&(1<<31)
		}
		repeat(m.keep[:], v.period)
		repeat(m.fill[:], v.period)
		v.masked++
	}
	v.n++
	return true
}

// Degree sets how many neighbours a strand has.
func (v *Weave) Degree(strand, n int) {
	for i := strand * v.components; i < (strand+1)*v.components; i++ {
		v.degrees[i] = float32(n)
	}
	if strand == v.strands-1 {
		repeat(v.degrees[:], v.period)
	}
}

// repeat fills a table with its first elements, again and again.
func repeat[T any](table []T, period int) {
	for n := period; n < len(table); n *= 2 {
		copy(table[n:], table[:n])
	}
}

// Fits reports whether the weave can do rows: they are long enough, and what is read
// lies in the field, also where it is not needed.
func (v *Weave) Fits(in []float32, r Rows) bool {
	return r.Stride == 1 && r.Count >= weaveBlock && r.First+v.least >= 0 && r.last()+v.most < len(in)
}

// RelaxWoven is [Relax] for rows that fit a weave.
func RelaxWoven(out, in []float32, r Rows, v *Weave) (finite bool) {
	if !v.Fits(in, r) {
		panic("kernel: rows that do not fit their weave")
	}
	r.check(out, in, &Neighbours{})
	v.back = (r.Count - weaveBlock) % v.period * 4
	if !vectors {
		return relaxWovenPlain(out, in, r, v)
	}
	return relaxWoven(&out[r.First], &in[r.First], r.Count, r.Rows, 4*r.Pitch, &v.decay) != exponent
}

// relaxWovenPlain is RelaxWoven in plain Go.
func relaxWovenPlain(out, in []float32, r Rows, v *Weave) (finite bool) {
	worst := uint32(0)
	for range r.Rows {
		for i := range r.Count {
			e, phase := r.First+i, i%v.period
			sum := math.Float32frombits(1 << 31)
			for _, near := range v.near[:v.n] {
				if near.masks == 0 || v.masks[(near.masks-masksAt)/(8*weaveLanes)].keep[phase] != 0 {
					sum += in[e+near.offset/4]
				}
			}
			x := in[e] + float32(v.k*(sum-float32(v.degrees[phase]*in[e])))
			out[e] = float32(x * v.decay)
			worst = max(worst, math.Float32bits(out[e])&exponent)
		}
		r.First += r.Pitch
	}
	return worst != exponent
}
