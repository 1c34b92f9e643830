package propagators_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// emit is an emission, cell by cell.
func (n *naive) emit(e propagators.Emission, v, presence []float32) []float32 {
	next := make([]float32, n.cells)
	for cell := range next {
		switch here := presence[cell] != 0; {
		case e.Set && here:
			next[cell] = float32(e.Intensity)
		case !e.Set && here:
			next[cell] = v[cell] + float32(e.Intensity)
		case !e.Set:
			next[cell] = v[cell]
		}
	}
	return next
}

// reward is a reward, cell by cell.
func (n *naive) reward(r propagators.Reward, heat, presence []float32) []float32 {
	next := make([]float32, n.cells)
	for cell := range next {
		if presence[cell] != 0 {
			product := float32(heat[cell] * float32(r.HeatBonus))
			next[cell] = product + float32(r.StepCost)
		}
	}
	return next
}

// morphology looks at the ball around each cell, found by breadth-first search.
func (n *naive) morphology(m propagators.Morphology, v []float32) []float32 {
	next := make([]float32, n.cells)
	for cell := range next {
		any, all := false, true
		for _, near := range n.ball(cell, m.Radius) {
			present := v[near] > float32(m.Threshold)
			any, all = any || present, all && present
		}
		if m.Op == propagators.Dilate && any || m.Op == propagators.Erode && all {
			next[cell] = 1
		}
	}
	return next
}

func (n *naive) ball(cell, radius int) []int {
	ball, seen := []int{cell}, map[int]bool{cell: true}
	for shell := ball; radius > 0 && len(shell) > 0; radius-- {
		var next []int
		for _, c := range shell {
			for _, o := range n.near[c] {
				if !seen[o.rank] {
					seen[o.rank] = true
					next = append(next, o.rank)
				}
			}
		}
		ball, shell = append(ball, next...), next
	}
	return ball
}

// walk is where a step in a direction leads by coordinate; the cell itself if nowhere.
func (n *naive) walk(t testing.TB, cell, direction int) int {
	if to, _, ok := leads(t, n.l, cell, direction); ok {
		return to
	}
	return cell
}

// move takes agents from the least to the greatest. Walls may be nil.
func (n *naive) move(t testing.TB, agents, actions, walls []float32) []float32 {
	next := slices.Clone(agents)
	var order []int
	for cell, a := range agents {
		if a != 0 {
			order = append(order, cell)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(agents[a], agents[b]) })
	for _, cell := range order {
		for d := range n.l.Directions() {
			if actions[cell] != float32(d+1) {
				continue
			}
			if to := n.walk(t, cell, d); next[to] == 0 && (walls == nil || walls[to] == 0) {
				next[to], next[cell] = next[cell], 0
			}
			break
		}
	}
	return next
}

const (
	presence fields.ID = iota
	warmth
	scent
	mark
	grown
	shrunk
	echo
	late
	worth
	agents
	orders
	followers
	arrows
)

// agentsWorld has every propagator of this file's, on random values. Inputs are
// sparse: under either rules they stay as they are unless they are written.
func agentsWorld(r *rand.Rand, s space.Space, l *space.Lattice, rules engine.Rules) (engine.Config, *herd) {
	cells := l.Cells()
	def := func(name string, values []float64) fields.Def {
		d := fields.Def{Name: name, Mutability: fields.Sparse, Initial: fields.Values(values)}
		if n := len(values) / cells; n != 1 {
			d.Type = fields.Vector(n)
		}
		return d
	}
	zeros := make([]float64, cells)
	number := func() float64 { return float64(r.Float32()) - 0.5 }
	crowd := func() []float64 {
		v := smallValues(r, cells, 12)
		for i := range v {
			v[i] = max(0, v[i]-8) * float64(1+r.IntN(cells))
		}
		return v
	}
	ways := len(l.Directions()) + 2 // the last is none
	here, warm := smallValues(r, cells, 3), wildValues(r, cells)
	for i, v := range here {
		if v == 2 {
			here[i] = math.Copysign(0, -1) // nobody, too
		}
	}
	h := &herd{
		emission: propagators.Emission{Presence: presence, Field: scent, Intensity: number()},
		setting:  propagators.Emission{Name: "set", Presence: presence, Field: mark, Intensity: number(), Set: true},
		dilation: propagators.Morphology{
			Name: "dilate", Field: warmth, Output: grown, Op: propagators.Dilate, Radius: r.IntN(5), Threshold: []float64{1 + number(), warm[0]}[r.IntN(2)],
		},
		erosion: propagators.Morphology{
			Name: "erode", Field: warmth, Output: shrunk, Op: propagators.Erode, Radius: r.IntN(4), Threshold: -2 + number(),
		},
		reward: propagators.Reward{Heat: warmth, Presence: presence, Field: worth, HeatBonus: number(), StepCost: number()},
	}
	c := engine.Config{Space: s, Rules: rules, Paranoid: true, Fields: []fields.Def{
		def("presence", here), def("warmth", warm), def("scent", wildValues(r, cells)),
		def("mark", zeros), def("grown", zeros), def("shrunk", zeros), def("echo", make([]float64, 3*cells)),
		def("late", zeros), def("worth", zeros), def("agents", crowd()), def("orders", smallValues(r, cells, ways)),
		def("followers", crowd()), def("arrows", smallValues(r, cells, ways)), def("source", wildValues(r, 3*cells)),
	}}
	c.Propagators = []engine.Propagator{
		h.emission, h.setting, h.dilation, h.erosion, h.reward,
		propagators.Copy{Field: arrows + 1, Output: echo},
		propagators.Copy{Name: "late", Field: mark, Output: late, Now: true},
		propagators.Movement{Agents: agents, Actions: orders},
		propagators.Movement{Name: "follow", Agents: followers, Actions: arrows, BlockedBy: new(presence), Keep: true},
	}
	return c, h
}

type herd struct {
	emission, setting propagators.Emission
	dilation, erosion propagators.Morphology
	reward            propagators.Reward
}

// TestNaiveAgents compares emission, morphology, copy, movement and reward with the
// plain formulas, on random spaces and values, for 1, 2 and 8 workers and both rules.
func TestNaiveAgents(t *testing.T) {
	moved := false
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := randomSpace(r, 0)
		if seed < uint64(len(longSpaces)) {
			s = longSpaces[seed]
		}
		l := lattice(t, s)
		if l.Cells() > 8000 || l.Dim() > 9 {
			continue
		}
		n := newNaive(t, l, 0.05, 0)
		c, h := agentsWorld(r, s, l, engine.Rules(seed%2))
		want := make([][]float32, len(c.Fields))
		var worlds []*engine.World
		for _, workers := range []int{1, 2, 8} {
			c.Workers = workers
			worlds = append(worlds, newWorld(t, c))
		}
		for i := range want {
			view := worlds[0].Snapshot()
			want[i] = view.AppendFloat32(nil, fields.ID(i))
			view.Release()
		}
		for range 3 {
			before := slices.Clone(want[agents])
			want[scent] = n.emit(h.emission, want[scent], want[presence])
			want[mark] = n.emit(h.setting, want[mark], want[presence])
			want[grown] = n.morphology(h.dilation, want[warmth])
			want[shrunk] = n.morphology(h.erosion, want[warmth])
			want[worth] = n.reward(h.reward, want[warmth], want[presence])
			want[echo], want[late] = want[arrows+1], want[mark]
			want[agents] = n.move(t, want[agents], want[orders], nil)
			want[orders] = make([]float32, n.cells)
			want[followers] = n.move(t, want[followers], want[arrows], want[presence])
			moved = moved || !slices.Equal(before, want[agents])
			for _, w := range worlds {
				steps(t, w, 1)
				for i, v := range want {
					if !equalBits(t, w.Defs()[i].Name, w, fields.ID(i), v) {
						t.Fatalf("seed %d, %v, rules %v, %+v", seed, s, c.Rules, h)
					}
				}
			}
		}
	}
	if !moved {
		t.Error("no agent ever moved")
	}
}

// TestMovement: on a crowded lattice every agent stays who it is, and all get around.
func TestMovement(t *testing.T) {
	s := space.Ring{Length: 12}
	numbers := []float64{3, 0, 1, 2, 0, 0, 2, 0, 0, 0, 9, 0}
	w := newWorld(t, engine.Config{Space: s, Fields: []fields.Def{
		{Name: "agents", Initial: fields.Values(numbers)},
		{Name: "actions", Mutability: fields.Static, Initial: fields.Fill(2)}, // clockwise
	}, Propagators: []engine.Propagator{propagators.Movement{Actions: 1, Keep: true}}})
	steps(t, w, 1)
	// Agent 1 acts before the 2 ahead of it and has to wait; all others are free.
	if got, want := values(w, 0), []float64{0, 3, 1, 0, 2, 0, 0, 2, 0, 0, 0, 9}; !slices.Equal(got, want) {
		t.Errorf("after a tick %v, want %v", got, want)
	}
	steps(t, w, 400)
	got := values(w, 0)
	slices.Sort(got)
	slices.Sort(numbers)
	if !slices.Equal(got, numbers) {
		t.Errorf("after 401 ticks the agents are %v, want %v", got, numbers)
	}
}

// TestMovementWalls holds that no agent steps onto a wall, and that one which is on a wall
// leaves it.
func TestMovementWalls(t *testing.T) {
	w := newWorld(t, engine.Config{Space: space.Line{Length: 8}, Fields: []fields.Def{
		{Name: "agents", Initial: fields.Values([]float64{1, 0, 0, 0, 2, 0, 0, 0})},
		{Name: "actions", Mutability: fields.Static, Initial: fields.Fill(2)}, // to the next cell
		{Name: "walls", Mutability: fields.Static, Initial: fields.Values([]float64{0, 0, 0, -0.5, 1, 0, 0, 0})},
	}, Propagators: []engine.Propagator{propagators.Movement{Actions: 1, BlockedBy: new(fields.ID(2)), Keep: true}}})
	steps(t, w, 20)
	if got, want := values(w, 0), []float64{0, 0, 1, 0, 0, 0, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("after 20 ticks %v, want %v", got, want)
	}
}

// TestMovementCommand: an action that a command sets is taken once, in the same tick.
func TestMovementCommand(t *testing.T) {
	w := newWorld(t, engine.Config{Space: space.Line{Length: 4, Edge: space.Clamp}, Fields: []fields.Def{
		{Name: "agents", Initial: fields.Values([]float64{0, 7, 0, 0})}, {Name: "actions"},
	}, Propagators: []engine.Propagator{propagators.Movement{Actions: 1}}})
	for _, want := range [][]float64{{0, 0, 7, 0}, {0, 0, 0, 7}, {0, 0, 0, 7}, {0, 0, 0, 7}} {
		for cell, v := range values(w, 0) {
			if v != 0 && w.Tick() < 3 {
				if _, err := w.Submit(commands.SetField(space.At(int32(cell)), 1, 2)); err != nil {
					t.Fatal(err)
				}
			}
		}
		steps(t, w, 1)
		if got := values(w, 0); !slices.Equal(got, want) {
			t.Errorf("tick %d: agents %v, want %v", w.Tick(), got, want)
		}
		if got := values(w, 1); !slices.Equal(got, make([]float64, 4)) {
			t.Errorf("tick %d: actions %v, want zeros", w.Tick(), got)
		}
	}
}

// TestMorphologyBalls: what a single cell grows into is the lattice's ball, and
// shrinking its ball gives the cell back.
func TestMorphologyBalls(t *testing.T) {
	for _, tt := range []struct {
		s     space.Space
		at    space.Coord
		balls []int // by radius: cells in it
	}{
		{space.Line{Length: 41}, space.At(20), []int{1, 3, 5, 7}},
		{space.Square4{Rows: 15, Cols: 15}, space.At(7, 7), []int{1, 5, 13, 25, 41, 61}},
		{space.Square8{Rows: 15, Cols: 15, Edge: space.Clamp}, space.At(7, 7), []int{1, 9, 25, 49, 81}},
		{space.Hex{Cols: 15, Rows: 15}, space.At(7, 7), []int{1, 7, 19, 37, 61}},
		{space.FCC12{W: 16, H: 16, D: 16, Edge: space.Wrap}, space.At(0, 0, 0), []int{1, 13, 55, 147}},
		{space.Square4{Rows: 4, Cols: 4, Edge: space.Wrap}, space.At(0, 0), []int{1, 5, 11, 15, 16, 16}},
	} {
		l := lattice(t, tt.s)
		center, _ := l.Rank(tt.at)
		one := make([]float64, l.Cells())
		one[center] = 1
		for radius, want := range tt.balls {
			w := newWorld(t, engine.Config{Space: tt.s, Paranoid: true, Fields: []fields.Def{
				{Name: "a", Initial: fields.Values(one)}, {Name: "b"}, {Name: "c"},
			}, Propagators: []engine.Propagator{
				propagators.Morphology{Name: "grow", Output: 1, Radius: radius, Threshold: 0.5},
				propagators.Morphology{Name: "shrink", Field: 1, Output: 2, Op: propagators.Erode, Radius: radius, Threshold: 0.5},
			}})
			steps(t, w, 2)
			if got := total(values(w, 1)); got != float64(want) {
				t.Errorf("%v: the ball of radius %d has %v cells, want %d", tt.s, radius, got, want)
			}
			if got := values(w, 2); want < l.Cells() && !slices.Equal(got, one) {
				t.Errorf("%v: opening a ball of radius %d leaves %v cells, want its centre", tt.s, radius, total(got))
			}
		}
	}
}

// TestMorphologyHuge: a radius beyond all bounds costs as many passes as the lattice is wide.
func TestMorphologyHuge(t *testing.T) {
	w := newWorld(t, engine.Config{Space: space.Line{Length: 300}, Fields: []fields.Def{
		{Name: "a", Initial: fields.Values(append([]float64{1}, make([]float64, 299)...))}, {Name: "b"},
	}, Propagators: []engine.Propagator{propagators.Morphology{Output: 1, Radius: 1 << 30, Threshold: 0.5}}})
	steps(t, w, 1)
	if got := total(values(w, 1)); got != 300 {
		t.Errorf("%v cells are reached, want all 300", got)
	}
}

func TestMorphologyOp(t *testing.T) {
	for _, o := range []propagators.MorphologyOp{propagators.Dilate, propagators.Erode} {
		if got, err := propagators.ParseMorphologyOp(o.String()); err != nil || got != o {
			t.Errorf("ParseMorphologyOp(%q) = %v, %v; want %v", o, got, err, o)
		}
	}
	if o, err := propagators.ParseMorphologyOp("open"); err == nil {
		t.Errorf("ParseMorphologyOp(open) = %v, want an error", o)
	}
}

// TestCopyDelay: a chain of copies is a delay line; with Now it has no delay.
func TestCopyDelay(t *testing.T) {
	config := func(now bool) engine.Config {
		c := engine.Config{Space: space.Line{Length: 1}, Fields: []fields.Def{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "tick"}}}
		c.Fields[3].Initial = fields.Fill(1)
		c.Propagators = []engine.Propagator{
			propagators.Emission{Presence: 3, Field: 0, Intensity: 1}, // counts ticks
			propagators.Copy{Name: "1", Field: 0, Output: 1, Now: now},
			propagators.Copy{Name: "2", Field: 1, Output: 2, Now: now},
		}
		return c
	}
	for _, tt := range []struct {
		now  bool
		want [3]float64
	}{{false, [3]float64{5, 4, 3}}, {true, [3]float64{5, 5, 5}}} {
		w := newWorld(t, config(tt.now))
		steps(t, w, 5)
		if got := [3]float64{w.Value(0, 0), w.Value(1, 0), w.Value(2, 0)}; got != tt.want {
			t.Errorf("now %t: %v after 5 ticks, want %v", tt.now, got, tt.want)
		}
	}
}

// TestRewardNow: a reward is for where an agent has moved to, an emission for where it was.
func TestRewardNow(t *testing.T) {
	w := newWorld(t, engine.Config{Space: space.Line{Length: 4}, Fields: []fields.Def{
		{Name: "agents", Initial: fields.Values([]float64{1, 0, 0, 0})}, {Name: "arrows", Initial: fields.Fill(2)},
		{Name: "heat", Initial: fields.Values([]float64{0, 10, 20, 30})}, {Name: "reward"}, {Name: "trail"},
	}, Propagators: []engine.Propagator{
		propagators.Movement{Agents: 0, Actions: 1, Keep: true},
		propagators.Reward{Heat: 2, Presence: 0, Field: 3, HeatBonus: 0.5, StepCost: -1},
		propagators.Emission{Presence: 0, Field: 4, Intensity: 1, Set: true},
	}})
	steps(t, w, 2)
	if got, want := values(w, 3), []float64{0, 0, 9, 0}; !slices.Equal(got, want) {
		t.Errorf("reward %v, want %v", got, want)
	}
	if got, want := values(w, 4), []float64{0, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("trail %v, want %v", got, want)
	}
}

var agentAnimals = []struct {
	name string
	p    engine.Propagator
}{
	{"emission", propagators.Emission{Presence: 2, Intensity: 0.5}},
	{"emission, set", propagators.Emission{Presence: 2, Intensity: 0.5, Set: true}},
	{"morphology", propagators.Morphology{Output: 1, Radius: 2, Threshold: 0.9}},
	{"morphology, erode", propagators.Morphology{Output: 1, Op: propagators.Erode, Radius: 3, Threshold: 0.1}},
	{"copy", propagators.Copy{Field: 2, Output: 1}},
	{"movement", propagators.Movement{Agents: 2, Actions: 5, Keep: true}},
	{"reward", propagators.Reward{Heat: 1, Presence: 2, Field: 0, HeatBonus: 2, StepCost: -0.5}},
}

// TestAgentAllocs: none of them allocates in a tick.
func TestAgentAllocs(t *testing.T) {
	for _, s := range smallSpaces {
		for _, a := range agentAnimals {
			for _, workers := range []int{1, 2} {
				c := zoo(s, a.p)
				c.Workers = workers
				c.Fields = append(c.Fields, fields.Def{Name: "arrows", Initial: someBits(s)})
				w := newWorld(t, c)
				before := w.Hash()
				steps(t, w, 3)
				if got := testing.AllocsPerRun(20, func() { steps(t, w, 1) }); got != 0 {
					t.Errorf("%s on %v, %d workers: %v allocations a tick, want 0", a.name, s, workers, got)
				}
				if w.Hash() == before {
					t.Errorf("%s on %v: nothing happened", a.name, s)
				}
			}
		}
	}
}

// TestAgentCheck: what they cannot work with is refused when the world is built.
func TestAgentCheck(t *testing.T) {
	for _, tt := range []struct {
		p    engine.Propagator
		want string
	}{
		{propagators.Emission{}, `engine: propagator "emission": field and presence are both field "a"`},
		{propagators.Emission{Field: 3}, `field: field "d" has 2 components; 1 is needed`},
		{propagators.Emission{Presence: 4}, `presence: field "e" has 3 components`},
		{propagators.Emission{Field: 1, Intensity: 1e39}, "intensity must be finite as a float32, not 1e+39"},
		{propagators.Morphology{Field: 3, Output: 1}, `field: field "d" has 2 components`},
		{propagators.Morphology{Output: 4}, `output: field "e" has 3 components`},
		{propagators.Morphology{Output: 1, Radius: -1}, "radius must be at least 0, not -1"},
		{propagators.Morphology{Output: 1, Op: 2}, "MorphologyOp(2) does not exist"},
		{propagators.Morphology{Output: 1, Threshold: -1e39}, "threshold must be finite as a float32, not -1e+39"},
		{propagators.Copy{Field: 3, Output: 4}, `output: field "e" has 3 components; 2 are needed`},
		{propagators.Copy{Field: 99, Output: 4}, "field 99 does not exist"},
		{propagators.Copy{Now: true}, `propagator "copy": `},
		{propagators.Movement{}, `agents and actions are both field "a"`},
		{propagators.Movement{Agents: 3}, `agents: field "d" has 2 components`},
		{propagators.Movement{Actions: 3}, `actions: field "d" has 2 components`},
		{propagators.Movement{Actions: 5}, `actions: field "f" holds 6 values; the actions are 4 directions here, and to stay`},
		{propagators.Movement{Agents: 1, Actions: 2, BlockedBy: new(fields.ID(3))}, `blocked_by: field "d" has 2 components`},
		{propagators.Movement{Agents: 1, Actions: 2, BlockedBy: new(fields.ID(1))}, `agents and blocked_by are both field "b"`},
		{propagators.Movement{Agents: 1, Actions: 2, BlockedBy: new(fields.ID(2))}, `actions and blocked_by are both field "c"`},
		{propagators.Reward{Presence: 1}, `field and heat are both field "a"`},
		{propagators.Reward{Heat: 1}, `field and presence are both field "a"`},
		{propagators.Reward{Heat: 4}, `heat: field "e" has 3 components`},
		{propagators.Reward{Heat: 1, Presence: 1, HeatBonus: 1e40}, "heat_bonus must be finite as a float32, not 1e+40"},
		{propagators.Reward{Heat: 1, Presence: 1, StepCost: -1e40}, "step_cost must be finite as a float32, not -1e+40"},
	} {
		c := zoo(space.Square4{Rows: 4, Cols: 4}, tt.p)
		c.Fields = append(c.Fields, fields.Def{Name: "f", Type: fields.Categorical(6)})
		_, err := engine.New(c)
		if _, ok := errors.AsType[*engine.ConfigError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want a ConfigError with %q", tt.p, err, tt.want)
		}
	}
}

func BenchmarkAgents(b *testing.B) {
	square := space.Square4{Rows: 1024, Cols: 1024}
	for _, tt := range []struct {
		name string
		p    engine.Propagator
	}{
		{"emission", propagators.Emission{Presence: 2, Field: 1, Intensity: 1e-3}},
		{"emission_set", propagators.Emission{Presence: 2, Field: 1, Intensity: 1, Set: true}},
		{"copy", propagators.Copy{Field: 0, Output: 1}},
		{"reward", propagators.Reward{Heat: 0, Presence: 2, Field: 1, HeatBonus: 1}},
		{"movement", propagators.Movement{Agents: 2, Actions: 3, Keep: true}},
		{"morphology_1", propagators.Morphology{Output: 1, Radius: 1, Threshold: 0.999}},
		{"morphology_3", propagators.Morphology{Output: 1, Radius: 3, Threshold: 0.999}},
		{"morphology_8", propagators.Morphology{Output: 1, Radius: 8, Threshold: 0.999}},
		{"erode_3", propagators.Morphology{Output: 1, Op: propagators.Erode, Radius: 3, Threshold: 0.001}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := newWorld(b, engine.Config{
				Space: square,
				Fields: []fields.Def{
					{Name: "a", Initial: someValues(square, 1)}, {Name: "b"},
					{Name: "presence", Initial: someBits(square)}, {Name: "arrows", Initial: fields.Fill(3)},
				},
				Propagators: []engine.Propagator{tt.p},
			})
			benchmarkStep(b, w)
		})
	}
}

// An output must hold both states.
func TestMorphologyOutputHoldsItsStates(t *testing.T) {
	for n, ok := range map[int]bool{1: false, 2: true, 5: true} {
		_, err := engine.New(engine.Config{
			Space:       space.Line{Length: 9},
			Fields:      []fields.Def{{Name: "a"}, {Name: "b", Type: fields.Categorical(n)}},
			Propagators: []engine.Propagator{propagators.Morphology{Output: 1, Threshold: -1}},
		})
		if (err == nil) != ok {
			t.Errorf("a field of %d values: New = %v", n, err)
		}
	}
}
