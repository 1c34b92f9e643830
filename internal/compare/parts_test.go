package compare

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/worlds"
)

// TestTraceIsFull holds that no older values stand for those that a trace had no room for: two
// worlds differ in what a propagator wrote, and either the cells are found or the note says why not.
func TestTraceIsFull(t *testing.T) {
	var pair [2]*SearchSide
	tries := make(map[int][2]Computation)
	for side, damping := range []string{"0.08", "0.09"} {
		s, err := worlds.Open(worlds.Registry(), "waves", "propagators.0.wave.damping="+damping)
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.SubmitAll(s.CommandsAt(1)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		k := session.KeepTick(w)
		const first = 196_000 // bytes, of which the first part is the last to be kept
		for _, limit := range []int{first, session.MostTraced} {
			if err := w.LoadTick(nil, k.State, k.Rest); err != nil {
				t.Fatal(err)
			}
			tr, x := &session.Trace{Limit: limit}, tries[limit]
			if side == 1 && limit == session.MostTraced {
				tr.Base = x[0].trace
			}
			w.WatchParts(tr.Look(w))
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
			x[side] = Computation{parts: tr.Parts, trace: tr}
			tries[limit] = x
			if _, ok := tr.Column(len(tr.Parts)-1, 1); ok == (side == 1 || limit == first) {
				t.Errorf("side %d, limit %d: the velocity after the last part is known: %v", side, limit, ok)
			}
		}
		pair[side] = &SearchSide{Recording: &Side{Visit: &session.Visit{Player: &replay.Player{World: w}}}}
	}
	for limit, x := range tries {
		j := Search{Pair: pair}
		j.apart("", x[0], x[1])
		if len(j.Found.Parts) != 1 || j.Found.Parts[0].Index != 2 {
			t.Fatalf("limit %d: %+v, want the first propagator", limit, j.Found.Parts)
		}
		p := j.Found.Parts[0]
		switch full := limit != session.MostTraced; {
		case full && (p.State != nil || len(j.Notes) != 1 || !strings.HasPrefix(j.Notes[0], "the values after "+p.Part+" are not shown: ")):
			t.Errorf("a full trace has %+v and the notes %q, want no values", p.State, j.Notes)
		case !full && (p.State == nil || p.State.Count == 0 || len(j.Notes) != 0):
			t.Errorf("a trace has %+v and the notes %q, want values", p.State, j.Notes)
		}
	}
}
