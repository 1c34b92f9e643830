package index_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/space"
)

// TestCompare holds what two indexes, or an index and a world, differ in, against a look at
// every tile.
func TestCompare(t *testing.T) {
	const ticks = 30
	a := record(t, "predators", ticks, index.Options{}, false)
	x := a.open(t)
	same, err := a.seek(x, ticks)
	if err != nil {
		t.Fatal(err)
	}
	if changes, err := x.CompareWorld(same.World); err != nil || len(changes) != 0 {
		t.Errorf("%v, %v; want no change from what was recorded", changes, err)
	}

	// Another world of the same fields, at the same tick.
	s := load(t, "predators")
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for w.Tick() < ticks {
		if _, _, err := w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err != nil {
			t.Fatal(err)
		}
		if w.Tick() == ticks-1 { // one cell of grass is another
			if _, err := w.Submit(commands.SetField(space.At(0, 0), 0, 0.5)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := x.CompareWorld(w)
	if err != nil {
		t.Fatal(err)
	}
	var want []index.Change
	for id := range w.Defs() {
		p, q := same.World.Column(fields.ID(id)), w.Column(fields.ID(id))
		c := index.Change{Field: id}
		for k := range x.Fields[id].Tiles() {
			lo, hi := k*x.Fields[id].TileLen, min((k+1)*x.Fields[id].TileLen, p.Len())
			u, v := p.Slice(lo, hi), q.Slice(lo, hi)
			if !bytes.Equal(u.AppendBytes(nil), v.AppendBytes(nil)) {
				c.Tiles = append(c.Tiles, k)
			}
		}
		if c.Tiles != nil {
			want = append(want, c)
		}
	}
	equal := func(a, b index.Change) bool { return a.Field == b.Field && slices.Equal(a.Tiles, b.Tiles) }
	if len(want) < 2 || !slices.EqualFunc(changes, want, equal) {
		t.Errorf("%v, want %v", changes, want)
	}
}

// TestCompareIndexes holds which ticks and fields of two runs differ, with tiles and without.
func TestCompareIndexes(t *testing.T) {
	const ticks = 40
	a, b := record(t, "life", ticks, index.Options{}, false), record(t, "life", ticks, index.Options{}, true)
	bare := record(t, "life", ticks, index.Options{Budget: -1}, false)
	x := a.open(t)
	for tick := uint64(1); tick <= ticks; tick++ {
		if changes, err := x.Compare(b.open(t), tick); err != nil || len(changes) != 0 {
			t.Fatalf("tick %d: %v, %v; want no change", tick, changes, err)
		}
	}
	if changes, err := x.Compare(bare.open(t), 9); err != nil || len(changes) != 0 {
		t.Errorf("%v, %v; want no change by digests", changes, err)
	}
	if _, err := x.Compare(x, ticks+1); !errors.Is(err, index.ErrNoTick) {
		t.Errorf("%v, want %v", err, index.ErrNoTick)
	}
	if _, err := x.Compare(record(t, "heat", 3, index.Options{}, false).open(t), 2); !errors.Is(err, index.ErrFields) {
		t.Errorf("%v, want %v", err, index.ErrFields)
	}
	other := mustWorld(t, load(t, "heat"))
	if _, err := x.CompareWorld(other); !errors.Is(err, index.ErrFields) {
		t.Errorf("%v, want %v", err, index.ErrFields)
	}

	// Without tiles, only the field is known.
	w := mustWorld(t, load(t, "life"))
	if _, err := w.Submit(commands.SetField(space.At(0, 0), 0, 1-w.Column(0).Float32[0])); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Step(); err != nil {
		t.Fatal(err)
	}
	changes, err := bare.open(t).CompareWorld(w)
	if err != nil || len(changes) == 0 || changes[0].Field != 0 || changes[0].Tiles != nil {
		t.Errorf("%v, %v; want field 0, no tiles", changes, err)
	}
}
