package cli

import (
	"strings"
	"unicode/utf8"

	"github.com/murksim/murksim/internal/words"
)

const (
	defaultColumns = 80
	barWidth       = 32 // at most
	leastBar       = 8
)

// line returns the line of progress at a tick, at a rate of ticks a second, in less than so many
// columns: the ticks, then what is left of the time, the rate and a bar, as far as there is room.
func (m *meter) line(tick uint64, rate float64, columns int) string {
	text := words.Number(tick)
	if m.total > 0 {
		text += "/" + words.Number(m.total)
	}
	text += " ticks"
	room := columns - 1 // a full line may wrap
	add := func(more string) {
		if more != "" && utf8.RuneCountInString(text)+2+utf8.RuneCountInString(more) <= room {
			text += "  " + more
		}
	}
	left := ""
	if m.last > tick && tick > m.first {
		left = words.Remaining(float64(m.last-tick)/rate) + " left"
	}
	add(left)
	add(words.Speed(rate) + " ticks/s")
	if width := min(barWidth, room-2-utf8.RuneCountInString(text)); m.total > 0 && width >= leastBar {
		full := int(min(float64(tick)/float64(m.total), 1) * float64(width))
		add(strings.Repeat("█", full) + strings.Repeat("░", width-full))
	}
	return string([]rune(text)[:min(max(room, 0), utf8.RuneCountInString(text))])
}
