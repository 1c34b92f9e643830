package scenarios

import "github.com/murksim/murksim/scenarios/document"

// check is for structs that embed a region and have no check of their own.
func (r *Region) check(d *decoder, n *document.Node) error {
	if err := r.checkRegion(n); err != nil {
		return err
	}
	if r.take() != nil {
		return n.Errorf("the value stands beside the region, not in it")
	}
	return d.spend(n, "region", r.steps(d.s.lattice))
}

// A Patch is a region and the value of its cells.
type Patch struct {
	Region
	Value Value `yaml:"value" doc:"The value there."`
}

func (p *Patch) check(d *decoder, n *document.Node) error {
	if v := p.take(); v != nil {
		p.Value = v
	}
	switch {
	case len(p.Value) != 1:
		return n.Errorf("one value is needed here")
	case p.all():
		return n.Errorf("one of rect, disk and cells is needed here")
	}
	if err := p.checkRegion(n); err != nil {
		return err
	}
	return d.spend(n, "region", p.steps(d.s.lattice))
}
