//go:build !amd64

package kernel

func hasVectors() bool { return false }

func relaxRows(out, in []float32, r *Rows, n *Neighbours, w *Weights) bool {
	return relaxPlain(out, in, *r, *n, w)
}

func relaxWovenRows(out, in []float32, r *Rows, v *Weave) bool {
	return relaxWovenPlain(out, in, *r, v)
}
