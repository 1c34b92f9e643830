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
	text, parts, share := words.Number(tick), []string(nil), -1.0
	if m.total > 0 {
		text += "/" + words.Number(m.total)
		share = float64(tick) / float64(m.total)
	}
	if m.last > tick && tick > m.first {
		parts = append(parts, words.Remaining(float64(m.last-tick)/rate)+" left")
	}
	return progressLine(columns, text+" ticks", append(parts, words.Speed(rate)+" ticks/s"), share)
}

// progressLine returns a line of progress in less than so many columns: a text, then parts and a bar, as far as there is
// room. The bar is full to a share; below 0: there is none.
func progressLine(columns int, text string, parts []string, share float64) string {
	room := columns - 1 // a full line may wrap
	for _, part := range parts {
		if utf8.RuneCountInString(text)+2+utf8.RuneCountInString(part) <= room {
			text += "  " + part
		}
	}
	if width := min(barWidth, room-2-utf8.RuneCountInString(text)); share >= 0 && width >= leastBar {
		full := int(min(share, 1) * float64(width))
		text += "  " + strings.Repeat("█", full) + strings.Repeat("░", width-full)
	}
	return string([]rune(text)[:min(max(room, 0), utf8.RuneCountInString(text))])
}
