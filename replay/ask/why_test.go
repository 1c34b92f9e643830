package ask_test

import (
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/ask"
)

// TestWhyParameter: of a number that changed in the tick after a parameter did, the parameter is a cause exactly if plain computation without its command
// makes another number of it.
func TestWhyParameter(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	causes := 0
	for range 12 {
		path, given := randomPond(t, r)
		cursor, err := replay.OpenFile(path, pond)
		if err != nil {
			t.Fatal(err)
		}
		for tick := 3; tick < 40; tick++ {
			last := -1 // the command that set the parameter before the tick
			for i, c := range given[tick-1] {
				if c.Kind == commands.KindSetParameter {
					last = i
				}
			}
			if last < 0 {
				continue
			}
			before, now := ended(t, given, 0, tick-2), ended(t, given, 0, tick)
			was, _ := before.Parameter(pondWind)
			between := ended(t, given, 0, tick-1)
			if is, _ := between.Parameter(pondWind); is == was || before.Column(pondHeat).Float32[2] == now.Column(pondHeat).Float32[2] {
				continue
			}
			change, err := ask.NewWhy(cursor).Latest(t.Context(), ask.Place{Field: pondHeat, Cell: 2}, uint64(tick))
			if err != nil {
				t.Fatal(err)
			}
			if change.Tick != uint64(tick) || change.Command != nil {
				continue // it is as it was, or a command set it
			}
			otherwise, err := between.Fork()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range append([]commands.Command{commands.SetParameter(pondWind, was)}, given[tick]...) {
				if _, err := otherwise.Submit(c); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := otherwise.Step(); err != nil {
				t.Fatal(err)
			}
			want, found := otherwise.Column(pondHeat).Float32[2], false
			for _, x := range change.Causes {
				if x.Kind == ask.CauseParameter {
					found = true
					causes++
					if x.Parameter != pondWind || x.Before.Value != was || x.Else.Value != float64(want) {
						t.Errorf("tick %d: the cause is %+v; the wind was %g, else it would be %g", tick, x, was, want)
					}
				}
			}
			if other := want != now.Column(pondHeat).Float32[2]; found != other {
				t.Errorf("tick %d: the wind is a cause: %v, want %v", tick, found, other)
			}
		}
		cursor.Close()
	}
	if causes < 10 {
		t.Errorf("the wind was a cause %d times only", causes)
	}
}
