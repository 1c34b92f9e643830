package f32

// Compare is compare, which Pow needs only for the doubtful.
var Compare = compare

// Logarithm returns the natural logarithm of n·2**e, a two's complement in units of 2**-192.
func Logarithm(n uint64, e int) [4]uint64 { return logarithm(n, e) }
