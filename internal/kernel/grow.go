package kernel

// A Growth holds the numbers of a resource that is eaten and grows back, in the order that
// vector code knows.
type Growth struct {
	Eaten    float32 // of a cell in a tick
	Rate     float32 // logistic: the share that grows in a second; linear: what grows in a tick
	Capacity float32
	Dt       float32 // seconds in a tick
	Logistic bool
}

// Grow gives the next values of a resource: it takes from elements where presence is not 0, and lets them grow within the capacity:
//
//	v = in
//	v -= Eaten                              where presence is not 0
//	v += Rate                               linear
//	v += Rate·v·(1 - v/Capacity)·Dt         logistic, where v > 0
//	out = v, at least 0 and at most Capacity
//
// Products are taken from the left; a zero keeps its sign. Presence may be nil: then no element has any.
// Out may be in, and shares no memory with presence. Grow reports whether all results are finite.
func (g *Growth) Grow(out, in, presence []float32) (finite bool) {
	k := *g
	if presence == nil {
		k.Eaten, presence = 0, in
	}
	in, presence = in[:len(out)], presence[:len(out)]
	if !vectors {
		return k.growPlain(out, in, presence)
	}
	finite = true
	for at := 0; at < len(out); at += longest {
		n := min(longest, len(out)-at)
		if g.Logistic {
			finite = growLogistic(&in[at], &presence[at], &out[at], n, &k.Eaten) != exponent && finite
		} else {
			finite = growLinear(&in[at], &presence[at], &out[at], n, &k.Eaten) != exponent && finite
		}
	}
	return finite
}

func (g *Growth) growPlain(out, in, presence []float32) (finite bool) {
	for i, x := range in {
		if presence[i] != 0 {
			x -= g.Eaten
		}
		if !g.Logistic {
			x += g.Rate
		} else if x > 0 {
			x += float32(float32(float32(g.Rate*x)*(1-x/g.Capacity)) * g.Dt)
		}
		if x < 0 {
			x = 0
		} else if x > g.Capacity {
			x = g.Capacity
		}
		out[i] = x
	}
	return finitePlain(out, 1)
}
