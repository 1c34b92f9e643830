package waiting_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/murksim/murksim/internal/waiting"
)

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, asked := time.Now(), 0
		if !waiting.Until(func() bool { asked++; return asked == 100 }) || asked != 100 {
			t.Errorf("it was asked %d times, want 100 and a yes", asked)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("100 questions took %v", took)
		}
		began = time.Now()
		if waiting.Until(func() bool { return false }) {
			t.Error("what is never true has become true")
		}
		if took := time.Since(began); took < waiting.Hang || took > 2*waiting.Hang {
			t.Errorf("it gave up after %v, want %v", took, waiting.Hang)
		}
	})
}
