package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
)

// A Propagator is a propagator with its parameters, of which each type has its own.
type Propagator struct {
	Type   string
	params params
}

// Propagators run in this order.
type Propagators []Propagator

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Propagators) UnmarshalJSON(b []byte) error {
	list, err := elements(b, func(i int, element []byte) error {
		if i == maxPropagators {
			return &valueError{bytes.Clone(b), fmt.Errorf("propagators[%d]: at most %d propagators are allowed", i, maxPropagators)}
		}
		*p = append(*p, Propagator{})
		if err := json.Unmarshal(element, &(*p)[i]); err != nil {
			return &elementError{fmt.Sprintf("propagators[%d]", i), err}
		}
		return nil
	})
	if err == nil && !list && string(b) != "null" {
		err = &elementError{"propagators", errors.New("a list is needed")}
	}
	return err
}

// An elementError is about a part of the document, whose place in it is not known.
type elementError struct {
	path string
	err  error
}

func (e *elementError) Error() string { return e.path + ": " + e.err.Error() }
func (e *elementError) Unwrap() error { return e.err }

// A builder makes propagators from their parameters.
type builder struct {
	cells   int
	name    string // of the next instance
	actions *actionQueue
}

// params are the parameters of one type of propagators.
type params interface {
	build(b *builder) (engine.Propagator, error)
}

// typeNames are the propagators of the original's library, then those that only its
// tests have.
var typeNames = []string{
	"scalar_diffusion",
	"wave_propagation",
	"gradient_compute",
	"flow_field",
	"resource_field",
	"agent_emission",
	"morphological_op",
	"noise_injection",
	"identity_copy",
	"agent_movement",
	"reward",
	"init_then",
	"const",
	"overlay_identity",
	"incremental_add",
	"partial_full",
	"fail_on_calls",
	"legacy_diffusion",
}

// paramsOf returns empty parameters of a type, or nil if the type does not exist.
func paramsOf(name string) params {
	switch name {
	case "scalar_diffusion":
		return new(scalarDiffusion)
	case "wave_propagation":
		return new(wavePropagation)
	case "gradient_compute":
		return new(gradientCompute)
	case "flow_field":
		return new(flowField)
	case "resource_field":
		return new(resourceField)
	case "agent_emission":
		return new(agentEmission)
	case "morphological_op":
		return new(morphologicalOp)
	case "noise_injection":
		return new(noiseInjection)
	case "identity_copy":
		return new(identityCopy)
	case "agent_movement":
		return new(agentMovement)
	case "reward":
		return new(reward)
	case "init_then":
		return new(initThen)
	case "const":
		return new(constant)
	case "overlay_identity":
		return new(overlayIdentity)
	case "incremental_add":
		return new(incrementalAdd)
	case "partial_full":
		return new(partialFull)
	case "fail_on_calls":
		return new(failOnCalls)
	case "legacy_diffusion":
		return new(legacyDiffusion)
	}
	return nil
}

// UnmarshalJSON implements [json.Unmarshaler]. Keys that the type does not have are
// refused.
func (p *Propagator) UnmarshalJSON(b []byte) error {
	var head kind
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	switch p.Type, p.params = head.Type, paramsOf(head.Type); {
	case head.Type == "":
		return errors.New("its type is missing")
	case p.params == nil:
		return fmt.Errorf("there is no propagator %q", head.Type)
	}
	_, err := scan(b, p.params)
	if err == nil {
		err = json.Unmarshal(b, p.params)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", head.Type, err)
	}
	return nil
}

// A kind is the key that all parameters have.
type kind struct {
	Type string `json:"type"`
}

type scalarDiffusion struct {
	kind
	Input       fields.ID  `json:"input_field"`
	Output      fields.ID  `json:"output_field"`
	Gradient    *fields.ID `json:"gradient_field"`
	Coefficient float64    `json:"coefficient"`
	Decay       float64    `json:"decay"`
	Sources     []source   `json:"sources"`
	Min         *float64   `json:"clamp_min"`
	Max         *float64   `json:"clamp_max"`
	MaxDegree   remark     `json:"max_degree"` // the original's stability check asks for it
}

type source struct{ cell, value float64 }

// UnmarshalJSON implements [json.Unmarshaler]: [cell, value].
func (s *source) UnmarshalJSON(b []byte) error { return pair(b, &s.cell, &s.value) }

func (p *scalarDiffusion) build(b *builder) (engine.Propagator, error) {
	d := propagators.Diffusion{
		Name: b.name, Field: p.Input, Output: &p.Output, Gradient: p.Gradient,
		Rate: p.Coefficient, Decay: p.Decay, Min: p.Min, Max: p.Max,
	}
	for i, s := range p.Sources {
		if s.cell != math.Floor(s.cell) || s.cell < 0 {
			return nil, fmt.Errorf("sources[%d]: there is no cell %v", i, s.cell)
		}
		if s.cell < float64(b.cells) { // others are ignored
			d.Hold = append(d.Hold, propagators.Hold{Cells: []int{int(s.cell)}, Value: s.value})
		}
	}
	return d, nil
}

type wavePropagation struct {
	kind
	Displacement fields.ID `json:"displacement_field"`
	Velocity     fields.ID `json:"velocity_field"`
	Speed        float64   `json:"wave_speed"`
	Damping      float64   `json:"damping"`
}

func (p *wavePropagation) build(b *builder) (engine.Propagator, error) {
	return propagators.Wave{
		Name: b.name, Displacement: p.Displacement, Velocity: p.Velocity, Speed: p.Speed, Damping: p.Damping,
	}, nil
}

type gradientCompute struct {
	kind
	Input  fields.ID `json:"input_field"`
	Output fields.ID `json:"output_field"`
}

func (p *gradientCompute) build(b *builder) (engine.Propagator, error) {
	return propagators.Gradient{Name: b.name, Field: p.Input, Output: p.Output}, nil
}

type flowField struct {
	kind
	Potential fields.ID `json:"potential_field"`
	Flow      fields.ID `json:"flow_field"`
	Normalize bool      `json:"normalize"`
}

func (p *flowField) build(b *builder) (engine.Propagator, error) {
	return propagators.Flow{Name: b.name, Field: p.Potential, Output: p.Flow, Normalise: p.Normalize}, nil
}

type resourceField struct {
	kind
	Field       fields.ID `json:"field"`
	Presence    fields.ID `json:"presence_field"`
	Consumption float64   `json:"consumption_rate"`
	Regrowth    float64   `json:"regrowth_rate"`
	Capacity    float64   `json:"capacity"`
	Model       string    `json:"regrowth_model"` // linear or logistic
}

func (p *resourceField) build(b *builder) (engine.Propagator, error) {
	if p.Model != "linear" && p.Model != "logistic" {
		return nil, fmt.Errorf("there is no regrowth model %q; use linear or logistic", p.Model)
	}
	return propagators.Resource{
		Name: b.name, Field: p.Field, Presence: &p.Presence, Consumption: p.Consumption,
		Regrowth: p.Regrowth, Logistic: p.Model == "logistic", Capacity: p.Capacity,
	}, nil
}

type agentEmission struct {
	kind
	Presence  fields.ID `json:"presence_field"`
	Emission  fields.ID `json:"emission_field"`
	Intensity float64   `json:"intensity"`
	Mode      string    `json:"mode"` // additive or set
}

func (p *agentEmission) build(b *builder) (engine.Propagator, error) {
	if p.Mode != "additive" && p.Mode != "set" {
		return nil, fmt.Errorf("there is no mode %q; use additive or set", p.Mode)
	}
	return propagators.Emission{
		Name: b.name, Presence: p.Presence, Field: p.Emission, Intensity: p.Intensity, Set: p.Mode == "set",
	}, nil
}

type morphologicalOp struct {
	kind
	Input     fields.ID `json:"input_field"`
	Output    fields.ID `json:"output_field"`
	Op        string    `json:"op"` // dilate or erode
	Radius    int       `json:"radius"`
	Threshold float64   `json:"threshold"`
}

func (p *morphologicalOp) build(b *builder) (engine.Propagator, error) {
	op, err := propagators.ParseMorphologyOp(p.Op)
	return propagators.Morphology{
		Name: b.name, Field: p.Input, Output: p.Output, Op: op, Radius: p.Radius, Threshold: p.Threshold,
	}, err
}

type noiseInjection struct {
	kind
	Field      fields.ID `json:"field"`
	Noise      string    `json:"noise_type"` // uniform, gaussian or salt_pepper
	Scale      float64   `json:"scale"`
	SeedOffset Number    `json:"seed_offset"`
}

func (p *noiseInjection) build(b *builder) (engine.Propagator, error) {
	k, err := propagators.ParseNoiseKind(p.Noise)
	return propagators.Noise{Name: b.name, Field: p.Field, Kind: k, Scale: p.Scale, SeedOffset: uint64(p.SeedOffset)}, err
}

type identityCopy struct {
	kind
	Field fields.ID `json:"field"`
}

func (p *identityCopy) build(b *builder) (engine.Propagator, error) {
	return propagators.Copy{Name: b.name, Field: p.Field, Output: p.Field}, nil
}

type agentMovement struct {
	kind
	Positions []position `json:"initial_positions"`
}

type position struct {
	agent uint16
	cell  int
}

// UnmarshalJSON implements [json.Unmarshaler]: [agent, cell].
func (p *position) UnmarshalJSON(b []byte) error { return pair(b, &p.agent, &p.cell) }

// The fields that movement and reward always work on.
const (
	heatField fields.ID = iota
	velocityField
	presenceField
	slopeField
	rewardField = 4
)

func (p *agentMovement) build(b *builder) (engine.Propagator, error) {
	return &movement{name: b.name, initial: p.Positions, actions: b.actions}, nil
}

type reward struct {
	kind
	HeatBonus float64 `json:"heat_bonus"`
	StepCost  float64 `json:"step_cost"`
}

func (p *reward) build(b *builder) (engine.Propagator, error) {
	return propagators.Reward{
		Name: b.name, Heat: heatField, Presence: presenceField, Field: rewardField, HeatBonus: p.HeatBonus, StepCost: p.StepCost,
	}, nil
}

// sized checks the numbers of components of the first fields; 0: any.
func sized(defs []fields.Def, components []int) error {
	for id, n := range components {
		if n == 0 {
			continue
		}
		if id >= len(defs) {
			return fmt.Errorf("field %d is not defined; the world has %d", id, len(defs))
		}
		if got := defs[id].Type.Components(); got != n {
			return fmt.Errorf("field %q has %d components; %d are needed", defs[id].Name, got, n)
		}
	}
	return nil
}
