package rng

import (
	"math"

	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/internal/kernel"
)

// NormalQuantile returns the z below which a standard normal number lies with
// probability u, 0 < u < 1, to about one part in 10**16. All normal draws are made by it: M. J. Wichura, Algorithm
// AS 241 (PPND16), Applied Statistics 37 (1988), in its order of evaluation.
func NormalQuantile(u float64) float64 {
	q := u - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * horner(&quantile.Centre, r) / horner(&quantile.CentreBelow, r)
	}
	r := u
	if q > 0 {
		r = 1 - u
	}
	r = math.Sqrt(-exact.Log(r))
	var z float64
	if r <= 5 {
		r -= 1.6
		z = horner(&quantile.Middle, r) / horner(&quantile.MiddleBelow, r)
	} else {
		r -= 5
		z = horner(&tail, r) / horner(&tailBelow, r)
	}
	if q < 0 {
		return -z
	}
	return z
}

// horner returns Σ c[i]·rⁱ by Horner's rule, one side of a rational approximation.
func horner(c *[8]float64, r float64) float64 {
	p := float64(c[7]*r) + c[6]
	p = float64(p*r) + c[5]
	p = float64(p*r) + c[4]
	p = float64(p*r) + c[3]
	p = float64(p*r) + c[2]
	p = float64(p*r) + c[1]
	return float64(p*r) + c[0]
}

// The coefficients of PPND16, lowest power first: a and b, c and d, e and f of the paper.
var quantile = kernel.Quantile{
	Centre: [8]float64{
		3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
	},
	CentreBelow: [8]float64{
		1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
	},
	Middle: [8]float64{
		1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
	},
	MiddleBelow: [8]float64{
		1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
	},
}

var (
	tail = [8]float64{
		6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}
	tailBelow = [8]float64{
		1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}
)
