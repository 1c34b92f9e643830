package exact

import "math"

const (
	expSteps     = 32                     // entries of powers to a factor of two
	stepsPerUnit = 0x1.71547652b82fep+5   // 32/ln 2
	stepHi       = 0x1.62e42fefa0000p-6   // ln 2/32 cut to 37 bits: exact times any step count
	stepLo       = 0x1.cf79abc9e3b3ap-45  // ln 2/32 - stepHi
	expOverflow  = 709.782712893383973096 // the largest argument with a finite result
	expUnderflow = -745.2                 // below it the result rounds to zero
)

// Exp returns e**x; +Inf above 709.78…, subnormal numbers below -708.39…, zero
// below -745.13…
//
//	x = (32·n + j)·ln 2/32 + r,  |r| ≤ ln 2/64
//	e**x = 2**n · 2**(j/32) · e**r
//
// after P. T. P. Tang, Table-Driven Implementation of the Exponential Function in
// IEEE Floating-Point Arithmetic, ACM TOMS 15 (1989), with Taylor's polynomial.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return math.NaN()
	case x > expOverflow:
		return math.Inf(1)
	case x < expUnderflow:
		return 0
	}
	return expSum(x, 0)
}

// expSum returns e**(x+tail), for x from expUnderflow to 710 and a tail of at most a
// unit in the last place of x.
func expSum(x, tail float64) float64 {
	k := int(float64(min(x, 710)*stepsPerUnit) + math.Copysign(0.5, x))
	n, j := k>>5, k&(expSteps-1)
	r := ((x - float64(float64(k)*stepHi)) - float64(float64(k)*stepLo)) + tail

	p := 1.0/720 + float64(r*(1.0/5040))
	p = 1.0/120 + float64(r*p)
	p = 1.0/24 + float64(r*p)
	p = 1.0/6 + float64(r*p)
	p = 1.0/2 + float64(r*p)
	p = r + float64(float64(r*r)*p) // e**r - 1

	t := powers[j]
	return scale(t.hi+(t.lo+float64(t.hi*p)), n)
}

// scale returns y·2**n with a single rounding, for y in [0.5, 2] and n in [-1080, 1024].
func scale(y float64, n int) float64 {
	switch {
	case n > 1023:
		return float64(2 * y * power2(n-1))
	case n < -1022:
		return float64(y*power2(n+64)) * 0x1p-64 // the first product is exact
	}
	return float64(y * power2(n))
}

// power2 returns 2**n for a normal result: n in [-1022, 1023].
func power2(n int) float64 { return math.Float64frombits(uint64(n+1023) << 52) }

// powers[j] is 2**(j/32), rounded, and the rest.
var powers = [expSteps]struct{ hi, lo float64 }{
	{0x1.0000000000000p+0, 0},
	{0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55},
	{0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},
	{0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54},
	{0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55},
	{0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54},
	{0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},
	{0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55},
	{0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},
	{0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54},
	{0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},
	{0x1.44e086061892dp+0, 0x1.89b7a04ef80d0p-59},
	{0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},
	{0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55},
	{0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},
	{0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54},
	{0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54},
	{0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55},
	{0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55},
	{0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54},
	{0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},
	{0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57},
	{0x1.9c49182a3f090p+0, 0x1.c7c46b071f2bep-56},
	{0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54},
	{0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},
	{0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56},
	{0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},
	{0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56},
	{0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},
	{0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54},
	{0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54},
	{0x1.f50765b6e4540p+0, 0x1.9d3e12dd8a18bp-54},
}
