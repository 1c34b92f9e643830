package scenarios_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/components"
	"github.com/murksim/murksim/scenarios/yaml"
)

// watering is a bloom that can be watered by a command.
type watering struct {
	bloom
}

// Handlers implements [scenarios.HandlerMaker].
func (p *watering) Handlers(b *scenarios.Builder) ([]engine.Handler, error) {
	if b.Capacity() != 2 {
		return nil, errors.New("there must be two bees")
	}
	return []engine.Handler{can{p, b}}, nil
}

type can struct {
	p *watering
	b *scenarios.Builder
}

// Type implements [engine.Handler].
func (can) Type() uint32 { return 77 }

// Handle implements [engine.Handler]: the bytes are beds.
func (h can) Handle(c *engine.HandlerContext, data []byte) commands.Reason {
	for _, bed := range data {
		if bed > 8 {
			return commands.OutsideSpace
		}
		c.Set(h.b.Field(h.p.Field), int(bed), 50)
	}
	return commands.Applied
}

// TestHandlers holds that each world of a scenario has the handlers of its components: one that is made from
// it, from its descriptor, and from a saved state; and that no two may handle one type.
func TestHandlers(t *testing.T) {
	r := registry(t, append(components.All(), scenarios.Component{
		Name: "watered", Version: 1, Params: func() any { return new(watering) }, About: "Lets beds bloom that are watered.",
	}))
	text := strings.Replace(garden, "bloom:", "watered:", 1) + "commands: [{tick: 2, custom: {type: 77, data: \"07\"}}, {tick: 3, custom: {type: 77, data: \"0609\"}}]\n"
	s, err := yaml.Parse(r, "garden.yaml", nil, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.FromDescriptor(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	var state []byte
	for _, s := range []*scenarios.Scenario{s, again} {
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		step(t, s, w)
		if state, err = w.Save(s.Descriptor()); err != nil {
			t.Fatal(err)
		}
		restored, err := s.Restore(1, state, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []*engine.World{w, restored} {
			if got := step(t, s, w); len(got) != 1 || got[0].Reason != commands.Applied || w.Value(0, 7) != 50 {
				t.Errorf("tick 2: %d receipts, the first %v; petal 7 is %v; want one, applied, and 50", len(got), got[0].Reason, w.Value(0, 7))
			}
			if got := step(t, s, w); got[0].Reason != commands.OutsideSpace || w.Value(0, 6) != 0 {
				t.Errorf("tick 3: %v, petal 6 is %v; want %v, and 0", got[0].Reason, w.Value(0, 6), commands.OutsideSpace)
			}
		}
	}

	for _, tt := range []struct{ text, want string }{
		{strings.Replace(text, "capacity: 2", "capacity: 3", 1), `garden.yaml:9:5: watered "roses": there must be two bees`},
		{strings.Replace(text, "propagators:", "propagators:\n  - watered: {field: few, beds: []}", 1), `watered "roses": another component handles custom commands of type 77 already`},
	} {
		s, err := yaml.Parse(r, "garden.yaml", nil, []byte(tt.text))
		if err == nil {
			_, err = s.Config(1)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// step submits what is due and computes a tick.
func step(t *testing.T, s *scenarios.Scenario, w *engine.World) []commands.Receipt {
	t.Helper()
	for _, c := range s.CommandsAt(w.Tick() + 1) {
		if _, err := w.Submit(c); err != nil {
			t.Fatal(err)
		}
	}
	r, err := w.Step()
	if err != nil {
		t.Fatal(err)
	}
	return r
}
