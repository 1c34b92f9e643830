package environment_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/environment"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
	"github.com/murksim/murksim/space"
)

// stepped counts the ticks of all worlds, as a package variable of somebody's rules may.
var stepped atomic.Uint32

type countingParams struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"What it changes."`
}

func (p *countingParams) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return &counting{name, b.Field(p.Field)}, nil
}

type counting struct {
	name  string
	field fields.ID
}

func (c *counting) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: c.name, Incremental: engine.Fields(c.field)}
}

func (c *counting) Step(t *engine.Context) error {
	t.Next(c.field)[0] += float32(stepped.Add(1)%7) * 0.01
	return nil
}

// TestEpisodeOfAMemory holds that no episode is written that did not happen, however it ended: in a step after which another one begins, too.
func TestEpisodeOfAMemory(t *testing.T) {
	registry, err := scenarios.NewRegistry(slices.Concat(worlds.Components(), []scenarios.Component{
		{Name: "counting", Version: 1, About: "Counts.", Params: func() any { return new(countingParams) }},
	})...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../scenarios/worlds/learning/heat_seeker.yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "  - diffusion: {field: heat, rate: 4.5}\n", "  - diffusion: {field: heat, rate: 4.5}\n  - counting: {field: heat}\n", 1)
	for _, how := range []environment.Autoreset{environment.NextStep, environment.SameStep, environment.Disabled} {
		s, err := yaml.Parse(registry, "counting.yaml", nil, []byte(changed), short...)
		if err != nil {
			t.Fatal(err)
		}
		r := train(t, environment.Config{Scenario: s, Seed: 5, Autoreset: how})
		for steps := uint64(0); steps < r.Layout().Steps; steps++ {
			r.act(t, 0)
		}
		var b bytes.Buffer
		if err := r.Record(0, &b); err == nil || !strings.Contains(err.Error(), "is not the same when it is played again") {
			t.Errorf("autoreset %d: %v", how, err)
		}
	}
}
