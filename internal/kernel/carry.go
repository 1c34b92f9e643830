package kernel

// AddFlow adds to shares what a current carries through faces: the component of the velocity
// along one axis, at the two ends of each.
//
//	shares += normal·(here + there)
//
// Shares must not share memory with the rest.
func AddFlow(shares, here, there []float32, normal float32) {
	n := len(shares)
	if !vectors || n == 0 {
		addFlowPlain(shares, here, there, normal)
		return
	}
	_, _ = here[n-1], there[n-1]
	addFlowVectors(&here[0], &there[0], &shares[0], n, &normal)
}

func addFlowPlain(shares, here, there []float32, normal float32) {
	here, there = here[:len(shares)], there[:len(shares)]
	for i := range shares {
		shares[i] += float32(normal * (here[i] + there[i]))
	}
}

// Drain makes of flows the shares of cells that pass faces, and adds up those that leave:
//
//	shares = shares·factor
//	lost += shares, where that is above 0
//
// Lost is at least 0, and must not share memory with shares.
func Drain(lost, shares []float32, factor float32) {
	n := len(shares)
	if !vectors || n == 0 {
		drainPlain(lost, shares, factor)
		return
	}
	_ = lost[n-1]
	drainVectors(&shares[0], &lost[0], n, &factor)
}

func drainPlain(lost, shares []float32, factor float32) {
	lost = lost[:len(shares)]
	for i := range shares {
		share := float32(shares[i] * factor)
		shares[i] = share
		if share > 0 {
			lost[i] += share
		}
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
