package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/internal/words"
)

// A printer says what a command does: results to one writer, progress and errors to another, as text or as one object of JSON a line.
type printer struct {
	out   io.Writer
	errs  *checkedWriter
	json  bool
	quiet bool
}

// say prints a line for people to standard output, unless --quiet or --json.
func (a *printer) say(format string, args ...any) error {
	if a.quiet || a.json {
		return nil
	}
	_, err := fmt.Fprintf(a.out, format+"\n", args...)
	return err
}

// emit prints an object as one line of JSON, if --json and not --quiet.
func (a *printer) emit(v any) error { return a.result(v, true) }

// result is emit for what may be an error, which --quiet does not silence.
func (a *printer) result(v any, ok bool) error {
	if !a.json || a.quiet && ok {
		return nil
	}
	return jsonlines.Write(a.out, v)
}

// tickFlag is a number of ticks on the command line, in digits, as a seed is.
type tickFlag uint64

func (n *tickFlag) String() string { return strconv.FormatUint(uint64(*n), 10) }

func (n *tickFlag) Set(s string) error {
	v, err := strconv.ParseUint(s, 10, 64)
	if err == nil {
		*n = tickFlag(v)
	}
	return err
}

func (n *tickFlag) Type() string { return "uint64" }

// bytesFlag is a size on the command line.
type bytesFlag struct {
	bytes uint64
	text  string // as it was given
}

func (b *bytesFlag) String() string { return b.text }

func (b *bytesFlag) Set(s string) error {
	n, err := words.ParseSize(s)
	*b = bytesFlag{n, s}
	return err
}

func (b *bytesFlag) Type() string { return "size" }

var defaultMaxMemory = bytesFlag{4 << 30, "4GiB"}

// A meter shows progress on a terminal, and nothing elsewhere.
type meter struct {
	w       io.Writer
	width   func() int // columns of the terminal
	first   uint64     // the tick before the first
	last    uint64     // at which it ends
	total   uint64     // that are planned; 0: unknown
	started time.Time
	shown   time.Time
	active  bool
}

func (a *printer) meter(total uint64) *meter {
	f, ok := a.errs.terminal()
	active := ok && !a.quiet && !a.json
	width := func() int {
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 {
			columns = defaultColumns
		}
		return columns
	}
	return &meter{w: a.errs, width: width, last: total, total: total, started: time.Now(), active: active}
}

// rate is how many ticks a second there have been.
func (m *meter) rate(ticks uint64) float64 {
	return float64(ticks) / max(time.Since(m.started).Seconds(), 1e-9)
}

// show draws the line of a tick.
func (m *meter) show(tick uint64) {
	m.draw(func(columns int) string { return m.line(tick, m.rate(tick-min(m.first, tick)), columns) })
}

// note draws another line than that of ticks.
func (m *meter) note(format string, args ...any) {
	m.draw(func(int) string { return fmt.Sprintf(format, args...) })
}

// draw draws what line returns for so many columns, ten times a second at most.
func (m *meter) draw(line func(columns int) string) {
	if !m.active || time.Since(m.shown) < 100*time.Millisecond {
		return
	}
	m.shown = time.Now()
	fmt.Fprintf(m.w, "\r%s\x1b[K", line(m.width()))
}

// made returns what f makes for the first tick. It shows the progress that f tells step, if
// that takes long, and ends with the context at once; f is then left behind.
func made[T any](ctx context.Context, a *printer, f func(step func(share float64) error) (T, error)) (T, error) {
	const patience = 500 * time.Millisecond
	var percent atomic.Int64
	step := func(share float64) error {
		percent.Store(int64(share * 100))
		return ctx.Err()
	}
	m := a.meter(0)
	defer m.clear()
	every := time.NewTicker(patience / 5)
	defer every.Stop()
	return files.Await(ctx, func() (T, error) { return f(step) }, every.C, func() {
		if m.active && time.Since(m.started) > patience {
			fmt.Fprintf(m.w, "\r\x1b[Kmaking the world  %d%%", percent.Load())
		}
	})
}

// clear removes the line.
func (m *meter) clear() {
	if m.active {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
}
