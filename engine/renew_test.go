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
			{Name: "rock", Mutability: fields.Static, Initial: fields.Values(values)},
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
		if _, err := w.Submit(commands.Despawn(77)); err != nil { // waits, and is dropped
			t.Fatal(err)
		}
		c := warmth(seed)
		if err := w.Renew(seed, []fields.Initial{c.Fields[0].Initial, c.Fields[1].Initial, c.Fields[2].Initial}); err != nil {
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
		"too few":     {fields.Fill(1), fields.Fill(1)},
		"wrong count": {fields.Values(make([]float64, 5)), fields.Fill(0), fields.Fill(0)},
		"too large":   {fields.Fill(0), fields.Fill(1e300), fields.Fill(0)},
		"one each":    {fields.Fill(1), fields.Fill(1), fields.Values([]float64{1, 2})},
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

// A static field that forks share, or that came from a saved state, is what it is in a new
// world after a reset, whoever was reset before.
func TestResetOfStaticFields(t *testing.T) {
	w, err := engine.New(warmth(1))
	if err != nil {
		t.Fatal(err)
	}
	genesis := w.Hash()
	fork, err := w.Fork()
	if err != nil {
		t.Fatal(err)
	}
	c := warmth(2)
	if err := fork.Renew(1, []fields.Initial{fork.Defs()[0].Initial, c.Fields[1].Initial, fork.Defs()[2].Initial}); err != nil {
		t.Fatal(err)
	}
	if fork.FieldHash(1) == w.FieldHash(1) {
		t.Error("the fork has not got another static field")
	}
	if err := w.Reset(1); err != nil || w.Hash() != genesis {
		t.Errorf("reset gives %016x, want %016x; %v", w.Hash(), genesis, err)
	}
	if err := fork.ForkInto(w); err != nil { // w has the fork's field now, and its own initial values
		t.Fatal(err)
	}
	if err := w.Reset(1); err != nil || w.Hash() != genesis {
		t.Errorf("reset after ForkInto gives %016x, want %016x; %v", w.Hash(), genesis, err)
	}
	state, err := fork.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Load(nil, state); err != nil {
		t.Fatal(err)
	}
	if w.FieldHash(1) != fork.FieldHash(1) {
		t.Error("Load has not loaded the static field")
	}
	if err := w.Reset(1); err != nil || w.Hash() != genesis {
		t.Errorf("reset after Load gives %016x, want %016x; %v", w.Hash(), genesis, err)
	}
}
