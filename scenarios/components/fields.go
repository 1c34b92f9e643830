package components

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/scenarios"
)

type diffusion struct {
	Field     scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The field that spreads, of any number of components."`
	Rate      float64            `yaml:"rate,required" min:"0" doc:"The share of the difference that flows to each neighbour, per second; stable while rate × dt × neighbours is at most 1."`
	Decay     float64            `yaml:"decay" min:"0" doc:"Per second: after t seconds the factor exp(-decay × t) remains."`
	BlockedBy scenarios.FieldRef `yaml:"blocked_by" is:"a field of cells" doc:"Cells where this field, of one component, is not 0 are walls."`
	Hold      []scenarios.Patch  `yaml:"hold" doc:"Regions, and the value that each keeps, in units of the field."`
	Min       *float64           `yaml:"min" doc:"Lower limit of the result."`
	Max       *float64           `yaml:"max" doc:"Upper limit of the result."`
	Output    scenarios.FieldRef `yaml:"output" is:"a field of cells" doc:"Gets the result, in place of field."`
	Gradient  scenarios.FieldRef `yaml:"gradient" is:"a vector of 2" doc:"A vector of 2 that also gets the slope, in units of the field per cell."`
}

func (p *diffusion) Check(*scenarios.Builder) error {
	if p.BlockedBy == p.Field {
		return engine.ArgErrorf("blocked_by", "field and blocked_by are both %q", p.Field)
	}
	return nil
}

func (p *diffusion) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	d := propagators.Diffusion{
		Name: name, Field: b.Field(p.Field), Rate: p.Rate, Decay: p.Decay,
		BlockedBy: b.Optional(p.BlockedBy), Min: p.Min, Max: p.Max, Output: b.Optional(p.Output), Gradient: b.Optional(p.Gradient),
	}
	for i := range p.Hold {
		ranks, err := b.Cells(&p.Hold[i].Region)
		if err != nil {
			return nil, err
		}
		h := propagators.Hold{Value: p.Hold[i].Value[0]}
		for _, r := range ranks {
			h.Cells = append(h.Cells, int(r))
		}
		d.Hold = append(d.Hold, h)
	}
	return d, nil
}

// Notes implements [scenarios.Noter]. It knows a rate at which a field stands still: it changes no value of the field's range by half a
// unit in its last place.
func (p *diffusion) Notes(b *scenarios.Builder) []string {
	def := &b.Defs()[b.Field(p.Field)]
	k := float64(float32(p.Rate / b.TickRate()))
	if def.Bounds == nil || p.Rate == 0 || p.Decay > 0 {
		return nil
	}
	lo, hi := def.Bounds.Min, def.Bounds.Max
	least := max(lo, -hi, 0) // how far from 0 all values are
	next := math.Nextafter32(float32(least), math.MaxFloat32)
	most := k * float64(b.Lattice().MaxDegree()) * (hi - lo)
	if unit := float64(next - float32(least)); most >= unit/2 {
		return nil
	}
	return []string{fmt.Sprintf("diffusion: %s stands still: at %v ticks a second the rate %v changes a value by %.2g at most, and the next number above %v is %.2g away; raise the rate, lower tick_rate, or let the field hold differences from %v",
		p.Field, b.TickRate(), p.Rate, most, least, float64(next-float32(least)), least)}
}

// Memory implements [scenarios.MemoryUser].
func (p *diffusion) Memory(b *scenarios.Builder) (kept, making uint64) {
	const keptBytes, makingBytes = 3 * 8, 3 * 8 // of a cell
	for i := range p.Hold {
		cells := uint64(b.MaxCells(&p.Hold[i].Region))
		kept, making = kept+cells*keptBytes, max(making, cells*makingBytes)
	}
	return kept, making
}

type wave struct {
	Displacement scenarios.FieldRef `yaml:"displacement,required" is:"a field of cells" doc:"How far each cell is from rest; any number of components."`
	Velocity     scenarios.FieldRef `yaml:"velocity,required" is:"a field of cells" doc:"How fast it moves, in units of the displacement per second; as many components."`
	Speed        float64            `yaml:"speed,required" min:"0" doc:"Of the wave, per second; long waves run 0.707 of it in cells a second on a line or ring, 0.5 on square4 and hex, 0.612 on square8, 0.577 on fcc12 in units of its coordinates. Stable while speed² × dt² + damping × dt is at most 2."`
	Damping      float64            `yaml:"damping" min:"0" doc:"Per second: after t seconds the amplitude is about exp(-damping × t / 2)."`
}

// Notes implements [scenarios.Noter]: how fast long waves run, from the expansion of the mean over the neighbours for small wave numbers.
func (p *wave) Notes(b *scenarios.Builder) []string {
	ways := b.Lattice().Directions()
	var speeds []string // of the parts of a product; each is the same in all directions
	nearest := math.Inf(1)
	for part := range ways[len(ways)-1].Part + 1 {
		sum := 0.0
		for i := range ways {
			if w := &ways[i]; w.Part == part {
				sum += float64(w.Way[0] * w.Way[0])
				length := 0.0
				for _, x := range w.Way {
					length += float64(x * x)
				}
				nearest = min(nearest, math.Sqrt(length))
			}
		}
		speeds = append(speeds, fmt.Sprintf("%.3g", p.Speed*math.Sqrt(sum/float64(2*len(ways)))))
	}
	where := "in every direction"
	if len(slices.Compact(slices.Clone(speeds))) > 1 {
		where = "along the parts of the space"
	} else {
		speeds = speeds[:1]
	}
	if len(speeds) == 1 && nearest > 1.001 { // as on fcc12
		where += fmt.Sprintf(" in units of the coordinates, in which neighbours lie %.3g apart", nearest)
	}
	return []string{fmt.Sprintf("wave: long waves of %s run %s cells a second %s, short ones slower", p.Displacement, strings.Join(speeds, ", "), where)}
}

func (p *wave) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Wave{
		Name: name, Displacement: b.Field(p.Displacement), Velocity: b.Field(p.Velocity), Speed: p.Speed, Damping: p.Damping,
	}, nil
}

type gradient struct {
	Field  scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The field whose slope is computed; one component."`
	Output scenarios.FieldRef `yaml:"output,required" is:"a vector of 2" doc:"A vector of 2 that gets the slope along the second coordinate, then along the first, in units of the field per cell; on squares eastward and southward."`
}

func (p *gradient) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Gradient{Name: name, Field: b.Field(p.Field), Output: b.Field(p.Output)}, nil
}

type flow struct {
	Field     scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The field that falls; one component."`
	Output    scenarios.FieldRef `yaml:"output,required" is:"a vector of 2" doc:"A vector of 2 that gets the direction, with components as in gradient, in units of the field per cell; normalised, without unit."`
	Normalise bool               `yaml:"normalise" doc:"Give every vector the length 1."`
}

func (p *flow) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Flow{Name: name, Field: b.Field(p.Field), Output: b.Field(p.Output), Normalise: p.Normalise}, nil
}

type resource struct {
	Field       scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"The resource; one component."`
	Presence    scenarios.FieldRef `yaml:"presence" is:"a field of cells" doc:"The resource is eaten where this field, of one component, is not 0; if left out, nothing is eaten."`
	Consumption float64            `yaml:"consumption" min:"0" doc:"How much is eaten in occupied cells, in units of the field per second."`
	Regrowth    float64            `yaml:"regrowth" min:"0" doc:"How fast it grows, in units of the field per second; logistic: a share per second."`
	Logistic    bool               `yaml:"logistic" doc:"Growth is proportional to the amount and to the remaining room."`
	Capacity    float64            `yaml:"capacity,required" above:"0" doc:"The most a cell holds, in units of the field; above 0."`
}

func (p *resource) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Resource{
		Name: name, Field: b.Field(p.Field), Presence: b.Optional(p.Presence), Consumption: p.Consumption,
		Regrowth: p.Regrowth, Logistic: p.Logistic, Capacity: p.Capacity,
	}, nil
}

type decay struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The field that decays; any number of components."`
	Rate  float64            `yaml:"rate,required" doc:"Per second; the half-life is 0.693 / rate seconds. Below 0 the field grows."`
}

func (p *decay) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return propagators.Decay{Name: name, Field: b.Field(p.Field), Rate: p.Rate}, nil
}

type noise struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a field of cells" doc:"The field that gets the noise; any number of components."`
	Kind  string             `yaml:"kind" enum:"uniform,gaussian,salt_pepper" default:"uniform" doc:"How the numbers are spread: uniform, gaussian or salt_pepper."`
	Scale float64            `yaml:"scale,required" min:"0" doc:"In units of the field: the maximum (uniform) or the standard deviation (gaussian). salt_pepper: the share of elements hit."`
	Seed  uint64             `yaml:"seed_offset" doc:"With the rules murk-0.1.9: seed of the numbers, which do not depend on the scenario's."`
}

func (p *noise) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	k, err := propagators.ParseNoiseKind(p.Kind)
	return propagators.Noise{Name: name, Field: b.Field(p.Field), Kind: k, Scale: p.Scale, SeedOffset: p.Seed}, err
}
