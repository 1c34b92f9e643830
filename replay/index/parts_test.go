package index

import "testing"

// TestMatched holds that ticks behind a part which did not match are not counted as matching.
func TestMatched(t *testing.T) {
	v := verification{parts: []part{{ticks: 5, ok: true}, {ticks: 3}, {ticks: 4, ok: true}}}
	if n := v.matched(); n != 8 {
		t.Errorf("%d ticks match, want 8", n)
	}
}
