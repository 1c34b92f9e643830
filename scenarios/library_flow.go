package scenarios

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
)

// flowKinds are equations of motion and reaction.
var flowKinds = []kind{
	{"gray_scott", 1, "Lets two substances spread and react: spots, stripes and waves.", "diff_u", func() params { return new(grayScott) }},
}

type grayScott struct {
	U     FieldRef `yaml:"u,required" is:"a scalar field" doc:"How much there is of the substance that is fed; 1 is full."`
	V     FieldRef `yaml:"v,required" is:"a scalar field" doc:"How much there is of the one that eats it and decays."`
	DiffU float64  `yaml:"diff_u" min:"0" doc:"How fast u spreads, per second and neighbour."`
	DiffV float64  `yaml:"diff_v" min:"0" doc:"How fast v spreads, per second and neighbour."`
	Feed  float64  `yaml:"feed,required" min:"0" doc:"The share of u that is replaced a second."`
	Kill  float64  `yaml:"kill,required" min:"0" doc:"The share of v that decays a second, beside feed."`
}

func (p *grayScott) check(_ *decoder, n *node) error {
	if p.U == p.V {
		return n.get("v").errorf("u and v are both %q", p.U)
	}
	return nil
}

func (p *grayScott) propagator(b *builder, name string) (engine.Propagator, error) {
	return propagators.GrayScott{
		Name: name, U: b.field(p.U), V: b.field(p.V), DiffU: p.DiffU, DiffV: p.DiffV, Feed: p.Feed, Kill: p.Kill,
	}, nil
}
