package kernel

import "math"

// PhiloxAtOnce is how many words vector code makes at once.
const PhiloxAtOnce = 48

// PhiloxWords writes words of Philox4x32-10, the four of each index from first on, as many as vector code does at once, and returns how many: none without it. Need
// is nil, or has an element for each word: where it has no bits, the word need not be written.
func PhiloxWords(to []uint32, key [2]uint32, first uint64, need []float32) (done int) {
	n := len(to)
	if same := 1<<32 - first&math.MaxUint32; same < uint64(n)/4 { // so many indices have the same high word
		n = len(to[:4*same])
	}
	if n -= n % PhiloxAtOnce; !vectors || n == 0 {
		return 0
	}
	keys, step := philoxKeys(key, uint32(first>>32)), 0
	all := &allNeeded
	if need != nil {
		all, step = (*[PhiloxAtOnce]float32)(need[:n]), 4*PhiloxAtOnce
	}
	philoxWords(&to[0], &keys[0], first, n, &all[0], step)
	return n
}

var allNeeded = [PhiloxAtOnce]float32{1, 1, 1, 1, 1, 1, 1, 1}

// philoxKeys are what the products of each round are combined with: that of c0 in odd rounds, that of c2 in even ones. The high half counts in this round, the low half
// in the next. The first two rounds are the same for all indices in part:
//
//	round 1   c0 = high ^ k0, c1 = 0, c3 = the low half of a product
//	round 2   c3 = the low half of philox0·c0, and its high half goes into c2
func philoxKeys(key [2]uint32, high uint32) (keys [10]uint64) {
	same := philox0 * uint64(high^key[0])
	k0, k1 := key[0], key[1]
	for r := 0; r < len(keys); r += 2 { // rounds r + 1 and r + 2
		keys[r] = uint64(k1)<<32 | uint64(k1+philoxStep1)
		keys[r+1] = uint64(k0+philoxStep0)<<32 | uint64(k0+2*philoxStep0&math.MaxUint32)
		k0, k1 = k0+2*philoxStep0&math.MaxUint32, k1+2*philoxStep1&math.MaxUint32
	}
	keys[0] ^= same >> 32
	keys[2] ^= same << 32
	keys[9] &^= math.MaxUint32 // no round comes after it
	return keys
}

// PhiloxEach writes the first word of Philox4x32-10 of each index, of as many as vector code does at once, and returns how many: none without it.
func PhiloxEach(to []uint32, key [2]uint32, indices []uint64) (done int) {
	const atOnce = 12
	n := min(len(to), len(indices))
	if n -= n % atOnce; !vectors || n == 0 {
		return 0
	}
	var keys [20]uint64
	for r := range 10 {
		keys[2*r], keys[2*r+1] = uint64(key[0]), uint64(key[1])
		key[0], key[1] = key[0]+philoxStep0, key[1]+philoxStep1
	}
	philoxEach(&to[0], &keys[0], &indices[0], n)
	return n
}
