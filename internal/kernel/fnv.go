package kernel

// FNVPrime is the factor of FNV-1a, 64 bits: h = (h ^ byte) * FNVPrime for each byte. So n
// zero bytes multiply a hash by FNVPrime^n.
const FNVPrime uint64 = 0x100000001b3

// The factors of 4 and 8 zero bytes.
var (
	FNVPrime4 = FNVPower(4)
	FNVPrime8 = FNVPower(8)
)

// FNVPower returns FNVPrime^n, the factor of n zero bytes.
func FNVPower(n int) uint64 {
	p, x := uint64(1), FNVPrime
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}
