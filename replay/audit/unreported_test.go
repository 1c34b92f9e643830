package audit_test

import (
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/space"
)

// A liar changes two elements and reports one of them.
type liar struct{ full bool }

func (l liar) Spec(*space.Lattice) engine.Spec {
	if l.full {
		return engine.Spec{Name: "liar", Prev: engine.Fields(0), Full: engine.Fields(0)}
	}
	return engine.Spec{Name: "liar", Incremental: engine.Fields(0)}
}

func (l liar) Step(c *engine.Context) error {
	v := c.Next(0)
	if l.full {
		copy(v, c.Prev(0))
	}
	v[5]++
	v[20000]++
	c.Changed(0, 5, 6)
	return nil
}

// TestUnreported: the chain believes no report of what has changed. Each link has the digest of its own state.
func TestUnreported(t *testing.T) {
	for _, full := range []bool{false, true} {
		w, err := engine.New(engine.Config{
			Space: space.Ring{Length: 30_000}, TickRate: 10, Fields: []fields.Def{{Name: "a"}}, Propagators: []engine.Propagator{liar{full}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var k kept
		r, err := audit.NewRecorder(&k, w, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		for range 10 {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if len(k.snapshots) != 6 {
			t.Fatalf("%d snapshots, want 6", len(k.snapshots))
		}
		for _, s := range k.snapshots {
			own, err := audit.NewLink(audit.Hash{}, s.State)
			if err != nil {
				t.Fatal(err)
			}
			if got := k.links[s.Tick].Digests[2]; got != own.Digests[2] {
				t.Errorf("full %v, tick %d: the digest of the fields is %v, that of the state %v", full, s.Tick, got.Sum, own.Digests[2].Sum)
			}
		}
	}
}
