package kernel

// Flow computes what a current carries through faces: the component of the velocity along one axis,
// at the two ends of each.
//
//	shares = normal·(here + there)·factor
//
// The factor belongs to the last of several axes; before that it is 1. Shares must not share memory with
// the rest.
func Flow(shares, here, there []float32, normal, factor float32) {
	n := len(shares)
	if !vectors || n == 0 {
		flowPlain(shares, here, there, normal, factor)
		return
	}
	_, _ = here[n-1], there[n-1]
	w := [2]float32{normal, factor}
	flowVectors(&here[0], &there[0], &shares[0], n, &w[0])
}

func flowPlain(shares, here, there []float32, normal, factor float32) {
	here, there = here[:len(shares)], there[:len(shares)]
	for i := range shares {
		shares[i] = float32(float32(normal*(here[i]+there[i])) * factor)
	}
}

// AddFlow is Flow for a further axis:
//
//	shares = (shares + normal·(here + there))·factor
func AddFlow(shares, here, there []float32, normal, factor float32) {
	n := len(shares)
	if !vectors || n == 0 {
		addFlowPlain(shares, here, there, normal, factor)
		return
	}
	_, _ = here[n-1], there[n-1]
	w := [2]float32{normal, factor}
	addFlowVectors(&here[0], &there[0], &shares[0], n, &w[0])
}

func addFlowPlain(shares, here, there []float32, normal, factor float32) {
	here, there = here[:len(shares)], there[:len(shares)]
	for i := range shares {
		shares[i] = float32((shares[i] + float32(normal*(here[i]+there[i]))) * factor)
	}
}

// Carry moves what passes faces, out of the cell that it comes from:
//
//	to -= share·(here if share > 0, else there), where share is not 0
//
// To must not share memory with the rest.
func Carry(to, here, there, shares []float32) {
	n := len(shares)
	if !vectors || n == 0 {
		carryPlain(to, here, there, shares)
		return
	}
	_, _, _ = to[n-1], here[n-1], there[n-1]
	carryVectors(&here[0], &there[0], &shares[0], &to[0], n, nil)
}

func carryPlain(to, here, there, shares []float32) {
	to, here, there = to[:len(shares)], here[:len(shares)], there[:len(shares)]
	for i, share := range shares {
		from := there[i]
		if share > 0 {
			from = here[i]
		}
		if share != 0 {
			to[i] -= float32(share * from)
		}
	}
}

// Drain is Carry, and adds up the shares that leave cells:
//
//	lost += share, where that is above 0
//
// Lost is at least 0.
func Drain(to, lost, here, there, shares []float32) {
	n := len(shares)
	if !vectors || n == 0 {
		drainPlain(to, lost, here, there, shares)
		return
	}
	_, _, _, _ = to[n-1], lost[n-1], here[n-1], there[n-1]
	drainVectors(&here[0], &there[0], &shares[0], &to[0], &lost[0], n, nil)
}

func drainPlain(to, lost, here, there, shares []float32) {
	carryPlain(to, here, there, shares)
	lost = lost[:len(shares)]
	for i, share := range shares {
		if share > 0 {
			lost[i] += share
		}
	}
}

// Negate is out = -in, also of zeros. Out may be in.
func Negate(out, in []float32) {
	n := len(in)
	if !vectors || n == 0 {
		negatePlain(out, in)
		return
	}
	_ = out[n-1]
	negateVectors(&in[0], &out[0], n, nil)
}

func negatePlain(out, in []float32) {
	for i, x := range in {
		out[i] = -x
	}
}

// Subtract is v -= less. They must not share memory.
func Subtract(v, less []float32) {
	n := len(less)
	if !vectors || n == 0 {
		subtractPlain(v, less)
		return
	}
	_ = v[n-1]
	subtractVectors(&v[0], &less[0], n, nil)
}

func subtractPlain(v, less []float32) {
	v = v[:len(less)]
	for i, x := range less {
		v[i] -= x
	}
}
