package random

import (
	crypto "crypto/rand"
	"hash/maphash"
	"math/rand"
	v2 "math/rand/v2"

	"lukechampine.com/frand"
)

func global() int {
	rand.Seed(1)                                          // want `random: rand.Seed`
	rand.Shuffle(3, func(i, j int) {})                    // want `random: rand.Shuffle draws from a generator that the process seeds`
	return rand.Intn(6) + v2.IntN(6) + int(v2.N[int8](3)) // want `random: rand.Intn` `random: rand.IntN` `random: rand.N `
}

func machine(b []byte) uint64 {
	crypto.Read(b)        // want `random: rand.Read draws from the machine`
	var h maphash.Hash    // want `random: maphash.Hash has another seed`
	frand.Read(b)         // want `random: frand.Read`
	_ = frand.Uint64n(10) // want `random: frand.Uint64n`
	return h.Sum64()
}

// Generators that are seeded by the program are its own affair.
func seeded(seed uint64) uint64 {
	r := v2.New(v2.NewPCG(seed, 1))
	old := rand.New(rand.NewSource(int64(seed)))
	own := frand.NewCustom(make([]byte, 32), 1024, 12)
	return r.Uint64N(6) + old.Uint64() + own.Uint64n(9)
}
