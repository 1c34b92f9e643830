package fuse

import (
	"fmt"
	"math"
)

type vec struct{ x, y float64 }

var global float64

func same(x, y, z float64, f, g float32) (float64, float32) {
	a := x*y + z            // want `fuse: a product goes unrounded into a sum; round the product`
	b := z - (x * y)        // want `fuse: a product goes unrounded into a sum`
	c := -(x * y) + z       // want `fuse: a product`
	d := x*x + float64(y*y) // want `fuse: a product`
	a += x * y              // want `fuse: a product`
	f += 1 - f*g            // want `fuse: a product`
	return a + b + c + d, f
}

func through(x, y, z float64) float64 {
	p := x * y    // want `fuse: a product goes unrounded into a sum`
	var q = y * z // want `fuse: a product goes unrounded into a sum`
	r := max(p, 0)
	x *= y // want `fuse: a product goes unrounded into a sum`
	return r + z - q + x
}

func loops(xs []float64) float64 {
	sum, product := 0.0, 1.0
	for _, x := range xs {
		product *= x // want `fuse: a product goes unrounded`
		sum += product
	}
	return sum
}

func powers(x, z float32) float32 {
	z -= x / 2    // want `fuse: a division by a power of two`
	mean := x / 4 // want `fuse: a division by a power of two, which becomes a product, goes unrounded into a sum`
	z += 0.5 * x  // want `fuse: a product goes unrounded into a sum`
	return mean - z
}

func scale(v vec, k float64) vec { return vec{v.x * k, y(v) * k} } // want `fuse: a product is stored, returned or passed on` `fuse: a product is stored`

func y(v vec) float64 { return v.y * 1.5 } // want `fuse: a product is stored, returned or passed on unrounded`

func named(x float64) (r float64) {
	r = x * 3 // want `fuse: a product is stored`
	return
}

func kept(v *vec, out []float64, x float64) {
	v.x = x * x               // want `fuse: a product is stored`
	out[0] *= x               // want `fuse: a product is stored`
	global = x * v.y          // want `fuse: a product is stored`  `pkgvar: global is written`
	out[1] = y(vec{x, x * 7}) // want `fuse: a product is stored`
	out[2] = named(x * 3)     // want `fuse: a product is stored`
}

func numbers[T float32 | float64](a, b, c T) T {
	return a*b + c // want `fuse: a product goes unrounded into a sum`
}

func turned(a, b complex128) complex128 {
	return a * b // want `fuse: a complex product has sums in it`
}

// What follows cannot be fused.

func rounded(x, y, z float64, f, g float32) (float64, float32) {
	a := float64(x*y) + z
	a += float64(x * y)
	p := x * y
	q := float64(p)
	b := float32(f*g) + 1 - float32(f*f)
	b = float32(b * g)
	return a + q - math.FMA(x, y, z), b
}

func generic[T float32 | float64](a, b, c T) T { return T(a*b) + c }

func compared(v vec, r float64) bool {
	d := v.x * r
	return v.x*v.x < r*r && d > 1 && d/3 != 2
}

func rooted(x, y, z float64) float64 { return math.Sqrt(x*y) + z }

func divided(x, y, z float64) float64 { return x*y/z + z/3 }

func exact(x float64, out []float64) float64 {
	out[0] = x * 0.5
	out[1] = x / 2
	return -1*x + out[0] - (2*x - x/1)
}

func whole(i, j, k int) int { return i*j + k }

func printed(x, y float64) string { return fmt.Sprint(x*y, int(min(x*y, 9))) }

const area = 1.5*2.5 + 1

func constants(x float64) float64 { return x + area*3 }
