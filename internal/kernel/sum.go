package kernel

// piece is how many elements plain loops take at once, so that several passes over
// them find them in the cache.
const piece = 1024

// sumPiece sums the neighbours of every stride-th element of out, whose first is
// element first.
func sumPiece(out, in []float32, first int, n Neighbours, stride int) {
	at := func(k int) []float32 {
		from := first + n.Offsets[k]*n.Scale
		return in[from : from+len(out)]
	}
	Take(out, at(0), stride)
	k := 1
	for ; k+4 <= len(n.Offsets); k += 4 {
		add4(out, at(k), at(k+1), at(k+2), at(k+3), stride)
	}
	switch len(n.Offsets) - k {
	case 3:
		add3(out, at(k), at(k+1), at(k+2), stride)
	case 2:
		add2(out, at(k), at(k+1), stride)
	case 1:
		add1(out, at(k), stride)
	}
}

// The kernels below work on every stride-th element of slices of one length. Where
// elements lie together they take four at a time, which is about twice as fast, and
// check bounds once for them; the strided loop does the rest without checks, because
// an unsigned index below one length is below all.

// Take copies every stride-th element of a to the same place in dst.
func Take(dst, a []float32, stride int) {
	if stride == 1 {
		copy(dst, a)
		return
	}
	a = a[:len(dst)]
	for i := uint(0); i < uint(len(dst)); i += uint(stride) {
		dst[i] = a[i]
	}
}

// add1 adds one neighbour to dst, from the left.
func add1(dst, a []float32, stride int) {
	a = a[:len(dst)]
	i := 0
	if stride == 1 {
		for ; i < len(dst)-3; i += 4 {
			d, p := dst[i:i+4:i+4], a[i:i+4:i+4]
			d[0] = d[0] + p[0]
			d[1] = d[1] + p[1]
			d[2] = d[2] + p[2]
			d[3] = d[3] + p[3]
		}
	}
	for j := uint(i); j < uint(len(dst)); j += uint(stride) {
		dst[j] = dst[j] + a[j]
	}
}

// add2 adds two neighbours to dst, from the left.
func add2(dst, a, b []float32, stride int) {
	a, b = a[:len(dst)], b[:len(dst)]
	i := 0
	if stride == 1 {
		for ; i < len(dst)-3; i += 4 {
			d, p, q := dst[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4]
			d[0] = d[0] + p[0] + q[0]
			d[1] = d[1] + p[1] + q[1]
			d[2] = d[2] + p[2] + q[2]
			d[3] = d[3] + p[3] + q[3]
		}
	}
	for j := uint(i); j < uint(len(dst)); j += uint(stride) {
		dst[j] = dst[j] + a[j] + b[j]
	}
}

// add3 adds three neighbours to dst, from the left.
func add3(dst, a, b, c []float32, stride int) {
	a, b, c = a[:len(dst)], b[:len(dst)], c[:len(dst)]
	i := 0
	if stride == 1 {
		for ; i < len(dst)-3; i += 4 {
			d, p, q, r := dst[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4], c[i:i+4:i+4]
			d[0] = d[0] + p[0] + q[0] + r[0]
			d[1] = d[1] + p[1] + q[1] + r[1]
			d[2] = d[2] + p[2] + q[2] + r[2]
			d[3] = d[3] + p[3] + q[3] + r[3]
		}
	}
	for j := uint(i); j < uint(len(dst)); j += uint(stride) {
		dst[j] = dst[j] + a[j] + b[j] + c[j]
	}
}

// add4 adds four neighbours to dst, from the left.
func add4(dst, a, b, c, d []float32, stride int) {
	a, b, c, d = a[:len(dst)], b[:len(dst)], c[:len(dst)], d[:len(dst)]
	i := 0
	if stride == 1 {
		for ; i < len(dst)-3; i += 4 {
			d, p, q, r, s := dst[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4], c[i:i+4:i+4], d[i:i+4:i+4]
			d[0] = d[0] + p[0] + q[0] + r[0] + s[0]
			d[1] = d[1] + p[1] + q[1] + r[1] + s[1]
			d[2] = d[2] + p[2] + q[2] + r[2] + s[2]
			d[3] = d[3] + p[3] + q[3] + r[3] + s[3]
		}
	}
	for j := uint(i); j < uint(len(dst)); j += uint(stride) {
		dst[j] = dst[j] + a[j] + b[j] + c[j] + d[j]
	}
}
