package view_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/view"
)

// TestDifferBegins compares recordings that begin at states: one at another state of that tick is not equal, although all of its frames
// are.
func TestDifferBegins(t *testing.T) {
	s, err := worlds.Open(worlds.Registry(), "heat", "ticks=20", "expect=[]")
	if err != nil {
		t.Fatal(err)
	}
	var recordings [2][]byte
	for i := range recordings {
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Submit(commands.Command{
			Kind: commands.KindSetField, Meta: commands.Meta{Expires: commands.NoExpiry},
			Coord: w.Lattice().Coord(0), Bits: uint64(math.Float32bits(float32(i))),
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		state, err := w.Save(s.Descriptor())
		if err != nil {
			t.Fatal(err)
		}
		begin, err := replay.NewBegin(state)
		if err != nil {
			t.Fatal(err)
		}
		descriptor, err := begin.Describe(s.Descriptor())
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		r, err := replay.NewRecorder(&b, w, descriptor)
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		if err := w.Run(5); err != nil {
			t.Fatal(err)
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
		recordings[i] = b.Bytes()
	}
	other := rewritten(t, recordings[0], func(h *replay.Header) {
		r, err := replay.NewReader(bytes.NewReader(recordings[1]))
		if err != nil {
			t.Fatal(err)
		}
		*h = *r.Head()
	}, func(*replay.Frame) {})
	for _, tt := range []struct {
		b    []byte
		want string
	}{
		{recordings[0], `{"equal":true}`},
		{recordings[1], `{"tick":2}`},
		{other, `{"reason":"all ticks are equal, the states at which the recordings begin are not"}`},
	} {
		a, b := open(t, recordings[0], nil), open(t, tt.b, nil)
		if got := string(ask(t, view.NewSession(a, b), `{"op":"differ","with":1}`).Answer); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// TestDifferLaterBegin compares a recording with one that begins at a state of a tick that the first one passes, which is held against the other's state of
// that tick: all frames that both have are equal, also where the state is a forged one.
func TestDifferLaterBegin(t *testing.T) {
	const at, ticks = 10, 20
	whole, _, worlds := record(t, "heat", ticks, false, at, ticks)
	s := open(t, whole, nil).Scenario()
	from := func(w *engine.World) (recording []byte) {
		t.Helper()
		state, err := w.Save(s.Descriptor())
		if err != nil {
			t.Fatal(err)
		}
		begin, err := replay.NewBegin(state)
		if err != nil {
			t.Fatal(err)
		}
		descriptor, err := begin.Describe(s.Descriptor())
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		r, err := replay.NewRecorder(&b, w, descriptor)
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		for w.Tick() < ticks {
			if _, _, err := w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	short, _, earlier := record(t, "heat", at-1, false, at-1)
	if _, err := earlier[at-1].Submit(commands.Command{Kind: commands.KindSetField, Meta: commands.Meta{Expires: commands.NoExpiry}, Coord: earlier[at-1].Lattice().Coord(0), Bits: uint64(math.Float32bits(3))}); err != nil {
		t.Fatal(err)
	}
	if _, err := earlier[at-1].Step(); err != nil {
		t.Fatal(err)
	}
	other, part := from(earlier[at-1]), from(worlds[at])
	forged := rewritten(t, part, func(h *replay.Header) {
		r, err := replay.NewReader(bytes.NewReader(other))
		if err != nil {
			t.Fatal(err)
		}
		*h = *r.Head()
	}, func(*replay.Frame) {})
	const differs = `{"tick":10,"reason":"test.murk begins there at another state"}`
	for _, tt := range []struct {
		what string
		a, b []byte
		want string
	}{
		{"a part of it", whole, part, `{"equal":true}`},
		{"a part of it first", part, whole, `{"equal":true}`},
		{"a forged state", whole, forged, differs},
		{"a forged state first", forged, whole, differs},
		{"another run", whole, other, differs},
		{"no tick that both have", short, part, `{"reason":"there is no tick that both have"}`},
	} {
		a, b := open(t, tt.a, nil), open(t, tt.b, nil)
		if got := string(ask(t, view.NewSession(a, b), `{"op":"differ","with":1}`).Answer); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
	}
}
