package engine_test

import (
	"errors"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// warmth is a configuration with other initial values for each seed.
func warmth(seed uint64) engine.Config {
	values := make([]float64, 12)
	for i := range values {
		values[i] = float64(seed) + float64(i)
	}
	return engine.Config{
		Space: space.Square4{Rows: 3, Cols: 4},
		Fields: []fields.Def{
			{Name: "heat", Initial: fields.Values(values)},
			{Name: "energy", Domain: fields.Entities, Initial: fields.Fill(float64(seed) / 2)},
		},
		Propagators: []engine.Propagator{propagators.Diffusion{Field: 0, Rate: 0.5}},
		Capacity:    2, Seed: seed,
	}
}

func TestRenew(t *testing.T) {
	w, err := engine.New(warmth(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{2, 3} {
		if err := w.Submit(commands.Despawn(77)); err != nil { // waits, and is dropped
			t.Fatal(err)
		}
		c := warmth(seed)
		if err := w.Renew(seed, []fields.Initial{c.Fields[0].Initial, c.Fields[1].Initial}); err != nil {
			t.Fatal(err)
		}
		fresh, err := engine.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if w.Hash() != fresh.Hash() {
			t.Errorf("seed %d: hash %016x at genesis, a new world has %016x", seed, w.Hash(), fresh.Hash())
		}
		equal(t, w, fresh, commands.Spawn(space.At(1, 1)))
		fork, err := w.Fork()
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fork, fresh, commands.Despawn(1<<20|1))
	}
}

func TestRenewRefuses(t *testing.T) {
	w, err := engine.New(warmth(1))
	if err != nil {
		t.Fatal(err)
	}
	before := w.Hash()
	for name, initial := range map[string][]fields.Initial{
		"too few":     {fields.Fill(1)},
		"wrong count": {fields.Values(make([]float64, 5)), fields.Fill(0)},
		"too large":   {fields.Fill(1e300), fields.Fill(0)},
		"one each":    {fields.Fill(1), fields.Values([]float64{1, 2})},
	} {
		var wrong *engine.ConfigError
		if err := w.Renew(9, initial); !errors.As(err, &wrong) {
			t.Errorf("%s: Renew = %v, want a ConfigError", name, err)
		}
		if w.Hash() != before || w.Seed() != 1 {
			t.Errorf("%s: the world has changed", name)
		}
	}
}
