package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestProgressFitsTheTerminal: the line of progress is shorter than the terminal is wide, whatever
// there is to say, and says how long it will take where there is room.
func TestProgressFitsTheTerminal(t *testing.T) {
	bar := func(full, empty int) string { return strings.Repeat("█", full) + strings.Repeat("░", empty) }
	for _, tt := range []struct {
		columns           int
		tick, last, total uint64
		rate              float64
		want              string
	}{
		{40, 500, 1000, 1000, 51, "500/1,000 ticks  10 s left  51 ticks/s"},
		{80, 500, 1000, 1000, 51, "500/1,000 ticks  10 s left  51 ticks/s  " + bar(16, 16)},
		{120, 500, 1000, 1000, 51, "500/1,000 ticks  10 s left  51 ticks/s  " + bar(16, 16)},
		{60, 500, 1000, 1000, 51, "500/1,000 ticks  10 s left  51 ticks/s  " + bar(9, 10)},
		{40, 123_456_789, 1e15, 1e15, 12345678, "123,456,789/1,000,000,000,000,000 ticks"},
		{20, 123_456_789, 1e15, 1e15, 12345678, "123,456,789/1,000,0"},
		{80, 123_456_789, 1e15, 1e15, 12345678, "123,456,789/1,000,000,000,000,000 ticks  937 d 11 h left  12,300,000 ticks/s"},
		{80, 500, 600, 1000, 10.2, "500/1,000 ticks  10 s left  10.2 ticks/s  " + bar(16, 16)}, // until 600
		{80, 0, 1000, 1000, 0, "0/1,000 ticks  0 ticks/s  " + bar(0, 32)},
		{80, 1000, 1000, 1000, 100, "1,000/1,000 ticks  100 ticks/s  " + bar(32, 0)},
		{80, 70, 0, 0, 7, "70 ticks  7 ticks/s"}, // of a recording that plans none
		{0, 70, 0, 0, 7, ""},
		{1, 70, 0, 0, 7, ""},
	} {
		m := &Meter{Last: tt.last, Total: tt.total}
		got := m.line(tt.tick, tt.rate, tt.columns)
		if got != tt.want {
			t.Errorf("tick %d of %d in %d columns: %q, want %q", tt.tick, tt.total, tt.columns, got, tt.want)
		}
		if n := utf8.RuneCountInString(got); n >= max(tt.columns, 1) {
			t.Errorf("tick %d of %d: %d columns of %d", tt.tick, tt.total, n, tt.columns)
		}
	}
}
