package foreign

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// initThen writes values at tick 1 and is another propagator from tick 2 on.
type initThen struct {
	kind
	Init  []initial `json:"init"`
	Inner inner     `json:"inner"`
}

// inner is any other propagator.
type inner struct{ Propagator }

// UnmarshalJSON implements [json.Unmarshaler]. It refuses another initThen before it
// looks inside.
func (p *inner) UnmarshalJSON(b []byte) error {
	var head kind
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	if head.Type == "init_then" {
		return errors.New("init_then in init_then")
	}
	return p.Propagator.UnmarshalJSON(b)
}

type initial struct {
	Field  fields.ID `json:"field"`
	Values hexFloats `json:"f32_le_hex"` // may be fewer than the field has elements
}

// hexFloats are numbers of 32 bits, little-endian, in hex.
type hexFloats []float32

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *hexFloats) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil {
		return err
	}
	if len(b)%4 != 0 {
		return fmt.Errorf("%d bytes are not a whole number of float32", len(b))
	}
	for ; len(b) > 0; b = b[4:] {
		*v = append(*v, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return nil
}

func (p *initThen) build(b *builder) (engine.Propagator, error) {
	if p.Inner.params == nil {
		return nil, errors.New("inner is missing")
	}
	made, err := p.Inner.params.build(b)
	if err != nil {
		return nil, fmt.Errorf("inner: %w", err)
	}
	return initialised{made, p.Init}, nil
}

type initialised struct {
	engine.Propagator
	init []initial
}

// Check implements [engine.Checker].
func (p initialised) Check(l *space.Lattice, defs []fields.Def) error {
	written := slices.Concat(p.Spec(l).Full, p.Spec(l).Incremental)
	for i := range p.init {
		f := &p.init[i]
		if !slices.Contains(written, f.Field) {
			return fmt.Errorf("init[%d]: its inner does not write field %d", i, f.Field)
		}
		if n := l.Cells() * defs[f.Field].Type.Components(); len(f.Values) > n {
			return fmt.Errorf("init[%d]: %d values for %d elements", i, len(f.Values), n)
		}
	}
	if c, ok := p.Propagator.(engine.Checker); ok {
		return c.Check(l, defs)
	}
	return nil
}

// Step implements [engine.Propagator].
func (p initialised) Step(c *engine.Context) error {
	if c.Tick() != 1 {
		return p.Propagator.Step(c)
	}
	lo, hi := c.Range()
	for i := range p.init {
		f := &p.init[i]
		n := c.Components(f.Field)
		from, to := min(lo*n, len(f.Values)), min(hi*n, len(f.Values))
		copy(c.Next(f.Field)[from:], f.Values[from:to])
	}
	return nil
}

// constant fills a field.
type constant struct {
	kind
	name   string
	Output fields.ID `json:"output"`
	Value  float64   `json:"value"`
}

func (p *constant) build(b *builder) (engine.Propagator, error) {
	p.name = b.name
	return p, nil
}

// Spec implements [engine.Propagator].
func (p *constant) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: p.name, Full: engine.Fields(p.Output)}
}

// Step implements [engine.Propagator].
func (p *constant) Step(c *engine.Context) error {
	out := c.Next(p.Output)
	for i := range out {
		out[i] = float32(p.Value)
	}
	return nil
}

// overlayIdentity copies a field as it stands in the tick under way.
type overlayIdentity struct {
	kind
	Input  fields.ID `json:"input"`
	Output fields.ID `json:"output"`
}

func (p *overlayIdentity) build(b *builder) (engine.Propagator, error) {
	return propagators.Copy{Name: b.name, Field: p.Input, Output: p.Output, Now: true}, nil
}

// incrementalAdd adds to one element a tick.
type incrementalAdd struct {
	kind
	name  string
	Field fields.ID `json:"field"`
	Add   float64   `json:"add"`
}

func (p *incrementalAdd) build(b *builder) (engine.Propagator, error) {
	p.name = b.name
	return p, nil
}

// Spec implements [engine.Propagator].
func (p *incrementalAdd) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: p.name, Incremental: engine.Fields(p.Field)}
}

// Step implements [engine.Propagator].
func (p *incrementalAdd) Step(c *engine.Context) error {
	out := c.Next(p.Field)
	out[c.Tick()%uint64(len(out))] += float32(p.Add)
	return nil
}

// partialFull declares a field as a Full output and writes one element of it a tick.
type partialFull struct {
	kind
	name  string
	Field fields.ID `json:"field"`
}

func (p *partialFull) build(b *builder) (engine.Propagator, error) {
	p.name = b.name
	return p, nil
}

// Spec implements [engine.Propagator].
func (p *partialFull) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: p.name, Full: engine.Fields(p.Field)}
}

// Step implements [engine.Propagator].
func (p *partialFull) Step(c *engine.Context) error {
	out := c.Next(p.Field)
	out[c.Tick()%uint64(len(out))] = float32(c.Tick())
	return nil
}

// failOnCalls fills a field with the number of its own calls before, and fails at
// some. The number survives failed ticks and resets.
type failOnCalls struct {
	kind
	Out   fields.ID `json:"output"`
	Calls []uint64  `json:"fail_calls"`
}

func (p *failOnCalls) build(b *builder) (engine.Propagator, error) {
	return &failing{failOnCalls: *p, name: b.name}, nil
}

type failing struct {
	failOnCalls
	name  string
	calls uint64
}

// Spec implements [engine.Propagator].
func (p *failing) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: p.name, Full: engine.Fields(p.Out)}
}

// Step implements [engine.Propagator].
func (p *failing) Step(c *engine.Context) error {
	call := p.calls
	p.calls++
	if slices.Contains(p.Calls, call) {
		return fmt.Errorf("planned failure at call %d", call)
	}
	out := c.Next(p.Out)
	for i := range out {
		out[i] = float32(call)
	}
	return nil
}
