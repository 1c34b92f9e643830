package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
)

// An answer holds the hashes of a side at a tick.
type answer struct {
	hash   string
	fields []session.FieldHash // of all fields; nil if they are not known
	parts  []session.PartView  // of the tick; nil if they were not asked for
}

// A Program is a program that prints the hash of a tick.
type Program struct {
	words []string
	asked int
}

// tickMark stands for the tick in a command.
const tickMark = "{tick}"

// ParseProgram splits a command into words at spaces, but not within quotes.
func ParseProgram(text string) (*Program, error) {
	var q Program
	var word strings.Builder
	quote, begun := rune(0), false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if begun {
				q.words = append(q.words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		q.words = append(q.words, word.String())
	}
	switch {
	case quote != 0:
		return nil, report.Usage("--command %s: a quote %c is not closed", text, quote)
	case len(q.words) == 0:
		return nil, report.Usage("--command must be a program that prints the hash of a tick; it is empty")
	case !strings.Contains(text, tickMark):
		return nil, report.Usage("--command %s: %s must stand for the tick", text, tickMark)
	}
	return &q, nil
}

// ask runs the program for a tick.
func (q *Program) ask(ctx context.Context, tick uint64) (*answer, error) {
	q.asked++
	var args []string
	for _, w := range q.words {
		args = append(args, strings.ReplaceAll(w, tickMark, strconv.FormatUint(tick, 10)))
	}
	listener := &answerListener{tick: tick}
	var errs words.LastLine
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Stdout, c.Stderr, c.WaitDelay = listener, &errs, time.Second
	err := c.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	listener.end()
	failed := func(why string) error {
		if last := errs.Text(); last != "" {
			why += ": " + last
		}
		return fmt.Errorf("%s: %s", words.Clean(strings.Join(args, " ")), why)
	}
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case listener.err != nil: // of which the program knows no more than that its output is closed
		errs.Buf = nil
		return nil, failed(listener.err.Error())
	case exited && exit.ExitCode() == report.StatusDiverged && listener.found != nil: // a state that is not the recorded one is an answer
	case exited && exit.ExitCode() >= 0:
		return nil, failed(fmt.Sprintf("exit status %d", exit.ExitCode()))
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, failed("it has ended, but a process that it started still holds its output")
	case err != nil:
		return nil, failed(words.Bare(err))
	case listener.found == nil:
		return nil, failed(listener.missing())
	}
	return listener.found, nil
}

// An answerListener looks for a hash in what a program prints: 16 hexadecimal digits in its
// first line, or in an object of JSON the key hash or final_hash. Of several objects it takes
// the last; those of another tick do not count.
type answerListener struct {
	tick  uint64
	buf   []byte // of a line, as far as it has been written
	lines int
	found *answer
	other string // the tick of a hash that does not count
	err   error  // of a line that is too long
}

// longestAnswer is the length of the longest line of a program. With --phases a line has about 50
// bytes for each field and part.
const longestAnswer = 16_000_000

// Write implements [io.Writer].
func (l *answerListener) Write(b []byte) (int, error) {
	for rest := b; ; {
		line, more, ended := bytes.Cut(rest, []byte("\n"))
		if len(l.buf)+len(line) > longestAnswer {
			l.err = fmt.Errorf("it prints a line of more than %s", words.Size(longestAnswer))
			return 0, l.err
		}
		l.buf = append(l.buf, line...)
		if !ended {
			return len(b), nil
		}
		l.line(bytes.TrimSpace(l.buf))
		l.buf, rest = l.buf[:0], more
	}
}

func (l *answerListener) end() { l.line(bytes.TrimSpace(l.buf)) }

func (l *answerListener) line(line []byte) {
	if len(line) == 0 {
		return
	}
	if l.lines++; l.lines == 1 && session.IsHash(strings.ToLower(string(line))) {
		l.found = &answer{hash: strings.ToLower(string(line))}
		return
	}
	var object struct {
		Hash      string             `json:"hash"`
		FinalHash string             `json:"final_hash"`
		Tick      anyWhole           `json:"tick"`
		Ticks     anyWhole           `json:"ticks"`
		Parts     []session.PartView `json:"parts"`
	}
	if line[0] != '{' || json.Unmarshal(line, &object) != nil {
		return
	}
	a := &answer{hash: strings.ToLower(object.Hash), parts: object.Parts}
	if a.hash == "" {
		a.hash = strings.ToLower(object.FinalHash)
	}
	tick := object.Tick
	if tick == "" {
		tick = object.Ticks
	}
	switch {
	case !session.IsHash(a.hash):
	case tick != "" && string(tick) != strconv.FormatUint(l.tick, 10):
		l.other = string(tick)
	default:
		if n := len(a.parts); n > 0 {
			a.fields = a.parts[n-1].Fields
		}
		l.found = a
	}
}

// missing returns the error of a program without an answer.
func (l *answerListener) missing() string {
	if l.other != "" {
		return "it prints the hash of tick " + words.Printable(l.other)
	}
	return "it prints no hash: the first line must be its 16 hexadecimal digits, or an object of JSON have the key hash or final_hash"
}

// An anyWhole is an integer of JSON, in digits, whether it is a number or a string.
type anyWhole string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *anyWhole) UnmarshalJSON(b []byte) error {
	*n = anyWhole(strings.Trim(string(b), `"`))
	return nil
}
