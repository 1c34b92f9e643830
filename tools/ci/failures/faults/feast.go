package faults

import (
	"fmt"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// Components are what a scenario of the lab has beside those that come with murksim. The feast is right unless something is planted, as
// in "61,order".
func Components(plant string) []scenarios.Component {
	return []scenarios.Component{{Name: "feast", Version: 1, About: "All who live eat from one cell, one after another.", Params: func() any { return &feastParams{plant} }}}
}

type feastParams struct{ plant string }

// System implements [scenarios.SystemMaker].
func (p *feastParams) System(b *scenarios.Builder, _ string) (engine.System, error) {
	column := func(name string) (fields.ID, error) {
		i := slices.IndexFunc(b.Defs(), func(d fields.Def) bool { return d.Name == name })
		if i < 0 {
			return 0, fmt.Errorf("the world has no field %q", name)
		}
		return fields.ID(i), nil
	}
	food, err := column("food")
	if err != nil {
		return nil, err
	}
	altitude, err := column("altitude")
	f := Feast{Food: food, Altitude: altitude}
	if err == nil && p.plant != "" {
		_, err = fmt.Sscanf(p.plant, "%d,%s", &f.From, &f.Order)
	}
	return f, err
}

// A Feast is a system with interaction: all living entities eat, one after another, an eighth
// of what the first cell has, into its altitude. What is left grows back each tick. It
// is right if all come in the order of their slots.
type Feast struct {
	Food, Altitude fields.ID
	Order          string // "", "order" of a map, "backwards", or by the "clock"
	From           uint64 // the tick from which on that holds
}

// Spec implements [engine.System].
func (f Feast) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "feast", Incremental: engine.Fields(f.Food, f.Altitude)}
}

// Update implements [engine.System].
func (f Feast) Update(c *engine.SystemContext) error {
	food, altitude := c.NextColumn(f.Food).Fixed, c.NextColumn(f.Altitude).Fixed
	food[0] = 50 * one
	eat := func(slot int) {
		share := food[0] / 8
		food[0] -= share
		altitude[slot] += share
	}
	ids := c.Entities().ID
	order := f.Order
	if c.Tick() < f.From {
		order = ""
	}
	switch order {
	case "order":
		guests := map[int]uint64{}
		for slot, id := range ids {
			guests[slot] = id
		}
		for slot, id := range guests {
			if id != 0 {
				eat(slot)
			}
		}
	case "backwards":
		for slot := len(ids) - 1; slot >= 0; slot-- {
			if ids[slot] != 0 {
				eat(slot)
			}
		}
	default:
		for slot, id := range ids {
			if id != 0 {
				eat(slot)
			}
		}
	}
	if i := slices.IndexFunc(ids, func(id uint64) bool { return id != 0 }); i >= 0 && order == "clock" {
		altitude[i] += now()
	}
	return nil
}
