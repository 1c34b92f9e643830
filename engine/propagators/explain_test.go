package propagators_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// An asked propagator is asked, before each of its steps, how it comes to every element.
type asked struct {
	engine.Explainer
	mu    sync.Mutex
	terms map[fields.ID]map[int][]engine.Term
}

// Step implements [engine.Propagator].
func (a *asked) Step(c *engine.Context) error {
	s := a.Spec(c.Lattice())
	lo, hi := c.Range()
	for _, id := range append(append([]fields.ID{}, s.Full...), s.Incremental...) {
		n := c.Components(id)
		for e := lo * n; e < hi*n; e++ {
			terms := a.Explain(c, id, e)
			a.mu.Lock()
			if a.terms[id] == nil {
				a.terms[id] = map[int][]engine.Term{}
			}
			a.terms[id][e] = terms
			a.mu.Unlock()
		}
	}
	return a.Explainer.Step(c)
}

// holds compares what the terms of each element come to with what the step made of it.
func (a *asked) holds(t *testing.T, w *engine.World) bool {
	t.Helper()
	s := w.Snapshot()
	defer s.Release()
	for id, elements := range a.terms {
		values := s.AppendFloat32(nil, id)
		if len(elements) != len(values) {
			t.Errorf("%d of %d elements of field %d were explained", len(elements), len(values), id)
			return false
		}
		for e, want := range values {
			v := float32(0)
			for i := range elements[e] {
				v = elements[e][i].After(v)
			}
			if math.Float32bits(v) != math.Float32bits(want) {
				t.Errorf("tick %d: element %d of field %d is %v (%08x); its terms come to %v (%08x): %+v",
					w.Tick(), e, id, want, math.Float32bits(want), v, math.Float32bits(v), elements[e])
				return false
			}
			for _, x := range elements[e] {
				if x.What == "" || x.Value == "" {
					t.Errorf("element %d of field %d: a term says nothing: %+v", e, id, elements[e])
					return false
				}
			}
		}
	}
	return len(a.terms) > 0
}

// The fields of the worlds in which propagators are asked.
const (
	anyA fields.ID = iota
	anyB
	smallState
	pairOut
	triple
	fluxes
	current
	blocking
	actionsAt
	agentsAt
	positive
	thirdOut
)

// askedWorld has fields for every propagator of the library.
func askedWorld(r *rand.Rand, l *space.Lattice, s space.Space, workers int, p engine.Propagator) engine.Config {
	cells, pairs := l.Cells(), 0
	for _, d := range l.Directions() {
		if d.Face != 0 {
			pairs++
		}
	}
	vector := func(name string, n int, v []float64) fields.Def {
		d := fields.Def{Name: name, Initial: fields.Values(v)}
		if n != 1 {
			d.Type = fields.Vector(n)
		}
		return d
	}
	scaled := func(n int, by float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(float32(by * r.Float64()))
			if by < 0 {
				v[i] -= float64(float32(by / 2))
			}
		}
		return v
	}
	agents := smallValues(r, cells, 6)
	for i, v := range agents {
		agents[i] = max(v-3, 0)
	}
	return engine.Config{
		Space: s, Seed: r.Uint64(), Workers: workers, Paranoid: true,
		Fields: []fields.Def{
			vector("a", 1, wildValues(r, cells)), vector("b", 1, wildValues(r, cells)),
			{Name: "c", Type: fields.Categorical(5), Initial: fields.Values(smallValues(r, cells, 4))},
			vector("d", 2, make([]float64, 2*cells)), vector("e", 3, wildValues(r, 3*cells)),
			vector("f", pairs/2, scaled(cells*pairs/2, -1)), vector("g", l.Dim(), scaled(cells*l.Dim(), -0.5)),
			vector("h", 1, smallValues(r, cells, 2)), vector("i", 1, smallValues(r, cells, len(l.Directions())+2)),
			vector("j", 1, agents), vector("k", 1, scaled(cells, 1)), vector("l", 3, make([]float64, 3*cells)),
		},
		Propagators: []engine.Propagator{p},
	}
}

// askedPropagators are all of the library, with settings of every sort.
func askedPropagators(r *rand.Rand, l *space.Lattice) map[string]engine.Explainer {
	rate := min(1, 19/float64(max(1, l.MaxDegree()))) * r.Float64()
	hold := []propagators.Hold{{Cells: []int{0, l.Cells() - 1}, Value: 2}, {Cells: []int{0}, Value: -1}}
	mask := uint64(1)<<(l.MaxDegree()+1) - 1
	all := map[string]engine.Explainer{
		"diffusion":                propagators.Diffusion{Rate: rate},
		"diffusion that decays":    propagators.Diffusion{Rate: rate, Decay: 0.5, Hold: hold, Gradient: new(pairOut)},
		"diffusion among walls":    propagators.Diffusion{Rate: rate, Decay: r.Float64(), BlockedBy: new(blocking), Hold: hold},
		"diffusion within limits":  propagators.Diffusion{Rate: rate, Output: new(anyB), Min: new(-0.5), Max: new(1.5), BlockedBy: new(blocking)},
		"diffusion of vectors":     propagators.Diffusion{Field: triple, Rate: rate, Decay: 1, Output: new(thirdOut)},
		"diffusion to the limit":   propagators.Diffusion{Rate: 20 / float64(max(1, l.MaxDegree()))},
		"wave":                     propagators.Wave{Displacement: anyA, Velocity: anyB, Speed: r.Float64(), Damping: r.Float64()},
		"wave of vectors":          propagators.Wave{Displacement: triple, Velocity: thirdOut, Speed: 1},
		"gradient":                 propagators.Gradient{Output: pairOut},
		"flow":                     propagators.Flow{Output: pairOut},
		"flow, normalised":         propagators.Flow{Output: pairOut, Normalise: true},
		"resource":                 propagators.Resource{Field: positive, Presence: new(blocking), Consumption: 9, Regrowth: 2, Capacity: 0.9},
		"resource, logistic":       propagators.Resource{Presence: new(blocking), Consumption: 0.5, Regrowth: 0.75, Logistic: true, Capacity: 2},
		"resource, nobody":         propagators.Resource{Regrowth: 3, Logistic: true, Capacity: 1},
		"decay":                    propagators.Decay{Field: triple, Rate: 0.3},
		"noise, uniform":           propagators.Noise{Scale: 0.1},
		"noise of vectors":         propagators.Noise{Field: triple, Scale: 0.1},
		"noise, gaussian":          propagators.Noise{Kind: propagators.Gaussian, Scale: 0.1},
		"noise, gaussian, vectors": propagators.Noise{Field: triple, Kind: propagators.Gaussian, Scale: 0.1},
		"noise, salt and pepper":   propagators.Noise{Field: triple, Kind: propagators.SaltPepper, Scale: 0.4},
		"movement":                 propagators.Movement{Agents: agentsAt, Actions: actionsAt, BlockedBy: new(blocking)},
		"movement that keeps":      propagators.Movement{Agents: agentsAt, Actions: actionsAt, Keep: true},
		"emission":                 propagators.Emission{Presence: agentsAt, Field: anyA, Intensity: 0.1},
		"emission that sets":       propagators.Emission{Presence: agentsAt, Field: anyA, Intensity: -2, Set: true},
		"reward":                   propagators.Reward{Heat: anyA, Presence: agentsAt, Field: anyB, HeatBonus: 0.3, StepCost: -0.01},
		"dilate":                   propagators.Morphology{Field: anyA, Output: anyB, Radius: 1 + r.IntN(4), Threshold: 2},
		"erode":                    propagators.Morphology{Field: anyA, Output: blocking, Op: propagators.Erode, Radius: r.IntN(3), Threshold: -1},
		"copy":                     propagators.Copy{Field: triple, Output: thirdOut},
		"copy, now":                propagators.Copy{Field: anyA, Output: anyB, Now: true},
		"gray scott":               propagators.GrayScott{U: positive, V: blocking, DiffU: rate / 4, DiffV: rate / 8, Feed: 0.3, Kill: 0.6},
		"advection":                propagators.Advection{Field: triple, Velocity: current},
		"shallow water":            propagators.ShallowWater{Depth: positive, Flux: fluxes, Bed: new(blocking), Gravity: 1, Drag: 0.5, Viscosity: 0.1, MaxDepth: 9},
		"shallow water, flat":      propagators.ShallowWater{Depth: positive, Flux: fluxes, Gravity: 2, MaxDepth: 9},
		"automaton":                propagators.Automaton{Field: smallState, Rule: propagators.Rule{Born: r.Uint64() & mask, Survive: r.Uint64() & mask, States: r.IntN(6)}},
		"automaton of numbers":     propagators.Automaton{Field: anyA, Rule: propagators.Rule{Born: r.Uint64() & mask, Survive: 1, States: 9}},
		"majority":                 propagators.Majority{Field: smallState, States: 4, Noise: 0.3},
		"majority of two":          propagators.Majority{Field: blocking, Self: true, Ties: propagators.TakeLowest, Noise: 0.3},
		"majority, still":          propagators.Majority{Field: smallState, States: 5, Self: true},
		"percolation":              propagators.Percolation{Field: smallState, Open: 0.5},
		"percolation, by cell":     propagators.Percolation{Field: blocking, OpenIn: new(positive)},
		"distance":                 propagators.Distance{Source: agentsAt, Blocks: new(blocking), Distance: anyA, Far: 99},
		"distance, limited":        propagators.Distance{Source: blocking, Distance: anyA, Limit: 1},
		"sight":                    propagators.Sight{Viewer: agentsAt, Blocks: new(blocking), Visible: anyA, Radius: 1 + r.IntN(6)},
	}
	table, err := propagators.NewTable(l, 5, []propagators.Transition{
		{From: 0, When: []propagators.Condition{{State: 1, Counts: propagators.Between(1, 2)}}, Become: 1},
		{From: propagators.Any, When: []propagators.Condition{{State: 2, Counts: propagators.Between(2, 9)}}, Become: 3}, {From: 1, Become: 2}, {From: 3, Become: 0},
	})
	if err == nil {
		all["automaton with a table"] = propagators.Automaton{Field: smallState, Table: table}
	}
	for _, rule := range []string{"R2,C0,M1,S3..6,B4..7,NM", "R3,C4,S2-3,5,7,B3,5-9,NN", "R7,C3,M0,S20..70,B30..50,NC", "B2-a/S12"} {
		if n, err := propagators.ParseNotation(l, rule); err == nil {
			a := n.Automaton(l)
			a.Field = smallState
			all["rule "+rule] = a
		}
	}
	return all
}

// TestExplain: what every propagator of the library says of every element comes to that element in every bit: on lattices of every sort, with walls, holds and
// parameters, for one worker and several.
func TestExplain(t *testing.T) {
	spaces := append([]space.Space{}, smallSpaces...)
	r := rand.New(rand.NewPCG(5, 6))
	for len(spaces) < 26 {
		s := randomSpace(r, 0)
		if l := lattice(t, s); l.Cells() <= 200 && l.Dim() <= 9 {
			spaces = append(spaces, s)
		}
	}
	done := map[string]int{}
	for _, s := range spaces {
		l := lattice(t, s)
		for name, p := range askedPropagators(r, l) {
			a := &asked{Explainer: p, terms: map[fields.ID]map[int][]engine.Term{}}
			if check, is := p.(engine.Checker); is {
				c := askedWorld(r, l, s, 1, a)
				if check.Check(l, c.Fields) != nil { // such as a rule that counts more neighbours than there are
					continue
				}
			}
			w, err := engine.New(askedWorld(r, l, s, 1+r.IntN(3), a))
			if err != nil {
				continue
			}
			for range 3 {
				if _, err := w.Step(); err != nil { // such as of a current that is too fast
					break
				}
				done[name]++
				if !a.holds(t, w) {
					t.Fatalf("%s on %v", name, s)
				}
			}
		}
	}
	for name := range askedPropagators(r, lattice(t, space.Square8{Rows: 9, Cols: 9})) {
		if done[name] < 12 {
			t.Errorf("%s was asked in %d ticks alone", name, done[name])
		}
	}
}

// TestExplainOriginal does it under the rules of the original engine.
func TestExplainOriginal(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range []space.Space{space.Square4{Rows: 6, Cols: 9, Edge: space.Wrap}, space.Hex{Cols: 8, Rows: 5}, space.Ring{Length: 20}} {
		l := lattice(t, s)
		for name, p := range map[string]engine.Explainer{
			"diffusion": propagators.Diffusion{Rate: 0.7, Decay: 0.1, BlockedBy: new(blocking), Gradient: new(pairOut)},
			"uniform":   propagators.Noise{Field: triple, Scale: 0.5, SeedOffset: 9},
			"gaussian":  propagators.Noise{Kind: propagators.Gaussian, Scale: 0.5, SeedOffset: 9},
			"salt":      propagators.Noise{Kind: propagators.SaltPepper, Scale: 0.5, SeedOffset: 9},
			"flow":      propagators.Flow{Output: pairOut, Normalise: true},
			"emission":  propagators.Emission{Presence: agentsAt, Field: anyA, Intensity: 0.1},
		} {
			a := &asked{Explainer: p, terms: map[fields.ID]map[int][]engine.Term{}}
			c := askedWorld(r, l, s, 1, a)
			c.Rules = engine.Murk019
			w := newWorld(t, c)
			for range 2 {
				steps(t, w, 1)
				if !a.holds(t, w) {
					t.Fatalf("%s on %v", name, s)
				}
			}
		}
	}
}

// TestAllExplain: every propagator of the library has Explain.
func TestAllExplain(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]map[string]bool{"Step": {}, "Explain": {}}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			if of, ok := fn.Recv.List[0].Type.(*ast.Ident); ok && of.IsExported() && methods[fn.Name.Name] != nil {
				methods[fn.Name.Name][of.Name] = true
			}
		}
	}
	if len(methods["Step"]) != 20 {
		t.Errorf("the library has %d propagators", len(methods["Step"]))
	}
	for name := range methods["Step"] {
		if !methods["Explain"][name] {
			t.Errorf("%s has no method Explain", name)
		}
	}
}
