package exact

// A wide is a number of about 106 bits: the sum of two float64, where the second
// is at most half a unit in the last place of the first.
type wide struct{ hi, lo float64 }

// addFast returns a+b for |a| ≥ |b| or a = 0, without error (T. J. Dekker, A
// Floating-Point Technique for Extending the Available Precision, 1971).
func addFast(a, b float64) wide {
	s := a + b
	return wide{s, b - (s - a)}
}

// add returns a+b without error (D. E. Knuth, The Art of Computer Programming, 4.2.2).
func add(a, b float64) wide {
	s := a + b
	t := s - a
	return wide{s, (a - (s - t)) + (b - t)}
}

// product returns a·b without error (Dekker, after G. W. Veltkamp), unless one of
// them is above 2**995 or the product below 2**-968.
func product(a, b float64) wide {
	const cut = 1<<27 + 1 // cuts 53 bits in two halves, whose products are exact
	t := float64(cut * a)
	a1 := t - (t - a)
	a2 := a - a1
	t = float64(cut * b)
	b1 := t - (t - b)
	b2 := b - b1
	p := float64(a * b)
	rest := ((float64(a1*b1) - p) + float64(a1*b2)) + float64(a2*b1)
	return wide{p, rest + float64(a2*b2)}
}
