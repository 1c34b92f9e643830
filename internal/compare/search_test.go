package compare

import (
	"testing"
)

// TestBisectError: an error of the search itself, which has no cause, is not taken for an answer.
func TestBisectError(t *testing.T) {
	x, y := &answer{hash: "x"}, &answer{hash: "y"}
	j := &Search{Begun: true, Pair: [2]*SearchSide{{answers: map[uint64]*answer{0: x, 1: x}}, {answers: map[uint64]*answer{0: y, 1: x}}}}
	first, err := j.first(t.Context(), 0, func(i uint64) uint64 { return i })
	if err == nil {
		t.Errorf("no tick to search gives tick %d, want an error", first)
	}
}
