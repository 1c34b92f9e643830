package main

import (
	"flag"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/enginetest"
)

var update = flag.Bool("update", false, "record the golden run anew")

// The recording in testdata replays, tick by tick: no rule has changed.
func TestGolden(t *testing.T) { enginetest.Golden(t, Build, "testdata/epidemic.murk", *update) }

// Nothing but the state decides what a tick comes to, for any number of workers.
func TestState(t *testing.T) {
	enginetest.Test(t, enginetest.Of(func() engine.Config { return Model{Side: 15, Beta: 0.5, Gamma: 0.1}.Config(7) }), 40)
}

// run runs a model and calls a function after each tick.
func run(t *testing.T, m Model, ticks int, look func(tick int, people [3]int)) {
	t.Helper()
	w, err := m.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for tick := range ticks {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		look(tick+1, Count(w))
	}
}

// Nobody comes or goes, nobody falls ill twice, and nobody recovers who was not ill.
func TestConserves(t *testing.T) {
	before := [3]int{21*21 - 1, 1, 0}
	run(t, Model{Side: 21, Beta: 0.5, Gamma: 0.2}, 100, func(tick int, people [3]int) {
		recovering := people[Recovered] - before[Recovered]
		all := people[Susceptible] + people[Infected] + people[Recovered]
		if all != 21*21 || people[Susceptible] > before[Susceptible] || recovering < 0 || recovering > before[Infected] {
			t.Fatalf("tick %d: %v after %v", tick, people, before)
		}
		before = people
	})
	if before[Recovered] < 21*21/2 {
		t.Errorf("there was no epidemic: %v", before)
	}
}

// What does not spread does not spread.
func TestNoContagion(t *testing.T) {
	run(t, Model{Side: 21, Beta: 0, Gamma: 0}, 50, func(tick int, people [3]int) {
		if people[Infected] != 1 {
			t.Fatalf("tick %d: %d are infected", tick, people[Infected])
		}
	})
}

// What spreads for certain is, after n ticks, on all cells at most n steps away: 2n(n+1)+1.
func TestCertainContagion(t *testing.T) {
	run(t, Model{Side: 41, Beta: 1, Gamma: 0}, 20, func(tick int, people [3]int) {
		if want := 2*tick*(tick+1) + 1; people[Infected] != want {
			t.Fatalf("tick %d: %d are infected, want %d", tick, people[Infected], want)
		}
	})
}

func TestRefuses(t *testing.T) {
	for _, m := range []Model{{Side: 0}, {Side: 5000}, {Side: 9, Beta: 1.1}, {Side: 9, Gamma: -1}} {
		if _, err := m.World(1); err == nil {
			t.Errorf("%+v is a world", m)
		}
	}
}
