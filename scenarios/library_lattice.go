package scenarios

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
)

// latticeKinds follow rules from cell to cell.
var latticeKinds = []kind{
	{"automaton", 1, "Runs a cellular automaton such as Conway's Life.", "", func() params { return new(automaton) }},
}

type automaton struct {
	Field FieldRef `yaml:"field,required" is:"a field of cells" doc:"0 is dead, 1 alive; above, a cell that ages."`
	Rule  string   `yaml:"rule,required" doc:"Such as B3/S23: the counts of live neighbours for birth and survival."`
}

func (p *automaton) check(_ *decoder, n *node) error {
	if _, err := propagators.ParseRule(p.Rule); err != nil {
		return n.get("rule").errorf("%s", plain(err)).because(err)
	}
	return nil
}

func (p *automaton) propagator(b *builder, name string) (engine.Propagator, error) {
	rule, err := propagators.ParseRule(p.Rule)
	return propagators.Automaton{Name: name, Field: b.field(p.Field), Rule: rule}, err
}
