package kernel

import "math"

// PhiloxAtOnce is how many words vector code makes at once.
const PhiloxAtOnce = 48

// PhiloxWords writes words of Philox4x32-10, the four of each index from first on, as many as vector code does at once, and returns how many: none without it. Need
// is nil, or has an element for each word: where it has no bits, the word need not be written.
func PhiloxWords(to []uint32, key [2]uint32, first uint64, need []float32) (done int) {
	n := len(to)
	if same := 1<<32 - first&math.MaxUint32; uint64(n)/4 > same { // so many indices have the same high word
		n = int(4 * same)
	}
	if n -= n % PhiloxAtOnce; !vectors || n == 0 {
		return 0
	}
	keys, step := philoxKeys(key, uint32(first>>32)), 0
	all := &allNeeded
	if need != nil {
		all, step = (*[PhiloxAtOnce]float32)(need[:n]), 4*PhiloxAtOnce
	}
	philoxWords(&to[0], &keys[0][0], first, n, &all[0], step)
	return n
}

var allNeeded = [PhiloxAtOnce]float32{1, 1, 1, 1, 1, 1, 1, 1}

// philoxKeys are what the products of each round are combined with: that of c0 in odd rounds, that of c2 in even ones. The high half counts in this round, the low half
// in the next. The first two rounds are the same for all indices in part:
//
//	round 1   c0 = high ^ k0, c1 = 0, c3 = the low half of a product
//	round 2   c3 = the low half of philox0·c0, and its high half goes into c2
func philoxKeys(key [2]uint32, high uint32) (keys [10][4]uint64) {
	var k [11][2]uint32
	for r := range k {
		k[r] = [2]uint32{key[0] + uint32(r)*philoxStep0, key[1] + uint32(r)*philoxStep1}
	}
	same := philox0 * uint64(high^key[0])
	for r := range keys {
		side := (r + 1) % 2
		now, next := k[r][side], k[r+1][side]
		switch r + 1 {
		case 1:
			next ^= uint32(same >> 32)
		case 3:
			now ^= uint32(same)
		case 10:
			next = 0
		}
		both := uint64(now)<<32 | uint64(next)
		keys[r] = [4]uint64{both, both, both, both}
	}
	return keys
}

// None reports whether no element has any bits.
func None(v []float32) bool {
	for _, x := range v {
		if math.Float32bits(x) != 0 {
			return false
		}
	}
	return true
}
