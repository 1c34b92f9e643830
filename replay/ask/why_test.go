package ask_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
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

// A counting propagator is one that acts otherwise once it was called so often, which nothing in a state tells.
type counting struct {
	spread
	calls, most *int
}

func (p counting) Step(c *engine.Context) error {
	err := p.spread.Step(c)
	if *p.calls++; *p.calls > *p.most {
		c.Next(pondHeat)[0]++
	}
	return err
}

// TestCounts: of a world that counts its calls outside of its state, and goes another way from one on, nothing is told that is not so: wherever that call lies, the answer is
// that of a world that does not count, or none.
func TestCounts(t *testing.T) {
	path, given := randomPond(t, rand.New(rand.NewPCG(10, 11)))
	tick := 60
	for len(given[tick]) == 0 || !changes(t, given, tick) {
		tick++
	}
	calls, most := 0, 1<<30
	cursor, err := replay.OpenFile(path, func(*replay.Header) (*engine.World, error) {
		return engine.New(pondConfig(counting{calls: &calls, most: &most}))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	latest := func() (*ask.Change, error) {
		return ask.NewWhy(cursor).Latest(t.Context(), ask.Place{Field: pondHeat}, uint64(tick))
	}
	want, err := latest()
	if err != nil || len(want.Causes) < 2 {
		t.Fatalf("%+v, %v", want, err)
	}
	refused := 0
	for n := 0; n < 700; n += 5 {
		most = calls + n
		got, err := latest()
		most = 1 << 30
		switch {
		case errors.Is(err, ask.ErrRemembers) || errors.Is(err, replay.ErrMismatch):
			refused++
		case err != nil:
			t.Errorf("%d calls later: %v", n, err)
		case !slices.EqualFunc(got.Causes, want.Causes, func(a, b ask.Cause) bool { return a.Kind == b.Kind && a.Place == b.Place && a.Else == b.Else }):
			t.Errorf("%d calls later: %+v, want %+v", n, got.Causes, want.Causes)
		}
	}
	if refused == 0 || refused == 140 {
		t.Errorf("%d answers were refused", refused)
	}
}

// changes reports whether the number of a cell changes in a tick, by no command.
func changes(t *testing.T, given [][]commands.Command, tick int) bool {
	before, now := ended(t, given, 0, tick-1), ended(t, given, 0, tick)
	return before.Column(pondHeat).Float32[0] != now.Column(pondHeat).Float32[0]
}

// TestWrongOnTheWay: a tick that is not as recorded is told wherever it lies on the way to what is asked for.
func TestWrongOnTheWay(t *testing.T) {
	path, _ := randomPond(t, rand.New(rand.NewPCG(12, 13)))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	for f.Tick < 31 {
		if err := frames.Next(&f); err != nil {
			t.Fatal(err)
		}
	}
	b[f.Position.Offset+f.Position.Size-1] ^= 1 // of its hash
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	cursor, err := replay.OpenFile(path, pond)
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	wrong := func(what string, err error) {
		t.Helper()
		if m, ok := errors.AsType[*replay.MismatchError](err); !ok || m.Tick != 31 {
			t.Errorf("%s: %v, want one of tick 31", what, err)
		}
	}
	for range 2 {
		wrong("Seek", cursor.Seek(60))
		wrong("Walk", cursor.Walk(50, 60, func(*engine.World) error { return nil }))
		_, err = ask.NewWhy(cursor).Latest(t.Context(), ask.Place{Field: pondHeat, Cell: 2}, 60)
		wrong("Latest", err)
		x := ask.Remover{Runs: shrinking(cursor, func(*engine.World) bool { return false }).Runs}
		_, _, err = x.Each(t.Context(), 50, 60, 80)
		wrong("Each", err)
		if err := cursor.Seek(30); err != nil {
			t.Errorf("Seek(30): %v", err)
		}
	}
}
