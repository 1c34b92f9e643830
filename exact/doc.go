// Package exact computes elementary functions with the same bits on every processor.
//
// Package math does not: its exponentials, logarithms and sines differ between
// architectures, and Exp even between processors of one. Here everything is plain
// Go over float64, and every product that meets a sum is rounded by a conversion
// first, so that no compiler may fuse the two.
//
// Each result lies less than one unit in the last place from the true value, for
// every argument, subnormal and huge ones included. Tan, Tanh, Atan, Atan2, Hypot and
// Cbrt stay below 0.65 units, for they carry sums of two floats along. ACCURACY.md has the
// largest errors found, and tools/ulp measures them. A NaN comes back as [math.NaN],
// whatever bits went in.
//
// Package exact/f32 has the same functions of float32.
package exact
