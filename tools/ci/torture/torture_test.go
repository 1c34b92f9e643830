package main

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestLyingDisk: a disk that says it has written what it has not makes the torture fail.
func TestLyingDisk(t *testing.T) {
	r, err := newReference()
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for i := range 20 {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		to := &file{disk: &disk{rng: rng, left: 1 << 20, fault: -1}, lies: true}
		idx := &file{disk: &disk{rng: rng, left: 1 << 20, fault: -1}}
		err := r.look(&table{rows: map[string]int{}}, to, idx, func() bool { return true }, rng)
		if err != nil && strings.Contains(err.Error(), "was safe on the disk") {
			failed++
		}
	}
	if failed < 10 {
		t.Errorf("%d of 20 crashes of a disk that lies are noticed", failed)
	}
}

// TestUnnoticed: damage that nothing notices makes the torture fail.
func TestUnnoticed(t *testing.T) {
	r, err := newReference("ticks=3")
	if err != nil {
		t.Fatal(err)
	}
	if how := r.notice(r.recording, nil); how != "" {
		t.Errorf("nothing is damaged, but %s", how)
	}
	if how := r.notice(r.recording[:r.ends[2]], nil); how != "fewer ticks than planned" {
		t.Errorf("a missing tick is noticed as %q", how)
	}
}
