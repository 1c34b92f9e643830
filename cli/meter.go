package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	defaultColumns = 80
	barWidth       = 32 // at most
	leastBar       = 8
)

// line returns the line of progress at a tick, at a rate of ticks a second, in less than so many
// columns: the ticks, then what is left of the time, the rate and a bar, as far as there is room.
func (m *meter) line(tick uint64, rate float64, columns int) string {
	text := number(tick)
	if m.total > 0 {
		text += "/" + number(m.total)
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
		left = remaining(float64(m.last-tick)/rate) + " left"
	}
	add(left)
	add(speed(rate) + " ticks/s")
	if width := min(barWidth, room-2-utf8.RuneCountInString(text)); m.total > 0 && width >= leastBar {
		full := int(min(float64(tick)/float64(m.total), 1) * float64(width))
		add(strings.Repeat("█", full) + strings.Repeat("░", width-full))
	}
	return string([]rune(text)[:min(max(room, 0), utf8.RuneCountInString(text))])
}

// remaining writes a time for people, in one or two units.
func remaining(seconds float64) string {
	const most = 100 * 365 * 24 * time.Hour
	if seconds >= most.Seconds() {
		return "years"
	}
	d := time.Duration(seconds * float64(time.Second))
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds())+1)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < day:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %d h", d/day, int((d % day).Hours()))
}
