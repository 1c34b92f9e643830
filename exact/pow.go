package exact

import "math"

// Pow returns x**y, with an error of little more than half a unit, or below 0.76 units
// where the result is subnormal, and so rounded twice. The special cases
// are those of C99, of IEEE 754 and of [math.Pow], in this order:
//
//	Pow(x, ±0) = 1 for any x, NaN too
//	Pow(1, y) = 1 for any y, NaN too
//	Pow(NaN, y) = Pow(x, NaN) = NaN otherwise
//	Pow(-1, ±Inf) = 1
//	Pow(x, +Inf) = +Inf for |x| > 1, +0 for |x| < 1
//	Pow(x, -Inf) = +0 for |x| > 1, +Inf for |x| < 1
//	Pow(±0, y) = ±0 for odd integers y > 0, +0 for other y > 0
//	Pow(±0, y) = ±Inf for odd integers y < 0, +Inf for other y < 0
//	Pow(±Inf, y) = Pow(±0, -y)
//	Pow(x, y) = NaN for finite x < 0 and finite y that is not an integer
//
// Otherwise it is e**(y·log x), the logarithm and the product with 106 bits.
func Pow(x, y float64) float64 {
	const large, tiny = 0x1p64, 0x1p-65
	a := math.Abs(x)
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y:
		return math.NaN()
	case math.Abs(y) > large: // even; and no x is so near 1 that the result is finite
		if a == 1 {
			return 1
		}
		return zeroOrInf((a < 1) == (y > 0))
	case a == 0 || math.IsInf(a, 1):
		return float64(powSign(x, y) * zeroOrInf((a == 0) == (y > 0)))
	case x < 0 && math.Floor(y) != y:
		return math.NaN()
	case math.Abs(y) < tiny:
		return 1
	}
	log := logWide(a)
	p := product(y, log.hi)
	p.lo += float64(y * log.lo)
	switch {
	case p.hi > 710:
		return float64(powSign(x, y) * zeroOrInf(false))
	case p.hi < expUnderflow:
		return float64(powSign(x, y) * zeroOrInf(true))
	}
	return float64(powSign(x, y) * expSum(p.hi, p.lo))
}

func zeroOrInf(zero bool) float64 {
	if zero {
		return 0
	}
	return math.Inf(1)
}

// powSign returns the sign of x**y: -1 for an odd integer y and a negative x or -0.
func powSign(x, y float64) float64 {
	if math.Signbit(x) && math.Floor(y) == y && math.Floor(y/2) != y/2 {
		return -1
	}
	return 1
}

// logWide returns the logarithm of x with an error below 2**-66 of it, for finite x > 0:
//
//	x = 2**k · m,  c near 1/m with 9 bits,  r = c·m - 1 exactly,  |r| < 2**-7
//	log x = k·ln 2 - log c + r - r²/2 + r³/3 - …
//
// Next to 1, c is 1 and k is 0, so that nothing but the series is left.
func logWide(x float64) wide {
	const (
		ln2Hi = 0x1.62e42fefa3800p-1 // a multiple of 2**-42, as the logs are: exact times any k
		ln2Lo = 0x1.ef35793c76730p-45
		upper = 1<<64 - 1<<27
	)
	m, k := split(x)
	l := logs[int(min(m, 1.5)*128)-firstLog]
	top := math.Float64frombits(math.Float64bits(m) & upper)
	r := add(float64(top*l.c)-1, float64((m-top)*l.c))
	square := product(r.hi, r.hi)

	z := r.hi
	p := 1.0/9 - float64(z*(1.0/10))
	p = 1.0/8 - float64(z*p)
	p = 1.0/7 - float64(z*p)
	p = 1.0/6 - float64(z*p)
	p = 1.0/5 - float64(z*p)
	p = 1.0/4 - float64(z*p)
	p = 1.0/3 - float64(z*p)
	p = float64(float64(square.hi*z) * p) // r³/3 - r⁴/4 + …

	e := float64(k)
	a := add(float64(e*ln2Hi)+l.hi, r.hi)
	b := add(a.hi, -float64(0.5*square.hi))
	rest := (float64(e*ln2Lo) + l.lo) + a.lo + b.lo
	rest += r.lo - float64(r.hi*r.lo) - float64(0.5*square.lo)
	return addFast(b.hi, rest+p)
}

const firstLog = 90 // of √½·128

// logs holds c for m from j/128 up to (j+1)/128, j from firstLog on, and -log c: a
// multiple of 2**-42, and the rest.
var logs = [...]struct{ c, hi, lo float64 }{
	{362.0 / 256, -0x1.62c82f2b9c000p-2, -0x1.e54bdbd7c8a98p-44},
	{358.0 / 256, -0x1.5767717456000p-2, 0x1.64ead9524d7cap-44},
	{354.0 / 256, -0x1.4be5f95778000p-2, 0x1.d7c92cd9ad824p-44},
	{350.0 / 256, -0x1.404308686a000p-2, -0x1.f8ef43049f7d3p-44},
	{347.0 / 256, -0x1.3772662bfe000p-2, 0x1.e9436ac53b023p-44},
	{343.0 / 256, -0x1.2b9303ab8a000p-2, 0x1.6db12d6bfb0a5p-45},
	{340.0 / 256, -0x1.22941fbcf8000p-2, 0x1.a6976f5eb0963p-44},
	{336.0 / 256, -0x1.1675cababa000p-2, -0x1.8380e731f55c4p-44},
	{333.0 / 256, -0x1.0d46b579ab000p-2, -0x1.d2c81f640e1e6p-44},
	{329.0 / 256, -0x1.00e6c45ad5000p-2, -0x1.cc68d52e01203p-50},
	{326.0 / 256, -0x1.ef0adcbdc6000p-3, 0x1.b26b79c86af24p-45},
	{323.0 / 256, -0x1.dc1bca0abe000p-3, -0x1.8fac1a628ccc6p-44},
	{320.0 / 256, -0x1.c8ff7c79aa000p-3, 0x1.7794f689f8434p-45},
	{317.0 / 256, -0x1.b5b519e8fc000p-3, 0x1.4b722ec011f31p-44},
	{314.0 / 256, -0x1.a23bc1fe2c000p-3, 0x1.539cd91dc9f0bp-44},
	{311.0 / 256, -0x1.8e928de886000p-3, -0x1.a8154b13d72d5p-44},
	{308.0 / 256, -0x1.7ab890210e000p-3, 0x1.bdb9072534a58p-45},
	{305.0 / 256, -0x1.66acd4272a000p-3, -0x1.aa1bdbfc6c785p-44},
	{302.0 / 256, -0x1.526e5e3a1c000p-3, 0x1.790ba37fc5238p-44},
	{299.0 / 256, -0x1.3dfc2b0ecc000p-3, -0x1.8a72a62b8c13fp-45},
	{297.0 / 256, -0x1.303d718e48000p-3, 0x1.680b5ce3ecb05p-50},
	{294.0 / 256, -0x1.1b72ad52f6000p-3, -0x1.e80a41811a396p-45},
	{291.0 / 256, -0x1.0671512ca6000p-3, 0x1.a47579cdc0a3dp-45},
	{289.0 / 256, -0x1.f0a30c0118000p-4, 0x1.d599e83368e91p-44},
	{286.0 / 256, -0x1.c5e548f5bc000p-4, -0x1.d0c57585fbe06p-46},
	{284.0 / 256, -0x1.a926d3a4ac000p-4, -0x1.563650bd22a9cp-44},
	{281.0 / 256, -0x1.7da766d7b0000p-4, -0x1.2cc844480c89bp-44},
	{279.0 / 256, -0x1.60658a9374000p-4, -0x1.0c3b1dee9c4f8p-44},
	{277.0 / 256, -0x1.42edcbea64000p-4, -0x1.bc0eeea7c9acdp-46},
	{274.0 / 256, -0x1.16536eea38000p-4, 0x1.47c5e768fa309p-46},
	{272.0 / 256, -0x1.f0a30c0118000p-5, 0x1.d599e83368e91p-45},
	{270.0 / 256, -0x1.b42dd71198000p-5, 0x1.c827ae5d6704cp-46},
	{267.0 / 256, -0x1.58a5bafc90000p-5, 0x1.b2b739570ad39p-45},
	{265.0 / 256, -0x1.1b0d989240000p-5, 0x1.3401e9ae889bbp-44},
	{263.0 / 256, -0x1.b9fc027b00000p-6, 0x1.b9a010ae6922ap-44},
	{261.0 / 256, -0x1.3cea443470000p-6, 0x1.6a2c432d6a40bp-44},
	{259.0 / 256, -0x1.7dc475f820000p-7, 0x1.eb1245b5da1f5p-44},
	{1, 0, 0},
	{1, 0, 0},
	{253.0 / 256, 0x1.82448a3880000p-7, 0x1.4554412c584e0p-44},
	{251.0 / 256, 0x1.432a925980000p-6, 0x1.98139928637fep-47},
	{249.0 / 256, 0x1.c63d2ec150000p-6, -0x1.5439ce030a687p-44},
	{247.0 / 256, 0x1.252f32f8d0000p-5, 0x1.83e9ae021b67bp-45},
	{245.0 / 256, 0x1.67c94f2d48000p-5, 0x1.dac20827cca0cp-44},
	{244.0 / 256, 0x1.894aa149f8000p-5, 0x1.9a19a8be97661p-44},
	{242.0 / 256, 0x1.ccb73cddd8000p-5, 0x1.965c36e09f5fep-44},
	{240.0 / 256, 0x1.08598b59e4000p-4, -0x1.7e5dd7009902cp-46},
	{238.0 / 256, 0x1.2aa04a4470000p-4, 0x1.7a48ba8b1cb41p-44},
	{237.0 / 256, 0x1.3bdf5a7d20000p-4, -0x1.19bd0ad125895p-44},
	{235.0 / 256, 0x1.5e95a4d978000p-4, 0x1.1cb7ce1d17171p-44},
	{233.0 / 256, 0x1.8197e2f410000p-4, -0x1.c0fe460d20041p-44},
	{232.0 / 256, 0x1.9335e5d594000p-4, 0x1.3115c3abd47dap-45},
	{230.0 / 256, 0x1.b6ac88dad4000p-4, 0x1.b1bdff50225c7p-44},
	{228.0 / 256, 0x1.da72763844000p-4, 0x1.a89401fa71733p-46},
	{227.0 / 256, 0x1.ec739830a0000p-4, 0x1.11fcba80cdd10p-44},
	{225.0 / 256, 0x1.08598b59e4000p-3, -0x1.7e5dd7009902cp-45},
	{224.0 / 256, 0x1.1178e8227e000p-3, 0x1.1ef78ce2d07f2p-45},
	{222.0 / 256, 0x1.23d712a49c000p-3, 0x1.00d238fd3df5cp-46},
	{221.0 / 256, 0x1.2d1610c868000p-3, 0x1.39d6ccb81b4a1p-47},
	{219.0 / 256, 0x1.3fb45a5992000p-3, 0x1.19713c0cae559p-44},
	{218.0 / 256, 0x1.4913d8333c000p-3, -0x1.53e43558124c4p-44},
	{216.0 / 256, 0x1.5bf406b544000p-3, -0x1.27023eb68981cp-46},
	{215.0 / 256, 0x1.6574ebe8c2000p-3, -0x1.98c1d34f0f462p-44},
	{213.0 / 256, 0x1.7898d85444000p-3, 0x1.8e67be3dbaf3fp-44},
	{212.0 / 256, 0x1.823c16551a000p-3, 0x1.e0ddb9a631e83p-46},
	{211.0 / 256, 0x1.8beafeb390000p-3, -0x1.73d54aae92cd1p-47},
	{209.0 / 256, 0x1.9f6c40708a000p-3, -0x1.337d94bcd3f43p-44},
	{208.0 / 256, 0x1.a93ed3c8ae000p-3, -0x1.8724350562169p-45},
	{207.0 / 256, 0x1.b31d8575bc000p-3, 0x1.c794e562a63cbp-44},
	{205.0 / 256, 0x1.c6ffbc6f00000p-3, 0x1.ee138d3a69d43p-44},
	{204.0 / 256, 0x1.d1037f2656000p-3, -0x1.84a7e75b6f6e4p-47},
	{203.0 / 256, 0x1.db13db0d48000p-3, 0x1.2806a847527e6p-44},
	{202.0 / 256, 0x1.e530effe72000p-3, -0x1.fdbdbb13f7c18p-44},
	{200.0 / 256, 0x1.f991c6cb3c000p-3, -0x1.90d04cd7cc834p-44},
	{199.0 / 256, 0x1.01eae5626c000p-2, 0x1.a43dcfade85aep-44},
	{198.0 / 256, 0x1.07138604d6000p-2, -0x1.e76324e912b17p-44},
	{197.0 / 256, 0x1.0c42d67616000p-2, 0x1.7188b163ceae9p-45},
	{196.0 / 256, 0x1.1178e8227e000p-2, 0x1.1ef78ce2d07f2p-44},
	{194.0 / 256, 0x1.1bf99635a7000p-2, -0x1.1ac89575c2125p-44},
	{193.0 / 256, 0x1.214456d0ec000p-2, -0x1.caf0428b728a3p-44},
	{192.0 / 256, 0x1.269621134e000p-2, -0x1.1b61f10522625p-44},
	{191.0 / 256, 0x1.2bef07cdc9000p-2, 0x1.a9cfa4a5004f4p-45},
	{190.0 / 256, 0x1.314f1e1d36000p-2, -0x1.8e27ad3213cb8p-45},
	{189.0 / 256, 0x1.36b6776be1000p-2, 0x1.16ecdb0f177c8p-46},
	{188.0 / 256, 0x1.3c25277333000p-2, 0x1.83b54b606bd5cp-46},
	{187.0 / 256, 0x1.419b423d5f000p-2, -0x1.ce379226de3ecp-44},
	{186.0 / 256, 0x1.4718dc271c000p-2, 0x1.06c18fb4c14c5p-44},
	{185.0 / 256, 0x1.4c9e09e173000p-2, -0x1.e20891b0ad8a4p-45},
	{184.0 / 256, 0x1.522ae0738a000p-2, 0x1.ebe708164c759p-45},
	{183.0 / 256, 0x1.57bf753c8d000p-2, 0x1.fadedee5d40efp-46},
	{182.0 / 256, 0x1.5d5bddf596000p-2, -0x1.a0b2a08a465dcp-47},
	{181.0 / 256, 0x1.630030b3ab000p-2, -0x1.db623e731ae00p-45},
}
