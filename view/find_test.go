package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/view"
)

// A searched is what a search answers.
type searched struct {
	Wrong               *struct{ Reason, Before, Meant, After string }
	Condition, Error    string
	Next, Held, Unknown uint64
	Reason              string
	Done                bool
	From                int
	Spans               []struct {
		First, Last uint64
		Found       string
	}
}

// searchAll asks until all states have been looked at, with what a page has already.
func searchAll(t *testing.T, s *view.Session, condition string) (all searched) {
	t.Helper()
	text, _ := json.Marshal(condition)
	for {
		var f searched
		if err := json.Unmarshal(must(t, s, fmt.Sprintf(`{"op":"find","condition":%s,"since":%d}`, text, len(all.Spans))), &f); err != nil {
			t.Fatal(err)
		}
		before := len(all.Spans)
		f.Spans = append(all.Spans[:f.From:f.From], f.Spans...)
		if all = f; all.Wrong != nil || all.Done && len(all.Spans) == before {
			return all
		}
	}
}

// TestFind: a search finds the ticks in which a condition holds, and what it comes to there, as index.Find does: in a recording that is whole or cut, up to a
// tick that differs, and from where it begins.
func TestFind(t *testing.T) {
	heat, x, _ := record(t, "heat", 200, true)
	ants, _, _ := record(t, "predators", 60, false)
	differs := bytes.Clone(heat)
	differs[len(differs)-1] ^= 1
	for _, tt := range []struct {
		what      string
		b         []byte
		x         *index.Index
		condition string
		err       string
	}{
		{"whole", heat, nil, "most(heat) > 199.5", ""},
		{"with an index", heat, x, "sum(heat) > 340000 and sum(heat) < 350000", ""},
		{"again and again", heat, nil, "sum(heat) < 0 or tick > 20 and tick < 30 or tick == 200", ""},
		{"never", heat, nil, "most(heat) > 1e9", ""},
		{"always", heat, nil, "most(heat) > -1e9", ""},
		{"a tick that differs", differs, x, "sum(heat) > 0 and tick > 190", "tick 200"},
		{"cut", heat[:len(heat)-3], nil, "sum(heat) > 0 and tick > 190", ""},
		{"entities", ants, nil, "count(grazer.energy > 10) < 100", ""},
		{"without a value", ants, nil, "mean(hunter.energy) > 0", ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			r := open(t, tt.b, tt.x)
			got := searchAll(t, view.NewSession(r), tt.condition)
			if got.Wrong != nil {
				t.Fatalf("%+v", got.Wrong)
			}
			statement, err := r.Scenario().Statement(tt.condition)
			if err != nil {
				t.Fatal(err)
			}
			unknown := uint64(0)
			at := map[uint64]string{}
			want, err := index.Find(bytes.NewReader(tt.b), int64(len(tt.b)), nil, func(h *replay.Header) (*engine.World, error) { w, _, err := build(h); return w, err },
				func() (index.Condition, error) {
					unknown = 0 // the last that is made counts
					return func(w *engine.World, first bool) (bool, error) {
						if first {
							statement.Start(w)
						}
						held, err := statement.Holds(w)
						if err != nil {
							unknown++
						}
						at[w.Tick()] = statement.Found()
						return held && err == nil, nil
					}, nil
				}, 1, nil)
			if tt.err == "" && err != nil && tt.what != "cut" {
				t.Fatal(err)
			}
			if got.Held != want.Ticks() || got.Unknown != unknown || (got.Unknown > 0) != (got.Reason != "") || !strings.Contains(got.Error, tt.err) || (got.Error == "") != (tt.err == "") {
				t.Errorf("%d held, %d unknown (%s), %q; want %d, %d, %q", got.Held, got.Unknown, got.Reason, got.Error, want.Ticks(), unknown, tt.err)
			}
			var spans []index.Span
			for _, s := range got.Spans {
				spans = append(spans, index.Span{First: s.First, Last: s.Last})
				if s.Found != at[s.First] {
					t.Errorf("tick %d: %q, want %q", s.First, s.Found, at[s.First])
				}
			}
			if !slices.Equal(spans, want.Spans) {
				t.Errorf("%v, want %v", spans, want.Spans)
			}
		})
	}
}

// TestFindWrong: a condition that cannot be understood is no error of the request, but says where it is wrong; one that is too long is one.
func TestFindWrong(t *testing.T) {
	heat, _, _ := record(t, "heat", 5, false)
	s := view.NewSession(open(t, heat, nil))
	got := searchAll(t, s, "most(heta) > 250")
	if got.Wrong == nil || got.Wrong.Before != "most(" || got.Wrong.Meant != "heta" || got.Wrong.After != ") > 250" || !strings.Contains(got.Wrong.Reason, "heat") {
		t.Errorf("%+v", got.Wrong)
	}
	if a := ask(t, s, `{"op":"find","condition":"%s"}`, strings.Repeat("1 + ", 2000)); a.Error == "" {
		t.Errorf("a long condition is answered with %s", a.Answer)
	}
}
