package kernel

// Gather copies every stride-th element of src, from the first one on, to dst.
func Gather(dst, src []float32, stride int) {
	if stride == 1 {
		copy(dst, src[:len(dst)])
		return
	}
	done := 0
	if n := len(dst); vectors && stride <= 3 && n > 8 {
		_ = src[stride*(n-1)]
		done = (n - 1) &^ 7 // vector code reads whole groups
		if stride == 2 {
			gatherTwo(&src[0], &dst[0], done)
		} else {
			gatherThree(&src[0], &dst[0], done)
		}
	}
	gatherPlain(dst[done:], src[done*stride:], stride)
}

func gatherPlain(dst, src []float32, stride int) {
	for i, k := 0, 0; i < len(dst); i, k = i+1, k+stride {
		dst[i] = src[k]
	}
}

// Scatter is the inverse of Gather: it leaves what is between every stride-th element of dst.
func Scatter(dst, src []float32, stride int) {
	if stride == 1 {
		copy(dst, src)
		return
	}
	for i, k := 0, 0; i < len(src); i, k = i+1, k+stride {
		dst[k] = src[i]
	}
}

// Interleave writes the first element of each plane to dst, then the second of each, and so on. All
// planes have one length.
func Interleave(dst []float32, planes ...[]float32) {
	done := 0
	if n := len(planes[0]); vectors && len(planes) == 2 && n >= 8 {
		_, _ = dst[2*n-1], planes[1][n-1]
		done = n &^ 7
		interleaveTwo(&planes[0][0], &planes[1][0], &dst[0], done)
	}
	for k, p := range planes {
		if done < len(p) {
			Scatter(dst[done*len(planes)+k:], p[done:], len(planes))
		}
	}
}
