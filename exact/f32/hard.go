package f32

import "math"

// A hard case is an argument whose result lies so near the middle of two float32 that
// the float64 of package exact is on the middle, or beyond. The lists below are
// complete: of all float32, those with a result within eight units of a middle were
// compared with the series of 192 bits, and errors of package exact are below one unit.
type hardCase struct {
	x float32
	y float32 // the float32 nearest to the true value
}

// among returns y rounded, for one of the hard cases what stands there.
func among(hard []hardCase, x float32, y float64) float32 {
	const doubt = 4 // more than package exact's errors, in its units
	if low := math.Float64bits(y) & below; low > middle-doubt && low < middle+doubt {
		for _, c := range hard {
			if x == c.x {
				return c.y
			}
		}
	}
	return nearest(y)
}

var logCases = []hardCase{
	{0x1.827a74p-07, -0x1.1c2b1ep+02},
	{0x1.2f1fd6p+03, 0x1.1fcbcep+01},
	{0x1.bacb4ap+25, 0x1.1e0696p+04},
	{0x1.b121a6p+76, 0x1.a9a3f2p+05},
	{0x1.6351d8p+95, 0x1.08b512p+06},
}

var sinCases = []hardCase{
	{0x1.33333p+13, -0x1.63f4bap-02},
	{-0x1.33333p+13, 0x1.63f4bap-02},
}

var cosCases = []hardCase{
	{0x1.3170fp+63, 0x1.fe2976p-01},
	{-0x1.3170fp+63, 0x1.fe2976p-01},
	{0x1.2b9622p+67, 0x1.f0285ep-01},
	{-0x1.2b9622p+67, 0x1.f0285ep-01},
}

var atanCases = []hardCase{
	{0x1.1ad646p-04, 0x1.1a6386p-04},
	{-0x1.1ad646p-04, -0x1.1a6386p-04},
}
