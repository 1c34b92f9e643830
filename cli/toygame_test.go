package cli

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/serve/live"
	"github.com/murksim/murksim/space"
)

// toyComponents are those of the program toygame: a propagator that counts, and tells that as a game
// in which two players take tiles in turn, until the second one is out at tick 30.
func toyComponents() []scenarios.Component {
	return []scenarios.Component{{Name: "toygame", Version: 1, About: "Counts, and tells it as a game.", Params: func() any { return new(toyParams) }}}
}

type toyParams struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"What it counts in."`
	Talk  int                `yaml:"talk" min:"0" doc:"How many messages more each view gets in a tick."`
}

// Propagator implements [scenarios.PropagatorMaker].
func (p *toyParams) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return &toyGame{name: name, field: b.Field(p.Field)}, nil
}

// Teller implements gameMaker.
func (p *toyParams) Teller(b *scenarios.Builder, w *engine.World) (live.Teller, error) {
	return &toyTeller{field: b.Field(p.Field), talk: p.Talk}, nil
}

type toyGame struct {
	name  string
	field fields.ID
}

// Spec implements [engine.Propagator].
func (g *toyGame) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: g.name, Incremental: engine.Fields(g.field)}
}

// Step implements [engine.Propagator].
func (g *toyGame) Step(c *engine.Context) error {
	c.Next(g.field)[0]++
	return nil
}

type toyTeller struct {
	field fields.ID
	talk  int
}

// Start implements [live.Teller].
func (t *toyTeller) Start() minewars.Start {
	s := minewars.Start{TickRate: 20, Radius: 2, Players: 2, Names: []string{"Ada", "Bob"}, Cities: []minewars.Tile{{}}}
	for i := range s.Grid.Rings(2) {
		s.Map = append(s.Map, minewars.Terrain(i%4))
	}
	return s
}

// Tell implements [live.Teller].
func (t *toyTeller) Tell(w *engine.World, u *minewars.Update) error {
	n := int(w.Column(t.field).Float32[0])
	rings := minewars.Hex.Rings(2)
	for v := range 3 {
		if n <= 40 {
			player := 1 + n%2
			if n > 30 {
				player = 1
			}
			u.Views[v] = append(u.Views[v], minewars.Message{Op: minewars.Owner, Player: uint8(player), Tiles: rings[n%19 : n%19+1]})
		}
		if n == 30 {
			u.Views[v] = append(u.Views[v], minewars.Message{Op: minewars.Eliminated, Player: 2})
		}
		for i := range t.talk {
			u.Views[v] = append(u.Views[v], minewars.Message{Op: minewars.Road, Tiles: rings[(v+i+n)%19:][:1]})
		}
	}
	return nil
}
