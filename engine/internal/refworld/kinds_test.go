package refworld_test

import (
	"encoding/base64"
	"fmt"
	"math"

	"github.com/murksim/murksim/engine/internal/refworld"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// kinds are the propagators of random worlds by their types, which enough worlds must
// all have; of one that is listed twice there are twice as many.
var kinds = []struct {
	name string
	add  func(*scenario)
}{
	{"Diffusion", (*scenario).addDiffusion}, {"Diffusion", (*scenario).addDiffusion}, {"Wave", (*scenario).addWave},
	{"Gradient", (*scenario).addGradient}, {"Flow", (*scenario).addFlow}, {"Resource", (*scenario).addResource},
	{"Decay", (*scenario).addDecay}, {"Noise", (*scenario).addNoise}, {"Automaton", (*scenario).addAutomaton},
	{"mix", (*scenario).addMix}, {"churn", (*scenario).addChurn},
}

// addPropagator adds a random propagator, if there are fields for it.
func (s *scenario) addPropagator() { pick(s.Rand, kinds...).add(s) }

// degree is the most neighbours of a cell, as propagators reckon, at least 1.
func (s *scenario) degree() float64 { return float64(max(1, s.lattice.MaxDegree())) }

func (s *scenario) addDiffusion() {
	field, ok := s.writable(0, true)
	if !ok {
		return
	}
	d := propagators.Diffusion{
		Name: s.name("diffusion"), Field: field, BlockedBy: s.maybe(field),
		Rate:  pick(s.Rand, 0, 0.99*s.Float64(), 0.5) / (s.degree() * s.engine.Dt()),
		Decay: pick(s.Rand, 0, 0, s.Float64(), 1e-9),
	}
	twin := refworld.Diffusion{Name: d.Name, Field: field, BlockedBy: d.BlockedBy, Rate: d.Rate, Decay: d.Decay}
	for range max(0, s.IntN(5)-2) {
		h, k := propagators.Hold{Value: s.Float64() * 3}, refworld.Hold{}
		for range s.IntN(3) {
			h.Cells = append(h.Cells, s.IntN(s.lattice.Cells()))
			k.Cells = append(k.Cells, s.lattice.Coord(h.Cells[len(h.Cells)-1]))
		}
		k.Value = h.Value
		d.Hold, twin.Hold = append(d.Hold, h), append(twin.Hold, k)
	}
	if s.engine.Fields[field].Type.Components() == 1 && s.IntN(2) == 0 {
		if out, ok := s.writable(2, true); ok {
			d.Gradient, twin.Gradient = &out, &out
		}
	}
	s.add(d, twin.Part())
}

func (s *scenario) addWave() {
	at, ok := s.writable(0, true)
	if !ok {
		return
	}
	speed, ok := s.writable(s.engine.Fields[at].Type.Components(), true, at)
	if !ok {
		return
	}
	dt, part := s.engine.Dt(), s.Float64()
	w := propagators.Wave{
		Name: s.name("wave"), Displacement: at, Velocity: speed,
		Speed: math.Sqrt(1.9*part) / dt, Damping: pick(s.Rand, 0, 1.9*(1-part)/dt),
	}
	s.add(w, refworld.Wave{Name: w.Name, Displacement: at, Velocity: speed, Speed: w.Speed, Damping: w.Damping}.Part())
}

func (s *scenario) addGradient() {
	field, ok := s.readable(1)
	if out, also := s.writable(2, true); ok && also {
		g := propagators.Gradient{Name: s.name("gradient"), Field: field, Output: out}
		s.add(g, refworld.Gradient(g).Part())
	}
}

func (s *scenario) addFlow() {
	field, ok := s.readable(1)
	if out, also := s.writable(2, true); ok && also {
		f := propagators.Flow{Name: s.name("flow"), Field: field, Output: out, Normalise: s.IntN(2) == 0}
		s.add(f, refworld.Flow(f).Part())
	}
}

func (s *scenario) addResource() {
	field, ok := s.writable(1, false)
	if !ok {
		return
	}
	r := propagators.Resource{
		Name: s.name("resource"), Field: field, Presence: s.maybe(field), Logistic: s.IntN(2) == 0,
		Consumption: s.Float64() * 3, Regrowth: pick(s.Rand, 0, s.Float64()*2/s.engine.Dt()), Capacity: pick(s.Rand, 1, 0.3, 100),
	}
	s.add(r, refworld.Resource{
		Name: r.Name, Field: field, Presence: r.Presence, Logistic: r.Logistic,
		Consumption: r.Consumption, Regrowth: r.Regrowth, Capacity: r.Capacity,
	}.Part())
}

func (s *scenario) addDecay() {
	if field, ok := s.writable(0, false); ok {
		d := propagators.Decay{Name: s.name("decay"), Field: field, Rate: pick(s.Rand, s.Float64()*5, -s.Float64(), 0)}
		s.add(d, refworld.Decay(d).Part())
	}
}

func (s *scenario) addNoise() {
	field, ok := s.writable(0, false)
	if !ok {
		return
	}
	z := propagators.Noise{Name: s.name("noise"), Field: field, Kind: propagators.NoiseKind(s.IntN(3)), Scale: s.Float64()}
	kind := map[propagators.NoiseKind]refworld.NoiseKind{
		propagators.Uniform: refworld.Uniform, propagators.Gaussian: refworld.Gaussian, propagators.SaltPepper: refworld.SaltPepper,
	}[z.Kind]
	s.add(z, refworld.Noise{Name: z.Name, Field: field, Kind: kind, Scale: z.Scale}.Part())
}

func (s *scenario) addAutomaton() {
	field, ok := s.find(func(id fields.ID, d *fields.Def) bool {
		return cells(d, 1) && d.Mutability != fields.Static && !s.written[id] &&
			(d.Type.Kind != fields.CategoricalKind || d.Type.N >= 2)
	})
	if !ok || s.lattice.MaxDegree() > 63 {
		return
	}
	states := pick(s.Rand, 0, 2, 3, 5)
	if d := s.engine.Fields[field]; d.Type.Kind == fields.CategoricalKind {
		states = min(states, d.Type.N)
	}
	if y, ok := s.lattice.Layout(); ok && s.lattice.Dim() == 2 {
		switch s.IntN(4) {
		case 0:
			s.addPatterns(field, max(states, 2))
			return
		case 1:
			if y.Shift == 0 {
				s.addFar(field, states, &y)
				return
			}
		}
	}
	mask := uint64(1)<<s.lattice.MaxDegree()<<1 - 1
	rule := propagators.Rule{Born: s.Uint64() & mask, Survive: s.Uint64() & mask, States: states}
	a := propagators.Automaton{Name: s.name("automaton"), Field: field, Rule: rule}
	s.add(a, refworld.Automaton{Name: a.Name, Field: field, Born: rule.Born, Survive: rule.Survive, States: states}.Part())
}

// addPatterns adds an automaton with a random bit for each pattern of a cell and its neighbours.
func (s *scenario) addPatterns(field fields.ID, states int) {
	// By what the space has: the directions in the order in which Golly reads the cells, -1 the cell itself.
	places := map[int][]int{8: {4, 0, 5, 2, -1, 3, 6, 1, 7}, 6: {1, 2, 0, -1, 3, 5, 4}, 4: {0, 2, -1, 3, 1}}[len(s.lattice.Directions())]
	bits := make([]byte, 1<<len(places)/8)
	text := ""
	for i := range bits {
		v := s.Uint64()
		bits[i] = byte(v) & byte(v>>8) // a quarter of the bits
		text += fmt.Sprintf("%08b", bits[i])
	}
	if len(places) == 7 && states == 2 {
		places = []int{5, 4, 0, -1, 3, 1, 2} // there Golly reads the rows of hexes from below
	}
	rule := "MAP" + base64.RawStdEncoding.EncodeToString(bits)
	if states > 2 {
		rule += fmt.Sprintf("/%d", states)
	}
	n, err := propagators.ParseNotation(s.lattice, rule)
	if err != nil {
		panic(err)
	}
	a := n.Automaton(s.lattice)
	a.Name, a.Field = s.name("automaton"), field
	s.add(a, refworld.Patterns{Name: a.Name, Field: field, Bits: text, Places: places, States: states}.Part())
}

// addFar adds an automaton that counts in a random range.
func (s *scenario) addFar(field fields.ID, states int, y *space.Layout) {
	g := &propagators.Larger{Range: 1 + s.IntN(3), States: states, Self: s.IntN(2) == 0, Shape: pick(s.Rand, propagators.Moore, propagators.VonNeumann, propagators.Circular)}
	a := propagators.Automaton{Name: s.name("automaton"), Field: field, Larger: g}
	twin := refworld.Far{Name: a.Name, Field: field, Rows: y.Rows, Cols: y.Cols, Edge: y.Edge, Born: map[int]bool{}, Survive: map[int]bool{}, States: states}
	for r := -g.Range; r <= g.Range; r++ {
		for c := -g.Range; c <= g.Range; c++ {
			in := true
			switch {
			case r == 0 && c == 0:
				in = g.Self
			case g.Shape == propagators.VonNeumann:
				in = max(r, -r)+max(c, -c) <= g.Range
			case g.Shape == propagators.Circular:
				in = math.Hypot(float64(r), float64(c)) < float64(g.Range)+0.5
			}
			if in {
				twin.Offsets = append(twin.Offsets, [2]int{r, c})
			}
		}
	}
	for k := range len(twin.Offsets) + 1 {
		born, survives := s.IntN(3) == 0, s.IntN(3) == 0
		twin.Born[k], twin.Survive[k] = born, survives
		if born {
			g.Born = joined(g.Born, k)
		}
		if survives {
			g.Survive = joined(g.Survive, k)
		}
	}
	s.add(a, twin.Part())
}

// joined adds a number to intervals that end before it.
func joined(list []propagators.Interval, n int) []propagators.Interval {
	if k := len(list) - 1; k >= 0 && list[k].Hi == n-1 {
		list[k].Hi = n
		return list
	}
	return append(list, propagators.Interval{Lo: n, Hi: n})
}

func (s *scenario) addMix() {
	out, ok := s.spoilable()
	a, _ := s.readable(0)
	b, _ := s.readable(0)
	if ok && b != out {
		m := mix{name: s.name("mix"), a: a, b: b, out: out, stream: s.Uint64N(2)}
		s.add(m, m.twin())
	}
}

func (s *scenario) addChurn() {
	full := s.IntN(2) == 0
	field, ok := s.find(func(id fields.ID, d *fields.Def) bool {
		return d.Domain == fields.Cells && d.Element != fields.Float32 && d.Mutability != fields.Static &&
			!(full && s.written[id]) && (d.Type.Kind != fields.CategoricalKind || s.IntN(10) == 0)
	})
	if ok {
		u := churn{name: s.name("churn"), field: field, full: full, gap: pick[uint64](s.Rand, 0, 1, 20, 40)}
		s.add(u, u.twin(s.engine.Fields[field].Element))
	}
}
