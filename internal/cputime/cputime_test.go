package cputime_test

import (
	"math"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/cputime"
)

func TestOf(t *testing.T) {
	if cputime.Taken() < 0 {
		t.Log("the system does not tell the processor time")
		return
	}
	x := 1.0
	worked := cputime.Of(func() {
		for range 50_000_000 {
			x = math.Sqrt(x + 1)
		}
	})
	if worked < 10*time.Millisecond || x == 0 {
		t.Errorf("50 million roots took %v of the processor", worked)
	}
	const nap = 500 * time.Millisecond
	if slept := cputime.Of(func() { time.Sleep(nap) }); slept > nap/2 {
		t.Errorf("a sleep of %v took %v of the processor", nap, slept)
	}
}
