package main

import (
	"math"

	"github.com/murksim/murksim/tools/ulp/reference"
)

// sweep measures a function of one float32 on every sample-th of all.
func (t target) sweep(f reference.Function, p plan, show func(float64)) (result, error) {
	const size = 1 << 20
	count := (1<<32 + p.sample - 1) / p.sample
	all, err := blocks(p.workers, (count+size-1)/size, show, func(block uint64, c *tally) error {
		for n := block * size; n < min(block*size+size, count); n++ {
			if err := t.check(f, c, uint32(n*p.sample)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return result{}, err
	}
	return t.report(f, reference.Float32, all, float64(t.single(float32(all.x)))), nil
}

// check measures the result for the float32 of the given bits.
func (t target) check(f reference.Function, c *tally, b uint32) error {
	const (
		rest   = 1<<29 - 1 // the bits of a float64 that a float32 has not
		middle = 1 << 28
		doubt  = 1 << 12 // 2**-40 of the value at least
	)
	x := math.Float32frombits(b)
	got := t.single(x)
	near := t.rough(float64(x))
	low := math.Float64bits(near) & rest
	switch size := math.Abs(near); {
	case near != near:
		c.addSpecial(math.Float32bits(got) == 0x7fc00000)
		return nil
	case size >= 0x1p128 || size < 0x1p-151:
		c.addSpecial(got == float32(near) && math.Signbit(float64(got)) == math.Signbit(near))
		return nil
	case got == float32(near) && size >= 0x1p-126 && size < math.MaxFloat32 && max(low, middle)-min(low, middle) > doubt:
		ulps := float64(min(low, rest+1-low)) / (rest + 1)
		c.add(ulps, true, uint64(b), float64(x), 0)
		if b%65521 == 0 {
			return t.auditRough(f, float64(got), float64(x), ulps)
		}
		return nil
	}
	ulps, nearest := f.Measure(reference.Float32, float64(got), float64(x), 0)
	c.add(ulps, nearest, uint64(b), float64(x), 0)
	return nil
}

// auditRough compares an error by package math's value with the one by the series.
func (t target) auditRough(f reference.Function, got, x, ulps float64) error {
	if _, special := f.Special(x, 0); special {
		return nil
	}
	return audit(f, reference.Float32, got, x, 0, ulps)
}
