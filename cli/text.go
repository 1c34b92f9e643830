package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/scenarios"
)

// say prints a line for people to standard output, unless --quiet or --json.
func (a *app) say(format string, args ...any) error {
	if a.quiet || a.json {
		return nil
	}
	_, err := fmt.Fprintf(a.out, format+"\n", args...)
	return err
}

// emit prints an object as one line of JSON, if --json and not --quiet.
func (a *app) emit(v any) error { return a.result(v, true) }

// result is emit for what may be an error, which --quiet does not silence.
func (a *app) result(v any, ok bool) error {
	if !a.json || a.quiet && ok {
		return nil
	}
	return jsonlines.Write(a.out, v)
}

// number writes a count with a comma between groups of three digits.
func number(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size writes a number of bytes with a unit.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.3g KB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.3g MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.3g GB", float64(n)/1e9)
}

// parseSize reads a number of bytes such as 512MiB or 4GB.
func parseSize(s string) (uint64, error) {
	digits := strings.TrimRight(s, "KMGTiB")
	n, err := strconv.ParseUint(digits, 10, 64)
	unit, known := map[string]uint64{
		"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}[s[len(digits):]]
	if err != nil || !known || n > 1<<62/unit {
		return 0, fmt.Errorf("%q is no size; write it as 512MiB or 4GB", s)
	}
	return n * unit, nil
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
	n, err := parseSize(s)
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

func (a *app) meter(total uint64) *meter {
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

func (m *meter) show(tick uint64) {
	if !m.active || time.Since(m.shown) < 100*time.Millisecond {
		return
	}
	m.shown = time.Now()
	fmt.Fprintf(m.w, "\r%s\x1b[K", m.line(tick, m.rate(tick-min(m.first, tick)), m.width()))
}

// note draws another line than that of ticks, ten times a second at most.
func (m *meter) note(format string, args ...any) {
	if !m.active || time.Since(m.shown) < 100*time.Millisecond {
		return
	}
	m.shown = time.Now()
	fmt.Fprintf(m.w, "\r"+format+"\x1b[K", args...)
}

// made returns what f makes for the first tick. It shows the progress that f tells step, if
// that takes long, and ends with the context at once; f is then left behind.
func made[T any](ctx context.Context, a *app, f func(step func(share float64) error) (T, error)) (T, error) {
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
	return await(ctx, func() (T, error) { return f(step) }, every.C, func() {
		if m.active && time.Since(m.started) > patience {
			fmt.Fprintf(m.w, "\r\x1b[Kmaking the world  %d%%", percent.Load())
		}
	})
}

func (m *meter) clear() {
	if m.active {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
}

// speed rounds a rate to three digits.
func speed(v float64) string {
	if v >= 1000 {
		p := 1.0
		for v/p >= 1000 {
			p *= 10
		}
		return number(uint64(v/p) * uint64(p))
	}
	return scenarios.Number(float64(int(v*10)) / 10)
}

func hash16(h uint64) string { return fmt.Sprintf("%016x", h) }
