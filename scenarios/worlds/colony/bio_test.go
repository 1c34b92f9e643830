package colony_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/space"
)

// TestColonyHormones holds that each hormone, whatever it was, goes the documented part
// of the way to its documented goal, and ends between 0 and 100: 3,000 conditions, with
// levels far out of range among them.
func TestColonyHormones(t *testing.T) {
	p := settle(t, 2)
	words := rng.Seed(1).Tick(1).Stream("test", 0).Bulk()
	for n := range uint64(3000) {
		w := words.Words(n)
		percent := func() float64 { return float64(w.Below(1601)) / 16 }
		s := state{hunger: percent(), fatigue: percent(), age: 1 + float64(w.Below(1000)), busy: 2, hormones: map[int]float64{}}
		for i := range 8 {
			s.hormones[i] = percent()
			if w.Below(4) == 0 {
				s.hormones[i] = float64(int(w.Below(1<<23)) - 1<<22)
			}
		}
		company := w.Below(2) == 0
		companion := space.At(12, 12)
		if company {
			companion = space.At(3, 3)
		}
		p.be(1, state{busy: 9})
		p.submit(commands.Move(p.id(1), companion))
		p.be(0, s)
		p.step(1)
		for i, goal := range goals(p, company, s.hormones[cortisol]) {
			was := clamp(s.hormones[i])
			want := was + (goal-was)/16
			if i == oxytocin {
				want = was + (goal-was)/128
			}
			if got := p.of(0, "hormones", i); math.Abs(got-want) > 3.0/65536 || got < 0 || got > 100 {
				t.Fatalf("tick %d: hormone %d goes from %v to %v, want %v, for a goal of %v", p.w.Tick(), i, s.hormones[i], got, want, goal)
			}
		}
	}
}

func clamp(v float64) float64 { return min(max(v, 0), 100) }

// goals are where COLONY.md says that the hormones of the first colonist belong.
func goals(p *people, company bool, cortisolLevel float64) [8]float64 {
	hunger, fatigue, age := p.of(0, "hunger", 0), p.of(0, "fatigue", 0), p.of(0, "age", 0)
	g := [8]float64{cortisol: max(hunger, fatigue), dopamine: 50 - fatigue/4, testosterone: 10, estrogen: 10, insulin: 30 - hunger/4, thyroid: 60 - fatigue/4}
	if company {
		g[oxytocin] = 20
	}
	if p.w.Tick()%240 >= 160 {
		g[melatonin] = 80
	}
	if age >= 240 {
		wave := math.Floor(math.Mod(age, 720) / 12)
		g[testosterone] = 60 - clamp(cortisolLevel)/4
		g[estrogen] = 30 + math.Abs(wave-30) - clamp(cortisolLevel)/4
	}
	return g
}

// TestColonyDay holds that melatonin rises in the last third of each day only.
func TestColonyDay(t *testing.T) {
	p := settle(t, 1)
	for p.w.Tick() < 480 {
		was := p.of(0, "hormones", melatonin)
		p.set(0, "hunger", 0, 0)
		p.set(0, "fatigue", 0, 0)
		p.step(1)
		night, level := p.w.Tick()%240 >= 160, p.of(0, "hormones", melatonin)
		if night && level <= was && level < 79 || !night && level > was {
			t.Fatalf("tick %d: melatonin goes from %v to %v, with night %v", p.w.Tick(), was, level, night)
		}
	}
}

// TestColonyWear holds what a tick does to a body, awake, asleep and asleep behind a wall.
func TestColonyWear(t *testing.T) {
	for _, tt := range []struct {
		action, wall, thyroid   float64
		hunger, fatigue, energy float64 // how they change
	}{
		{idle, 0, 50, 0.25, 0.25, 1.0 / 16},
		{idle, 1, 50, 0.25, 0.25, 1.0 / 16},
		{idle, 0, 0, 0.125, 0.25, 1.0 / 16},
		{idle, 0, 100, 0.375, 0.25, 1.0 / 16},
		{sleep, 0, 50, 0.125, -1, 0.5},
		{sleep, 1, 50, 0.125, -1.5, 0.75},
	} {
		p := settle(t, 1)
		p.be(0, state{hunger: 50, fatigue: 50, less: 50, busy: 9, hormones: map[int]float64{thyroid: tt.thyroid}})
		p.set(0, "action", 0, tt.action)
		p.land(3, 3, "built", tt.wall)
		p.step(1)
		name := fmt.Sprintf("action %v, wall %v, thyroid %v: ", tt.action, tt.wall, tt.thyroid)
		near(t, name+"hunger", p.of(0, "hunger", 0), 50+tt.hunger)
		near(t, name+"fatigue", p.of(0, "fatigue", 0), 50+tt.fatigue)
		near(t, name+"energy", p.of(0, "energy", 0), 50+tt.energy)
		near(t, name+"age", p.of(0, "age", 0), 1001)
	}
}

// TestColonyHealth holds how health changes, how the old lose their strength, and how
// lives end.
func TestColonyHealth(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		hunger, fatigue, age float64
		was, health, most    float64 // most: energy
	}{
		{"well", 0, 0, 1000, 50, 50.125, 100},
		{"hungry", 100, 0, 1000, 50, 49, 100},
		{"nearly hungry", 99, 0, 1000, 50, 50.125, 100},
		{"tired", 0, 100, 1000, 50, 49.9375, 100},
		{"both", 100, 100, 1000, 50, 49, 100},
		{"at the end of life", 0, 0, 2399, 50, 50.125, 100},
		{"old", 0, 0, 2499, 50, 50.125, 50},
		{"very old", 0, 0, 2699, 50, 50.125, 0},
	} {
		p := settle(t, 1)
		p.be(0, state{hunger: tt.hunger, fatigue: tt.fatigue, age: tt.age, busy: 9})
		p.set(0, "health", 0, tt.was)
		p.step(1)
		near(t, tt.name+": health", p.of(0, "health", 0), tt.health)
		near(t, tt.name+": energy", p.of(0, "energy", 0), tt.most)
	}
}

// TestColonyDeaths holds what counts as a starvation and what as another death, and
// that the dead are gone a tick later.
func TestColonyDeaths(t *testing.T) {
	const starved, aged = 1, 2
	for _, tt := range []struct {
		hunger, fatigue, health float64
		counts                  [3]float64
	}{
		{100, 0, 1, [3]float64{starved: 1}},
		{100, 0, 1.0625, [3]float64{}},
		{0, 100, 0.0625, [3]float64{aged: 1}},
		{100, 100, 0.5, [3]float64{starved: 1}},
	} {
		p := settle(t, 1)
		p.be(0, state{hunger: tt.hunger, fatigue: tt.fatigue, busy: 9})
		p.set(0, "health", 0, tt.health)
		p.step(1)
		for i, want := range tt.counts {
			if got := p.ground(3, 3, "lives", i); got != want {
				t.Errorf("health %v, hunger %v: end %d is counted %v times, want %v", tt.health, tt.hunger, i, got, want)
			}
		}
		if p.w.Population() != 1 {
			t.Errorf("%d live in the tick of the death, want 1", p.w.Population())
		}
		p.step(1)
		if got, want := p.w.Population(), 1-int(tt.counts[starved]+tt.counts[aged]); got != want {
			t.Errorf("health %v, hunger %v: %d live a tick later, want %d", tt.health, tt.hunger, got, want)
		}
	}
}

// TestColonyAges holds that the old die at one in 300 a tick: of 600, in 208 ticks, half
// of them, give or take four standard deviations.
func TestColonyAges(t *testing.T) {
	const people, half = 600, 208
	w := scenariotest.Run(t, "colony", half, append(barren, "entities.spawn=[{kind: colonist, count: 600, set: {age: 2400, busy: 9999}}]")...)
	if got := w.Population(); got < people/2-49 || got > people/2+49 {
		t.Errorf("%d of %d live after %d ticks, want about half", got, people, half)
	}
}

// TestColonyBirths holds who has a child: two who are grown up, fed, strong, near each
// other and with food, and not crowded. What is off by a little stops it.
func TestColonyBirths(t *testing.T) {
	for _, tt := range []struct {
		name   string
		people int
		change func(p *people)
		want   int // births in a tick
	}{
		{"fit", 2, func(*people) {}, 1},
		{"hungry", 2, func(p *people) { p.set(1, "hunger", 0, 50.0625) }, 0},
		{"fed enough", 2, func(p *people) { p.set(1, "hunger", 0, 50) }, 1},
		{"weak", 2, func(p *people) { p.set(1, "energy", 0, 39.875) }, 0},
		{"strong enough", 2, func(p *people) { p.set(1, "energy", 0, 40) }, 1},
		{"ill", 2, func(p *people) { p.set(1, "health", 0, 39.75) }, 0},
		{"young", 2, func(p *people) { p.set(1, "age", 0, 238) }, 0},
		{"just grown up", 2, func(p *people) { p.set(1, "age", 0, 240) }, 1},
		{"without food", 2, func(p *people) { p.set(1, "carried", 0, 0.5) }, 0},
		{"three cells away", 2, func(p *people) { p.submit(commands.Move(p.id(1), space.At(3, 6))) }, 1},
		{"four cells away", 2, func(p *people) { p.submit(commands.Move(p.id(1), space.At(3, 7))) }, 0},
		{"four live here", 4, func(*people) {}, 1},
		{"five live here", 5, func(*people) {}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := settle(t, tt.people, "systems.bio.young=1")
			for slot := range tt.people {
				p.submit(commands.Move(p.id(slot), space.At(3, 3)))
				s := state{hunger: 10, less: 50, food: 1, busy: 9}
				if slot > 1 {
					s.food = 0 // in the way, but not fit
				}
				p.be(slot, s)
			}
			tt.change(p)
			p.step(1)
			energy, mate := p.of(0, "energy", 0), p.of(1, "energy", 0)
			p.step(1)
			if got := p.w.Population() - tt.people; got != tt.want {
				t.Fatalf("%d are born, want %d", got, tt.want)
			}
			if tt.want == 0 {
				return
			}
			near(t, "energy of the mother", energy, 50+1.0/16-20)
			if mate >= 40 {
				t.Errorf("energy of the father is %v, want 20 less", mate)
			}
			child := tt.people
			for name, want := range map[string]float64{"mother": 0, "father": 1, "age": 1, "entity.kind": 0} {
				if got := p.of(child, name, 0); got != want {
					t.Errorf("the child's %s is %v, want %v", name, got, want)
				}
			}
			if got := p.of(child, "hunger", 0); got < 20 || got > 21 {
				t.Errorf("the child's hunger is %v, want 20 and a tick's", got)
			}
			at := int(p.of(child, "entity.cell", 0)) // a step from its mother at most
			if row, col := at/landSide, at%landSide; row < 2 || row > 4 || col < 2 || col > 4 {
				t.Errorf("the child is on [%d, %d], want it near [3, 3]", row, col)
			} else if got := p.ground(row, col, "lives", 0); got != 1 {
				t.Errorf("%v births are counted, want 1", got)
			}
		})
	}
}

// TestColonyFull holds that a pair pays for no child where the capacity has no room for one.
func TestColonyFull(t *testing.T) {
	p := settle(t, 2, "systems.bio.young=1", "entities.capacity=2")
	for slot := range 2 {
		p.submit(commands.Move(p.id(slot), space.At(3, 3)))
		p.be(slot, state{hunger: 10, less: 50, food: 1, busy: 9})
	}
	p.step(1)
	near(t, "energy of the first", p.of(0, "energy", 0), 50+1.0/16)
	near(t, "energy of the other", p.of(1, "energy", 0), 50+1.0/16)
}

// TestColonyOccupancy holds that a colony, whose people share cells, is not built where the
// number on a cell is limited.
func TestColonyOccupancy(t *testing.T) {
	s, err := scenariotest.Open("colony", "entities.occupancy=4")
	if err == nil {
		_, err = s.World(1)
	}
	if err == nil || !strings.Contains(err.Error(), "colony_ai \"ai\": people stand on a cell in any number; the entities must have no occupancy, not 4") {
		t.Errorf("a colony with an occupancy of 4: %v, want it refused", err)
	}
}

// TestColonyGrows holds how fast things come and go: of 4,096 cells in 80 ticks as many
// as the parameters say, give or take five standard deviations.
func TestColonyGrows(t *testing.T) {
	const cells, ticks = 64 * 64, 80
	w := scenariotest.Run(t, "colony", ticks, "expect=[]", "entities.spawn=[]", "fields.height.initial=4", "fields.food.initial=0", "fields.wood.initial=0",
		"fields.stone.initial=0", "fields.built.initial=1", "systems.terrain={food: 800, wood: 400, stone: 600, crumble: 160}")
	for name, every := range map[string]float64{"food": 800 / 4, "wood": 400, "stone": 600 * 8 / 6} {
		want := cells * ticks / every
		if got := sum(w, scenariotest.Column(t, w, name)); math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("%v of %s have grown, want about %v", got, name, want)
		}
	}
	want := cells * math.Pow(1-8.0/160, ticks/8)
	if got := sum(w, scenariotest.Column(t, w, "built")); math.Abs(got-want) > 5*math.Sqrt(cells)/2 {
		t.Errorf("%v of %d walls stand, want about %v", got, cells, want)
	}
	full := scenariotest.Run(t, "colony", 400, "expect=[]", "entities.spawn=[]", "systems.terrain={food: 1, wood: 1, stone: 1}")
	for _, name := range []string{"food", "wood", "stone"} {
		for cell := range cells {
			if v := full.Value(scenariotest.Column(t, full, name), cell); v > 5 || name == "food" && v > 3 {
				t.Fatalf("%v of %s on a cell, want 3 at most", v, name)
			}
		}
	}
}
