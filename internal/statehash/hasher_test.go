package statehash_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/statehash"
	"github.com/murksim/murksim/internal/store"
)

// hasherSizes are numbers of elements around those of the hasher's tiles.
var hasherSizes = []int{0, 1, 1023, 1024, 1025, 2047, 2048, 5000}

// changingStore has a field of every element and size.
func changingStore(tb testing.TB, sizes ...int) *store.Store {
	tb.Helper()
	var defs []fields.Def
	var all []int
	for _, e := range elements {
		for _, n := range sizes {
			defs, all = append(defs, fields.Def{Name: string(rune('a' + len(defs))), Element: e}), append(all, n)
		}
	}
	s, err := store.New(defs, all)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// elements are all kinds of elements.
var elements = []fields.Element{fields.Float32, fields.Fixed, fields.Int32, fields.Uint64}

// hold holds the present state whole.
func hold(s *store.Store) *store.State {
	n := new(store.State)
	s.Hold(n)
	return n
}

// change does what may be done to a field in a tick.
func change(random *rand.Rand, s *store.Store, id fields.ID) {
	n := s.Current(id).Len()
	if n == 0 {
		return
	}
	switch random.IntN(6) {
	case 0:
		for i, c := 0, s.Full(id); i < n; i++ {
			c.SetBits(i, random.Uint64()&0x7f7fffff7f7fffff)
		}
	case 1:
		s.Incremental(id).SetBits(random.IntN(n), random.Uint64()&0x7f7fffff7f7fffff)
	case 2:
		s.Patch(id, random.IntN(n), 1<<31) // -0: equal to 0, but other bits
	case 3:
		s.Full(id).Clear()
	case 4:
		c := s.Incremental(id)
		for i, lo := 0, random.IntN(n); i < 100 && lo+i < n; i++ {
			c.SetBits(lo+i, random.Uint64()&1)
		}
	}
}

// TestHasher holds the hashes side by side and from tables equal to the plain ones, for
// every element, size and manner of change, in groups of any size and any order.
func TestHasher(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, quiet := range []int{1, 5, 100} {
		s := changingStore(t, hasherSizes...)
		var h statehash.Hasher
		for range 30 {
			deltas := make([]*store.Delta, 1+random.IntN(6))
			group := make([]*store.State, len(deltas))
			for i := range deltas {
				for id := range s.Defs() {
					if random.IntN(quiet) == 0 {
						change(random, s, fields.ID(id))
					}
				}
				s.Commit()
				deltas[i] = new(store.Delta)
				s.HoldDelta(deltas[i], store.Moment{})
			}
			random.Shuffle(len(deltas)/2, func(i, j int) { deltas[i], deltas[j] = deltas[j], deltas[i] })
			for i, d := range deltas {
				group[i] = d.Whole()
			}
			got, again := make([]uint64, len(group)), make([]uint64, len(group))
			statehash.Sums(got, group)
			h.Hash(again, deltas)
			for i, n := range group {
				if want := n.Hash(); got[i] != want || again[i] != want {
					t.Fatalf("state %d of %d: side by side %016x, from tables %016x, want %016x", i, len(group), got[i], again[i], want)
				}
				n.Release()
			}
			if random.IntN(50) == 0 {
				h.Release()
			}
		}
	}
}

// TestDelta holds the hashes of states that are held as what changed equal to those of
// whole ones: whatever is done in a tick, reported or not, taken back, turned or reset, and
// with others that hold it as well.
func TestDelta(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	quiets := []int{1, 6, 40}
	if testing.Short() {
		quiets = quiets[1:2]
	}
	for _, quiet := range quiets {
		s := changingStore(t, 0, 1, 700, 1024, 4096, 9000, 20_001)
		var h, other statehash.Hasher
		var last, second store.Moment
		var otherDelta store.Delta
		var kept *store.State
		for range 60 {
			n := 1 + random.IntN(7)
			group, want := make([]*store.Delta, n), make([]uint64, n)
			for i := range group {
				attempt := func() {
					for id := range s.Defs() {
						for random.IntN(quiet+1) == 0 { // at times by several writers
							touch(random, s, fields.ID(id))
						}
						if id == 9 && random.IntN(4) == 0 {
							s.Turn()
						}
					}
				}
				switch random.IntN(12) {
				case 0:
					attempt()
					s.Rollback()
				case 1:
					attempt()
					s.UndoTo(0)
				case 2:
					if random.IntN(quiet) == 0 {
						s.Reset()
					}
				}
				attempt()
				group[i] = new(store.Delta)
				if random.IntN(30) == 0 {
					last = store.Moment{}
				}
				last = s.HoldDelta(group[i], last)
				want[i] = s.Hash()
				if random.IntN(3) == 0 {
					second = s.HoldDelta(&otherDelta, second)
					var got [1]uint64
					other.Hash(got[:], []*store.Delta{&otherDelta})
					otherDelta.Release()
					if got[0] != want[i] {
						t.Fatalf("held by another: %016x, want %016x", got[0], want[i])
					}
				}
				if random.IntN(20) == 0 {
					s.Rollback() // after it was held
				} else {
					s.Commit()
				}
				if random.IntN(5) == 0 {
					if kept != nil {
						kept.Release()
					}
					kept = hold(s)
				}
			}
			got := make([]uint64, n)
			h.Hash(got, group)
			for i, d := range group {
				if got[i] != want[i] {
					t.Fatalf("state %d of %d: %016x, want %016x", i, n, got[i], want[i])
				}
				d.Release()
			}
		}
	}
}

// touch changes a field, and may report what.
func touch(random *rand.Rand, s *store.Store, id fields.ID) {
	n := s.Current(id).Len()
	if n == 0 || random.IntN(2) == 0 {
		change(random, s, id)
		return
	}
	if random.IntN(2) == 0 {
		for range random.IntN(4) {
			s.Patch(id, random.IntN(n), random.Uint64()&0x7f7fffff7f7fffff)
		}
		return
	}
	written, before := s.Written(id), s.Current(id)
	var c *fields.Column
	if !written && random.IntN(2) == 0 {
		c = s.Full(id)
		c.CopyFrom(before)
	} else {
		c = s.Incremental(id)
	}
	count, tileLen := s.Tiles(id)
	s.Changed(id, make([]bool, count))
	for range random.IntN(4) {
		lo := random.IntN(n)
		hi := min(n, lo+random.IntN(1500))
		tiles := make([]bool, count)
		for i := lo; i < hi; i++ {
			tiles[i/tileLen] = true
			c.SetBits(i, random.Uint64()&0x7f7fffff7f7fffff)
		}
		s.Changed(id, tiles)
	}
}

// TestSide holds four lanes equal to the plain hash of each, for every element and
// length, with zeros here and there, in one lane or in all.
func TestSide(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, e := range elements {
		for n := range 70 {
			if n == 0 {
				continue
			}
			var c [4]fields.Column
			var got, plain, want [4]uint64
			zeros := random.IntN(n + 1)
			for j := range c {
				c[j] = fields.NewColumn(e, n)
				for i := range n {
					if i < zeros && random.IntN(8) > 0 {
						continue
					}
					c[j].SetBits(i, random.Uint64()&^(0xff<<(8*random.IntN(8))))
				}
				got[j] = random.Uint64()
				plain[j], want[j] = got[j], uint64(fields.Hash(got[j]).Bytes(c[j].AppendBytes(nil)))
			}
			statehash.Side(&got, &c)
			statehash.SidePlain(&plain, &c)
			if got != want || plain != want {
				t.Errorf("%v, %d elements: %x, plain %x, want %x", e, n, got, plain, want)
			}
		}
	}
}

// TestPass holds that a hash does not depend on where it is interrupted, fields without
// elements and of less than are hashed at a time included.
func TestPass(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	s := changingStore(t, 3, 0, 1, 5000, 12_000, 0)
	for n := 1; n <= 4; n++ {
		var group []*store.State
		for range n {
			for id := range s.Defs() {
				change(random, s, fields.ID(id))
			}
			s.Commit()
			group = append(group, hold(s))
		}
		for _, patience := range []int{0, 1, 2, 5, 1000} {
			var p statehash.Pass
			asked, rests := 0, 0
			p.Begin(group)
			for !p.Run(func() bool { asked++; return asked%2 == 0 || random.IntN(patience+1) == 0 && asked%3 == 0 }) {
				rests++
			}
			for i := range group {
				if got, want := p.Sums()[i], group[i].Hash(); got != want {
					t.Errorf("state %d of %d: %016x after %d rests, want %016x", i, n, got, rests, want)
				}
			}
			if rests == 0 {
				t.Error("the pass was never interrupted")
			}
		}
	}
}

// TestHasherLooksUp holds that what stays is looked up in the end, whatever comes before
// it, and that zeros are at once.
func TestHasherLooksUp(t *testing.T) {
	const n = 16 << 10
	s, err := store.New([]fields.Def{{Name: "first"}, {Name: "stays", Initial: fields.Fill(1.3)}, {Name: "zeros"}}, []int{n, n, n})
	if err != nil {
		t.Fatal(err)
	}
	var h statehash.Hasher
	hashed := 0
	for i := range 2500 {
		s.Patch(0, 0, uint64(math.Float32bits(float32(i))))
		s.Commit()
		var held store.Delta
		s.HoldDelta(&held, store.Moment{})
		var sum [1]uint64
		hashed = h.Hash(sum[:], []*store.Delta{&held})
		if i == 3 && hashed >= 4*n*5/2 {
			t.Errorf("tick %d: %d bytes hashed; want the zeros looked up", i, hashed)
		}
		held.Release()
	}
	if hashed > 5*8<<10 {
		t.Errorf("in the end %d bytes are hashed a tick, want few tiles", hashed)
	}
}

// BenchmarkHasher hashes four ticks at a time and compares that with the byte loop. In
// tiles5% a twentieth of the tiles, always the same, changes in every tick; warm is
// after so many ticks that the tables are full, cold the mean of the first 256.
func BenchmarkHasher(b *testing.B) {
	for _, size := range []struct {
		name  string
		cells int
	}{{"16KiB", 64 * 64}, {"4MiB", 1024 * 1024}} {
		for _, e := range elements {
			b.Run("dense/"+size.name+"/"+e.String(), func(b *testing.B) { benchmarkHasher(b, e, size.cells, 1, 0, nil) })
			b.Run("sides/"+size.name+"/"+e.String(), func(b *testing.B) {
				benchmarkHasher(b, e, size.cells, 1, 0, func(sums []uint64, d []*store.Delta) {
					statehash.Sums(sums, []*store.State{d[0].Whole(), d[1].Whole(), d[2].Whole(), d[3].Whole()})
				})
			})
		}
	}
	b.Run("tiles5%/warm", func(b *testing.B) { benchmarkHasher(b, fields.Float32, 1<<20, 20, 3000, nil) })
	b.Run("tiles5%/small", func(b *testing.B) { benchmarkHasher(b, fields.Float32, 1<<17, 20, 3000, nil) })
	b.Run("tiles5%/cold", func(b *testing.B) { benchmarkHasher(b, fields.Float32, 1<<20, 20, 0, nil) })
}

// benchmarkHasher changes every so manieth tile of 2048 elements in each tick.
func benchmarkHasher(b *testing.B, e fields.Element, n, every, warm int, hash func([]uint64, []*store.Delta)) {
	random := rand.New(rand.NewPCG(1, 2))
	s, err := store.New([]fields.Def{{Name: "f", Element: e}}, []int{n})
	if err != nil {
		b.Fatal(err)
	}
	first := s.Full(0)
	for i := range n {
		first.SetBits(i, random.Uint64()&0x7f7fffff7f7fffff)
	}
	s.Commit()
	var h statehash.Hasher
	if hash == nil {
		hash = func(sums []uint64, d []*store.Delta) { h.Hash(sums, d) }
	}
	var held [4]store.Delta
	var sums [4]uint64
	group := []*store.Delta{&held[0], &held[1], &held[2], &held[3]}
	ticks := func() {
		const tile = 2048
		for j := range group {
			c := s.Incremental(0)
			for lo := 0; lo < n; lo += tile * every {
				for i := lo; i < min(lo+tile, n); i++ {
					c.SetBits(i, random.Uint64()&0x7f7fffff7f7fffff)
				}
			}
			s.Commit()
			group[j].Release()
			s.HoldDelta(group[j], store.Moment{})
		}
	}
	for range warm / 4 {
		ticks()
		hash(sums[:], group)
	}
	var quick, slow time.Duration
	var ratios []float64
	for b.Loop() {
		ticks()
		start := time.Now()
		hash(sums[:], group)
		middle := time.Now()
		want := group[3].Whole().Hash()
		end := time.Now()
		if sums[3] != want {
			b.Fatalf("%016x, want %016x", sums[3], want)
		}
		quick, slow = quick+middle.Sub(start), slow+end.Sub(middle)
		ratios = append(ratios, 4*float64(end.Sub(middle))/float64(middle.Sub(start)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "times")
	b.ReportMetric(4*float64(len(ratios)*n*e.Size())/float64(quick.Nanoseconds()), "GB/s")
	b.ReportMetric(0, "ns/op")
}
