package hidden

import (
	"bytes"
	"slices"

	"github.com/murksim/murksim/engine"
)

type memory struct{ most int }

func (m *memory) raise()          { m.most++ } // want `hidden: m.most is written during a tick; put it into the state`
func (m *memory) room(n int) bool { return n < m.most }

type wind struct {
	gust   float32
	calls  [2]int
	seen   map[int]bool
	list   []int
	home   *memory
	own    memory
	out    bytes.Buffer
	inner  struct{ deep []memory }
	many   []*memory
	report func()
}

func (w *wind) Step(c *engine.Context) error {
	w.gust += 0.5            // want `hidden: w.gust is written during a tick`
	w.calls[1]++             // want `hidden: w.calls\[1\] is written`
	w.seen[3] = true         // want `hidden: w.seen\[3\] is written`
	delete(w.seen, 3)        // want `hidden: w.seen is written`
	w.list = w.list[:0]      // want `hidden: w.list is written`
	copy(w.calls[:], w.list) // want `hidden: w.calls\[:\] is written`
	w.own.raise()            // raise is where it is found
	w.out.WriteByte(1)       // want `hidden: w.out may be written by its method WriteByte during a tick`
	w.inner.deep[0].most = 1 // want `hidden: w.inner.deep\[0\].most is written`
	slices.Sort(w.list)      // want `hidden: w.list may be written by slices.Sort during a tick`
	bump(&w.gust)
	for i := range 3 {
		func() { w.calls[0] += i }() // want `hidden: w.calls\[0\] is written`
	}
	w.helper(c)
	return nil
}

func bump(x *float32) { *x++ } // want `hidden: \*x is written`

func (w *wind) helper(c *engine.Context) {
	for _, m := range w.many {
		m.most = 0 // want `hidden: m.most is written`
	}
	list := w.list
	list[0]++ // want `hidden: list\[0\] is written`
	shared := append(list[:0], 3)
	shared[0] = 2 // want `hidden: shared\[0\] is written`
	p := &w.own
	p.most = 3 // want `hidden: p.most is written`
}

// A value's own fields are copies, but not what they point to.
type copied wind

func (w copied) Update(c *engine.SystemContext) error {
	w.gust++
	w.calls[0]++
	copy(w.calls[:], w.list)
	p := &w.own
	p.most++
	w.home.most++ // want `hidden: w.home.most is written`
	w.list[0] = 1 // want `hidden: w.list\[0\] is written`
	clear(w.seen) // want `hidden: w.seen is written`
	keep(w.home, 1)
	return nil
}

func keep(m *memory, n int) {
	m.most = n // want `hidden: m.most is written`
}

type orders struct{ last *int }

func (o orders) Handle(c *engine.HandlerContext, data []byte) int {
	*o.last = len(data) // want `hidden: \*o.last is written`
	return 0
}

func closure(from int) func(*engine.Context) {
	count, list := from, []int{1}
	count++
	return func(c *engine.Context) {
		count++         // want `hidden: count is written during a tick`
		list[0] = count // want `hidden: list\[0\] is written`
		own := count
		own++
	}
}

// What is read, local, or of the engine's is free; so is what is written before the run.
func (w *wind) Spec() { w.gust = 0 }

type reader wind

func (r *reader) Step(c *engine.Context) error {
	smoke := c.Next(1)
	smoke[0] = r.gust
	own := r.own
	own.most = 2
	list := append([]int(nil), r.list...)
	list[0] = 1
	slices.Sort(list)
	if r.home.room(len(list)) || r.out.Len == nil {
		smoke[1] = float32(sum(r.list))
	}
	func(c *engine.Context) { list[0] = 2 }(c)
	r = nil
	return nil
}

func sum(list []int) (s int) {
	for _, n := range list {
		s += n
	}
	return s
}

// A store is reached by the ways in which Go looks things up.
type store struct {
	byName map[string]*memory
	any    any
	first  *memory
	spare  memory
}

func (s *store) one() *memory   { return s.first }
func (s *store) other() *memory { m := &s.spare; return m }
func (s *store) fresh() *memory { return &memory{most: s.first.most} }

func (s *store) Step(c *engine.Context) error {
	if m, ok := s.byName["a"]; ok {
		m.most++ // want `hidden: m.most is written`
	}
	if m, ok := s.any.(*memory); ok {
		m.most++ // want `hidden: m.most is written`
	}
	switch m := s.any.(type) {
	case *memory:
		m.most = 7 // want `hidden: m.most is written`
	case int:
		m++
	}
	s.one().most++   // want `hidden: s.one\(\).most is written`
	s.other().most++ // want `hidden: s.other\(\).most is written`
	s.fresh().most++
	m := s.one()
	m.most++ // want `hidden: m.most is written`
	return nil
}
