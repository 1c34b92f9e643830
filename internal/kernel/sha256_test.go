package kernel_test

import (
	"crypto/sha256"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/internal/kernel"
)

// TestSHA256Two: messages of every length up to some blocks, of one length or two.
func TestSHA256Two(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	for n := range 5*sha256.BlockSize + 2 {
		a, b := make([]byte, n), make([]byte, n+n%7/6)
		random.Read(a)
		random.Read(b)
		x, y := kernel.SHA256Two(a, b)
		if p, q := kernel.SHA256TwoPlain(a, b); x != p || y != q {
			t.Fatalf("%d bytes: %x and %x, want %x and %x", n, x, y, p, q)
		}
	}
}

func BenchmarkSHA256Two(b *testing.B) {
	for _, n := range []int{65, 1025} {
		m := make([]byte, n)
		for _, f := range []struct {
			name string
			two  func(a, b []byte) (x, y [sha256.Size]byte)
		}{{"together", kernel.SHA256Two}, {"plain", kernel.SHA256TwoPlain}} {
			b.Run(f.name+"/"+map[int]string{65: "node", 1025: "tile"}[n], func(b *testing.B) {
				b.SetBytes(2 * int64(n))
				for b.Loop() {
					f.two(m, m)
				}
			})
		}
	}
}
