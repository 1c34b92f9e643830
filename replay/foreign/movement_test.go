package foreign

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

type order struct {
	agent   uint16
	heading Heading
}

// move takes the orders one by one.
func move(l *space.Lattice, v []float32, orders []order) {
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
		to, free := target(l, from, o.heading)
		if there && free && v[to] == 0 {
			v[from], v[to] = 0, v[from]
			places[o.agent] = to
		}
	}
}

// target looks for the step among the raw differences of coordinates.
func target(l *space.Lattice, cell int, h Heading) (to int, ok bool) {
	step, ok := map[Heading][2]int32{north: {-1, 0}, south: {1, 0}, east: {0, 1}, west: {0, -1}}[h]
	if !ok {
		return 0, false
	}
	at := l.Coord(cell)
	if l.Kind() == "square4" {
		return l.Rank(space.At(at.At(0)+step[0], at.At(1)+step[1]))
	}
	for _, near := range l.AppendNeighbours(nil, cell) {
		c, difference := l.Coord(int(near)), [2]int32{}
		for a := range min(2, c.Dim()) {
			difference[a] = c.At(a) - at.At(a)
		}
		if difference == step {
			return int(near), true
		}
	}
	return 0, false
}

// TestMovement compares it with the plain steps on random spaces. Ids that are
// not there, that are there twice and that saturate are among them.
func TestMovement(t *testing.T) {
	moved := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := randomSpace(r, 0)
		l, err := s.Build()
		if err != nil {
			t.Fatal(err)
		}
		if l.Cells() > 5000 || l.Dim() > 9 {
			continue
		}
		m := &movement{name: "movement", actions: new(actionQueue)}
		ids := []uint16{0, 1, 2, 3, 5, 8, 70, math.MaxUint16 - 1, math.MaxUint16}
		start, want := make([]float64, l.Cells()), make([]float32, l.Cells())
		for range r.IntN(5) {
			cell := r.IntN(l.Cells())
			start[cell] = []float64{0.25, 0.5, 0.75, 1.5, 2.49, 70000, 1e30, -1}[r.IntN(8)]
			want[cell] = float32(start[cell])
		}
		for range 1 + r.IntN(12) {
			p := position{ids[r.IntN(len(ids))], r.IntN(l.Cells() + 1)}
			m.initial = append(m.initial, p)
			if p.cell < l.Cells() {
				want[p.cell] = float32(p.agent) + 1
			}
		}
		w := walked(t, s, m, fields.Values(start))
		for tick := range 8 {
			var orders []order
			for range r.IntN(15) {
				o := order{ids[r.IntN(len(ids))], Heading(r.IntN(5))}
				orders = append(orders, o)
				m.actions.push(o.agent, o.heading)
			}
			before := slices.Clone(want)
			if tick > 0 {
				move(l, want, orders)
			}
			if !slices.Equal(before, want) {
				moved++
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
			for cell := range want {
				if got := float32(w.Value(presenceField, cell)); math.Float32bits(got) != math.Float32bits(want[cell]) {
					t.Fatalf("seed %d, %v, %v: tick %d: cell %d holds %v, want %v", seed, s, orders, w.Tick(), cell, got, want[cell])
				}
			}
		}
	}
	if moved < 100 {
		t.Errorf("agents moved in %d ticks, want 100 at least", moved)
	}
}

// walked is a world with agents that start anywhere, beside two other fields.
func walked(t *testing.T, s space.Space, m *movement, start fields.Initial) *engine.World {
	t.Helper()
	w, err := engine.New(engine.Config{
		Space: s, Rules: engine.Murk019, Paranoid: true,
		Fields:      []fields.Def{{Name: "heat"}, {Name: "velocity", Type: fields.Vector(2)}, {Name: "agents", Initial: start}},
		Propagators: []engine.Propagator{m},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// randomSpace is a space of any kind and edge.
func randomSpace(r *rand.Rand, depth int) space.Space {
	edge := space.Edge(r.IntN(3))
	size := func(most int) int { return 1 + r.IntN(most) }
	switch k := r.IntN(9); k {
	case 0:
		return space.Line{Length: size(70), Edge: edge}
	case 1:
		return space.Ring{Length: size(70)}
	case 2, 3:
		return space.Square4{Rows: size(9), Cols: size(40), Edge: edge}
	case 4:
		return space.Square8{Rows: size(9), Cols: size(40), Edge: edge}
	case 5:
		return space.Hex{Cols: size(40), Rows: size(9)}
	case 6:
		if edge == space.Wrap {
			return space.FCC12{W: 2 * size(6), H: 2 * size(3), D: 2 * size(3), Edge: edge}
		}
		return space.FCC12{W: size(20), H: size(5), D: size(5), Edge: edge}
	default:
		if depth == 2 {
			return space.Line{Length: size(30), Edge: edge}
		}
		parts := make(space.Product, 1+r.IntN(2))
		for i := range parts {
			parts[i] = randomSpace(r, depth+1)
		}
		return append(parts, space.Line{Length: size(4), Edge: edge})
	}
}

// TestMovementAllocates: a tick allocates nothing, whatever the lattice.
func TestMovementAllocates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 30 {
		s := randomSpace(r, 0)
		m := &movement{name: "movement", initial: []position{{3, 2}}, actions: new(actionQueue)}
		w, err := engine.New(engine.Config{
			Space: s, Rules: engine.Murk019, Propagators: []engine.Propagator{m},
			Fields: []fields.Def{{Name: "heat"}, {Name: "velocity", Type: fields.Vector(2)}, {Name: "agents"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		tick := func() {
			for h := north; h <= west; h++ {
				m.actions.push(3, h)
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		tick()
		if got := testing.AllocsPerRun(20, tick); got != 0 {
			t.Errorf("%v: %v allocations a tick, want 0", s, got)
		}
	}
}

// TestMovementChecks: a world without a field of presence, or with one of two components,
// is refused.
func TestMovementChecks(t *testing.T) {
	for want, defs := range map[string][]fields.Def{
		`engine: propagator "movement": field 2 does not exist; the number of fields is 1`: {{Name: "a"}},
		`engine: propagator "movement": field "c" has 2 components; 1 are needed`:          {{Name: "a"}, {Name: "b"}, {Name: "c", Type: fields.Vector(2)}},
	} {
		_, err := engine.New(engine.Config{
			Space: space.Ring{Length: 4}, Rules: engine.Murk019, Fields: defs, Propagators: []engine.Propagator{&movement{name: "movement"}},
		})
		if err == nil || err.Error() != want {
			t.Errorf("New = %v, want %s", err, want)
		}
	}
}

func TestHeading(t *testing.T) {
	for h := stay; h <= west; h++ {
		if got, err := parseHeading(h.String()); err != nil || got != h {
			t.Errorf("parseHeading(%q) = %v, %v; want %v", h, got, err, h)
		}
	}
	if h, err := parseHeading("up"); err == nil {
		t.Errorf("parseHeading(up) = %v, want an error", h)
	}
}
