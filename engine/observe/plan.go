package observe

import (
	"math"
	"slices"

	"github.com/murksim/murksim/fields"
)

// A Plan is a spec compiled for one lattice. It is immutable and safe for concurrent use.
type Plan struct {
	grid     grid
	element  Element
	agents   bool
	original bool // the rules are those of the original
	length   int
	maskLen  int
	entries  []entry
	sources  []source
	layers   []layer
	arounds  []*around
	slots    bool // agents' slots are used

	kind, cell fields.ID // of the engine's columns of entities, if there are layers or own values
}

// A Part is where one entry lies in an observation.
type Part struct {
	Name       string
	Shape      []int // of its elements
	Offset     int   // of the first one
	Len        int   // how many
	MaskOffset int   // of its first byte in the mask
	MaskLen    int   // one for each place of the region after pooling: Len without channels

	// No element is below Low or above High; they may be infinite. 0 lies between, because
	// places without a cell hold it.
	Low, High float64
}

// An entry is a part with all that is needed to fill it.
type entry struct {
	part      Part
	source    int  // index; -1: the field is unknown, which only the original's rules allow
	channels  int  // components of the source, or categories
	leads     bool // the first axis of the part's shape is that of channels
	spatial   int  // places after pooling
	places    int  // before pooling
	pool      *pooling
	transform Transform
	others    bool
	perAgent  bool
	plain     bool   // elements are the source's float32, or those normalized: part knows a short way
	copied    bool   // and runs of them are copied at once
	fixed     *table // of a region that is the same for all agents; else nil
	around    int    // index of a region around the agent; else -1
	step      int32  // elements from one cell of a run to the next
	own       bool   // one value: of the agent's cell, or its slot
}

// Len returns how many elements an observation has.
func (p *Plan) Len() int { return p.length }

// MaskLen returns how many bytes the mask of an observation has.
func (p *Plan) MaskLen() int { return p.maskLen }

// Element returns the type of the elements.
func (p *Plan) Element() Element { return p.element }

// Agents reports whether observations differ from agent to agent: a region is around one, or
// a source is without the agent.
func (p *Plan) Agents() bool { return p.agents }

// Parts returns the parts in the order of the spec's entries.
func (p *Plan) Parts() []Part {
	parts := make([]Part, len(p.entries))
	for i := range p.entries {
		parts[i] = p.entries[i].part
		parts[i].Shape = slices.Clone(parts[i].Shape)
	}
	return parts
}

// Shape returns the shape of a whole observation: if all parts have the same places, those
// behind one axis of all channels; else one axis of all elements.
func (p *Plan) Shape() []int {
	first, channels := p.entries[0].spatialShape(), 0
	for i := range p.entries {
		e := &p.entries[i]
		if !slices.Equal(e.spatialShape(), first) {
			return []int{p.length}
		}
		channels += e.channels
	}
	return append([]int{channels}, first...)
}

// spatialShape returns the part's shape without the axis of channels.
func (e *entry) spatialShape() []int {
	if e.leads {
		return e.part.Shape[1:]
	}
	return e.part.Shape
}

// Coverage returns the share of valid places in a mask; 0 if it is empty.
func Coverage(mask []uint8) float64 {
	if len(mask) == 0 {
		return 0
	}
	valid := 0
	for _, v := range mask {
		valid += int(v)
	}
	return float64(valid) / float64(len(mask))
}

// A Moment says at which tick something was observed, and which tick it is now.
type Moment struct{ Observed, Now uint64 }

// Age returns how many ticks the observation is old; 0 if it is of a later tick.
func (m Moment) Age() uint64 {
	if m.Observed > m.Now {
		return 0
	}
	return m.Now - m.Observed
}

// bounds returns the least and the greatest element, 0 included.
func (e *entry) bounds(s *source, element Element) (low, high float64) {
	switch e.transform.kind {
	case normalize:
		if element == Uint8 {
			return 0, 255
		}
		return 0, 1
	case oneHot:
		return 0, 1
	case clip:
		low, high = e.transform.min, e.transform.max
	default:
		low, high = s.bounds()
		switch {
		case e.pool == nil:
		case e.pool.kernel == Sum, e.pool.kernel == Mean && e.pool.narrow:
			low, high = math.Inf(-1), math.Inf(1)
		case e.pool.kernel == Mean: // of up to 2^24 numbers; no float32 is that near to another
			const slack = 0x1p-28
			low, high = low-float64(math.Abs(low)*slack), high+float64(math.Abs(high)*slack)
		}
	}
	return min(0, element.round(low)), max(0, element.round(high))
}
