package kernel

// A Pipe holds the numbers of the flow through faces of one direction, in the order that
// vector code knows.
type Pipe struct {
	Keep   float32 // what drag leaves of a flux
	Most   float32 // flux per depth of the cell that it drains, at most
	Pull   float32 // flux per square of depth, in a tick
	Smooth float32 // flux per difference of depths
	Share  float32 // depth per flux
}

// Ends are the two ends of faces: depths of the cells that own them and of those that they
// lead to, heights of the beds, and fluxes before the tick, all of one length.
type Ends struct{ Here, There, BedHere, BedThere, Flux []float32 }

// Drop is a depth that does not run, so that no product with it underflows.
const Drop = 1e-30

// Move computes what runs through faces, out of the cells that own them:
//
//	sill = max(bedHere, bedThere)
//	s, t = here + bedHere - sill, there + bedThere - sill, at least 0
//	nextFlux = (flux + Pull·(s+t)·(s-t))·Keep, at most Most·here, at least -Most·there
//	moved = (nextFlux + Smooth·(s-t), within the same limits)·Share
//
// and 0 where s and t are; a depth below 1e-30 has the limit 0. What is written must not share memory
// with the rest.
func (p *Pipe) Move(moved, nextFlux []float32, e *Ends) {
	n := len(moved)
	if !vectors || n == 0 {
		p.movePlain(moved, nextFlux, e)
		return
	}
	_, _, _, _, _, _ = nextFlux[n-1], e.Here[n-1], e.There[n-1], e.BedHere[n-1], e.BedThere[n-1], e.Flux[n-1]
	pipeVectors(&e.Here[0], &e.There[0], &e.BedHere[0], &e.BedThere[0], &e.Flux[0], &moved[0], &nextFlux[0], n, &p.Keep)
}

func (p *Pipe) movePlain(moved, nextFlux []float32, e *Ends) {
	for i := range moved {
		nextFlux[i], moved[i] = p.pass(e, i)
	}
}

// pass is the formula for one face.
func (p *Pipe) pass(e *Ends, i int) (flux, moved float32) {
	a, b, x, y := e.Here[i], e.There[i], e.BedHere[i], e.BedThere[i]
	sill := max(x, y)
	s, t := above(a, x, sill), above(b, y, sill)
	if !(s+t > 0) {
		return 0, 0
	}
	most, least := p.limit(a), 0-p.limit(b)
	push := float32(float32(p.Pull*(s+t)) * (s - t))
	flux = between(least, float32((e.Flux[i]+push)*p.Keep), most)
	all := between(least, flux+float32(p.Smooth*(s-t)), most)
	return flux, float32(all * p.Share)
}

// above returns how high water stands over a sill that is not below its bed.
func above(depth, bed, sill float32) float32 {
	if h := depth + bed - sill; h > 0 {
		return h
	}
	return 0
}

func between(least, v, most float32) float32 {
	if v < least {
		v = least
	}
	if v > most {
		v = most
	}
	return v
}

// limit returns the greatest flux out of a cell of some depth through one face.
func (p *Pipe) limit(depth float32) float32 {
	if depth < Drop {
		return 0
	}
	return float32(p.Most * depth)
}
