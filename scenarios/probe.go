package scenarios

import (
	"reflect"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
)

// A Probe is a cell whose value a run writes down beside its recording, under a name. It is
// no part of what the run is: the descriptor does not hold it.
type Probe struct {
	Name  string   `yaml:"name,required" doc:"A name of its own; the column in the table of statistics."`
	Field FieldRef `yaml:"field,required" doc:"A field of cells."`
	Cell  Cell     `yaml:"cell,required" doc:"The cell."`
}

const maxProbes = 1024

// EncodeProbes returns the probes, which the descriptor does not hold, as JSON; nil if there are none.
func (s *Scenario) EncodeProbes() []byte {
	if len(s.Probes) == 0 {
		return nil
	}
	return appendValue(nil, reflect.ValueOf(s.Probes))
}

// DecodeProbes gives a scenario from [Registry.FromDescriptor] the probes that EncodeProbes returned for it.
func (s *Scenario) DecodeProbes(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	root, err := document.ParseJSON("probes", text)
	if err != nil {
		return err
	}
	probes := []Probe(nil)
	d := decoder{s: s, descriptor: true}
	if err := d.decode(root, reflect.ValueOf(&probes).Elem()); err != nil {
		return err
	}
	if s.Probes = probes; len(probes) > maxProbes {
		return root.Errorf("%d probes; at most %d are allowed", len(probes), maxProbes)
	}
	return nil
}

func (p *Probe) check(d *decoder, n *document.Node) error {
	if f := d.s.field(string(p.Field)); f.def.Domain == fields.Entities {
		return n.At("field").Errorf("field %q belongs to entities; a probe is of a field of cells", p.Field)
	}
	return nil
}

// checkProbes checks what the probes must agree on.
func (s *Scenario) checkProbes(n *document.Node) error {
	if len(s.Probes) > maxProbes {
		return n.At("probes").Errorf("%d probes; at most %d are allowed", len(s.Probes), maxProbes)
	}
	var names []string
	for i := range s.Probes {
		if err := checkName(n.Get("probes").Kids[i].At("name"), "probe", s.Probes[i].Name, names); err != nil {
			return err
		}
		names = append(names, s.Probes[i].Name)
	}
	return nil
}
