package colony_test

import (
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/space"
)

// TestColonyCosts holds what each action costs in energy at its start, and how many
// ticks it takes.
func TestColonyCosts(t *testing.T) {
	p := settle(t, 2)
	p.waits(1)
	for _, tt := range []struct {
		action      float64
		state       state
		food, stone float64 // here
		cost, ticks float64
	}{
		{action: idle, state: state{food: 1, hormones: map[int]float64{dopamine: 90}}, cost: 0, ticks: 6},
		{action: eat, state: state{food: 1, hunger: 50}, cost: 0, ticks: 4},
		{action: sleep, state: state{fatigue: 90}, cost: 0, ticks: 24},
		{action: gather, state: state{}, food: 1, cost: 2, ticks: 5},
		{action: craft, state: state{food: 1, wood: 1, stone: 1}, cost: 5, ticks: 10},
		{action: mine, state: state{food: 1}, stone: 1, cost: 8, ticks: 16},
		{action: mine, state: state{food: 1, tool: 1}, stone: 1, cost: 8, ticks: 8},
		{action: build, state: state{food: 1, wood: 2, stone: 2, tool: 1}, cost: 10, ticks: 30},
		{action: speak, state: state{food: 1, hormones: map[int]float64{oxytocin: 0}}, cost: 1, ticks: 4},
	} {
		p.land(3, 3, "food", tt.food)
		p.land(3, 3, "stone", tt.stone)
		companion := space.At(12, 12)
		if tt.action == speak {
			companion = space.At(4, 4)
		}
		p.submit(commands.Move(p.id(1), companion))
		tt.state.less = 30
		if got, _ := p.decides(tt.state); got != tt.action {
			t.Errorf("it does %v, the test wants %v", got, tt.action)
			continue
		}
		rest := 1.0 / 16
		if tt.action == sleep {
			rest = 1.0 / 2
		}
		near(t, "energy", p.of(0, "energy", 0), 70-tt.cost+rest)
		if got := p.of(0, "busy", 0) + 1; got != tt.ticks {
			t.Errorf("action %v takes %v ticks, want %v", tt.action, got, tt.ticks)
		}
	}
}

// TestColonyWorks runs each action to its end, and holds what it gives and takes: of
// what is carried and of what lies on the ground.
func TestColonyWorks(t *testing.T) {
	type amounts [4]float64 // food, wood, stone, tool
	for _, tt := range []struct {
		name          string
		state         state
		ground        [3]float64 // food, wood, stone
		ticks         int
		carried       amounts
		left          [3]float64
		dug, dopamine float64
	}{
		{"gathers two of three", state{food: 1}, [3]float64{3, 0, 0}, 5, amounts{3, 0, 0, 0}, [3]float64{1, 0, 0}, 0, 0},
		{"gathers what there is", state{food: 1}, [3]float64{1.5, 0, 0}, 5, amounts{2, 0, 0, 0}, [3]float64{0.5, 0, 0}, 0, 0},
		{"gathers no more than fits", state{food: 1, wood: 0, hunger: 0}, [3]float64{2, 0, 0}, 5, amounts{3, 0, 0, 0}, [3]float64{0, 0, 0}, 0, 0},
		{"cuts wood", state{food: 1}, [3]float64{0, 3, 0}, 5, amounts{1, 2, 0, 0}, [3]float64{0, 1, 0}, 0, 0},
		{"cuts wood with a tool", state{food: 1, tool: 3}, [3]float64{0, 3, 0}, 5, amounts{1, 2, 0, 2}, [3]float64{0, 1, 0}, 0, 0},
		{"berries wear no tool", state{food: 1, tool: 3}, [3]float64{3, 0, 0}, 5, amounts{3, 0, 0, 3}, [3]float64{1, 0, 0}, 0, 0},
		{"mines", state{food: 1}, [3]float64{0, 0, 3}, 16, amounts{1, 0, 2, 0}, [3]float64{0, 0, 1}, 0.125, 0},
		{"mines with a tool", state{food: 1, tool: 1}, [3]float64{0, 0, 3}, 8, amounts{1, 0, 2, 0}, [3]float64{0, 0, 1}, 0.125, 0},
		{"makes a tool", state{food: 1, wood: 1, stone: 1}, [3]float64{}, 10, amounts{1, 0, 0, 6}, [3]float64{}, 0, 30},
		{"builds", state{food: 1, wood: 3, stone: 2, tool: 1}, [3]float64{}, 30, amounts{1, 1, 0, 1}, [3]float64{}, 0, 40},
		{"eats", state{food: 2, hunger: 80}, [3]float64{}, 4, amounts{1, 0, 0, 0}, [3]float64{}, 0, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := settle(t, 1)
			for i, name := range []string{"food", "wood", "stone"} {
				p.land(3, 3, name, tt.ground[i])
			}
			p.decides(tt.state)
			p.step(tt.ticks - 2)
			before := p.of(0, "hormones", dopamine)
			p.step(1)
			for i := range 4 {
				if got := p.of(0, "carried", i); got != tt.carried[i] {
					t.Errorf("it carries %v of good %d, want %v", got, i, tt.carried[i])
				}
			}
			for i, name := range []string{"food", "wood", "stone"} {
				if got := p.ground(3, 3, name, 0); got != tt.left[i] {
					t.Errorf("%v of %s is left, want %v", got, name, tt.left[i])
				}
			}
			if got := p.ground(3, 3, "dug", 0); got != tt.dug {
				t.Errorf("the ground is dug %v deep, want %v", got, tt.dug)
			}
			level := before + tt.dopamine // and a sixteenth of the way to its goal
			near(t, "dopamine", p.of(0, "hormones", dopamine), level+(50-p.of(0, "fatigue", 0)/4-level)/16)
		})
	}
}

// TestColonyEats holds what a meal does to hunger, energy and insulin.
func TestColonyEats(t *testing.T) {
	p := settle(t, 1)
	p.decides(state{food: 1, hunger: 80, less: 50})
	p.step(2)
	hunger, energy, level := p.of(0, "hunger", 0), p.of(0, "energy", 0), p.of(0, "hormones", insulin)
	p.set(0, "hormones", thyroid, 50)
	p.step(1)
	near(t, "hunger", p.of(0, "hunger", 0), hunger-40+0.25)
	near(t, "energy", p.of(0, "energy", 0), energy+15+1.0/16)
	near(t, "insulin", p.of(0, "hormones", insulin), level+40+(30-p.of(0, "hunger", 0)/4-level-40)/16)
}

// TestColonySpeaks holds what talking does to oxytocin, for who talks.
func TestColonySpeaks(t *testing.T) {
	p := settle(t, 2)
	p.waits(1)
	p.submit(commands.Move(p.id(1), space.At(3, 4)))
	if does, _ := p.decides(state{food: 1, hormones: map[int]float64{oxytocin: 0, dopamine: 50}}); does != speak {
		t.Fatalf("it does %v, the test wants it to speak", does)
	}
	p.step(2)
	level := p.of(0, "hormones", oxytocin)
	p.step(1)
	near(t, "oxytocin", p.of(0, "hormones", oxytocin), level+40-(level+40)/128)
}

// TestColonyFoundsWall holds that a wall is an event: it stands when the work would be
// done, not earlier, and whatever becomes of the builder.
func TestColonyFoundsWall(t *testing.T) {
	p := settle(t, 1)
	if does, _ := p.decides(state{food: 1, wood: 2, stone: 2, tool: 1}); does != build || p.of(0, "carried", 1) != 0 || p.of(0, "carried", 2) != 0 {
		t.Fatalf("it does %v with %v wood and %v stone left, want it to build with none", does, p.of(0, "carried", 1), p.of(0, "carried", 2))
	}
	p.submit(commands.Despawn(p.id(0)))
	p.step(29)
	if got := p.ground(3, 3, "built", 0); got != 0 {
		t.Errorf("29 ticks later the wall stands: %v", got)
	}
	p.step(1)
	if got := p.ground(3, 3, "built", 0); got != 1 {
		t.Errorf("30 ticks later the wall is %v, want 1", got)
	}
}

// TestColonyEdits holds that digging and building change columns of their own: the
// height of the land stays, and bodies stand on the sum.
func TestColonyEdits(t *testing.T) {
	p := settle(t, 1)
	height := p.w.FieldHash(scenariotest.Column(t, p.w, "height"))
	p.land(3, 3, "dug", 3.9375)
	p.land(3, 3, "built", 1)
	p.land(3, 3, "stone", 1)
	p.decides(state{food: 1})
	p.step(15)
	if got := p.ground(3, 3, "dug", 0); got != 4 {
		t.Errorf("the ground is dug %v deep, want 4 and no deeper", got)
	}
	p.waits(0)
	p.step(20)
	if got := p.of(0, "altitude", 0); got != 5-4+1 {
		t.Errorf("a body stands at %v, want 2", got)
	}
	if got := p.w.FieldHash(scenariotest.Column(t, p.w, "height")); got != height {
		t.Errorf("the height of the land hashes to %016x, want %016x as at the start", got, height)
	}
}

// TestColonyWalks holds that a walk goes one cell a tick, straight, with the velocity
// that it says, and ends where it should.
func TestColonyWalks(t *testing.T) {
	p := settle(t, 1)
	p.land(6, 1, "food", 1)
	if does, _ := p.decides(state{hunger: 60}); does != walk {
		t.Fatalf("it does %v, the test wants it to walk", does)
	}
	for _, want := range [][3]float64{{4*landSide + 2, 1, -1}, {5*landSide + 1, 1, -1}, {6*landSide + 1, 1, 0}} {
		got := [3]float64{p.of(0, "entity.cell", 0), p.of(0, "velocity", 0), p.of(0, "velocity", 1)}
		if got != want {
			t.Errorf("cell and velocity are %v, want %v", got, want)
		}
		p.step(1)
	}
	if v := p.of(0, "velocity", 0); p.of(0, "action", 0) != gather || v != 0 {
		t.Errorf("after the walk it does %v at velocity %v, want it to gather at 0", p.of(0, "action", 0), v)
	}
}
