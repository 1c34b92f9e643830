package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/audit"
)

// TestProof holds that each tile of a state can be proved, and no other bytes in its place, nor the tile in another place.
func TestProof(t *testing.T) {
	k := record(t, "predators", 10, "ticks=30", "expect=[]")
	l, state := &k.links[20], k.snapshots[2].State
	s, err := engine.ReadState(state)
	if err != nil {
		t.Fatal(err)
	}
	proofs := 0
	for id := range s.Columns {
		c := &s.Columns[id]
		for i := 0; i < c.Len(); i += audit.TileBytes / c.Element.Size() {
			p, err := audit.Prove(l, state, id, min(i+1, c.Len()-1))
			if err != nil {
				t.Fatal(err)
			}
			if h, ok := p.Hash(); !ok || h != l.Hash {
				t.Fatalf("column %d, element %d: %s, %t; want %s", id, i, h, ok, l.Hash)
			}
			if begin := p.Tile * audit.TileBytes; !bytes.Equal(p.Bytes, c.Bytes[begin:begin+len(p.Bytes)]) {
				t.Fatalf("column %d, element %d: other bytes", id, i)
			}
			proofs++
			for what, change := range map[string]func(*audit.Proof){
				"bytes": func(p *audit.Proof) {
					p.Bytes = append(bytes.Clone(p.Bytes[:len(p.Bytes)-1]), p.Bytes[len(p.Bytes)-1]^1)
				},
				"fewer bytes":   func(p *audit.Proof) { p.Bytes = p.Bytes[:len(p.Bytes)-1] },
				"another tile":  func(p *audit.Proof) { p.Tile++ },
				"another field": func(p *audit.Proof) { p.Column++ },
				"no tile":       func(p *audit.Proof) { p.Tile = -1 },
				"element":       func(p *audit.Proof) { p.Element ^= 1 },
				"elements":      func(p *audit.Proof) { p.Elements++ },
				"columns":       func(p *audit.Proof) { p.Columns *= 3 },
				"tick":          func(p *audit.Proof) { p.Tick++ },
				"before":        func(p *audit.Proof) { p.Prev[0]++ },
				"length":        func(p *audit.Proof) { p.StateLen++ },
				"longer path":   func(p *audit.Proof) { p.Path = append(p.Path, audit.Hash{}) },
				"path":          func(p *audit.Proof) { p.Path = nil },
				"digests":       func(p *audit.Proof) { p.Digests = p.Digests[:2] },
			} {
				other := *p
				change(&other)
				begin := other.Tile * audit.TileBytes
				if same := what == "another tile" && begin < len(c.Bytes) && bytes.HasPrefix(c.Bytes[begin:], p.Bytes); same {
					continue // which is true
				}
				if h, ok := other.Hash(); ok && h == l.Hash {
					t.Fatalf("column %d, element %d: with another value of %s it is a proof, too", id, i, what)
				}
			}
		}
	}
	if proofs < 100 {
		t.Errorf("only %d proofs", proofs)
	}
	if _, err := audit.Prove(&k.links[21], state, 0, 0); err == nil {
		t.Error("the state of another tick is taken")
	}
	if _, err := audit.Prove(l, state, len(s.Columns), 0); err == nil {
		t.Error("a column that there is not is proved")
	}
}

func TestCheckpoint(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := audit.Checkpoint{Run: audit.ID{1}, Tick: 7, Hash: audit.Hash{9}}
	signature := c.Sign(private)
	if !c.Signed(public, signature) {
		t.Error("what was signed is not")
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []audit.Checkpoint{{audit.ID{2}, 7, audit.Hash{9}}, {audit.ID{1}, 8, audit.Hash{9}}, {audit.ID{1}, 7, audit.Hash{8}}} {
		if x.Signed(public, signature) {
			t.Errorf("%v has the signature of %v", x, c)
		}
	}
	if c.Signed(other, signature) || c.Signed(public, signature[1:]) || c.Signed(nil, signature) {
		t.Error("another key or signature is taken")
	}
}
