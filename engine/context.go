package engine

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A Context is what a propagator sees of the world during one Step. It, and every
// slice that it returns, is valid during that Step only. A method panics, which fails the
// tick, if the Spec does not declare its use of a field, and after the Step.
type Context struct {
	w       *World
	s       *stage
	share   share
	scratch []float32
	memory  any             // see Memory
	cleared bool            // the scratch memory, in this Step
	finite  []fields.ID     // outputs known to be finite in the range
	valid   []fields.ID     // those of them that hold categories, if they are categorical
	strange []fields.Column // what Prev gives instead, in a test by Paranoid; nil: nothing
	changes []changeSet     // by field; nil: this worker has never reported changes
	sweep   *sweep          // nil: a tick by itself
	ahead   int             // in a sweep: how many ticks after the next one
	inUse   bool            // during a Step
}

// world returns the world. It panics if the context is used when no Step has it.
func (c *Context) world() *World {
	if c == nil || !c.inUse {
		panic("engine: a context is used outside of the Step or Update that it was handed to")
	}
	return c.w
}

// must panics if the Spec does not declare a use of a field.
func (c *Context) must(id fields.ID, what uint8, name string) {
	c.world()
	c.s.must(id, what, name)
}

// A changeSet is what a Step reports to have changed in one of its outputs.
type changeSet struct {
	reported bool // false: everything may have changed
	tileLen  int  // elements of a tile
	tiles    []bool
}

// Tick returns the number of the tick that is being computed.
func (c *Context) Tick() uint64 { return c.world().tick + 1 + uint64(c.ahead) }

// Dt returns the length of a tick in seconds.
func (c *Context) Dt() float64 { return c.world().dt }

// Rules returns the world's rules.
func (c *Context) Rules() Rules { return c.world().config.Rules }

// Lattice returns the world's space.
func (c *Context) Lattice() *space.Lattice { return c.world().lattice }

// Range returns the ranks [lo, hi) that this Step computes: all cells, or this
// worker's share of them if the Spec says Parallel.
func (c *Context) Range() (lo, hi int) { return c.share.lo, c.share.hi }

// Spans returns the spans of the cells in the range.
func (c *Context) Spans() []space.Span { return c.share.spans }

// Bands returns the same spans, joined into bands.
func (c *Context) Bands() []space.Band { return c.share.bands }

// Finite reports that every element of this Step's range is finite now in an output for a
// Float32 field of cells, so that the world need not check it again. A propagator may know
// this from its computation. The report is void once a later stage of the tick writes the
// field. Config.Paranoid checks it.
func (c *Context) Finite(id fields.ID) {
	c.must(id, mayNext, "Finite")
	c.finite = append(c.finite, id)
}

// Valid is Finite, and reports of a categorical field that every element is one of its categories.
func (c *Context) Valid(id fields.ID) {
	c.Finite(id)
	c.valid = append(c.valid, id)
}

// WantsChanges reports whether it is worth the time to call Changed for an output: whether
// the world is recorded and the field is large.
func (c *Context) WantsChanges(id fields.ID) bool {
	const least = 16
	tiles, _ := c.world().store.Tiles(id)
	return tiles >= least && c.w.recorder != nil && c.w.rules.strict() && c.w.defs[id].Bounds == nil
}

// Changed reports that this Step changed elements lo to hi of an output, and nothing in its
// range but those and the ones that its other calls report. Lo and hi count elements, not
// cells; with lo equal to hi, nothing has changed. Without a call, everything in the range of
// a Full or Rewrite output counts as changed, and the engine compares all of an Incremental one.
//
// An element has changed if any of its bits differs: for a Full output from the start of
// the tick with commands applied, for an Incremental output from what Next returned, for a
// Rewrite one from what Was returned. Elements
// that have not changed are not hashed again. If a Step changes an element and does not
// report it, recorded hashes are wrong, which a replay by the same Step notices only at its
// end: see replay.Player.Verify. Config.Paranoid checks what is reported, to a precision of
// 4 KiB.
func (c *Context) Changed(id fields.ID, lo, hi int) {
	c.must(id, mayNext, "Changed")
	if n := c.w.store.Current(id).Len(); lo < 0 || lo > hi || hi > n {
		panic(fmt.Sprintf("engine: Changed from %d to %d of a field of %d elements", lo, hi, n))
	}
	if c.changes == nil {
		c.changes = make([]changeSet, len(c.w.defs))
	}
	set := &c.changes[id]
	if set.tiles == nil {
		n, tileLen := c.w.store.Tiles(id)
		set.tileLen, set.tiles = tileLen, make([]bool, n)
	}
	set.reported = true
	if lo < hi {
		for k := lo / set.tileLen; k <= (hi-1)/set.tileLen; k++ {
			set.tiles[k] = true
		}
	}
}

// Prev returns a Float32 field as it stood at the start of the tick, commands applied.
// It must not be written.
func (c *Context) Prev(id fields.ID) []float32 { return c.floats("Prev", id, c.PrevColumn(id)) }

// floats returns the elements of a Float32 field. That a field has others, the mistake of a component, is said here: an empty slice would
// end in an index that is out of range.
func (c *Context) floats(method string, id fields.ID, column *fields.Column) []float32 {
	if column.Float32 == nil {
		d := &c.w.defs[id]
		panic(fmt.Sprintf("engine: %s of the field %q, which has %s elements; %sColumn(id) has them", method, d.Name, d.Element, method))
	}
	return column.Float32
}

// PrevColumn is [Context.Prev] for a field of any element type.
func (c *Context) PrevColumn(id fields.ID) *fields.Column {
	c.must(id, mayPrev, "Prev")
	switch {
	case c.sweep != nil:
		return c.sweep.prev(c.w, id, c.ahead)
	case c.strange != nil && c.strange[id].Len() > 0:
		return &c.strange[id]
	}
	return c.w.store.Current(id)
}

// Now returns a Float32 field as earlier parts of this tick left it. It must not be written.
func (c *Context) Now(id fields.ID) []float32 { return c.floats("Now", id, c.NowColumn(id)) }

// NowColumn is [Context.Now] for a field of any element type.
func (c *Context) NowColumn(id fields.ID) *fields.Column {
	c.must(id, mayNow, "Now")
	if c.s.may[id]&nowIsPrev != 0 {
		return c.w.store.Current(id)
	}
	return c.w.store.Now(id)
}

// Next returns the output for a Float32 field. If declared Full or Rewrite it holds anything; if
// declared Incremental alone it holds what Now gives. A propagator that is not Parallel and sees
// from Now that an Incremental output need not change can spare the copy: by not calling
// Next for it. A slice that Now returned earlier is not the one that Next returns.
func (c *Context) Next(id fields.ID) []float32 { return c.floats("Next", id, c.NextColumn(id)) }

// NextColumn is [Context.Next] for a field of any element type.
func (c *Context) NextColumn(id fields.ID) *fields.Column {
	c.must(id, mayNext, "Next")
	switch {
	case c.sweep != nil:
		return c.sweep.columns[id][c.ahead&1]
	case c.s.may[id]&nextIsLate != 0 && !slices.Contains(c.s.made, id):
		c.s.made = append(c.s.made, id)
		return c.w.store.Incremental(id)
	}
	return c.w.store.Now(id)
}

// Was returns what Next returns for an output that the Spec calls Rewrite, as it stood before this
// Step: another slice, or the same one. It must not be written, and an element must be read before the same
// element of Next is written; no other element may be read in a propagator that is parallel.
func (c *Context) Was(id fields.ID) []float32 {
	if c.must(id, mayNext, "Was"); !slices.Contains(c.s.spec.Rewrite, id) {
		panic(fmt.Sprintf("engine: %s uses Was of field %d, which its Spec does not call Rewrite", c.s.spec.Name, id))
	}
	if slices.Contains(c.s.fresh, id) {
		return c.w.store.Current(id).Float32
	}
	return c.w.store.Now(id).Float32
}

// Components returns the number of elements of each cell or entity of a field.
func (c *Context) Components(id fields.ID) int { return c.world().defs[id].Type.Components() }

// Parameter returns the value of a parameter, as this tick's commands left it. It panics
// if the world has none with that key.
func (c *Context) Parameter(key uint32) float64 {
	i, ok := c.world().params.find(key)
	if !ok {
		panic(fmt.Sprintf("engine: %s asks for parameter %d, which the world does not have", c.s.spec.Name, key))
	}
	return c.w.params.values[i]
}

// Scratch is this worker's scratch memory, all zeros at the start of a Step.
func (c *Context) Scratch() []float32 {
	if !c.cleared {
		clear(c.scratch)
		c.cleared = true
	}
	return c.scratch
}

// Uncleared returns the scratch memory with any contents, for a Step that writes each
// element before it reads it: clearing much memory takes long. A Step calls either Scratch
// or Uncleared.
func (c *Context) Uncleared() []float32 {
	c.cleared = true
	if c.world().paranoid {
		for i := range c.scratch {
			c.scratch[i] = math.Float32frombits(poison32)
		}
	}
	return c.scratch
}

// Memory is scratch memory of any form: what create returned when this worker first asked for it. It holds what an earlier Step left there, and no result may
// depend on that: a tick may have failed or been computed elsewhere since. Config.Paranoid creates it anew for each Step.
func (c *Context) Memory(create func() any) any {
	if c.world().paranoid || c.memory == nil {
		c.memory = create()
	}
	return c.memory
}

// Stream returns a sequential random stream of this propagator: number 0 is its main
// one. A propagator that runs in parallel has none.
func (c *Context) Stream(number uint64) *rng.Stream {
	w := c.world()
	if c.s.spec.Parallel {
		panic(fmt.Sprintf("engine: %s is parallel and may draw in bulk only", c.s.spec.Name))
	}
	return w.streams.Stream(c.s.spec.Name, number)
}

// Bulk returns random draws by cell, in any order, on any worker. It counts as one
// draw of the stream of that number, once a tick.
func (c *Context) Bulk(number uint64) rng.Bulk {
	w := c.world()
	if c.s.spec.Local {
		panic(fmt.Sprintf("engine: %s is local and must not draw random numbers", c.s.spec.Name))
	}
	return c.s.bulk(w, c.s.spec.Name, number, w.lattice.Cells())
}

// Place is [Context.Bulk] of a place that the Spec lists: of the stream called by the propagator's name, a point and the place. So draws at one place stay as
// they are when the propagator draws at another one as well.
func (c *Context) Place(place string, number uint64) rng.Bulk {
	w := c.world()
	return c.s.bulk(w, c.placeName(place), number, w.lattice.Cells())
}

// placeName is the name of the streams of a place.
func (c *Context) placeName(place string) string {
	i := slices.Index(c.s.spec.Places, place)
	if i < 0 {
		panic(fmt.Sprintf("engine: %s draws at the place %q, which its Spec does not list", c.s.spec.Name, place))
	}
	return c.s.places[i]
}

// A CellError is a failure at one cell.
type CellError struct {
	Cell   int         // its rank
	Coord  space.Coord // its coordinate
	Reason string
}

// Error implements error.
func (e *CellError) Error() string { return fmt.Sprintf("cell %v: %s", e.Coord, e.Reason) }

// Fail returns an error that names a cell.
func (c *Context) Fail(cell int, format string, args ...any) error {
	return &CellError{cell, c.world().lattice.Coord(cell), fmt.Sprintf(format, args...)}
}

// What a stage may do with a field.
const (
	mayPrev uint8 = 1 << iota
	mayNow
	mayNext
	nowIsPrev  // Now returns what Prev returns; see murk019Rules.admit
	nextIsLate // the first Next makes the output
)

// A stage is a propagator or a system in its world.
type stage struct {
	spec       Spec
	propagator Propagator
	system     System
	places     []string    // the names of the streams of its places
	may        []uint8     // by field
	made       []fields.ID // outputs that are made late and have been made in this tick
	fresh      []fields.ID // outputs that are rewritten from the state at the start of this tick
	workers    []worker
	jobs       []func() // by worker: steps it; made once, so that running them allocates nothing

	//detcheck:allow goroutine workers ask for the same bulk draws, whose values are fixed by stage and number
	bulkMu sync.Mutex
	bulks  []stageBulk // of this tick
}

// A worker is one share of a stage.
type worker struct {
	ctx SystemContext // a propagator gets its Context only
	err error
}

type stageBulk struct {
	name   string
	number uint64
	bulk   rng.Bulk
}

func (s *stage) must(id fields.ID, what uint8, name string) {
	if id >= fields.ID(len(s.may)) || s.may[id]&what == 0 {
		panic(fmt.Sprintf("engine: %s uses %s of field %d, which its Spec does not declare", s.spec.Name, name, id))
	}
}

// bulk counts a bulk draw once a tick, whichever worker asks first.
func (s *stage) bulk(w *World, name string, number uint64, count int) rng.Bulk {
	s.bulkMu.Lock()
	defer s.bulkMu.Unlock()
	for _, b := range s.bulks {
		if b.number == number && b.name == name {
			return b.bulk
		}
	}
	b := w.streams.Bulk(name, number, count)
	s.bulks = append(s.bulks, stageBulk{name, number, b})
	return b
}
