package cli

import (
	"os"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/worlds"
)

// TestStrangeKinds: a program may give an entity a kind that the scenario does not list. What shows entities shows it, too.
func TestStrangeKinds(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := worlds.Open(worlds.Registry(), "bodies", "ticks=6", "expect=[]")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create("a.murk")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recorder, err := replay.NewRecorder(f, w, s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	w.Record(recorder)
	for i, kind := range []int32{-1, 7, -2147483648, 2147483520} {
		if _, err := w.Submit(w.SpawnKind(kind, w.Lattice().Coord(i))); err != nil {
			t.Fatal(err)
		}
	}
	for range 6 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := recorder.Flush(); err != nil {
		t.Fatal(err)
	}
	lives := 0
	for slot := range w.Entities().Live() {
		if kind := w.Entities().Kind[slot]; kind < 0 || kind > 6 {
			lives++
		}
	}
	if lives != 4 {
		t.Fatalf("%d entities of strange kinds live", lives)
	}
	ok(t, "verify", "a.murk")
	for _, args := range [][]string{
		{"export", "a.murk", "--entities", "-o", "a.csv"}, {"export", "a.murk", "--entities", "-o", "a.parquet"}, {"export", "a.murk", "-o", "a.svg"},
		{"export", "a.murk", "-o", "a.gif"}, {"export", "a.murk", "--tick", "6", "-o", "a.png"}, {"export", "a.murk", "-o", "a.mcap"}, {"seek", "a.murk", "--tick", "6"},
		{"inspect", "--commands", "a.murk"}, {"diff", "a.murk"}, {"why", "a.murk", "--tick", "6", "--field", "vx", "--entity", "1048577"},
	} {
		if status, _, errs := murksim(t, nil, args...); status != report.StatusOK {
			t.Errorf("%q: status %d, %s", args, status, errs)
		}
	}
}
