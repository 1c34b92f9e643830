package store_test

import (
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
)

// A mirror is a copy of a store's columns, which follows it by what a Delta holds.
type mirror struct {
	columns []fields.Column
	at      store.Moment
	delta   store.Delta
}

// follow takes over what has changed.
func (m *mirror) follow(s *store.Store) {
	m.at = s.HoldDelta(&m.delta, m.at)
	for id := range s.Defs() {
		if m.columns == nil {
			m.columns = make([]fields.Column, len(s.Defs()))
		}
		tiles, b := m.delta.Tiles(id), m.delta.Buffer(id)
		if m.columns[id].Len() == 0 {
			m.columns[id] = fields.NewColumn(s.Defs()[id].Element, s.Now(fields.ID(id)).Len())
		}
		_, n := s.Tiles(fields.ID(id))
		if m.delta.Fine {
			n /= store.TileBytes / store.PieceBytes
		}
		for p, k := range tiles.Which {
			lo, hi := int(k)*n, min(int(k+1)*n, m.columns[id].Len())
			to := m.columns[id].Slice(lo, hi)
			if b != nil { // all of it, and which pieces to look at
				from := b.Slice(lo, hi)
				to.CopyFrom(&from)
				continue
			}
			from := tiles.Data.Slice(p*n, p*n+hi-lo)
			to.CopyFrom(&from)
		}
	}
	m.delta.Release()
}

// A world is a store with a copy of what it must hold.
type world struct {
	s       *store.Store
	now     []fields.Column // by field: what Now must give
	mirrors [2]mirror
}

// check compares everything with what it must be.
func (w *world) check(t *testing.T, step int) {
	t.Helper()
	for id := range w.now {
		if is := w.s.Now(fields.ID(id)); !is.SameBits(&w.now[id], 0, is.Len()) {
			t.Fatalf("step %d: field %d is not what was written to it", step, id)
		}
	}
}

// write writes as an incremental or a full writer does, to few places or many.
func (w *world) write(r *rand.Rand, id fields.ID) {
	full := r.IntN(8) == 0
	var c *fields.Column
	if full {
		c = w.s.Full(id)
		c.CopyFrom(&w.now[id])
	} else {
		c = w.s.Incremental(id)
	}
	tiles, n := w.s.Tiles(id)
	changed := make([]bool, tiles)
	for range r.IntN(4) * r.IntN(20) {
		at := r.IntN(c.Len())
		c.SetBits(at, uint64(r.IntN(3))) // often the same
		w.now[id].SetBits(at, c.Bits(at))
		changed[at/n] = true
	}
	if r.IntN(4) == 0 {
		w.s.Changed(id, changed)
	}
}

// tick does what a tick does: commands, writers, checks, recorders, more commands.
func (w *world) tick(t *testing.T, r *rand.Rand, step int, keep func(*store.State)) {
	var before []fields.Column
	for id := range w.now {
		before = append(before, w.now[id].Clone())
	}
	patch := func() {
		for range r.IntN(3) {
			id := fields.ID(r.IntN(len(w.now)))
			at, bits := r.IntN(w.now[id].Len()), uint64(r.IntN(3))
			w.s.Patch(id, at, bits)
			w.now[id].SetBits(at, bits)
		}
	}
	patch()
	for id := range w.now {
		for range r.IntN(3) {
			w.write(r, fields.ID(id))
		}
	}
	if r.IntN(10) == 0 {
		w.mirrors[1].follow(w.s) // in the middle of the tick
	}
	for id := range w.now {
		if w.s.Finish(fields.ID(id), false) >= 0 {
			t.Fatal("a value is bad")
		}
	}
	if r.IntN(3) == 0 {
		w.s.Turn()
		patch()
	}
	if r.IntN(3) == 0 {
		n := new(store.State)
		w.s.Hold(n)
		keep(n)
	}
	if r.IntN(2) == 0 {
		w.mirrors[0].follow(w.s) // as a recorder does
	}
	w.check(t, step)
	if r.IntN(6) > 0 {
		w.s.Commit()
		return
	}
	w.s.Rollback()
	w.now = before
	w.check(t, step)
}

// TestGenerations: whatever writers, commands, failures, forks and holders do in whatever order, a column holds what was written to it,
// although only some tiles of it are copied from one generation to the next; and who follows what may have changed has all of it.
func TestGenerations(t *testing.T) {
	const size = 9000
	defs := []fields.Def{{Name: "a"}, {Name: "b", Element: fields.Fixed}, {Name: "c", Element: fields.Int32}, {Name: "d", Element: fields.Uint64}}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		newWorld := func() *world {
			w := &world{s: newStore(t, size, defs...)}
			w.mirrors[1].delta.Fine = true
			for id := range defs {
				w.now = append(w.now, w.s.Now(fields.ID(id)).Clone())
			}
			return w
		}
		worlds := []*world{newWorld(), newWorld()}
		var held []*store.State
		keep := func(n *store.State) {
			if held = append(held, n); len(held) > 5 {
				i := r.IntN(len(held))
				held[i].Release()
				held[i] = held[len(held)-1]
				held = held[:len(held)-1]
			}
		}
		for step := range 300 {
			w := worlds[r.IntN(2)]
			w.tick(t, r, step, keep)
			switch r.IntN(40) {
			case 0: // a fork
				from, to := worlds[step%2], worlds[1-step%2]
				to.s.Share(from.s)
				for id := range to.now {
					to.now[id] = from.now[id].Clone()
				}
			case 1:
				w.s.Reset()
				for id := range w.now {
					w.now[id].Clear()
				}
			}
			w.check(t, step)
			for i := range w.mirrors {
				m := &w.mirrors[i]
				if r.IntN(3) > 0 {
					continue
				}
				m.follow(w.s)
				for id := range w.now {
					if !m.columns[id].SameBits(&w.now[id], 0, size) {
						t.Fatalf("seed %d, step %d: who follows does not have field %d", seed, step, id)
					}
				}
			}
		}
	}
}

// TestOnlyWhatDiffers: of what incremental writers leave, just the tiles that differ count as changed, be they of one writer or of two;
// what a writer did not report is not lost from its column.
func TestOnlyWhatDiffers(t *testing.T) {
	s := newStore(t, 8<<10, fields.Def{Name: "a"}) // eight tiles
	since := store.Moment{}
	changed := func(write func(v []float32)) int {
		var d store.Delta
		since = s.HoldDelta(&d, since)
		d.Release()
		write(s.Incremental(0).Float32)
		s.Finish(0, false)
		n := s.View().ChangedBytes(since) / store.TileBytes
		s.Commit()
		return n
	}
	for _, tt := range []struct {
		name  string
		write func(v []float32)
		want  int
	}{
		{"nothing", func([]float32) {}, 0},
		{"one", func(v []float32) { v[5000] = 1 }, 1},
		{"the same", func(v []float32) { v[5000] = 1 }, 0},
		{"there and back", func(v []float32) { v[1] = 1; s.Incremental(0).Float32[1] = 0 }, 0},
		{"two writers", func(v []float32) { v[1] = 1; s.Incremental(0).Float32[8000] = 1 }, 2},
		{"less than a tile of all", func(v []float32) { v[0], v[8191] = 2, 2 }, 2},
		{"a lie", func(v []float32) { v[3000] = 7; s.Changed(0, make([]bool, 8)) }, 0},
		{"after a lie", func([]float32) {}, 0},
		{"a while after a lie", func([]float32) {}, 0},
	} {
		if got := changed(tt.write); got != tt.want {
			t.Errorf("%s: %d tiles changed, want %d", tt.name, got, tt.want)
		}
	}
	if got := s.Current(0).Float32[3000]; got != 7 {
		t.Errorf("an element that was written without a report is %v now, want 7", got)
	}
}

// TestHeldWithinATick: who held what a tick had written by its middle learns that the end took it back, or bounded it.
func TestHeldWithinATick(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(s *store.Store)
	}{
		{"written back", func(s *store.Store) { s.Incremental(0).Float32[5] = 0 }},
		{"taken back", func(s *store.Store) { s.Unwrite(0, nil) }},
		{"bounded", func(*store.Store) {}},
		{"bounded after a full writer", func(s *store.Store) { s.Full(0) }},
	} {
		s := newStore(t, 8<<10, fields.Def{Name: "a", Bounds: &fields.Bounds{Max: 1}})
		for _, fine := range []bool{false, true} {
			var m mirror
			m.delta.Fine = fine
			m.follow(s)
			s.Incremental(0).Float32[5] = 7
			m.follow(s)
			tt.then(s)
			s.Finish(0, false)
			m.follow(s)
			if got, want := m.columns[0].Float32[5], s.Now(0).Float32[5]; got != want {
				t.Errorf("%s: who follows has %v, want %v", tt.name, got, want)
			}
			s.Rollback()
		}
	}
}

// TestFine: pieces of tiles, also of what a Full writer wrote; of what most has changed, all is held.
func TestFine(t *testing.T) {
	s := newStore(t, 8<<10, fields.Def{Name: "a"}) // 32 pieces
	var d store.Delta
	d.Fine = true
	since := s.HoldDelta(&d, store.Moment{})
	if n := len(d.Tiles(0).Which); n != 32 || d.Buffer(0) == nil {
		t.Errorf("of a first state %d pieces are told, held whole: %v; want 32, true", n, d.Buffer(0) != nil)
	}
	for _, full := range []bool{false, true} {
		for _, tt := range []struct{ changes, pieces int }{{0, 0}, {1, 1}, {23, 23}, {24, 24}, {32, 32}} {
			var v []float32
			if full {
				v = s.Full(0).Float32
				copy(v, s.Current(0).Float32)
			} else {
				v = s.Incremental(0).Float32
			}
			for i := range tt.changes {
				v[i*256+7]++
			}
			s.Finish(0, false)
			d.Release()
			since = s.HoldDelta(&d, since)
			if n, whole := len(d.Tiles(0).Which), d.Buffer(0) != nil; n != tt.pieces || whole != (n >= 24) {
				t.Errorf("full %v: of %d changes %d pieces are told, held whole: %v", full, tt.changes, n, whole)
			}
			s.Commit()
		}
	}
}
