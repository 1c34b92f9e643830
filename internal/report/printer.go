// Package report prints what a command does: results as text or as JSON Lines, and its progress.
package report

import (
	"fmt"
	"io"
	"time"

	"golang.org/x/term"

	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/internal/words"
)

// A Printer says what a command does: results to one writer, progress and errors to another, as text or as one object of JSON a line.
type Printer struct {
	Out   io.Writer
	Errs  *Output
	JSON  bool
	Quiet bool
}

// Say prints a line for people to standard output, unless --quiet or --json.
func (p *Printer) Say(format string, args ...any) error {
	if p.Quiet || p.JSON {
		return nil
	}
	_, err := fmt.Fprintln(p.Out, words.CleanLines(fmt.Sprintf(format, args...)))
	return err
}

// Warn prints lines for people, which no flag silences, where errors go.
func (p *Printer) Warn(format string, args ...any) error {
	_, err := fmt.Fprintln(p.Errs, words.CleanLines(fmt.Sprintf(format, args...)))
	return err
}

// Emit prints an object as one line of JSON, if --json and not --quiet.
func (p *Printer) Emit(v any) error { return p.Result(v, true) }

// Result is Emit for what may be an error, which --quiet does not silence.
func (p *Printer) Result(v any, ok bool) error {
	if !p.JSON || p.Quiet && ok {
		return nil
	}
	return jsonlines.Write(p.Out, Lists(v))
}

// Meter returns the progress of so many ticks; 0: it is not known how many.
func (p *Printer) Meter(total uint64) *Meter {
	f, ok := p.Errs.Terminal()
	active := ok && !p.Quiet && !p.JSON
	width := func() int {
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 {
			columns = DefaultColumns
		}
		return columns
	}
	return &Meter{w: p.Errs, width: width, Last: total, Total: total, Started: time.Now(), Active: active}
}
