package statehash_test

import (
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/statehash"
	"github.com/murksim/murksim/internal/store"
)

// TestShare holds that stores which share columns are as if each had its own, whichever of
// them writes, takes back, is reset or shares again, and that each records what has changed.
func TestShare(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const stores = 3
	var all, plain [stores]*store.Store // of plain each has copies
	var hashers [stores]statehash.Hasher
	var since [stores]store.Moment
	for i := range all {
		all[i], plain[i] = changingStore(t, hasherSizes...), changingStore(t, hasherSizes...)
	}
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	for round := range rounds {
		i := random.IntN(stores)
		s, p := all[i], plain[i]
		switch random.IntN(5) {
		case 0:
			from := random.IntN(stores)
			s.Share(all[from])
			for id := range p.Defs() {
				p.Full(fields.ID(id)).CopyFrom(plain[from].Current(fields.ID(id)))
			}
			p.Commit()
		case 1:
			s.Reset()
			p.Reset()
		default:
			seed := random.Uint64()
			for _, st := range []*store.Store{s, p} {
				r := rand.New(rand.NewPCG(seed, 1))
				for id := range st.Defs() {
					change(r, st, fields.ID(id))
				}
				if r.IntN(3) == 0 {
					st.Rollback()
				} else {
					st.Commit()
				}
			}
		}
		for i := range all {
			var d store.Delta
			var sum [1]uint64
			since[i] = all[i].HoldDelta(&d, since[i])
			hashers[i].Hash(sum[:], []*store.Delta{&d})
			d.Release()
			if got, want := all[i].Hash(), plain[i].Hash(); got != want || sum[0] != want {
				t.Fatalf("round %d: store %d has hash %016x, by its changes %016x; want %016x", round, i, got, sum[0], want)
			}
		}
	}
}

// TestShareAllocatesNothing holds for stores that share and part again and again.
func TestShareAllocatesNothing(t *testing.T) {
	a, b := changingStore(t, hasherSizes...), changingStore(t, hasherSizes...)
	write := func(s *store.Store) {
		for id := range s.Defs() {
			s.Full(fields.ID(id))
		}
		s.Commit()
	}
	round := func() {
		b.Share(a)
		write(b)
		b.Share(a)
		write(a)
		write(b)
	}
	for range 5 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
