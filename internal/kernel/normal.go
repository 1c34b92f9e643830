package kernel

// A Quantile is the coefficients of the normal distribution's quantile function where
// words of 32 bits can reach: in the centre, and in the middle of the tails. Each is
// the quotient of two polynomials, lowest power first.
type Quantile struct {
	Centre, CentreBelow, Middle, MiddleBelow [8]float64
}

// normals is what vector code needs to know, and where it is.
type normals struct {
	keys  [17][4]uint64 // of the rounds of Philox, in the order in which they are used
	scale [4]float64
	index [12]uint64 // low words of the next counters
}

// Multipliers of Philox4x32, and what is added to its key after each round.
const (
	philox0, philox1         = 0xd2511f53, 0xcd9e8d57
	philoxStep0, philoxStep1 = 0x9e3779b9, 0xbb67ae85
)

// begin prepares for counters (low, high, 0, 0) from index first on. The first two
// rounds are the same for all of them in part:
//
//	round 1   c0 = high ^ k0, c1 = 0, c3 = the low half of a product
//	round 2   c3 = the low half of philox0·c0, and its high half goes into c2
func (w *normals) begin(key [2]uint32, first uint64, scale float64) {
	used := 0
	use := func(k uint32) {
		w.keys[used] = [4]uint64{uint64(k), uint64(k), uint64(k), uint64(k)}
		used++
	}
	k0, k1 := key[0], key[1]
	same := philox0 * uint64(uint32(first>>32)^k0)
	for round := 1; round <= 10; round++ {
		if round != 1 && round != 9 {
			use(k0)
		}
		switch round {
		case 2:
			use(uint32(same>>32) ^ k1)
		case 3:
			use(uint32(same) ^ k1)
		case 10:
		default:
			use(k1)
		}
		k0, k1 = k0+philoxStep0, k1+philoxStep1
	}
	w.scale = [4]float64{scale, scale, scale, scale}
	for i := range w.index {
		w.index[i] = uint64(uint32(first)) + uint64(i)
	}
}

// Normals writes normal numbers, as many as vector code does at once, and returns how
// many: none without it. The rest is for the caller, whose loop is the plain twin:
//
//	dst[i] = float32(scale · quantile((word(first+i) + ½) / 2**32))
//
// The word is the first one of Philox4x32-10 for that index, see package rng, as are
// the quantile of M. J. Wichura's AS 241 and exact.Log, which it needs in the tails.
// A seventh of all numbers lie there; they are listed and computed by themselves.
func Normals(dst []float32, key [2]uint32, first uint64, scale float64, q *Quantile) (done int) {
	n := int(min(uint64(len(dst)), 1<<32-uint64(uint32(first))))
	if !vectors || n == 0 {
		return 0
	}
	var w normals
	var middle, far [normalPiece + 12]float64
	var at [normalPiece + 12]uint64
	var late [normalPiece + 12]float32
	w.begin(key, first, scale)
	low, c := uint64(uint32(first)), &q.Centre[0]
	for done < n {
		part := dst[done:min(done+normalPiece, n)]
		tails := drawVectors(&middle[0], &far[0], &at[0], (len(part)+11)/12*12, &w.keys[0][0])
		for tails > 0 && at[tails-1]-low >= uint64(len(part)) { // beyond the end
			tails--
		}
		if tails > 0 {
			tailVectors(&late[0], &far[0], (tails+7)&^7, &w.keys[0][0], c)
		}
		if whole := len(part) &^ 15; whole > 0 {
			centreVectors(&part[0], &middle[0], whole, &w.keys[0][0], c)
		}
		if rest := part[len(part)&^15:]; len(rest) > 0 {
			var last [16]float32
			centreVectors(&last[0], &middle[len(part)&^15], 16, &w.keys[0][0], c)
			copy(rest, last[:])
		}
		for i, z := range late[:tails] {
			part[at[i]-low] = z
		}
		low += uint64(len(part))
		done += len(part)
	}
	return done
}

const normalPiece = 240 // numbers: whole blocks of what draws and what computes
