// Package plot has what drawings of numbers as SVG share: round steps of axes and their labels, how wide texts
// are, and colours that tell lines apart. The same arguments give the same result on every machine.
package plot

import (
	"math"
	"strconv"
	"strings"
)

// Steps returns round numbers between two values, about so many, and how far apart they are: 1, 2 or 5 of a power
// of ten. Where hi is not above lo there is lo alone.
func Steps(lo, hi float64, about int) (list []float64, step float64) {
	if !(hi > lo) {
		return []float64{lo}, 1
	}
	rough := hi/float64(about) - lo/float64(about)
	unit := power(decade(rough))
	step = 10 * unit
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= rough {
			step = m * unit
			break
		}
	}
	first, last := math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
	const most = 1 << 52 // up to here a float64 tells whole numbers from their neighbours
	if !(step > 0) || math.IsInf(step, 0) || !(math.Abs(first) < most && math.Abs(last) < most) {
		return []float64{lo, hi}, math.Max(rough, math.SmallestNonzeroFloat64) // there are no rounder ones
	}
	for i := first; i <= last; i++ {
		list = append(list, i*step)
	}
	return list, step
}

// LogSteps returns round numbers between two values above 0 for a logarithmic axis, at most about so many: powers of
// ten, with 2 and 5 of each if there is room for them, or not all powers if there is none. Where that leaves fewer than
// two it returns nil: Steps suits so small an interval.
func LogSteps(lo, hi float64, about int) (list []float64) {
	const slack = 1e-9
	from, to := decade(lo), decade(hi)
	within := func(v float64) bool { return v >= lo*(1-slack) && v <= hi*(1+slack) }
	fine := 3*(to-from+1) <= 2*about
	every := 1
	for (to-from)/every+1 > about {
		every++
	}
	for e := from; e <= to; e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * power(e); within(v) && (m == 1 && e%every == 0 || m != 1 && fine) {
				list = append(list, v)
			}
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// Label writes a multiple of a step with as many digits as tell it from its neighbours, and a
// comma between thousands.
func Label(v, step float64) string {
	const room = 10 // characters
	v = math.Round(v/step) * step
	sign, digits := "", -decade(step)
	if v < 0 {
		sign = "−"
	}
	v = math.Abs(v)
	s := strconv.FormatFloat(v, 'f', max(digits, 0), 64)
	whole := strings.IndexByte(s+".", '.')
	for i := whole - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if len(s) > room && v != 0 {
		s = strconv.FormatFloat(v, 'e', max(decade(v)+digits, 0), 64)
	}
	return sign + s
}

// Precision returns a step for Label with which numbers of an interval have so many digits that change.
func Precision(lo, hi float64, digits int) float64 {
	span := hi - lo
	if !(span > 0) {
		span = math.Abs(hi)
	}
	if span == 0 {
		return 1
	}
	return power(decade(span) + 1 - digits)
}

// decade returns the exponent of the power of ten below a positive number. What is less than one only by rounding is taken for it.
func decade(x float64) int {
	const digits = 9
	if x = math.Min(x, math.MaxFloat64); math.IsNaN(x) {
		return 0
	}
	s := strconv.FormatFloat(x, 'e', digits, 64)
	e, err := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	if err != nil {
		panic("plot: " + s + " has no exponent")
	}
	return e
}

// power returns a power of ten, rounded correctly, which no product of tens is.
func power(exponent int) float64 {
	v, err := strconv.ParseFloat("1e"+strconv.Itoa(exponent), 64)
	if err != nil {
		return math.MaxFloat64
	}
	return v
}
