package worlds_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// agents builds the world of a model whose entities have rules, with values replaced.
func agents(t *testing.T, name string, sets ...string) *engine.World {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples/agents", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return worldOf(t, string(text), sets...)
}

// worldOf builds the world of a scenario, from what a recording of it would hold.
func worldOf(t testing.TB, text string, sets ...string) *engine.World {
	t.Helper()
	s, err := scenariotest.Parse("a.yaml", text, sets...)
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenariotest.FromDescriptor(s.Descriptor())
	if err != nil {
		t.Fatalf("%s: %v", s.Descriptor(), err)
	}
	w, err := again.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.CommandsAt(1) {
		if _, err := w.Submit(c); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// TestAnt holds the ant against one that is written out, and that it has begun its highway: in 104 steps it goes on by two cells along both axes.
func TestAnt(t *testing.T) {
	const n = 128
	w := agents(t, "ant")
	var black [n][n]bool
	row, col, way := 64, 64, 0
	var places [][2]int
	for tick := range 11000 {
		if black[row][col] {
			way += 3
		} else {
			way++
		}
		black[row][col] = !black[row][col]
		switch way %= 4; way {
		case 0:
			row--
		case 1:
			col++
		case 2:
			row++
		case 3:
			col--
		}
		row, col = (row+n)%n, (col+n)%n
		places = append(places, [2]int{row, col})
		if steps(t, w, 1); int(w.Entities().Cell[0]) != row*n+col {
			t.Fatalf("tick %d: the ant is on cell %d, want [%d, %d]", tick+1, w.Entities().Cell[0], row, col)
		}
	}
	for rank, v := range w.Column(0).Float32 {
		if (v == 1) != black[rank/n][rank%n] {
			t.Fatalf("cell %d is %v", rank, v)
		}
	}
	for i := range 200 {
		now, before := places[len(places)-1-i], places[len(places)-105-i]
		dr, dc := (now[0]-before[0]+n)%n, (now[1]-before[1]+n)%n
		if (dr != 2 && dr != n-2) || (dc != 2 && dc != n-2) {
			t.Fatalf("in 104 steps it goes from %v to %v", before, now)
		}
	}
}

// TestWalkers: the mean square distance of a random walk is the number of its steps.
func TestWalkers(t *testing.T) {
	const walkers, ticks = 4000, 100
	w := worldOf(t, fmt.Sprintf(`murksim: 1
name: walk
ticks: 100
space: {kind: square4, rows: 401, cols: 401, edge: wrap}
fields: [{name: heat}]
entities: {capacity: %d, kinds: [walker], spawn: [{kind: walker, count: %[1]d, rect: {from: [200, 200], to: [200, 200]}}]}
systems:
  - rule: {for: walker, order: id, do: [{move: any}]}
`, walkers))
	steps(t, w, ticks)
	sum := 0.0
	for _, id := range w.Entities().Live() {
		slot, _ := w.Slot(id)
		c := w.Lattice().Coord(int(w.Entities().Cell[slot]))
		row, col := float64(c.At(0)-200), float64(c.At(1)-200)
		sum += float64(row*row) + float64(col*col)
	}
	if mean := sum / walkers; math.Abs(mean-ticks) > 5 { // three standard deviations
		t.Errorf("mean square distance %v after %d steps", mean, ticks)
	}
}

// TestSegregation: people who want 30 % of their kind beside them end up with more than 70 %, and are content.
func TestSegregation(t *testing.T) {
	w := agents(t, "segregation")
	mean := func() (sum float64) {
		for slot := range w.Entities().Live() {
			sum += float64(w.Column(0).Float32[slot])
		}
		return sum / float64(w.Population())
	}
	steps(t, w, 1)
	first := mean()
	if steps(t, w, 59); first < 0.45 || first > 0.65 || mean() < 0.7 || mean() > 0.8 {
		t.Errorf("a share of %v at first, %v in the end", first, mean())
	}
	for slot, id := range w.Entities().Live() {
		if like := w.Column(0).Float32[slot]; like < 0.3 {
			t.Errorf("%d has %v of its kind beside it", id, like)
		}
	}
}

// TestCrystal: the ice is one piece that grows, and no walker stands on it but those that have just frozen.
func TestCrystal(t *testing.T) {
	w := agents(t, "crystal")
	steps(t, w, 500)
	ice := w.Column(0).Float32
	seen, todo, solid := map[int32]bool{50*101 + 50: true}, []int32{50*101 + 50}, 0
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		for _, to := range w.Lattice().AppendNeighbours(nil, int(at)) {
			if ice[to] == 1 && !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
	for _, v := range ice {
		solid += int(v)
	}
	if len(seen) != solid || solid < 15 {
		t.Errorf("%d cells of ice, %d of them in one piece", solid, len(seen))
	}
}

// TestPeople: nobody is born, dies or becomes well again, and who was ill is immune in the end.
func TestPeople(t *testing.T) {
	w := agents(t, "people")
	before := 505
	for range 200 {
		steps(t, w, 1)
		count := map[float32]int{}
		for slot := range w.Entities().Live() {
			count[w.Column(0).Float32[slot]]++
		}
		if w.Population() != 505 || count[0] > before {
			t.Fatalf("tick %d: %d people, %d of them well, before %d", w.Tick(), w.Population(), count[0], before)
		}
		before = count[0]
	}
	if before < 20 || before > 450 {
		t.Errorf("%d are well in the end", before)
	}
}

// TestWolves: sheep and wolves live on together.
func TestWolves(t *testing.T) {
	w := agents(t, "wolves")
	steps(t, w, 500)
	if sheep, wolves := len(w.AppendKind(nil, 0)), len(w.AppendKind(nil, 1)); sheep < 10 || sheep > 300 || wolves < 5 || wolves > 200 {
		t.Errorf("%d sheep and %d wolves", sheep, wolves)
	}
}

// TestTake: what is taken and given stays the same in every bit, also where there is less than is asked for.
func TestTake(t *testing.T) {
	w := worldOf(t, `murksim: 1
name: take
ticks: 50
seed: 9
space: {kind: square8, rows: 8, cols: 8, edge: wrap}
fields:
  - {name: gold, element: fixed, initial: 3.25}
  - {name: purse, domain: entities, element: fixed, initial: 1}
entities: {capacity: 50, kinds: [thief], spawn: [{kind: thief, count: 50}]}
systems:
  - rule:
      for: thief
      order: random
      do:
        - {move: any}
        - {name: dig, chance: 0.5, take: {from: here.gold, to: purse, amount: 0.7}}
        - {name: rob, with: {one: kin, at: around}, take: {from: other.purse, to: purse, amount: other.purse / 3}}
        - {name: lose, chance: 0.1, take: {from: purse, to: here.gold, amount: 100}}
`)
	total := func() (sum int64) {
		for id := range fields.ID(2) {
			for _, v := range w.Column(id).Fixed {
				sum += v
			}
		}
		return sum
	}
	steps(t, w, 1)
	before := total()
	steps(t, w, 49)
	if total() != before {
		t.Errorf("%d in all, before %d", total(), before)
	}
}

// TestEntityDraws: an item more, an entity more or a rule more changes no other draw.
func TestEntityDraws(t *testing.T) {
	const text = `murksim: 1
name: draws
ticks: 3
space: {kind: square8, rows: 20, cols: 20, edge: wrap}
fields:
  - {name: a, domain: entities}
  - {name: b, domain: entities}
entities: {capacity: 50, kinds: [one, two], spawn: [{kind: one, count: 20}]}
systems:
  - rule: {for: one, order: random, do: [{name: draw, set: {a: "a + uniform(0, 1)"}}]}
`
	values := func(text string) (all string) {
		w := worldOf(t, text)
		steps(t, w, 3)
		for slot, id := range w.Entities().Live() {
			if id&(1<<20-1) <= 20 {
				all += fmt.Sprintf("%d %08x\n", id, math.Float32bits(w.Column(0).Float32[slot]))
			}
		}
		return all
	}
	want := values(text)
	for _, change := range [][2]string{
		{"do: [{name", "do: [{name: more, chance: 0.5, set: {b: normal()}}, {name"}, {"{kind: one, count: 20}", "{kind: one, count: 20}, {kind: one, count: 7}"},
		{"systems:\n", "systems:\n  - rule: {for: two, order: id, do: [{chance: 0.1, move: any}]}\n"}, {`set: {a: `, `set: {b: "b + uniform(0, 1)", a: `}, {"do: [{name", "let: {luck: normal()}, do: [{name: more, when: luck > 0, set: {b: 1}}, {name"},
	} {
		if got := values(strings.Replace(text, change[0], change[1], 1)); got != want {
			t.Errorf("with %s:\n%s\nwant\n%s", change[1], got, want)
		}
	}
	if got := values(strings.Replace(text, "{name: draw", "{name: drew", 1)); got == want {
		t.Error("an item with another name draws the same")
	}
}
