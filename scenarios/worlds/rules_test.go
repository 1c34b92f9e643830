package worlds_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// models are the scenarios that hold their rules.
const models = "../../examples/rules"

// model builds the world of a model, with values replaced.
func model(t *testing.T, name string, sets ...string) *engine.World {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(models, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenariotest.Parse(name, string(text), sets...)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// steps runs a world.
func steps(t *testing.T, w *engine.World, n int) {
	t.Helper()
	for range n {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// put sets a field of all cells.
func put(t *testing.T, w *engine.World, field uint32, v []float32) {
	t.Helper()
	var list []commands.Command
	for rank, x := range v {
		list = append(list, commands.SetField(w.Lattice().Coord(rank), field, x))
	}
	if _, _, err := w.SubmitAll(list); err != nil {
		t.Fatal(err)
	}
}

// TestTraffic: without dawdling the flow of Nagel and Schreckenberg's model is min(5ρ, 1-ρ) cars a tick once it has settled, for a density ρ: the cars move
// 5 cells, or the holes move back one by one. With dawdling it is less, and no car is lost or meets another one.
// K. Nagel, M. Schreckenberg, J. Phys. I France 2 (1992) 2221; M. Fukui, Y. Ishibashi, J. Phys. Soc. Jpn. 65 (1996) 1868.
func TestTraffic(t *testing.T) {
	const cells = 300
	for _, cars := range []int{30, 60, 150} {
		flow := func(p string) int {
			w := model(t, "traffic", "propagators.0.rule.parameters.p="+p)
			v := slices.Repeat([]float32{-1}, cells)
			for _, cell := range rand.New(rand.NewPCG(1, uint64(cars))).Perm(cells)[:cars] {
				v[cell] = 0
			}
			put(t, w, 0, v)
			steps(t, w, 2000)
			moved := 0
			for range cells {
				steps(t, w, 1)
				seen := 0
				for _, x := range w.Column(0).Float32 {
					if x >= 0 {
						seen++
						moved += int(x)
					}
				}
				if seen != cars {
					t.Fatalf("%d cars of %d", seen, cars)
				}
			}
			return moved
		}
		if got, want := flow("0"), cells*min(5*cars, cells-cars); got != want {
			t.Errorf("%d cars on %d cells moved %d cells in %[2]d ticks, want %d", cars, cells, got, want)
		}
		if got, limit := flow("0.3"), cells*min(5*cars, cells-cars); got >= limit {
			t.Errorf("%d cars that dawdle moved %d cells, want less than %d", cars, got, limit)
		}
	}
}

// topple stabilizes a pile of rows and columns, one cell after another in an order of its own.
func topple(pile []float32, side int, order []int) {
	for again := true; again; {
		again = false
		for _, cell := range order {
			if pile[cell] < 4 {
				continue
			}
			again = true
			pile[cell] -= 4
			row, col := cell/side, cell%side
			for _, n := range [][2]int{{row - 1, col}, {row + 1, col}, {row, col - 1}, {row, col + 1}} {
				if n[0] >= 0 && n[0] < side && n[1] >= 0 && n[1] < side {
					pile[n[0]*side+n[1]]++
				}
			}
		}
	}
}

// settle runs the model of a pile until nothing moves.
func settle(t *testing.T, w *engine.World, pile []float32) []float32 {
	t.Helper()
	put(t, w, 0, pile)
	steps(t, w, 1)
	for slices.ContainsFunc(w.Column(0).Float32, func(v float32) bool { return v >= 4 }) {
		steps(t, w, 1)
	}
	return slices.Clone(w.Column(0).Float32)
}

// TestSandpile: the sandpile is abelian. The stable state does not depend on the order in which cells topple: all at once, as the rule does it, or one by one in
// a random order. The identity of the group of 64×64 cells, stable(2m - stable(2m)) with m full everywhere, changes no recurrent state.
// D. Dhar, Phys. Rev. Lett. 64 (1990) 1613; M. Creutz, Computers in Physics 5 (1991) 198.
func TestSandpile(t *testing.T) {
	const side = 64
	w := model(t, "sandpile", fmt.Sprintf("space.rows=%d", side), fmt.Sprintf("space.cols=%d", side), "fields.sand.initial=0")
	random := rand.New(rand.NewPCG(8, 8))
	pile := make([]float32, side*side)
	for i := range pile {
		pile[i] = float32(random.IntN(9))
	}
	one := slices.Clone(pile)
	topple(one, side, random.Perm(side*side))
	if all := settle(t, w, pile); !slices.Equal(all, one) {
		t.Error("the stable state depends on the order of toppling")
	}
	sixes := slices.Repeat([]float32{6}, side*side)
	rest := settle(t, w, sixes)
	for i := range rest {
		rest[i] = 6 - rest[i]
	}
	identity := settle(t, w, rest)
	recurrent := settle(t, w, slices.Repeat([]float32{3}, side*side)) // full is recurrent
	added := make([]float32, side*side)
	for i := range added {
		added[i] = recurrent[i] + identity[i]
	}
	if got := settle(t, w, added); !slices.Equal(got, recurrent) {
		t.Error("the identity of the group changes a recurrent state")
	}
	for row := range side { // it has the symmetry of the square
		for col := range side {
			if v := identity[row*side+col]; v != identity[col*side+row] || v != identity[(side-1-row)*side+col] {
				t.Fatalf("the identity is not symmetric at %d, %d", row, col)
			}
		}
	}
}

// TestIsing: the magnetisation of Ising's model by heat bath is Onsager's, (1 - sinh(2/T)^-4)^(1/8), below the critical temperature, and vanishes above.
// L. Onsager (1949), C. N. Yang, Phys. Rev. 85 (1952) 808.
func TestIsing(t *testing.T) {
	for _, temperature := range []float64{1.8, 2.0, 2.15, 3} {
		w := model(t, "ising", fmt.Sprintf("parameters.temp=%v", temperature), "space.rows=64", "space.cols=64")
		steps(t, w, 300)
		sum, ticks := 0.0, 600
		for range ticks {
			steps(t, w, 1)
			for _, s := range w.Column(0).Float32 {
				sum += float64(s)
			}
		}
		got, want := sum/float64(ticks*64*64), 0.0
		if temperature < 2/math.Log(1+math.Sqrt2) {
			want = math.Pow(1-math.Pow(math.Sinh(2/temperature), -4), 1.0/8)
		}
		if math.Abs(got-want) > 0.012 {
			t.Errorf("at %v the magnetisation is %.4f, Onsager's %.4f", temperature, got, want)
		}
	}
}

// TestNerve: the wave of FitzHugh and Nagumo's model runs as fast as in a solution of the same equations in float64, written for itself.
func TestNerve(t *testing.T) {
	const rows, cols, dt = 3, 400, 0.05
	w := model(t, "waves", "space={kind: square4, rows: 3, cols: 400}", "tick_rate=20",
		"fields.u.initial=[{fill: -1.2}, {rect: {from: [0, 0], to: [2, 4]}, value: 1.5}]", "fields.v.initial=-0.62")
	u, v := make([]float64, cols), make([]float64, cols)
	for i := range u {
		if u[i], v[i] = -1.2, -0.62; i <= 4 {
			u[i] = 1.5
		}
	}
	front := func(at func(int) float64) (x float64) {
		for i := range cols - 1 {
			if a, b := at(i), at(i+1); a >= 0 && b < 0 {
				x = float64(i) + a/(a-b)
			}
		}
		return x
	}
	var fronts [2][2]float64
	for tick := range 6001 {
		if tick == 2000 || tick == 6000 {
			fronts[tick/6000] = [2]float64{front(func(i int) float64 { return float64(w.Column(0).Float32[cols+i]) }), front(func(i int) float64 { return u[i] })}
		}
		steps(t, w, 1)
		next := slices.Clone(u)
		for i := range u {
			sum := u[max(i-1, 0)] + u[min(i+1, cols-1)] - 2*u[i]
			next[i] += dt * (0.2*sum + u[i] - u[i]*u[i]*u[i]/3 - v[i])
			v[i] += dt * 0.05 * (u[i] + 0.7 - 0.8*v[i])
		}
		u = next
	}
	speed, want := (fronts[1][0]-fronts[0][0])/200, (fronts[1][1]-fronts[0][1])/200
	if !(want > 0.2) || math.Abs(speed-want) > 1e-3 {
		t.Errorf("the wave runs %.4f cells a second, in float64 %.4f", speed, want)
	}
}

// TestRockPaperScissors: in space the three go on side by side; without it, where a cell meets anybody, one of them would win. B. Kerr et al., Nature 418 (2002) 171.
func TestRockPaperScissors(t *testing.T) {
	w := model(t, "rps")
	steps(t, w, 2000)
	var shares [3]int
	for _, v := range w.Column(0).Float32 {
		shares[int(v)]++
	}
	if slices.Min(shares[:]) < 128*128/5 {
		t.Errorf("after 2,000 ticks there are %d", shares)
	}
}

// TestEpidemic: without recovery the infected of the model for certain are those at most n steps away, after n ticks; the mean of many independent pairs is beta.
func TestEpidemic(t *testing.T) {
	w := model(t, "sir", "propagators.epidemic.parameters.beta=1", "propagators.epidemic.parameters.gamma=0")
	steps(t, w, 20)
	infected := 0
	for _, v := range w.Column(0).Float32 {
		infected += int(v)
	}
	if want := 43 * 43; infected != want {
		t.Errorf("%d are infected after 20 ticks, want %d", infected, want)
	}
}

// TestWolfram: each of the 256 rules is as its number says.
func TestWolfram(t *testing.T) {
	for number := range 256 {
		w := model(t, "wolfram", fmt.Sprintf("propagators.0.rule.parameters.number=%d", number), "space.length=41", "fields.cell.initial={choice: {values: [0, 1]}}", fmt.Sprintf("seed=%d", number))
		for range 20 {
			was := slices.Clone(w.Column(0).Float32)
			steps(t, w, 1)
			for i, v := range w.Column(0).Float32 {
				pattern := 4*int(was[(i+40)%41]) + 2*int(was[i]) + int(was[(i+1)%41])
				if int(v) != number>>pattern&1 {
					t.Fatalf("rule %d, pattern %d: %v", number, pattern, v)
				}
			}
		}
	}
}

// TestSameAsBuiltIn: what a built-in propagator does, formulas do with the same bits, on all lattices.
func TestSameAsBuiltIn(t *testing.T) {
	for _, tt := range []struct{ name, fields, built, rule string }{
		{"life", "{name: a, type: categorical, values: [dead, alive], initial: {choice: {values: [dead, alive]}}}", "{automaton: {field: a, rule: B3/S23}}",
			`{rule: {let: {n: count(a == alive)}, set: {a: if n == 3 or n == 2 and a == alive then alive else dead}}}`},
		{"diffusion", "{name: a, initial: {noise: {from: -3, to: 900}}}", "{diffusion: {field: a, rate: 0.7}}",
			`{rule: {parameters: {rate: 0.7}, set: {a: a + rate * dt * (sum(a) - degree * a)}}}`},
		{"wave", "{name: a, initial: {noise: {from: -3, to: 3}}}, {name: b, initial: {noise: {from: -1, to: 1}}}", "{wave: {displacement: a, velocity: b, speed: 1.3, damping: 0.1}}",
			`{rule: {parameters: {speed: 1.3, damping: 0.1}, let: {v: "b + (speed * speed * ((if degree > 0 then mean(a else 0) - a else 0)) - damping * b) * dt"}, set: {a: a + v * dt, b: v}}}`},
		{"gray_scott", "{name: a, initial: {noise: {from: 0, to: 1}}}, {name: b, initial: {noise: {from: 0, to: 0.5}}}",
			"{gray_scott: {u: a, v: b, diff_u: 0.16, diff_v: 0.08, feed: 0.035, kill: 0.06}}",
			`{rule: {parameters: {du: 0.16, dv: 0.08, feed: 0.035, kill: 0.06}, set: {a: "a + du * dt * (sum(a) - degree * a) - dt * (a * (b * b)) + feed * dt * (1 - a)", b: "b + dv * dt * (sum(b) - degree * b) + dt * (a * (b * b)) - (feed + kill) * dt * b"}}}`},
	} {
		for _, where := range []string{"{kind: square4, rows: 9, cols: 11}", "{kind: square8, rows: 7, cols: 9, edge: wrap}", "{kind: hex, rows: 6, cols: 8, edge: clamp}", "{kind: ring, length: 13}", "{kind: fcc12, w: 4, h: 4, d: 4, edge: wrap}", "{kind: line, length: 1}"} {
			if strings.Contains(where, "length") && tt.name == "life" {
				continue // which has no cells with three neighbours
			}
			world := func(rule string) *engine.World {
				text := fmt.Sprintf("murksim: 1\nname: same\nseed: 5\ntick_rate: 10\nspace: %s\nfields: [%s]\npropagators: [%s]\n", where, tt.fields, rule)
				s, err := scenariotest.Parse("same.yaml", text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				w, err := s.World(1)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				return w
			}
			a, b := world(tt.built), world(tt.rule)
			for tick := range 20 {
				steps(t, a, 1)
				steps(t, b, 1)
				if a.FieldHash(0) != b.FieldHash(0) {
					t.Errorf("%s on %s: tick %d differs", tt.name, where, tick+1)
					break
				}
			}
		}
	}
}

// TestModels: each model is short, and runs to its end; its recording is one of its descriptor.
func TestModels(t *testing.T) {
	list, err := filepath.Glob(models + "/*.yaml")
	if err != nil || len(list) < 7 {
		t.Fatalf("%d models, %v", len(list), err)
	}
	for _, file := range list {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rules, _ := strings.Cut(string(b), "\npropagators:\n")
		if n := strings.Count(rules, "\n"); n > 20 {
			t.Errorf("%s: its rules take %d lines, want 20 at most", file, n)
		}
		s, err := scenariotest.Parse(filepath.Base(file), string(b))
		if err != nil {
			t.Error(err)
			continue
		}
		if w := s.Warnings(); len(w) > 0 {
			t.Error(w[0])
		}
		again, err := scenariotest.FromDescriptor(s.Descriptor())
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		one, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		two, err := again.World(2)
		if err != nil {
			t.Fatal(err)
		}
		steps(t, one, 50)
		steps(t, two, 50)
		if one.Hash() != two.Hash() {
			t.Errorf("%s: its descriptor is of another world", file)
		}
	}
}
