package audit_test

import (
	"crypto/ed25519"
	"testing"

	"github.com/murksim/murksim/replay/audit"
)

func TestCheckpoint(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := audit.Checkpoint{audit.ID{1}, 7, audit.Hash{9}, audit.Hash{5}}
	signature := c.Sign(private)
	if !c.Signed(public, signature) {
		t.Error("what was signed is not")
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []audit.Checkpoint{
		{audit.ID{2}, 7, audit.Hash{9}, audit.Hash{5}}, {audit.ID{1}, 8, audit.Hash{9}, audit.Hash{5}}, {audit.ID{1}, 7, audit.Hash{8}, audit.Hash{5}},
		{audit.ID{1}, 7, audit.Hash{9}, audit.Hash{4}},
	} {
		if x.Signed(public, signature) {
			t.Errorf("%v has the signature of %v", x, c)
		}
	}
	if c.Signed(other, signature) || c.Signed(public, signature[1:]) || c.Signed(nil, signature) {
		t.Error("another key or signature is taken")
	}
}
