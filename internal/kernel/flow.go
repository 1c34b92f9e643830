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
