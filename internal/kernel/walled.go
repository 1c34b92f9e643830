package kernel

// Walled holds the numbers of [Walled.Relax], in the order that vector code knows.
type Walled struct{ K, Decay float32 }

// mostOpen is how many neighbours vector code is used for.
const mostOpen = 15

// Relax gives elements a share of what each of those of their neighbours that are no walls, n
// of them, has more than they:
//
//	out = Decay·(in + K·((Σ open neighbours) - n·in))
//	out = Decay·in, where n is 0
//	out = in, of a wall
//
// Walls is a column with one element for n.Scale of the others, which is not zero where there is a
// wall. The sum is a left fold, every operation is rounded. Relax reports whether all results are
// finite. Out must not share memory with in or walls.
func (w *Walled) Relax(out, in, walls []float32, r Rows, n Neighbours) (finite bool) {
	if r.Count > longest {
		head, tail := r.split()
		finite = w.Relax(out, in, walls, head, n)
		return w.Relax(out, in, walls, tail, n) && finite
	}
	r.check(out, in, &n)
	if !vectors || n.Scale != 1 || len(n.Offsets) < 1 || len(n.Offsets) > mostOpen {
		return w.relaxPlain(out, in, walls, r, n)
	}
	r.check(out, walls, &n)
	if r.Stride != 1 {
		return w.relaxApart(out, in, walls, r, n)
	}
	return w.relaxTogether(out, in, walls, r, n)
}

// relaxTogether does it for elements that lie together.
func (w *Walled) relaxTogether(out, in, walls []float32, r Rows, n Neighbours) (finite bool) {
	var buffer [mostNeighbours]int
	offsets, at := n.bytes(&buffer), r.First
	return relaxWalled(&in[at], &walls[at], &out[at], &offsets[0], len(offsets), r.Count, r.Rows, 4*r.Pitch, n.ahead(in), &w.K) != exponent
}

// relaxApart does it for elements that do not lie together: it gathers them and their neighbours
// first.
func (w *Walled) relaxApart(out, in, walls []float32, r Rows, n Neighbours) (finite bool) {
	const most = 64 // elements at a time
	var here, wall [(mostOpen + 1) * most]float32
	var result [most]float32
	var offsets [mostOpen]int
	finite = true
	for row := range r.Rows {
		for at := 0; at < r.Count; at += most {
			count, first := min(most, r.Count-at), r.First+row*r.Pitch+at*r.Stride
			gatherPlain(here[:count], in[first:], r.Stride)
			gatherPlain(wall[:count], walls[first:], r.Stride)
			for k, o := range n.Offsets {
				offsets[k] = (k + 1) * most
				gatherPlain(here[offsets[k]:][:count], in[first+o:], r.Stride)
				gatherPlain(wall[offsets[k]:][:count], walls[first+o:], r.Stride)
			}
			near := Neighbours{offsets[:len(n.Offsets)], 1}
			finite = w.relaxTogether(result[:count], here[:], wall[:], Rows{Count: count, Stride: 1, Rows: 1, Pitch: 1}, near) && finite
			Scatter(out[first:], result[:count], r.Stride)
		}
	}
	return finite
}

// relaxPlain is Relax in plain Go. It is also the plainest form of diffusion: where there is no wall
// it gives the bits of the other Relax.
func (w *Walled) relaxPlain(out, in, walls []float32, r Rows, n Neighbours) (finite bool) {
	for row := range r.Rows {
		for i := range r.Count {
			e := r.First + row*r.Pitch + i*r.Stride
			cell := e / n.Scale
			if walls[cell] != 0 {
				out[e] = in[e]
				continue
			}
			sum, open := negativeZero, 0
			for _, o := range n.Offsets {
				if walls[cell+o] == 0 {
					sum += in[e+o*n.Scale]
					open++
				}
			}
			v := in[e]
			if open > 0 {
				v += float32(w.K * (sum - float32(float32(open)*v)))
			}
			out[e] = float32(v * w.Decay)
		}
	}
	return Finite(out, r)
}
