package exact

import "math"

var (
	halfPi = wide{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}
	pi     = wide{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}
)

// Atan returns the arc tangent of x, from -π/2 to π/2; x itself for a zero.
func Atan(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x:
		return math.NaN()
	case a < 0x1p-27:
		return x // x³/3 is below half a unit
	case a > 0x1p60:
		return math.Copysign(halfPi.hi, x)
	case a > 1:
		return math.Copysign(difference(halfPi, arctan(1, a)), x)
	}
	angle := arctan(a, 1)
	return math.Copysign(angle.hi+angle.lo, x)
}

// Atan2 returns the angle from the direction (1, 0) to (x, y), from -π to π:
//
//	Atan2(±0, x) = ±0 for x > 0 or x = +0, ±π for x < 0 or x = -0
//	Atan2(±y, ±0) = ±π/2 for y > 0
//	Atan2(±y, +Inf) = ±0, Atan2(±y, -Inf) = ±π for finite y > 0
//	Atan2(±Inf, x) = ±π/2 for finite x
//	Atan2(±Inf, +Inf) = ±π/4, Atan2(±Inf, -Inf) = ±3π/4
func Atan2(y, x float64) float64 {
	if x != x || y != y {
		return math.NaN()
	}
	a, b := math.Abs(y), math.Abs(x)
	if math.IsInf(a, 1) && math.IsInf(b, 1) {
		a, b = 1, 1
	}
	steep := a > b
	if steep {
		a, b = b, a
	}
	behind := math.Signbit(x)
	if !steep && !behind && a < float64(b*0x1p-60) {
		return math.Copysign(a/b, y) // t³/3 is below half a unit of t
	}
	angle := ratio(a, b)
	switch {
	case steep && behind:
		angle = wide{difference(halfPi, wide{-angle.hi, -angle.lo}), 0}
	case steep:
		angle = wide{difference(halfPi, angle), 0}
	case behind:
		angle = wide{difference(pi, angle), 0}
	}
	return math.Copysign(angle.hi+angle.lo, y)
}

// ratio returns the arc tangent of a/b for 0 ≤ a ≤ b. Below 2**-60 it is 0: to be
// subtracted from a multiple of π/2.
func ratio(a, b float64) wide {
	if b == 0 || a < float64(b*0x1p-60) || math.IsInf(b, 1) {
		return wide{}
	}
	b, n := split(b)
	return arctan(shift(a, -n), b)
}

// arctan returns the arc tangent of y/x for 0 ≤ y ≤ x, both between 2**-62 and 2**62:
//
//	c = j/32, nearest to y/x;  t = (y-c·x)/(x+c·y),  |t| ≤ 1/64
//	arctan(y/x) = arctan(c) + t - t³/3 + …
//
// The quotient t has 106 bits, the rest of the series 53.
func arctan(y, x float64) wide {
	j := int(float64(min(y/x, 1)*32) + 0.5)
	c := float64(j) / 32
	p, q := product(c, x), product(c, y)
	n := add(y, -p.hi)
	n.lo -= p.lo
	d := addFast(x, q.hi)
	d.lo += q.lo

	t := n.hi / d.hi
	p = product(t, d.hi)
	tail := (((n.hi - p.hi) - p.lo) + (n.lo - float64(t*d.lo))) / d.hi
	z := float64(t * t)
	s := 1.0/9 - float64(z*(1.0/11))
	s = 1.0/7 - float64(z*s)
	s = 1.0/5 - float64(z*s)
	s = 1.0/3 - float64(z*s)
	tail -= float64(float64(z*t) * s)

	sum := add(arctans[j].hi, t)
	return addFast(sum.hi, sum.lo+(arctans[j].lo+tail))
}

// difference returns a-b, rounded all but once.
func difference(a, b wide) float64 {
	d := add(a.hi, -b.hi)
	return d.hi + (d.lo + (a.lo - b.lo))
}

// arctans[j] is the arc tangent of j/32.
var arctans = [33]wide{
	{0, 0},
	{0x1.ffd55bba97625p-6, -0x1.5ec431444912cp-60},
	{0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
	{0x1.7ee182602f10fp-4, -0x1.cfb654c0c3d98p-58},
	{0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
	{0x1.3d6eee8c6626cp-3, 0x1.61a3b0ce9281bp-57},
	{0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
	{0x1.b90d7529260a2p-3, 0x1.17b10d2e0e5abp-61},
	{0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
	{0x1.18bf5a30bf178p-2, 0x1.30ca4748b1bf9p-57},
	{0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
	{0x1.530ad9951cd4ap-2, -0x1.2566480884082p-57},
	{0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
	{0x1.8b24d394a1b25p-2, 0x1.b6d0ba3748fa8p-56},
	{0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
	{0x1.c0db4c94ec9f0p-2, -0x1.cc1ce70934c34p-56},
	{0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
	{0x1.f40dd0b541418p-2, -0x1.a3992dc382a23p-57},
	{0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56},
	{0x1.1255d9bfbd2a9p-1, -0x1.2bdaee1c0ee35p-58},
	{0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
	{0x1.2958e59308e31p-1, -0x1.09e73b0c6c087p-56},
	{0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
	{0x1.3f13fb89e96f4p-1, 0x1.ecf8b492644f0p-56},
	{0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
	{0x1.538f57b89061fp-1, -0x1.1bb74abda520cp-55},
	{0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
	{0x1.66d663923e087p-1, -0x1.6ea6febe8bbbap-56},
	{0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
	{0x1.78f6bbd5d315ep-1, 0x1.406a089803740p-55},
	{0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
	{0x1.89ff5ff57f1f8p-1, -0x1.55b9a5e177a1bp-55},
	{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
}
