package kernel

// A Passage is a face of each of some cells that lie together. What passes the faces is in memory, side by
// side: out of the cells, or if In, into them.
type Passage struct {
	Moved int  // where in memory it begins
	There int  // how far the neighbours are from the cells
	In    bool // what is in memory is counted inward
}

// mostPassages is how many faces a cell has at most.
const mostPassages = 40

// passages are faces as vector code takes them: where it begins, in bytes, how far the neighbours are, in bytes, and the sign
// bit if what is in memory is counted inward.
type passages [3 * mostPassages]int

func (p *passages) set(list []Passage) {
	for i, f := range list {
		p[3*i], p[3*i+1], p[3*i+2] = 4*f.Moved, 4*f.There, 0
		if f.In {
			p[3*i+2] = -1 << 31
		}
	}
}

// check panics unless what n cells need lies in memory.
func checkPassages(list []Passage, memory []float32, n int) {
	if len(list) > mostPassages {
		panic("kernel: too many faces")
	}
	for _, f := range list {
		_ = memory[f.Moved : f.Moved+n]
	}
}

// Settle is what moved out of cells:
//
//	out = in - Σ moved
//
// face by face, from the left, and + where it moved in. It reports whether all of out is finite. Out must not
// share memory with the rest.
func Settle(out, in, memory []float32, list []Passage) (finite bool) {
	checkPassages(list, memory, len(out))
	in = in[:len(out)]
	if !vectors || len(out) == 0 || len(list) == 0 {
		return settlePlain(out, in, memory, list)
	}
	var p passages
	p.set(list)
	return settleVectors(&out[0], &in[0], &memory[0], &p[0], len(list), len(out)) != exponent
}

func settlePlain(out, in, memory []float32, list []Passage) (finite bool) {
	copy(out, in)
	for _, f := range list {
		for i, moved := range memory[f.Moved:][:len(out)] {
			if f.In {
				moved = -moved
			}
			out[i] -= moved
		}
	}
	return finitePlain(out, 1)
}

// Carry is what shares of cells carried through faces leave. Here are the cells from element at of a field on:
//
//	out = here - Σ share·(here if share > 0, else there), where share is not 0
//
// face by face, from the left. It returns the largest share that leaves a cell, the sum of those above 0, and
// reports whether all of out is finite. Out must not share memory with the rest.
func Carry(out, field []float32, at int, memory []float32, list []Passage) (most float32, finite bool) {
	n := len(out)
	checkPassages(list, memory, n)
	for _, f := range list {
		_ = field[at+f.There : at+f.There+n]
	}
	if !vectors || n == 0 || len(list) == 0 {
		return carryPlain(out, field, at, memory, list)
	}
	_ = field[at : at+n]
	var p passages
	p.set(list)
	worst, most := carryVectors(&out[0], &field[at], &memory[0], &p[0], len(list), n)
	return most, worst != exponent
}

func carryPlain(out, field []float32, at int, memory []float32, list []Passage) (most float32, finite bool) {
	copy(out, field[at:])
	var lost [piece]float32
	for from := 0; from < len(out); from += piece {
		n := min(piece, len(out)-from)
		clear(lost[:n])
		for k := range list {
			p := &list[k]
			p.carry(out[from:from+n], lost[:n], field[at+from:][:n], field[at+from+p.There:][:n], memory[p.Moved+from:][:n])
		}
		for _, v := range lost[:n] {
			most = max(most, v)
		}
	}
	return most, finitePlain(out, 1)
}

// carry lets shares carry through one face.
func (p *Passage) carry(out, lost, here, there, shares []float32) {
	lost, here, there = lost[:len(out)], here[:len(out)], there[:len(out)]
	for i, share := range shares[:len(out)] {
		if p.In {
			share = -share
		}
		from := there[i]
		if share > 0 {
			from = here[i]
			lost[i] += share
		}
		if share != 0 {
			out[i] -= float32(share * from)
		}
	}
}

// Leaving returns the share of cell number i that leaves it through all faces.
func Leaving(memory []float32, list []Passage, i int) (lost float32) {
	for k := range list {
		if share := list[k].share(memory, i); share > 0 {
			lost += share
		}
	}
	return lost
}

// share returns what passes the face of a cell, counted outward.
func (p *Passage) share(memory []float32, i int) float32 {
	if p.In {
		return -memory[p.Moved+i]
	}
	return memory[p.Moved+i]
}
