package report

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
)

// DefaultColumns are those of a terminal that does not tell how many it has.
const DefaultColumns = 80

const (
	barWidth = 32 // at most
	leastBar = 8
)

// A Meter shows progress on a terminal, and nothing elsewhere.
type Meter struct {
	First   uint64 // the tick before the first
	Last    uint64 // at which it ends
	Total   uint64 // that are planned; 0: unknown
	Started time.Time
	Active  bool // false: it shows nothing

	w     io.Writer
	width func() int // columns of the terminal
	shown time.Time
}

// Rate is how many ticks a second there have been.
func (m *Meter) Rate(ticks uint64) float64 {
	return float64(ticks) / max(time.Since(m.Started).Seconds(), 1e-9)
}

// Show draws the line of a tick.
func (m *Meter) Show(tick uint64) {
	m.Draw(func(columns int) string { return m.line(tick, m.Rate(tick-min(m.First, tick)), columns) })
}

// Note draws another line than that of ticks.
func (m *Meter) Note(format string, args ...any) {
	m.Draw(func(int) string { return fmt.Sprintf(format, args...) })
}

// Draw draws what line returns for so many columns, ten times a second at most.
func (m *Meter) Draw(line func(columns int) string) {
	if !m.Active || time.Since(m.shown) < 100*time.Millisecond {
		return
	}
	m.shown = time.Now()
	fmt.Fprintf(m.w, "\r%s\x1b[K", line(m.width()))
}

// Made returns what f makes for the first tick. It shows the progress that f tells step, if
// that takes long, and ends with the context at once; f is then left behind.
func Made[T any](ctx context.Context, p *Printer, f func(step func(share float64) error) (T, error)) (T, error) {
	const patience = 500 * time.Millisecond
	var percent atomic.Int64
	step := func(share float64) error {
		percent.Store(int64(share * 100))
		return ctx.Err()
	}
	m := p.Meter(0)
	defer m.Clear()
	every := time.NewTicker(patience / 5)
	defer every.Stop()
	return files.Await(ctx, func() (T, error) { return f(step) }, every.C, func() {
		if m.Active && time.Since(m.Started) > patience {
			fmt.Fprintf(m.w, "\r\x1b[Kmaking the world  %d%%", percent.Load())
		}
	})
}

// Clear removes the line.
func (m *Meter) Clear() {
	if m.Active {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
}

// line returns the line of progress at a tick, at a rate of ticks a second, in less than so many
// columns: the ticks, then what is left of the time, the rate and a bar, as far as there is room.
func (m *Meter) line(tick uint64, rate float64, columns int) string {
	text, parts, share := words.Number(tick), []string(nil), -1.0
	if m.Total > 0 {
		text += "/" + words.Number(m.Total)
		share = float64(tick) / float64(m.Total)
	}
	if m.Last > tick && tick > m.First {
		parts = append(parts, words.Remaining(float64(m.Last-tick)/rate)+" left")
	}
	return ProgressLine(columns, text+" ticks", append(parts, words.Speed(rate)+" ticks/s"), share)
}

// ProgressLine returns a line of progress in less than so many columns: a text, then parts and a bar, as far as there is
// room. The bar is full to a share; below 0: there is none.
func ProgressLine(columns int, text string, parts []string, share float64) string {
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
