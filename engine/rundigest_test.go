package engine_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/murksim/murksim/engine"
)

// TestRunDigest holds the digest against its definition, for runs that end at each tick, and for copies that go on apart.
func TestRunDigest(t *testing.T) {
	var d engine.RunDigest
	var bytes []byte
	for tick := range uint64(20) {
		if got, want := d.Sum(), sha256.Sum256(bytes); got != want || d.Ticks() != tick {
			t.Fatalf("after %d ticks: %d and %x, want %x", tick, d.Ticks(), got, want)
		}
		apart := d.Clone()
		apart.Add(99)
		hash := 0x0807060504030201 * (tick + 1)
		d.Add(hash)
		for i := range 8 {
			bytes = append(bytes, byte(hash>>(8*i)))
		}
		if apart.Ticks() != d.Ticks() || apart.Sum() == d.Sum() {
			t.Errorf("tick %d: a copy that went another way has the same digest", tick)
		}
	}
	var one engine.RunDigest
	one.Add(0x0102030405060708)
	const want = "380b980886b7a3e726b5c2776160d7842b8f139eaea1e6acf7442cdf890e6287"
	if got := one.Sum(); hex.EncodeToString(got[:]) != want {
		t.Errorf("the digest of one tick is %x, want %s", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { one.Add(7) }); n != 0 {
		t.Errorf("a tick allocates %v times", n)
	}
}
