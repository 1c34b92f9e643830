// Package waiting is for tests that wait until something has happened, however long the machine
// takes for it.
package waiting

import (
	"testing"
	"time"
)

// Hang is longer than anything takes that tests wait for, on a machine with many times as much to
// do as it can. Only what would never end takes so long.
const Hang = 3 * time.Minute

// each is how long Until waits between two questions.
const each = 5 * time.Millisecond

// Until asks until the answer is yes, every few milliseconds, and reports whether it came before
// Hang. The goroutine of the test need not call it.
func Until(is func() bool) bool {
	for began := time.Now(); !is(); time.Sleep(each) {
		if time.Since(began) > Hang {
			return false
		}
	}
	return true
}

// For waits until it is true that so and so. If it does not come true the test fails, and ends.
func For(t testing.TB, what string, is func() bool) {
	t.Helper()
	if !Until(is) {
		t.Fatalf("after %v it is not true that %s", Hang, what)
	}
}
