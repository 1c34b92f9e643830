package colony_test

import (
	"fmt"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// TestColonyDecides holds each score against the one that beats it and the one that it
// beats: a situation on either side of every bound.
func TestColonyDecides(t *testing.T) {
	type levels = map[int]float64
	p := settle(t, 2)
	for _, tt := range []struct {
		name           string
		state          state
		food, wood     float64 // here
		stone, wall    float64
		company        bool
		action, reason float64
	}{
		{name: "well", action: walk, reason: curious},
		{name: "much dopamine", state: state{food: 1, hormones: levels{dopamine: 65}}, action: idle, reason: content},
		{name: "energy 45", state: state{food: 1, less: 55}, action: idle, reason: content},
		{name: "energy 47", state: state{food: 1, less: 53}, action: walk, reason: curious},
		{name: "hunger 19", state: state{food: 1, hunger: 19}, action: walk, reason: curious},
		{name: "hunger 20", state: state{food: 1, hunger: 20}, action: eat, reason: hungry},
		{name: "hunger 20 without food", state: state{hunger: 20}, action: walk, reason: needsFood},
		{name: "hunger 12 without food", state: state{hunger: 12}, action: walk, reason: needsFood},
		{name: "hunger 9 without food", state: state{hunger: 9}, action: walk, reason: curious},
		{name: "hunger 30 without food, fatigue 29", state: state{hunger: 30, fatigue: 29}, action: sleep, reason: tired},
		{name: "hunger 30 without food, fatigue 27", state: state{hunger: 30, fatigue: 27}, action: walk, reason: needsFood},
		{name: "fatigue 19", state: state{food: 1, fatigue: 19}, action: walk, reason: curious},
		{name: "fatigue 20", state: state{food: 1, fatigue: 20}, action: sleep, reason: tired},
		{name: "melatonin 39", state: state{food: 1, hormones: levels{melatonin: 39, dopamine: 50}}, action: walk, reason: curious},
		{name: "melatonin 40", state: state{food: 1, hormones: levels{melatonin: 40, dopamine: 50}}, action: sleep, reason: tired},
		{name: "more hungry than tired", state: state{food: 1, hunger: 51, fatigue: 50}, action: eat, reason: hungry},
		{name: "more tired than hungry", state: state{food: 1, hunger: 50, fatigue: 51}, action: sleep, reason: tired},
		{name: "food here, one carried", state: state{food: 1}, food: 1, action: gather, reason: needsFood},
		{name: "food here, two carried", state: state{food: 2}, food: 1, action: gather, reason: needsFood},
		{name: "food here, three carried", state: state{food: 3}, food: 1, action: walk, reason: curious},
		{name: "less than one unit of food here", state: state{food: 1}, food: 0.9375, action: walk, reason: curious},
		{name: "hunger counts half where food is", state: state{food: 5, hunger: 60, fatigue: 59}, food: 1, action: eat, reason: hungry},
		{name: "wood here, four carried", state: state{food: 1, wood: 4}, wood: 1, action: gather, reason: needsWood},
		{name: "wood here, six carried", state: state{food: 1, wood: 6}, wood: 1, action: walk, reason: curious},
		{name: "food before wood", state: state{food: 1, wood: 3}, food: 1, wood: 1, action: gather, reason: needsFood},
		{name: "wood before food", state: state{food: 1, wood: 2}, food: 1, wood: 1, action: gather, reason: needsWood},
		{name: "stone here, four carried", state: state{food: 1, stone: 4}, stone: 1, action: mine, reason: needsStone},
		{name: "stone here, five carried", state: state{food: 1, stone: 5}, stone: 1, action: walk, reason: curious},
		{name: "stone here, five carried, a tool", state: state{food: 1, stone: 5, tool: 6}, stone: 1, action: mine, reason: needsStone},
		{name: "wood before stone", state: state{food: 1}, wood: 1, stone: 1, action: gather, reason: needsWood},
		{name: "stone before wood, with a tool", state: state{food: 1, tool: 1}, wood: 1, stone: 1, action: mine, reason: needsStone},
		{name: "makes a tool", state: state{food: 1, wood: 1, stone: 1, fatigue: 47}, action: craft, reason: needsTool},
		{name: "too tired to make a tool", state: state{food: 1, wood: 1, stone: 1, fatigue: 49}, action: sleep, reason: tired},
		{name: "has a tool", state: state{food: 1, wood: 1, stone: 1, tool: 1}, action: walk, reason: curious},
		{name: "no stone for a tool", state: state{food: 1, wood: 2}, action: walk, reason: curious},
		{name: "builds", state: state{food: 1, wood: 2, stone: 2, tool: 1, fatigue: 43}, action: build, reason: wantsWall},
		{name: "too tired to build", state: state{food: 1, wood: 2, stone: 2, tool: 1, fatigue: 45}, action: sleep, reason: tired},
		{name: "makes a tool before it builds", state: state{food: 1, wood: 2, stone: 2}, action: craft, reason: needsTool},
		{name: "not enough stone for a wall", state: state{food: 1, wood: 2, stone: 1, tool: 1}, action: walk, reason: curious},
		{name: "not enough wood for a wall", state: state{food: 1, wood: 1, stone: 2, tool: 1}, action: walk, reason: curious},
		{name: "a wall stands here", state: state{food: 1, wood: 2, stone: 2, tool: 1}, wall: 1, action: walk, reason: curious},
		{name: "lonely in company", state: state{food: 1, hormones: levels{oxytocin: 40, dopamine: 50}}, company: true, action: speak, reason: lonely},
		{name: "lonely, fatigue 39", state: state{food: 1, fatigue: 39, hormones: levels{oxytocin: 0, dopamine: 50}}, company: true, action: speak, reason: lonely},
		{name: "lonely, fatigue 41", state: state{food: 1, fatigue: 41, hormones: levels{oxytocin: 0, dopamine: 50}}, company: true, action: sleep, reason: tired},
		{name: "lonely and alone", state: state{food: 1, hormones: levels{oxytocin: 40, dopamine: 50}}, action: walk, reason: curious},
		{name: "not lonely", state: state{food: 1, hormones: levels{oxytocin: 60, dopamine: 0}}, company: true, action: walk, reason: curious},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.t = t
			for name, v := range map[string]float64{"food": tt.food, "wood": tt.wood, "stone": tt.stone, "built": tt.wall} {
				p.land(3, 3, name, v)
			}
			p.waits(1)
			companion := space.At(12, 12)
			if tt.company {
				companion = space.At(4, 4)
			}
			p.submit(commands.Move(p.id(1), companion))
			if action, reason := p.decides(tt.state); action != tt.action || reason != tt.reason {
				t.Errorf("action %v for reason %v, want %v for %v", action, reason, tt.action, tt.reason)
			}
		})
	}
}

// TestColonyTies holds that the draw which settles a tie comes from the stream of ai
// with the colonist's id as its number, and picks among the actions in ascending order.
func TestColonyTies(t *testing.T) {
	p := settle(t, 1)
	for _, tt := range []struct {
		state state
		among []float64
	}{
		{state{food: 1, hunger: 70, fatigue: 70}, []float64{eat, sleep}},
		{state{food: 1, hunger: 48, fatigue: 48, wood: 1, stone: 1}, []float64{eat, sleep, craft}},
	} {
		seen := map[float64]bool{}
		for range 24 {
			got, _ := p.decides(tt.state)
			var stream rng.Stream
			stream.Open(rng.ChaCha8, rng.Seed(colonySeed).Tick(p.w.Tick()).Stream("ai", p.id(0)))
			if want := tt.among[stream.Below(uint64(len(tt.among)))]; got != want {
				t.Fatalf("tick %d: of %v it takes %v, want %v", p.w.Tick(), tt.among, got, want)
			}
			seen[got] = true
		}
		if len(seen) != len(tt.among) {
			t.Errorf("of %v it took %v only in 24 ticks", tt.among, seen)
		}
	}
}

// TestColonySees holds that who looks for something goes to the nearest cell in sight
// that has it, of equals to the richest, and to the first of those.
func TestColonySees(t *testing.T) {
	p := settle(t, 2)
	p.waits(1)
	p.land(8, 0, "food", 3) // five cells away, which is too far
	for _, tt := range []struct {
		food []int32 // row and column, in pairs
		rich int     // which of them has two units
		want float64 // a cell
	}{
		{[]int32{3, 7}, -1, 3*landSide + 7},
		{[]int32{3, 7, 1, 1}, -1, 1*landSide + 1},
		{[]int32{3, 5, 5, 1}, -1, 3*landSide + 5},
		{[]int32{3, 5, 5, 1}, 1, 5*landSide + 1},
		{[]int32{3, 1, 4, 1, 1, 2}, -1, 1*landSide + 2},
	} {
		t.Run(fmt.Sprint(tt.food), func(t *testing.T) {
			p.t = t
			for i := 0; i < len(tt.food); i += 2 {
				amount := 1.0
				if tt.rich == i/2 {
					amount = 2
				}
				p.land(tt.food[i], tt.food[i+1], "food", amount)
			}
			p.decides(state{hunger: 50})
			if got := p.of(0, "target", 0); got != tt.want {
				t.Errorf("it goes to cell %v, want %v", got, tt.want)
			}
			for i := 0; i < len(tt.food); i += 2 {
				p.land(tt.food[i], tt.food[i+1], "food", 0)
			}
		})
	}
	p.t = t
	if p.decides(state{hunger: 50}); p.of(0, "reason", 0) != needsFood || p.of(0, "target", 0) == 8*landSide {
		t.Errorf("with no food in sight it goes to %v for reason %v", p.of(0, "target", 0), p.of(0, "reason", 0))
	}
}

// TestColonyLooksForCompany holds that who is lonely and alone walks to others in sight.
func TestColonyLooksForCompany(t *testing.T) {
	p := settle(t, 2)
	p.waits(1)
	p.submit(commands.Move(p.id(1), space.At(3, 6)))
	for oxytocinLevel, want := range map[float64]float64{29: lonely, 30: curious} {
		_, reason := p.decides(state{food: 1, hormones: map[int]float64{oxytocin: oxytocinLevel, dopamine: 0}})
		if reason != want {
			t.Errorf("oxytocin %v: reason %v, want %v", oxytocinLevel, reason, want)
		}
	}
}

// TestColonyVeto holds that an action which costs more energy than there is becomes
// idle, for a reason of its own, and takes nothing.
func TestColonyVeto(t *testing.T) {
	p := settle(t, 1)
	p.land(3, 3, "food", 1)
	for less, want := range map[float64][2]float64{98: {gather, needsFood}, 99: {idle, tooWeak}, 100: {idle, tooWeak}} {
		if action, reason := p.decides(state{hunger: 90, less: less}); action != want[0] || reason != want[1] {
			t.Errorf("energy %v: action %v for reason %v, want %v", 100-less, action, reason, want)
		}
		if want[1] == tooWeak {
			near(t, "energy", p.of(0, "energy", 0), 100-less+1.0/16)
		}
	}
}

// TestColonyScores holds scores exactly: who is as tired as another action is worth does
// now one and now the other.
func TestColonyScores(t *testing.T) {
	p := settle(t, 2)
	p.waits(1)
	p.submit(commands.Move(p.id(1), space.At(4, 4)))
	for _, tt := range []struct {
		action, worth     float64
		state             state
		food, wood, stone float64 // here
	}{
		{action: eat, worth: 33, state: state{food: 1, hunger: 33}},
		{action: gather, worth: 24, state: state{food: 1}, food: 1},
		{action: gather, worth: 34, state: state{food: 2, hunger: 32}, food: 1},
		{action: gather, worth: 30, state: state{food: 1, wood: 1}, wood: 1},
		{action: mine, worth: 29, state: state{food: 1, stone: 1}, stone: 1},
		{action: mine, worth: 33, state: state{food: 1, stone: 1, tool: 1}, stone: 1},
		{action: craft, worth: 48, state: state{food: 1, wood: 1, stone: 1}},
		{action: build, worth: 44, state: state{food: 1, wood: 2, stone: 2, tool: 1}},
		{action: speak, worth: 25, state: state{food: 1, hormones: map[int]float64{oxytocin: 30, dopamine: 50}}},
		{action: walk, worth: 28, state: state{hunger: 30}},
		{action: idle, worth: 30, state: state{food: 1, less: 70}},
	} {
		for name, v := range map[string]float64{"food": tt.food, "wood": tt.wood, "stone": tt.stone} {
			p.land(3, 3, name, v)
		}
		tt.state.fatigue = tt.worth
		seen := map[float64]int{}
		for range 16 {
			does, _ := p.decides(tt.state)
			seen[does]++
			for name, v := range map[string]float64{"food": tt.food, "wood": tt.wood, "stone": tt.stone} {
				p.land(3, 3, name, v)
			}
			p.be(1, state{busy: 9})
		}
		if seen[sleep] == 0 || seen[tt.action] == 0 || seen[sleep]+seen[tt.action] != 16 {
			t.Errorf("fatigue %v: actions %v, want some of %v and some of %v", tt.worth, seen, float64(sleep), tt.action)
		}
	}
}
