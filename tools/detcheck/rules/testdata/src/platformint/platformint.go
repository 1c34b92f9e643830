package platformint

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

func narrows(a, b uint64, n int64, r *rand.Rand) int {
	h := int(a * 31)                // want `platformint: a \* 31 may lose bits in int`
	h ^= int(n<<7) + int(a^b)       // want `platformint: n << 7 may lose` `platformint: a \^ b may lose`
	h += bits.LeadingZeros(uint(h)) // want `platformint: bits.LeadingZeros depends on the size of uint`
	if h == math.MaxInt {           // want `platformint: math.MaxInt differs between 32 and 64 bits`
		return r.Int() // want `platformint: rand.Rand.Int gives as many bits as int has`
	}
	return h
}

func fits(a uint64, cells uint32, small int16, r *rand.Rand) int {
	if a > math.MaxInt32 {
		return bits.LeadingZeros64(a) + r.IntN(6)
	}
	return int(a) + int(cells%8) + int(small*2) + int(int32(a>>33))
}
