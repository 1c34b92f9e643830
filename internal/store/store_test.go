package store_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
)

// mixedDefs are a field of each element; heat is the first.
func mixedDefs() []fields.Def {
	return []fields.Def{
		{Name: "heat", Initial: fields.Fill(20)},
		{Name: "flow", Type: fields.Vector(2), Element: fields.Fixed, Mutability: fields.Sparse},
		{Name: "kind", Type: fields.Categorical(4), Element: fields.Int32, Mutability: fields.Sparse},
		{Name: "id", Element: fields.Uint64, Mutability: fields.Sparse},
	}
}

func newStore(t testing.TB, cells int, defs ...fields.Def) *store.Store {
	t.Helper()
	sizes := make([]int, len(defs))
	for i := range defs {
		sizes[i] = cells * defs[i].Type.Components()
	}
	s, err := store.New(defs, sizes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hold(s *store.Store) *store.State {
	n := new(store.State)
	s.Hold(n)
	return n
}

func f32(v float32) uint64 { return uint64(math.Float32bits(v)) }

// TestUnwrite holds that a writer that is taken back leaves nothing: no generation, no
// contents, and no tiles that count as changed.
func TestUnwrite(t *testing.T) {
	const size = 3000 // three tiles
	s, err := store.New([]fields.Def{{Name: "a", Initial: fields.Fill(1)}}, []int{size})
	if err != nil {
		t.Fatal(err)
	}
	var d store.Delta
	since := s.HoldDelta(&d, store.Moment{})
	d.Release()
	s.Incremental(0).Float32[5] = 7
	s.Unwrite(0, nil)
	if s.Written(0) || s.Now(0).Float32[5] != 1 || s.View().ChangedBytes(since) != 0 {
		t.Errorf("written %v, %v, %d bytes changed; want nothing", s.Written(0), s.Now(0).Float32[5], s.View().ChangedBytes(since))
	}
	s.Incremental(0).Float32[5] = 8
	s.Changed(0, []bool{true, false, false})
	first := s.Now(0).Clone()
	s.Incremental(0).Float32[2000] = 9
	s.Unwrite(0, &first)
	if now := s.Now(0).Float32; !s.Written(0) || now[5] != 8 || now[2000] != 1 || s.View().ChangedBytes(since) != store.TileBytes {
		t.Errorf("written %v, %v and %v, %d bytes changed; want the first writer's, 8 and 1, and one tile",
			s.Written(0), now[5], now[2000], s.View().ChangedBytes(since))
	}
}

func TestGenesis(t *testing.T) {
	s := newStore(t, 3,
		fields.Def{Name: "fill", Initial: fields.Fill(2)},
		fields.Def{Name: "values", Element: fields.Fixed, Initial: fields.Values([]float64{1, -1, 0.5})},
		fields.Def{Name: "bounded", Initial: fields.Fill(9), Bounds: &fields.Bounds{Max: 1}},
		fields.Def{Name: "zero below", Bounds: &fields.Bounds{Min: 1, Max: 2}},
	)
	n := hold(s)
	defer n.Release()
	for id, want := range [][]float64{{2, 2, 2}, {1, -1, 0.5}, {1, 1, 1}, {1, 1, 1}} {
		for i, v := range want {
			if got := n.Defs()[id].Value(n.Column(fields.ID(id)).Bits(i)); got != v {
				t.Errorf("%s, element %d = %v, want %v", n.Defs()[id].Name, i, got, v)
			}
		}
	}
	for _, tt := range []struct {
		def  fields.Def
		want string
	}{
		{fields.Def{Name: "f", Initial: fields.Values([]float64{1})}, "1 initial values for 2 elements"},
		{fields.Def{Name: "f", Initial: fields.Values([]float64{1, math.NaN()})}, "NaN of element 1"},
		{fields.Def{}, "no name"},
	} {
		if _, err := store.New([]fields.Def{tt.def}, []int{2}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: NewStore = %v, want %q", tt.def, err, tt.want)
		}
	}
}

// TestGenesisOfNegativeZero: a sign is a bit like any other.
func TestGenesisOfNegativeZero(t *testing.T) {
	s := newStore(t, 2, fields.Def{Name: "f", Initial: fields.Fill(math.Copysign(0, -1))})
	if got, want := s.Current(0).Bits(1), uint64(1<<31); got != want {
		t.Errorf("an element filled with -0 holds %#x, want %#x", got, want)
	}
}

// TestViews follows what Current, Now and the next generation show in a tick.
func TestViews(t *testing.T) {
	s := newStore(t, 2, mixedDefs()...)
	s.Patch(0, 1, f32(30))
	if now, cur := s.Now(0).Float32[1], s.Current(0).Float32[1]; now != 30 || cur != 30 {
		t.Errorf("after a patch: Now, Current = %v, %v, want 30, 30", now, cur)
	}
	next := s.Incremental(0)
	if next.Float32[1] != 30 {
		t.Errorf("Incremental starts with %v, want 30", next.Float32[1])
	}
	next.Float32[1]++
	if now, cur := s.Now(0).Float32[1], s.Current(0).Float32[1]; now != 31 || cur != 30 || !s.Written(0) || s.Written(1) {
		t.Errorf("in the tick: Now, Current = %v, %v, want 31, 30", now, cur)
	}
	if again := s.Incremental(0); &again.Float32[0] != &next.Float32[0] || again.Float32[1] != 31 {
		t.Errorf("a second Incremental starts with %v, want what the first left, 31", again.Float32[1])
	}
	if full := s.Full(0); &full.Float32[0] != &next.Float32[0] {
		t.Error("Full after Incremental is another column, want the same")
	}
	hash := s.Hash()
	s.Commit()
	if cur := s.Current(0).Float32[1]; cur != 31 || s.Written(0) || s.Hash() != hash {
		t.Errorf("after Commit: Current = %v, want 31; hash %016x, want %016x", cur, s.Hash(), hash)
	}
}

// Two columns are written in turns; what is in place at Commit is kept, and a snapshot
// or a Rollback sees nothing of the other.
func TestSwap(t *testing.T) {
	s := newStore(t, 2, mixedDefs()...)
	held := hold(s)
	a := s.Full(0)
	s.Swap(0)
	b := s.Full(0)
	a.Float32[0], a.Float32[1], b.Float32[0], b.Float32[1] = 1, 2, 3, 4
	if s.Now(0) != b || held.Column(0).Float32[0] != 20 || s.Current(0).Float32[0] != 20 {
		t.Errorf("a swapped column is in the way: now %v, held %v, current %v", s.Now(0).Float32, held.Column(0).Float32[0], s.Current(0).Float32)
	}
	s.Swap(0)
	if s.Full(0) != a {
		t.Error("a second Swap does not put back the first column")
	}
	s.Commit()
	if got := s.Current(0).Float32; got[0] != 1 || got[1] != 2 {
		t.Errorf("after Commit %v, want [1 2]", got)
	}
	s.Full(0).Float32[0] = 5
	s.Swap(0)
	s.Full(0).Float32[0] = 6
	s.Rollback()
	if got := s.Current(0).Float32; got[0] != 1 || s.Written(0) {
		t.Errorf("after Rollback %v, written %v; want [1 2], false", got, s.Written(0))
	}
	held.Release()
}

func TestUndo(t *testing.T) {
	s := newStore(t, 4, mixedDefs()...)
	before := s.Hash()
	s.Patch(0, 0, f32(1))
	s.Patch(0, 0, f32(2))
	mark, half := s.Mark(), s.Hash()
	for id := range fields.ID(4) {
		s.Patch(id, 3, 1)
	}
	s.Patch(0, 0, f32(3))
	s.UndoTo(mark)
	if got := s.Hash(); got != half {
		t.Errorf("after UndoTo: hash %016x, want %016x", got, half)
	}
	s.Full(1).Fixed[0] = 7
	s.Rollback()
	if got := s.Hash(); got != before || s.Written(1) || s.Mark() != 0 {
		t.Errorf("after Rollback: hash %016x, want %016x", got, before)
	}
}

// TestStateHolds: a state keeps its values whatever happens to the store,
// be it taken before the tick or in the middle of one that fails.
func TestStateHolds(t *testing.T) {
	s := newStore(t, 4, mixedDefs()...)
	genesis := s.Hash()
	var held []*store.State
	var hashes []uint64
	keep := func() {
		held, hashes = append(held, hold(s)), append(hashes, s.Hash())
	}
	keep()
	s.Patch(0, 0, f32(1)) // on a copy
	keep()
	s.Patch(0, 0, f32(2)) // on another
	s.Patch(1, 0, 5)
	keep()
	s.Incremental(0).Float32[1] = 4
	keep()
	s.Rollback()
	if got := s.Hash(); got != genesis {
		t.Errorf("after Rollback: hash %016x, want %016x", got, genesis)
	}
	keep()
	s.Full(3).Uint64[2] = 9
	s.Patch(0, 0, f32(3))
	keep()
	s.Commit()
	s.Patch(0, 0, f32(4))
	s.Patch(3, 0, 1)
	s.Commit()
	for i, n := range held {
		if got := n.Hash(); got != hashes[i] {
			t.Errorf("snapshot %d: hash %016x, want %016x", i, got, hashes[i])
		}
		n.Release()
		n.Release() // does nothing
	}
	if got := s.Current(0).Float32[0]; got != 4 {
		t.Errorf("the store has %v, want 4", got)
	}
}

// tick writes to a store as commands and propagators do, and fails now and then.
func tick(s *store.Store, i int) {
	s.Patch(0, i%64, f32(float32(i)))
	s.Patch(1, i%128, uint64(i))
	prev, next := s.Current(0).Float32, s.Full(0).Float32
	for j := range next {
		next[j] = prev[j] + 1
	}
	if i%3 == 0 {
		s.Incremental(3).Uint64[i%64]++
	}
	if i%5 == 4 {
		s.Rollback()
	} else {
		s.Commit()
	}
}

// TestStatesHeldLong hashes states in other goroutines, up to 100 ticks after
// they were taken, while the store goes on; run it with -race.
func TestStatesHeldLong(t *testing.T) {
	s := newStore(t, 64, mixedDefs()...)
	type heldOne struct {
		n    *store.State
		want uint64
	}
	var readers sync.WaitGroup
	work := make(chan heldOne, 100) // so far behind may a reader be
	for range 3 {
		readers.Go(func() {
			for h := range work {
				if got := h.n.Hash(); got != h.want {
					t.Errorf("a held snapshot has hash %016x, want %016x", got, h.want)
				}
				h.n.Release()
			}
		})
	}
	var late []heldOne
	for i := range 1000 {
		late = append(late, heldOne{hold(s), s.Hash()})
		if len(late) == 100 { // held for 100 ticks before anyone looks
			work <- late[0]
			late = late[1:]
		}
		n := hold(s)
		work <- heldOne{n, n.Hash()}
		tick(s, i)
	}
	for _, h := range late {
		work <- h
	}
	close(work)
	readers.Wait()
}

func TestStoreAllocations(t *testing.T) {
	s := newStore(t, 64, mixedDefs()...)
	i := 0
	if got := testing.AllocsPerRun(1000, func() { tick(s, i); i++ }); got != 0 {
		t.Errorf("%v allocations a tick, want 0", got)
	}
	var held *store.State
	got := testing.AllocsPerRun(1000, func() {
		if held != nil {
			held.Release()
		}
		held = hold(s)
		tick(s, i)
		i++
	})
	if got > 2 { // the snapshot and its list
		t.Errorf("%v allocations a tick with a snapshot held, want at most 2", got)
	}
}

func TestFinish(t *testing.T) {
	bounds := &fields.Bounds{Min: 0, Max: 10}
	absorb := &fields.Bounds{Min: 0, Max: 10, Mode: fields.AbsorbBound}
	for _, tt := range []struct {
		name             string
		def              fields.Def
		cur, next, after float64
		want             int
	}{
		{"free", fields.Def{}, 1, 99, 99, -1},
		{"bounded", fields.Def{Bounds: bounds}, 1, 99, 10, -1},
		{"bounded fixed", fields.Def{Bounds: bounds, Element: fields.Fixed}, 1, -99, 0, -1},
		{"absorbed", fields.Def{Bounds: absorb}, 1, 99, 10, -1},
		{"held at the top", fields.Def{Bounds: absorb}, 10, 5, 10, -1},
		{"held at the bottom", fields.Def{Bounds: absorb, Element: fields.Fixed}, 0, 5, 0, -1},
		{"not held", fields.Def{Bounds: absorb, Element: fields.Fixed}, 1, 5, 5, -1},
		{"category", fields.Def{Type: fields.Categorical(3)}, 0, 2, 2, -1},
		{"no category", fields.Def{Type: fields.Categorical(3)}, 0, 3, 3, 1},
		{"half a category", fields.Def{Type: fields.Categorical(3)}, 0, 0.5, 0.5, 1},
		{"negative category", fields.Def{Type: fields.Categorical(3), Element: fields.Int32}, 0, -1, -1, 1},
		{"half a fixed category", fields.Def{Type: fields.Categorical(3), Element: fields.Fixed}, 0, 0.5, 0.5, 1},
	} {
		tt.def.Name = tt.name
		tt.def.Initial = fields.Fill(tt.cur)
		s := newStore(t, 2, tt.def)
		if got := s.Finish(0, false); got != -1 {
			t.Errorf("%s: Finish of what nobody wrote = %d, want -1", tt.name, got)
		}
		free := fields.Def{Element: tt.def.Element}
		bits, _ := free.Bits(tt.next)
		s.Incremental(0).SetBits(1, bits)
		if got := s.Finish(0, false); got != tt.want {
			t.Errorf("%s: Finish = %d, want %d", tt.name, got, tt.want)
		}
		if got := tt.def.Value(s.Now(0).Bits(1)); got != tt.after {
			t.Errorf("%s: %v becomes %v, want %v", tt.name, tt.next, got, tt.after)
		}
	}
	s := newStore(t, 9, fields.Def{Name: "f", Bounds: bounds})
	s.Incremental(0).Float32[6] = float32(math.Inf(1))
	if got := s.Finish(0, false); got != 6 {
		t.Errorf("Finish with an infinity = %d, want 6", got)
	}
}

// TestBoundAsFinish: the loop over a column bounds as Bound does an element.
func TestBoundAsFinish(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for mode := range fields.BoundMode(4) {
		for _, e := range []fields.Element{fields.Float32, fields.Fixed} {
			d := fields.Def{Name: "f", Element: e, Initial: fields.Fill(1), Bounds: &fields.Bounds{Min: -2, Max: 3, Mode: mode}}
			s := newStore(t, 500, d)
			next := s.Full(0)
			var want []uint64
			for i := range next.Len() {
				bits, _ := d.Bits((random.Float64() - 0.5) * 20)
				next.SetBits(i, bits)
				want = append(want, d.Bound(bits))
			}
			if got := s.Finish(0, false); got != -1 {
				t.Errorf("%s %s: Finish = %d, want -1", e, mode, got)
			}
			for i := range want {
				if got := next.Bits(i); got != want[i] {
					t.Fatalf("%s %s: element %d = %x, want %x", e, mode, i, got, want[i])
				}
			}
		}
	}
}
