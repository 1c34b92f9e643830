package words_test

import (
	"testing"

	"github.com/murksim/murksim/internal/words"
)

func TestRemaining(t *testing.T) {
	for seconds, want := range map[float64]string{0.2: "1 s", 59.5: "60 s", 61: "1 min 1 s", 3600: "1 h 0 min", 90000: "1 d 1 h", 1e18: "years"} {
		if got := words.Remaining(seconds); got != want {
			t.Errorf("%v s: %q, want %q", seconds, got, want)
		}
	}
}
