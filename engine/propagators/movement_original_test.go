package propagators_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

type order struct {
	agent   uint16
	heading propagators.Heading
}

// originalMove takes the orders one by one.
func (n *naive) originalMove(v []float32, orders []order) {
	places := map[uint16]int{}
	for cell, x := range v {
		if x > 0.5 {
			id := math.Floor(float64(x - 1 + 0.5))
			places[uint16(max(0, min(id, math.MaxUint16)))] = cell
		}
	}
	slices.SortStableFunc(orders, func(a, b order) int { return int(a.agent) - int(b.agent) })
	for _, o := range orders {
		from, there := places[o.agent]
		to, free := n.originalTarget(from, o.heading)
		if there && free && v[to] == 0 {
			v[from], v[to] = 0, v[from]
			places[o.agent] = to
		}
	}
}

// originalTarget looks for the step among the raw differences of coordinates.
func (n *naive) originalTarget(cell int, h propagators.Heading) (to int, ok bool) {
	step, ok := map[propagators.Heading][2]int32{
		propagators.North: {-1, 0}, propagators.South: {1, 0}, propagators.East: {0, 1}, propagators.West: {0, -1},
	}[h]
	if !ok {
		return 0, false
	}
	at := n.l.Coord(cell)
	if n.l.Kind() == "square4" {
		return n.l.Rank(space.At(at.At(0)+step[0], at.At(1)+step[1]))
	}
	for _, o := range n.near[cell] {
		c, difference := n.l.Coord(o.rank), [2]int32{}
		for a := range min(2, c.Dim()) {
			difference[a] = c.At(a) - at.At(a)
		}
		if difference == step {
			return o.rank, true
		}
	}
	return 0, false
}

// TestOriginalMovement compares it with the plain steps on random spaces. Ids that are
// not there, that are there twice and that saturate are among them.
func TestOriginalMovement(t *testing.T) {
	moved := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := randomSpace(r, 0)
		l := lattice(t, s)
		if l.Cells() > 5000 || l.Dim() > 9 {
			continue
		}
		n := newNaive(t, l, 0.05, 0)
		m := propagators.OriginalMovement{Actions: new(propagators.ActionQueue)}
		ids := []uint16{0, 1, 2, 3, 5, 8, 70, math.MaxUint16 - 1, math.MaxUint16}
		start := make([]float64, n.cells)
		for range r.IntN(5) {
			start[r.IntN(n.cells)] = []float64{0.25, 0.5, 0.75, 1.5, 2.49, 70000, 1e30, -1}[r.IntN(8)]
		}
		want := floats(start)
		for range 1 + r.IntN(12) {
			p := propagators.Placement{Agent: ids[r.IntN(len(ids))], Cell: r.IntN(n.cells + 1)}
			m.Initial = append(m.Initial, p)
			if p.Cell < n.cells {
				want[p.Cell] = float32(p.Agent) + 1
			}
		}
		w := newWorld(t, engine.Config{
			Space: s, Rules: engine.Murk019, Paranoid: true,
			Fields:      []fields.Def{{Name: "agents", Initial: fields.Values(start)}},
			Propagators: []engine.Propagator{m},
		})
		for tick := range 8 {
			var orders []order
			for range r.IntN(15) {
				o := order{ids[r.IntN(len(ids))], propagators.Heading(r.IntN(5))}
				orders = append(orders, o)
				m.Actions.Push(o.agent, o.heading)
			}
			before := slices.Clone(want)
			if tick > 0 {
				n.originalMove(want, orders)
			}
			if !slices.Equal(before, want) {
				moved++
			}
			steps(t, w, 1)
			if !equalBits(t, "agents", w, 0, want) {
				t.Fatalf("seed %d, %v, %v", seed, s, orders)
			}
		}
	}
	if moved < 100 {
		t.Errorf("agents moved in %d ticks, want 100 at least", moved)
	}
}

// TestOriginalMovementAllocs: a tick allocates nothing, whatever the lattice.
func TestOriginalMovementAllocs(t *testing.T) {
	for _, s := range smallSpaces {
		m := propagators.OriginalMovement{Initial: []propagators.Placement{{Agent: 3, Cell: 2}}, Actions: new(propagators.ActionQueue)}
		w := newWorld(t, engine.Config{
			Space: s, Rules: engine.Murk019, Fields: []fields.Def{{Name: "agents"}}, Propagators: []engine.Propagator{m},
		})
		tick := func() {
			for h := propagators.North; h <= propagators.West; h++ {
				m.Actions.Push(3, h)
			}
			steps(t, w, 1)
		}
		tick()
		if got := testing.AllocsPerRun(20, tick); got != 0 {
			t.Errorf("%v: %v allocations a tick, want 0", s, got)
		}
	}
}

// TestOriginalMovementRules: other rules refuse it, in the first tick.
func TestOriginalMovementRules(t *testing.T) {
	w := newWorld(t, zoo(space.Ring{Length: 4}, propagators.OriginalMovement{}))
	_, err := w.Step()
	if want := "belongs to the rules murk-0.1.9"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Step = %v, want … %s …", err, want)
	}
}

func TestHeading(t *testing.T) {
	for h := propagators.Stay; h <= propagators.West; h++ {
		if got, err := propagators.ParseHeading(h.String()); err != nil || got != h {
			t.Errorf("ParseHeading(%q) = %v, %v; want %v", h, got, err, h)
		}
	}
	if h, err := propagators.ParseHeading("up"); err == nil {
		t.Errorf("ParseHeading(up) = %v, want an error", h)
	}
}
