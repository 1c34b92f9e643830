package ask_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/ask"
)

// ended computes the pond from genesis to a tick, with all commands but the one with a number.
func ended(t *testing.T, given [][]commands.Command, without uint64, end int) *engine.World {
	t.Helper()
	w, err := pond(nil)
	if err != nil {
		t.Fatal(err)
	}
	arrival := uint64(0)
	for tick := 1; tick <= end; tick++ {
		for _, c := range given[tick] {
			if arrival++; arrival == without {
				continue
			}
			if _, err := w.Submit(c); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// TestRemover: what a remover says of each command is so by plain computation from genesis, whatever the number of workers.
func TestRemover(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	same, otherwise := 0, 0
	for range 8 {
		path, given := randomPond(t, r)
		const first, last, end = 30, 60, 70
		recorded := ended(t, given, 0, end)
		holds := func(w *engine.World, _ bool) bool {
			return w.Column(pondHeat).Float32[3] > recorded.Column(pondHeat).Float32[3]
		}
		all := 0
		for i, d := range recorded.Defs() {
			if d.Name != engine.WorldRest && d.Domain != fields.Entities { // nobody lives there
				all += recorded.Column(fields.ID(i)).Len()
			}
		}
		var before []ask.Removal
		for _, workers := range []int{1, 3} {
			cursor, err := replay.OpenFile(path, pond)
			if err != nil {
				t.Fatal(err)
			}
			x := ask.Remover{Runs: ask.Runs{Cursor: cursor, Workers: workers, Worker: func() (*engine.World, func(*engine.World, bool) bool, error) {
				w, err := pond(cursor.Head())
				return w, holds, err
			}}}
			list, numbers, err := x.Each(t.Context(), first, last, end)
			if err != nil {
				t.Fatal(err)
			}
			if x.Held || numbers != all {
				t.Errorf("held %v of %d numbers, want %d", x.Held, numbers, all)
			}
			for _, removal := range list {
				w := ended(t, given, removal.Arrival, end)
				n := 0
				for i, d := range w.Defs() {
					a, b := w.Column(fields.ID(i)), recorded.Column(fields.ID(i))
					for k := 0; d.Name != engine.WorldRest && k < a.Len(); k++ {
						if a.Bits(k) != b.Bits(k) {
							n++
						}
					}
				}
				if n != removal.Differ || removal.Otherwise != (holds(w, true) != holds(recorded, true)) || removal.Same > 0 && n > 0 {
					t.Errorf("without command %d of tick %d %d numbers differ; the remover says %+v", removal.Arrival, removal.Tick, n, removal)
				}
				if removal.Same > 0 {
					same++
				}
				if removal.Otherwise {
					otherwise++
				}
			}
			if before != nil && !slices.EqualFunc(before, list, func(a, b ask.Removal) bool {
				return a.Arrival == b.Arrival && a.Differ == b.Differ && a.Same == b.Same && a.Otherwise == b.Otherwise
			}) {
				t.Error("with three workers it says something else than with one")
			}
			before = list
			cursor.Close()
		}
	}
	if same == 0 || otherwise == 0 {
		t.Errorf("%d are the same again, of %d the condition is otherwise", same, otherwise)
	}
}

// TestRemoverErrors: errors of a worker, of the search, and of a check.
func TestRemoverErrors(t *testing.T) {
	path, _ := randomPond(t, rand.New(rand.NewPCG(6, 7)))
	cursor, err := replay.OpenFile(path, pond)
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	bad := errors.New("bad")
	worker := func() (*engine.World, func(*engine.World, bool) bool, error) {
		w, err := pond(cursor.Head())
		return w, nil, err
	}
	failing := func() (*engine.World, func(*engine.World, bool) bool, error) { return nil, nil, bad }
	for _, x := range []ask.Remover{
		{Runs: ask.Runs{Cursor: cursor, Worker: failing, Workers: 2}},
	} {
		if _, _, err := x.Each(t.Context(), 1, 20, 40); !errors.Is(err, bad) {
			t.Errorf("Each: %v", err)
		}
	}
	ended, end := context.WithCancelCause(t.Context())
	whole := ask.Remover{Runs: ask.Runs{Cursor: cursor, Worker: worker, Workers: 2, Progress: func() { end(bad) }}}
	if _, _, err := whole.Each(ended, 1, 20, 40); err == nil {
		t.Error("Each did not end with its context")
	}
	x := ask.Remover{Runs: ask.Runs{Cursor: cursor, Worker: worker, Check: func(tick uint64, _ []commands.Command) error {
		if tick == 4 {
			return bad
		}
		return nil
	}}}
	if _, _, err := x.Each(t.Context(), 4, 39, 40); !errors.Is(err, ask.ErrRemembers) {
		t.Errorf("Each of a recording that the check refuses: %v", err)
	}
}
