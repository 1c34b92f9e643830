package audit_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/audit"
)

// A second reading shows what was exchanged after a check.
type exchanged struct {
	*kept
	links func(from uint64) []audit.Link // nil: as they were
}

func (x *exchanged) Links(ctx context.Context, from uint64) iter.Seq2[*audit.Link, error] {
	if x.links == nil {
		return x.kept.Links(ctx, from)
	}
	return (&kept{links: x.links(from), run: x.run}).Links(ctx, from)
}

// TestHeld holds that no link counts that is not the one which was checked, however it is asked for: one that a source shows only to who looks it up, one that
// is another one by now, one that is missing by now; whether the hashes of its ticks are kept or only digests of many.
func TestHeld(t *testing.T) {
	honest := record(t, "heat", 100, "ticks=900", "expect=[]")
	forged := honest.clone()
	forged.links[700].Digests = slices.Clone(forged.links[700].Digests)
	forged.links[700].Digests[2].Sum[0] ^= 1
	for i := 700; i < len(forged.links); i++ {
		forged.links[i].Prev = forged.links[i-1].Hash
		forged.links[i].Rehash()
	}
	inputs := honest.clone()
	inputs.links[800].InputHash[3] ^= 1
	unhashed := honest.clone()
	unhashed.links[800].StateLen++
	last := func(from uint64, links []audit.Link) []audit.Link { // who asks for few ticks gets others
		if from > 600 {
			return links
		}
		return honest.links
	}
	for _, keep := range []int{1 << 20, 300, -1} {
		for _, tt := range []struct {
			what string
			at   uint64
			want string // of the error
			show func(from uint64) []audit.Link
		}{
			{"the same", 900, "", nil},
			{"another chain", 900, "checked", func(uint64) []audit.Link { return forged.links }},
			{"another chain, before it parts", 650, "", func(from uint64) []audit.Link { return last(from, forged.links) }},
			{"another chain for a lookup", 900, "checked", func(from uint64) []audit.Link { return last(from, forged.links) }},
			{"other inputs", 800, "checked", func(uint64) []audit.Link { return inputs.links }},
			{"what its hash does not cover", 800, "that of what it holds is", func(uint64) []audit.Link { return unhashed.links }},
			{"a cut", 800, "it is missing", func(uint64) []audit.Link { return honest.links[:790] }},
			{"a gap", 800, "it is missing", func(uint64) []audit.Link { return append(honest.clone().links[:795], honest.clone().links[805:]...) }},
			{"no tick that was checked", 901, "it is missing", nil},
		} {
			x := &exchanged{kept: honest}
			var c audit.Checker
			c.Keep(keep)
			found, err := c.Check(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			x.links = tt.show
			e := found.Held(x)
			l, err := audit.LinkAt(t.Context(), e, tt.at)
			broken, ok := errors.AsType[*audit.EvidenceError](err)
			switch {
			case tt.want == "" && (err != nil || l.Hash != honest.links[tt.at].Hash) && tt.what != "another chain, before it parts":
				t.Errorf("%d hashes, %s: %v, %v", keep, tt.what, l, err)
			case tt.want != "" && (!ok || !strings.Contains(broken.Reason, tt.want) && !(keep < 800 && strings.Contains(broken.Reason, "it, or one of those that follow it"))):
				t.Errorf("%d hashes, %s: %v, %v; want %s", keep, tt.what, l, err, tt.want)
			case err == nil && l.Hash != honest.links[tt.at].Hash:
				t.Errorf("%d hashes, %s: a link that was not checked", keep, tt.what)
			}
			n, all := 0, error(nil)
			for l, err := range e.Links(t.Context(), 0) {
				if all = err; err == nil && l.Hash != honest.links[n].Hash {
					t.Fatalf("%d hashes, %s: tick %d is another one", keep, tt.what, n)
				}
				n++
			}
			if whole := all == nil && n == len(honest.links); whole != (tt.show == nil || fmt.Sprint(tt.show(0)) == fmt.Sprint(honest.links)) {
				t.Errorf("%d hashes, %s: %d links, %v", keep, tt.what, n, all)
			}
		}
	}
	x := honest.clone()
	found, err := audit.Check(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	x.snapshots[2].State[100] ^= 1
	if s, err := found.Held(x).Snapshot(t.Context(), x.snapshots[2].Tick); err == nil {
		t.Errorf("a snapshot of %d bytes that is not the one that was checked", len(s.State))
	}
}
