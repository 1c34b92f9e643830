package main

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/exact/f32"
	"github.com/murksim/murksim/tools/ulp/reference"
)

// A target is a function to measure. One of float32 with one argument has a single,
// all others a pair.
type target struct {
	name   string
	format reference.Format
	pair   func(x, y float64) float64
	single func(x float32) float32
	rough  func(x float64) float64 // of package math, for single
}

var targets = []target{
	one("exact.Exp", exact.Exp),
	one("exact.Log", exact.Log),
	one("exact.Sin", exact.Sin),
	one("exact.Cos", exact.Cos),
	one("exact.Tan", exact.Tan),
	one("exact.Atan", exact.Atan),
	one("exact.Cbrt", exact.Cbrt),
	one("exact.Tanh", exact.Tanh),
	{name: "exact.Atan2", format: reference.Float64, pair: exact.Atan2},
	{name: "exact.Pow", format: reference.Float64, pair: exact.Pow},
	{name: "exact.Hypot", format: reference.Float64, pair: exact.Hypot},
	{name: "f32.Exp", single: f32.Exp, rough: math.Exp},
	{name: "f32.Log", single: f32.Log, rough: math.Log},
	{name: "f32.Sin", single: f32.Sin, rough: sin},
	{name: "f32.Cos", single: f32.Cos, rough: cos},
	{name: "f32.Tan", single: f32.Tan, rough: tan},
	{name: "f32.Atan", single: f32.Atan, rough: math.Atan},
	{name: "f32.Cbrt", single: f32.Cbrt, rough: math.Cbrt},
	{name: "f32.Tanh", single: f32.Tanh, rough: math.Tanh},
	two("f32.Atan2", f32.Atan2),
	two("f32.Pow", f32.Pow),
	two("f32.Hypot", f32.Hypot),
}

func one(name string, f func(float64) float64) target {
	return target{name: name, format: reference.Float64, pair: func(x, _ float64) float64 { return f(x) }}
}

func two(name string, f func(x, y float32) float32) target {
	return target{name: name, format: reference.Float32, pair: func(x, y float64) float64 { return float64(f(float32(x), float32(y))) }}
}

// turned returns sine and cosine by package math from -π/4 to π/4 and by the
// reference's reduction beyond; math's own loses too many bits near multiples of π/2.
func turned(x float64) (sin, cos float64) {
	quadrant, rest := reference.Reduce(math.Abs(x))
	sin, cos = math.Sincos(rest)
	if quadrant&1 == 1 {
		sin, cos = cos, -sin
	}
	if quadrant&2 == 2 {
		sin, cos = -sin, -cos
	}
	return sin * math.Copysign(1, x), cos
}

func sin(x float64) float64 {
	sin, _ := turned(x)
	return sin
}

func cos(x float64) float64 {
	_, cos := turned(x)
	return cos
}

func tan(x float64) float64 {
	sin, cos := turned(x)
	return sin / cos
}

// A tally counts results. The worst is the largest error, and of equal ones the first.
type tally struct {
	arguments, notNearest, wrong uint64
	worst                        float64
	at                           uint64 // its number among all arguments
	x, y                         float64
}

// add counts a result, of the number at.
func (t *tally) add(ulps float64, nearest bool, at uint64, x, y float64) {
	t.arguments++
	if !nearest {
		t.notNearest++
	}
	if ulps > t.worst || ulps == t.worst && at < t.at {
		t.worst, t.at, t.x, t.y = ulps, at, x, y
	}
}

// addSpecial counts a result that no arithmetic decides.
func (t *tally) addSpecial(right bool) {
	t.arguments++
	if !right {
		t.wrong++
	}
}

// merge adds what another worker has counted.
func (t *tally) merge(u tally) {
	worst := *t
	if u.worst > t.worst || u.worst == t.worst && u.at < t.at {
		worst = u
	}
	worst.arguments = t.arguments + u.arguments
	worst.notNearest = t.notNearest + u.notNearest
	worst.wrong = t.wrong + u.wrong
	*t = worst
}

// measure measures a function.
func (t target) measure(p plan, progress func(name string, part float64)) (result, error) {
	f, found := reference.Named(t.function())
	if !found {
		return result{}, fmt.Errorf("there is no reference")
	}
	show := func(part float64) { progress(t.name, part) }
	if t.single != nil {
		return t.sweep(f, p, show)
	}
	return t.draw(f, p, show)
}

func (t target) function() string {
	for i, c := range t.name {
		if c == '.' {
			return t.name[i+1:]
		}
	}
	return t.name
}

// report makes a result; the largest error by the series.
func (t target) report(f reference.Function, format reference.Format, all tally, got float64) result {
	r := result{Function: t.name, Arguments: all.arguments, NotNearest: all.notNearest, Wrong: all.wrong}
	r.At = []string{strconv.FormatFloat(all.x, 'x', -1, 64)}
	if f.Two {
		r.At = append(r.At, strconv.FormatFloat(all.y, 'x', -1, 64))
	}
	r.Error, _ = f.MeasureSlowly(format, got, all.x, all.y)
	return r
}

// blocks calls work for the numbers 0 to count-1 on several workers, each with its
// own tally, and returns the sum of the tallies and the first error.
func blocks(workers int, count uint64, show func(float64), work func(block uint64, t *tally) error) (tally, error) {
	var (
		mu     sync.Mutex
		next   uint64
		shown  time.Time
		all    tally
		failed error
		group  sync.WaitGroup
	)
	take := func() (block uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == count || failed != nil {
			return 0, false
		}
		if time.Since(shown) > time.Second/2 {
			show(float64(next) / float64(count))
			shown = time.Now()
		}
		next++
		return next - 1, true
	}
	for range workers {
		group.Go(func() {
			var t tally
			var err error
			for block, ok := take(); ok && err == nil; block, ok = take() {
				err = work(block, &t)
			}
			mu.Lock()
			defer mu.Unlock()
			all.merge(t)
			if failed == nil {
				failed = err
			}
		})
	}
	group.Wait()
	return all, failed
}

// tolerance is how far two levels of truth may differ, in units of the last place.
const tolerance = 0x1p-16

// audit compares an error with the one by the series.
func audit(f reference.Function, format reference.Format, got, x, y, ulps float64) error {
	if slow, _ := f.MeasureSlowly(format, got, x, y); !(math.Abs(slow-ulps) <= tolerance) {
		return fmt.Errorf("at %x, %x the quick reference gives an error of %g ulp, the series %g", x, y, ulps, slow)
	}
	return nil
}

// draw measures a function on arguments of every kind.
func (t target) draw(f reference.Function, p plan, show func(float64)) (result, error) {
	const size = 1 << 15
	all, err := blocks(p.workers, (p.args+size-1)/size, show, func(block uint64, c *tally) error {
		for i, a := range f.Arguments(t.format, block, int(min(size, p.args-block*size))) {
			x, y := a[0], a[1]
			got := t.pair(x, y)
			if want, special := f.Special(x, y); special {
				c.addSpecial(t.same(got, want))
				continue
			}
			ulps, nearest := f.Measure(t.format, got, x, y)
			at := block*size + uint64(i)
			c.add(ulps, nearest, at, x, y)
			if at%1021 == 0 {
				if err := audit(f, t.format, got, x, y, ulps); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return result{}, err
	}
	return t.report(f, t.format, all, t.pair(all.x, all.y)), nil
}

// same reports whether two results are equal, -0 and 0 told apart.
func (t target) same(got, want float64) bool {
	if t.format == reference.Float32 {
		want = float64(float32(want))
	}
	return got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want
}
