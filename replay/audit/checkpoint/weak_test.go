package checkpoint_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"math/big"
	"slices"
	"testing"

	"github.com/murksim/murksim/replay/audit/checkpoint"
)

// A point of the Edwards curve −x² + y² = 1 + d·x²·y² over the integers modulo 2^255 − 19 (RFC 8032, 5.1).
type point struct{ x, y *big.Int }

var (
	prime  = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	curveD = new(big.Int).Mod(new(big.Int).Mul(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), prime)), prime)
)

func product(list ...*big.Int) *big.Int {
	p := big.NewInt(1)
	for _, x := range list {
		p.Mod(p.Mul(p, x), prime)
	}
	return p
}

// plus adds two points (RFC 8032, 5.1.4, before it is written without divisions).
func (p point) plus(q point) point {
	one, t := big.NewInt(1), product(curveD, p.x, q.x, p.y, q.y)
	x := new(big.Int).Add(product(p.x, q.y), product(q.x, p.y))
	y := new(big.Int).Add(product(p.y, q.y), product(p.x, q.x))
	return point{
		product(x, new(big.Int).ModInverse(new(big.Int).Add(one, t), prime)),
		product(y, new(big.Int).ModInverse(new(big.Int).Mod(new(big.Int).Sub(one, t), prime), prime)),
	}
}

// written returns the ways to write a point in 32 bytes that [ed25519.Verify] may take: also with y beyond the prime.
func (p point) written() (list [][]byte) {
	for _, y := range []*big.Int{p.y, new(big.Int).Add(p.y, prime)} {
		if y.BitLen() > 255 {
			continue
		}
		for _, sign := range []byte{0, 0x80} {
			b := y.FillBytes(make([]byte, 32))
			slices.Reverse(b)
			b[31] |= sign
			list = append(list, b)
		}
	}
	return list
}

// TestWeakKeys makes all points of an order of 1, 2, 4 and 8 from one of order 8, and refuses each as a key.
func TestWeakKeys(t *testing.T) {
	b, err := hex.DecodeString("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(b)
	y := new(big.Int).SetBytes(b)
	above, below := new(big.Int).Sub(product(y, y), big.NewInt(1)), new(big.Int).Add(product(curveD, y, y), big.NewInt(1))
	x := new(big.Int).ModSqrt(product(above, new(big.Int).ModInverse(below, prime)), prime)
	if x == nil {
		t.Fatal("it is no point of the curve")
	}
	c, order := checkpoint.Checkpoint{Tick: 7}, 0
	first := point{x, y}
	for p := first; order < 9; p = p.plus(first) {
		order++
		for _, key := range p.written() {
			if _, err := c.Key(key); err == nil || checkpoint.CheckKey(key) == nil {
				t.Errorf("%x is taken as a key", key)
			}
			if k, err := checkpoint.ParseKey(verifierKey("weak", 1, key)); err == nil {
				t.Errorf("%s is taken as a verifier key", k)
			}
		}
		if p.x.Sign() == 0 && p.y.Cmp(big.NewInt(1)) == 0 {
			break
		}
	}
	if order != 8 {
		t.Errorf("the point has the order %d, want 8", order)
	}
	for range 50 {
		public, _, err := ed25519.GenerateKey(nil)
		if err != nil || checkpoint.CheckKey(public) != nil {
			t.Errorf("%x: %v, %v", public, err, checkpoint.CheckKey(public))
		}
	}
	if checkpoint.CheckKey(nil) == nil || checkpoint.CheckKey(bytes.Repeat([]byte{0xff}, 32)) == nil {
		t.Error("what is no key is taken")
	}
}
