package worlds_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

// numberPaths appends the paths of all numbers that a value of a type may have, with their defaults: in a scenario those
// that it has, in a component also those that it leaves out.
func numberPaths(paths map[string]float64, r *scenarios.Registry, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			numberPaths(paths, r, path, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if x, is := v.Index(i).Interface().(scenarios.Instance); is {
				for _, c := range r.Components() {
					if c.Name == x.Component {
						numberPaths(paths, r, fmt.Sprintf("%s.%d.%s", path, i, c.Name), reflect.ValueOf(c.Params()))
					}
				}
				continue
			}
			numberPaths(paths, r, fmt.Sprintf("%s.%d", path, i), v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if f.Anonymous && f.IsExported() {
				numberPaths(paths, r, path, v.Field(i))
			}
			if name == "" || !f.IsExported() {
				continue
			}
			at := strings.TrimPrefix(path+"."+name, ".")
			if f.Type.Kind() == reflect.Float64 {
				n := v.Field(i).Float()
				if d, err := strconv.ParseFloat(f.Tag.Get("default"), 64); err == nil && n == 0 {
					n = d
				}
				paths[at] = n
				continue
			}
			numberPaths(paths, r, at, v.Field(i))
		}
	}
}

// odd are numbers that a codec may not have thought of, and those beside another one.
func odd(n float64) []float64 {
	return []float64{
		math.Copysign(0, -1), 1.2345678901234567e20, 0, 5e-324, -5e-324, 1e-310, math.SmallestNonzeroFloat32, math.MaxFloat32, -math.MaxFloat32, math.MaxFloat64,
		math.Nextafter(1, 0), math.Nextafter(1, 2), math.Nextafter(n, math.Inf(1)), math.Nextafter(n, math.Inf(-1)),
		float64(math.Nextafter32(float32(n), 2*float32(math.Abs(n))+1)), 0.1, 1.0 / 3,
		-math.Nextafter(1<<60, math.Inf(1)), math.Nextafter(1e21, 0), // whole ones whose shortest decimal is another
	}
}

// TestOddNumbers puts odd numbers in the place of every number of every scenario, and of every parameter of its components. What is
// taken must be in the descriptor in every bit: a world that is made from there has the same ticks.
func TestOddNumbers(t *testing.T) {
	const ticks = 2
	r := worlds.Registry()
	taken, met := 0, map[string]bool{}
	for _, info := range worlds.Embedded() {
		s, err := worlds.Open(r, info.Name)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, uint64(len(info.Name))))
		paths := map[string]float64{}
		numberPaths(paths, r, "", reflect.ValueOf(s))
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			for i, x := range odd(paths[path]) {
				if testing.Short() && i > 1 && random.IntN(24) > 0 {
					continue
				}
				text := strconv.FormatFloat(x, 'g', -1, 64)
				s, err := worlds.Open(r, info.Name, path+"="+text, "expect=[]")
				if err != nil {
					continue
				}
				taken++
				met[path[strings.LastIndexByte(path, '.')+1:]] = true
				b := s.Descriptor()
				again, err := r.FromDescriptor(b)
				if err != nil || !bytes.Equal(again.Descriptor(), b) {
					t.Errorf("%s with %s=%s: its descriptor gives another one, or %v", info.Name, path, text, err)
					continue
				}
				one, failed := hashAfter(s, ticks)
				two, failed2 := hashAfter(again, ticks)
				if one != two || (failed == nil) != (failed2 == nil) {
					t.Errorf("%s with %s=%s: after %d ticks %016x, %v; from the descriptor %016x, %v", info.Name, path, text, ticks, one, failed, two, failed2)
				}
			}
		}
	}
	t.Logf("%d scenarios were taken, with other numbers at %d keys", taken, len(met))
	if taken < 200 || len(met) < 25 {
		t.Errorf("%d scenarios were taken, with other numbers at %d keys; want more", taken, len(met))
	}
}

// hashAfter runs a scenario for some ticks.
func hashAfter(s *scenarios.Scenario, ticks uint64) (uint64, error) {
	w, err := s.World(1)
	for err == nil && w.Tick() < ticks {
		if _, _, err = w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err == nil {
			_, err = w.Step()
		}
	}
	if w == nil {
		return 0, err
	}
	return hash(w), err
}

func hash(w *engine.World) uint64 { return w.Hash() }
