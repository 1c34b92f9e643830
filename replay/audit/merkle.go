package audit

import (
	"crypto/sha256"
	"math/bits"
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

// set gives a leaf its hash.
func (t *tree) set(i int, h Hash) {
	t.levels[0][i] = h
	for level := 1; level < len(t.levels); level++ {
		if i /= 2; t.stale[level][i] {
			return // and so is what is above it
		}
		t.stale[level][i] = true
	}
}

// root returns the root.
func (t *tree) root() Hash {
	for level := 1; level < len(t.levels); level++ {
		below := t.levels[level-1]
		for i, stale := range t.stale[level] {
			switch {
			case !stale:
			case 2*i+1 < len(below):
				t.levels[level][i] = nodeHash(&below[2*i], &below[2*i+1])
			default:
				t.levels[level][i] = below[2*i]
			}
			t.stale[level][i] = false
		}
	}
	return t.levels[len(t.levels)-1][0]
}
