package ask_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/ask"
	"github.com/murksim/murksim/space"
)

// TestMinimal: what is left of a list shows, and without any one element it does not; of two elements far apart in a long list it takes few trials.
func TestMinimal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		list := make([]int, 1+r.IntN(40))
		for i := range list {
			list[i] = i
		}
		need := map[int]bool{}
		for range 1 + r.IntN(4) {
			need[r.IntN(len(list))] = true
		}
		odd := r.IntN(2) == 1 // shows also with an odd number of others only
		shows := func(list []int) bool {
			n, others := 0, 0
			for _, x := range list {
				if need[x] {
					n++
				} else {
					others++
				}
			}
			return n == len(need) && (!odd || others%2 == 1 || others == 0)
		}
		if !shows(list) {
			continue
		}
		last := list
		err := ask.Minimal(list, func(n int, lists func(int) []int) (int, error) {
			for i := range n {
				if shows(lists(i)) {
					last = slices.Clone(lists(i))
					return i, nil
				}
			}
			return ask.None, nil
		})
		if err != nil || !slices.IsSorted(last) {
			t.Fatalf("minimal of %d: %v, %v", len(list), last, err)
		}
		for i := range last {
			if shows(slices.Delete(slices.Clone(last), i, i+1)) && len(last) > 1 {
				t.Fatalf("of %v, %d is not needed", last, last[i])
			}
		}
	}
	list, trials := make([]int, 10_000), 0
	for i := range list {
		list[i] = i
	}
	if err := ask.Minimal(list, func(n int, lists func(int) []int) (int, error) {
		for i := range n {
			trials++
			if slices.Contains(lists(i), 17) && slices.Contains(lists(i), 9_000) {
				return i, nil
			}
		}
		return ask.None, nil
	}); err != nil || trials > 200 {
		t.Errorf("%d trials, %v; want at most 200", trials, err)
	}
}

// shrinkTicks is how long the pond of the test of shrinking runs.
const shrinkTicks = 120

// randomPond records the pond with random commands, in a file, and returns them by their ticks.
func randomPond(t *testing.T, r *rand.Rand) (path string, given [][]commands.Command) {
	t.Helper()
	w, err := pond(nil)
	if err != nil {
		t.Fatal(err)
	}
	var sink bytes.Buffer
	recorder, err := replay.NewRecorder(&sink, w, pondDescriptor)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(recorder)
	given = make([][]commands.Command, shrinkTicks+1)
	for tick := 1; tick <= shrinkTicks; tick++ {
		for range r.IntN(3) {
			c := commands.SetField(space.At(int32(r.IntN(6))), pondHeat, float32(r.IntN(80)))
			if r.IntN(4) == 0 {
				c = commands.SetParameter(pondWind, float64(r.IntN(5))/8)
			}
			given[tick] = append(given[tick], c)
		}
		if _, _, err := w.SubmitAll(given[tick]); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := recorder.Flush(); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "pond.murk")
	if err := os.WriteFile(path, sink.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, given
}

// becomes computes the pond from genesis with these commands, and returns the first tick behind one in which the condition becomes true; 0: none.
func becomes(t *testing.T, given [][]commands.Command, behind uint64, holds func(*engine.World) bool) uint64 {
	t.Helper()
	w, err := pond(nil)
	if err != nil {
		t.Fatal(err)
	}
	held := holds(w)
	for tick := uint64(1); tick <= shrinkTicks; tick++ {
		if _, _, err := w.SubmitAll(given[tick]); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		before := held
		if held = holds(w); held && !before && tick > behind {
			return tick
		}
	}
	return 0
}

// TestShrinking: what a shrinking finds is so by plain computation from genesis, of random runs of a pond.
func TestShrinking(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	needed, alone := 0, 0
	for round := range 40 {
		path, given := randomPond(t, r)
		limit := float32(60 + r.IntN(25))
		holds := func(w *engine.World) bool { return w.Column(pondHeat).Float32[3] > limit }
		last := becomes(t, given, 0, holds)
		if last == 0 {
			continue
		}
		cursor, err := replay.OpenFile(path, pond)
		if err != nil {
			t.Fatal(err)
		}
		s := shrinking(cursor, holds)
		s.Workers = 1 + round%3
		begin, err := s.Begin(t.Context(), 0, last)
		if err != nil {
			t.Fatal(err)
		}
		upTo := func(tick uint64) [][]commands.Command { // as recorded, and nothing behind it
			list := make([][]commands.Command, shrinkTicks+1)
			copy(list[:tick+1], given)
			return list
		}
		after := func(list [][]commands.Command, tick uint64) bool {
			at := becomes(t, list, tick, holds)
			return at > 0 && at <= last
		}
		if !after(upTo(begin+1), begin) || begin+1 < last && after(upTo(begin), begin) {
			t.Errorf("begin %d of %d is not where commands matter last", begin, last)
		}
		for _, from := range []uint64{begin, 0} {
			s.Trials = 0
			x, err := s.From(t.Context(), from, last)
			if err != nil {
				t.Fatal(err)
			}
			one := shrinking(cursor, holds)
			if y, err := one.From(t.Context(), from, last); err != nil || y.Last != x.Last || one.Trials != s.Trials || !slices.EqualFunc(x.Commands, y.Commands, func(a, b ask.Given) bool { return a.Arrival == b.Arrival }) {
				t.Errorf("from %d: with one worker it is %+v in %d trials, with %d workers %+v in %d; %v", from, y, one.Trials, s.Workers, x, s.Trials, err)
			}
			list := upTo(from)
			for _, c := range x.Commands {
				list[c.Tick] = append(list[c.Tick], c.Command)
			}
			if got := becomes(t, list, from, holds); got != x.Last || got > last {
				t.Errorf("from %d: it becomes true in tick %d, not %d", from, got, x.Last)
			}
			for i, c := range x.Commands {
				less := upTo(from)
				for k, c := range x.Commands {
					if k != i {
						less[c.Tick] = append(less[c.Tick], c.Command)
					}
				}
				if after(less, from) {
					t.Errorf("from %d: it becomes true without %v", from, c)
				}
			}
			if needed += len(x.Commands); len(x.Commands) == 0 {
				alone++
			} else if w := x.World; w.Tick() != x.Commands[0].Tick-1 {
				t.Errorf("from %d: begins at tick %d, and its first command is of tick %d", from, w.Tick(), x.Commands[0].Tick)
			}
		}
		cursor.Close()
	}
	if needed < 40 || alone > 10 {
		t.Errorf("%d commands were needed in all, and %d runs needed none", needed, alone)
	}
	path, given := randomPond(t, r)
	cursor, err := replay.OpenFile(path, pond)
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	s := shrinking(cursor, func(*engine.World) bool { return false })
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.From(ended, 0, shrinkTicks); !errors.Is(err, context.Canceled) {
		t.Errorf("From = %v, want %v", err, context.Canceled)
	}
	if len(given) > 0 {
		if _, err := s.From(t.Context(), 0, shrinkTicks); err != ask.ErrRemembers { // nothing shows it, as of a world that remembers
			t.Errorf("From = %v, want %v", err, ask.ErrRemembers)
		}
	}
}

// shrinking looks for a condition of the pond.
func shrinking(c *replay.Cursor, holds func(*engine.World) bool) *ask.Shrinking {
	return &ask.Shrinking{Runs: ask.Runs{Cursor: c, Worker: func() (*engine.World, func(*engine.World, bool) bool, error) {
		w, err := pond(c.Head())
		return w, func(w *engine.World, _ bool) bool { return holds(w) }, err
	}}}
}
