package propagators_test

import (
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

var life = propagators.Rule{Born: 1 << 3, Survive: 1<<2 | 1<<3, States: 2}

func newWorld(t testing.TB, c engine.Config) *engine.World {
	t.Helper()
	w, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func lattice(t testing.TB, s space.Space) *space.Lattice {
	t.Helper()
	l, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// someValues are different values in [0, 1) for each element.
func someValues(s space.Space, components int) fields.Initial {
	l, err := s.Build()
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, l.Cells()*components)
	for i := range v {
		v[i] = float64(r.Float32())
	}
	return fields.Values(v)
}

// someBits are zeros and, one in three, ones.
func someBits(s space.Space) fields.Initial {
	l, err := s.Build()
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	v := make([]float64, l.Cells())
	for i := range v {
		if r.IntN(3) == 0 {
			v[i] = 1
		}
	}
	return fields.Values(v)
}
