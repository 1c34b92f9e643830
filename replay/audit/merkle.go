package audit

import (
	"crypto/sha256"
	"math/bits"

	"github.com/murksim/murksim/internal/kernel"
)

// Trees are those of RFC 6962: SHA-256(0x00 ‖ leaf), SHA-256(0x01 ‖ left ‖ right), and a last node without a sibling moves up as it is.

func leafHash(b []byte) Hash {
	d := sha256.New()
	d.Write([]byte{0})
	d.Write(b)
	return Hash(d.Sum(nil))
}

func nodeHash(left, right *Hash) Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// rootOf returns the root of a tree.
func rootOf(leaves []Hash) Hash {
	switch n := len(leaves); n {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	default:
		half := below(n)
		left, right := rootOf(leaves[:half]), rootOf(leaves[half:])
		return nodeHash(&left, &right)
	}
}

// pathOf returns the siblings from a leaf of a tree to its root.
func pathOf(leaves []Hash, i int) []Hash {
	if len(leaves) <= 1 {
		return nil
	}
	half := below(len(leaves))
	if i < half {
		return append(pathOf(leaves[:half], i), rootOf(leaves[half:]))
	}
	return append(pathOf(leaves[half:], i-half), rootOf(leaves[:half]))
}

// below returns the largest power of two below n.
func below(n int) int { return 1 << (bits.Len(uint(n-1)) - 1) }

// A tree keeps all nodes of a tree, so that few are computed again when few leaves change.
type tree struct {
	levels [][]Hash // from the leaves to the root
	stale  [][]bool // nodes of a level that are to be computed
}

func newTree(leaves int) *tree {
	t := new(tree)
	for n := leaves; ; n = (n + 1) / 2 {
		t.levels, t.stale = append(t.levels, make([]Hash, n)), append(t.stale, make([]bool, n))
		if n <= 1 {
			return t
		}
	}
}

// leaf returns where a leaf's hash belongs, which is about to change.
func (t *tree) leaf(i int) *Hash {
	leaf := &t.levels[0][i]
	for level := 1; level < len(t.levels); level++ {
		if i /= 2; t.stale[level][i] {
			break // and so is what is above it
		}
		t.stale[level][i] = true
	}
	return leaf
}

// root returns the root of a tree in which nothing is to be computed.
func (t *tree) root() *Hash { return &t.levels[len(t.levels)-1][0] }

// grow computes what is to be computed of trees, level by level in all of them, so that two nodes can be hashed at once.
func grow(trees []*tree, two *pair) {
	for level, some := 1, true; some; level++ {
		some = false
		for _, t := range trees {
			if level < len(t.levels) {
				t.grow(level, two)
				some = true
			}
		}
		two.rest()
	}
}

// grow computes what is to be computed of a level.
func (t *tree) grow(level int, two *pair) {
	below := t.levels[level-1]
	for i, stale := range t.stale[level] {
		if !stale {
			continue
		}
		t.stale[level][i] = false
		if 2*i+1 == len(below) {
			t.levels[level][i] = below[2*i]
			continue
		}
		b := append(two.next(), 1)
		b = append(b, below[2*i][:]...)
		two.add(append(b, below[2*i+1][:]...), &t.levels[level][i])
	}
}

// A pair hashes messages two at a time, which is faster than one after the other.
type pair struct {
	messages [2][]byte
	to       [2]*Hash
	n        int // messages that wait
}

// next returns where to append the next message.
func (p *pair) next() []byte { return p.messages[p.n][:0] }

// add hashes a message that next began, at the latest with rest.
func (p *pair) add(message []byte, to *Hash) {
	p.messages[p.n], p.to[p.n] = message, to
	if p.n++; p.n == 2 {
		*p.to[0], *p.to[1] = kernel.SHA256Two(p.messages[0], p.messages[1])
		p.n = 0
	}
}

// rest hashes a message that waits.
func (p *pair) rest() {
	if p.n == 1 {
		*p.to[0], p.n = sha256.Sum256(p.messages[0]), 0
	}
}
