package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
	"github.com/murksim/murksim/view"
)

// An about is the description of a recording, or of a scenario.
type about struct {
	File        string                `json:"file,omitempty"`
	Scenario    string                `json:"scenario"`
	About       string                `json:"about"`
	Seed        uint64                `json:"seed"`
	TickRate    float64               `json:"tick_rate"`
	First       uint64                `json:"first"`
	Last        uint64                `json:"last"`
	Planned     uint64                `json:"planned"`
	Problem     string                `json:"problem"`
	FinalHash   string                `json:"final_hash,omitempty"` // recorded for the last tick
	Digest      string                `json:"digest,omitempty"`     // see [view.Recording.Digest]
	Build       string                `json:"build"`
	Space       spaceAbout            `json:"space"`
	Fields      []fieldAbout          `json:"fields"`
	Capacity    int                   `json:"capacity"`
	Kinds       []string              `json:"kinds"`
	Parameters  []view.ParameterAbout `json:"parameters"`
	Propagators []string              `json:"propagators"`
	Systems     []string              `json:"systems"`
	Environment bool                  `json:"environment"` // whether agents can learn in it
}

type spaceAbout struct {
	Kind  string   `json:"kind"`
	Text  string   `json:"text"`
	Cells int      `json:"cells"`
	Axes  []string `json:"axes"`  // names of the components of a coordinate
	Shape []int    `json:"shape"` // of an array that has a number for each cell, in canonical order
}

type fieldAbout struct {
	Name       string   `json:"name"`
	DType      string   `json:"dtype"` // as NumPy has it
	Shape      []int    `json:"shape"`
	Bytes      int      `json:"bytes"`
	Components int      `json:"components"`
	Values     []string `json:"values,omitempty"`
	Domain     string   `json:"domain"`
	Static     bool     `json:"static"`
	Unit       string   `json:"unit"`
	Min        *float64 `json:"min,omitempty"`
	Max        *float64 `json:"max,omitempty"`
	Engine     bool     `json:"engine"`
}

func aboutRecording(r *view.Recording, w *engine.World) (*about, error) {
	a, err := aboutWorld(r.Scenario(), defsOf(w))
	if err != nil {
		return nil, err
	}
	v := r.About()
	a.File, a.First, a.Last, a.Problem, a.Build = v.File, v.First, v.Last, v.Problem, v.Build
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	hash, err := r.LastHash()
	if err != nil {
		return nil, err
	}
	if a.Digest = hex.EncodeToString(digest[:]); a.Last > a.First {
		a.FinalHash = fmt.Sprintf("%016x", hash)
	}
	return a, nil
}

// aboutWorld describes the worlds of a scenario that have some fields.
func aboutWorld(s *scenarios.Scenario, defs []fields.Def) (*about, error) {
	shape, err := shapeOf(s.Lattice())
	if err != nil {
		return nil, err
	}
	a := &about{Scenario: s.Name, Kinds: []string{}, Parameters: []view.ParameterAbout{}, Propagators: []string{}, Systems: []string{}, About: s.About, Seed: s.Seed, TickRate: s.TickRate, Planned: s.Ticks, Environment: s.Environment != nil}
	v := view.SpaceOf(s.Lattice())
	a.Space = spaceAbout{Kind: v.Kind, Text: v.Text, Cells: v.Cells, Shape: shape}
	for _, x := range v.Axes {
		a.Space.Axes = append(a.Space.Axes, x.Name)
	}
	if s.Entities != nil {
		a.Capacity, a.Kinds = s.Entities.Capacity, append(a.Kinds, s.Entities.Kinds...)
	}
	for i := range defs {
		f := aboutField(&defs[i], shape, a.Capacity)
		if f.Engine = i >= len(s.Fields); !f.Engine {
			f.Values = s.Fields[i].Values
		}
		a.Fields = append(a.Fields, f)
	}
	for _, p := range s.Parameters {
		a.Parameters = append(a.Parameters, view.ParameterAbout{Name: p.Name, Key: p.Key, Value: p.Value})
	}
	for _, p := range s.Propagators {
		a.Propagators = append(a.Propagators, p.Name)
	}
	for _, p := range s.Systems {
		a.Systems = append(a.Systems, p.Name)
	}
	return a, nil
}

func aboutField(d *fields.Def, shape []int, capacity int) fieldAbout {
	f := fieldAbout{Name: d.Name, Components: d.Type.Components(), Domain: d.Domain.String(), Static: d.Mutability == fields.Static, Unit: d.Unit}
	switch d.Element {
	case fields.Float32:
		f.DType = "float32"
	case fields.Fixed:
		f.DType = "float64"
	default:
		f.DType = d.Element.String()
	}
	if f.Shape = append(f.Shape, shape...); d.Domain == fields.Entities {
		f.Shape = []int{capacity}
	}
	if f.Components > 1 {
		f.Shape = append(f.Shape, f.Components)
	}
	f.Bytes = d.Element.Size()
	for _, n := range f.Shape {
		f.Bytes *= n
	}
	if d.Bounds != nil {
		f.Min, f.Max = &d.Bounds.Min, &d.Bounds.Max
	}
	return f
}

// shapeOf returns the shape of an array of cells in canonical order.
func shapeOf(l *space.Lattice) ([]int, error) {
	plan, err := l.Compile(space.All{})
	if err != nil {
		return nil, err
	}
	return plan.BoundingShape, nil
}

func (a *about) text() (text, error) { return json.Marshal(a) }
