package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"unicode"

	"github.com/murksim/murksim/cli/internal/draft"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A problem is an error about a file in words for people: what is wrong and where,
// without the name of the file or of a package of ours.
type problem struct {
	text string
	err  error
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.err }

// about names the file that an error is about; nil stays nil.
func about(name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path != name {
		name = e.Path
	}
	switch name {
	case "-":
		name = "standard input"
	case "/dev/stdout":
		name = "standard output"
	default:
		name = document.FileName(name)
	}
	if e, ok := errors.AsType[*replay.LineError](err); ok {
		return fmt.Errorf("%s:%d:%d: %w", name, e.Line, e.Column, &problem{e.Detail, err})
	}
	if e, ok := errors.AsType[*yrep.Error](err); ok && e.Line > 0 {
		return fmt.Errorf("%s:%d: %w", name, e.Line, &problem{yrepProblem(e), err})
	}
	return fmt.Errorf("%s: %w", name, inWords(err))
}

// argument returns a name as it is typed on a command line, so that no shell does anything with it.
func argument(name string) string {
	shown := document.FileName(name)
	if strings.HasPrefix(shown, "-") && shown != "-" {
		shown = "./" + shown
	}
	switch special := " \"'`$&|;<>()*?[]{}!#~"; {
	case runtime.GOOS == "windows" && strings.ContainsAny(shown, special):
		return `"` + shown + `"`
	case runtime.GOOS != "windows" && strings.ContainsAny(shown, special+`\`):
		return "'" + strings.ReplaceAll(shown, "'", `'\''`) + "'"
	}
	return shown
}

// bareNumber is a place in an error of another package, but not a flag.
var bareNumber = regexp.MustCompile(`(?:^|[ (])(?:byte|tick) \d{4,}`)

// inWords puts an error into words.
func inWords(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	text := err.Error()
	for _, of := range []string{"replay: ", "minewars: ", "audit: ", "checkpoint: ", "stamp: ", "store: "} {
		text = strings.TrimPrefix(text, of)
	}
	p := &problem{text, err}
	if e, ok := errors.AsType[*replay.FormatError](err); ok {
		p.text = formatProblem(e)
	} else if e, ok := errors.AsType[*yrep.Error](err); ok {
		p.text = yrepProblem(e)
	} else if e, ok := errors.AsType[*fs.PathError](err); ok {
		p.text = e.Err.Error()
	} else if e, ok := errors.AsType[*draft.BusyError](err); ok {
		p.text = e.Reason()
	} else if e, ok := errors.AsType[*engine.TickError](err); ok {
		p.text = fmt.Sprintf("tick %s: %s: %v", number(e.Tick), e.Where, e.Err)
	} else if e, ok := errors.AsType[*audit.CommitError](err); ok {
		p.text = (&audit.CommitError{Committed: e.Committed, Err: inWords(e.Err)}).Error()
	}
	p.text = bareNumber.ReplaceAllStringFunc(p.text, func(place string) string {
		i := strings.LastIndexByte(place, ' ') + 1
		n, err := strconv.ParseUint(place[i:], 10, 64)
		if err != nil {
			return place
		}
		return place[:i] + number(n)
	})
	return p
}

// formatProblem tells what is wrong with the bytes of a recording.
func formatProblem(e *replay.FormatError) string {
	at, where := spot(e.Line, e.Offset), place(e)
	detail := ""
	if e.Detail != "" {
		detail = ": " + e.Detail
	}
	switch e.Kind {
	case replay.ErrTruncated:
		if e.Frame == replay.HeaderFrame && e.Offset == 0 {
			return "the file is empty; a recording begins with a header, at byte 0"
		}
		return fmt.Sprintf("truncated at %s, inside %s%s", at, where, detail)
	case replay.ErrMagic:
		return `not a recording: at byte 0, where "MURK" belongs, stands something else`
	case replay.ErrVersion:
		return fmt.Sprintf("the version of the format, at %s, is %d; this program reads version 3", at, e.Found)
	case replay.ErrUnknownPayload:
		return fmt.Sprintf("unknown payload type %d at %s, inside %s", e.Found, at, where)
	}
	return fmt.Sprintf("%s at %s, inside %s%s", e.Kind, at, where, detail)
}

// spot is a line, or a byte where there are no lines.
func spot(line, offset int64) string {
	if line != 0 {
		return "line " + number(uint64(line))
	}
	return "byte " + number(uint64(offset))
}

// place says in which part of a recording an error lies.
func place(e *replay.FormatError) string {
	switch {
	case e.Frame == replay.HeaderFrame:
		return "the header"
	case e.Tick == 0:
		return "frame " + number(uint64(e.Frame)+1)
	case e.Command != 0:
		return fmt.Sprintf("tick %s (command %s of %s)", number(e.Tick), number(uint64(e.Command)), number(uint64(e.Commands)))
	}
	return "tick " + number(e.Tick)
}

// originalVersion is what recordings of the original engine say.
const originalVersion = "0.1.9"

var releasePattern = regexp.MustCompile(`^[0-9A-Za-z.+-]{1,64}$`)

// descriptorError explains a descriptor that this build cannot use.
func (rec *recording) descriptorError(h *replay.Header, err error) error {
	if e, ok := errors.AsType[*scenarios.IncompatibleError](err); ok {
		text := "incompatible header: " + strings.TrimPrefix(e.Error(), "scenarios: ")
		switch v := h.Build.Version; {
		case e.Last != "":
			text += fmt.Sprintf("\n  the last program that has it: go run %s verify %s", e.Last, argument(rec.name))
		case v == replay.ThisBuild().Version: // plain murksim of this version does not have it either
			text += "\n  verify it with the program that recorded it"
		case releasePattern.MatchString(v):
			text += fmt.Sprintf("\n  recorded with version %s; try: go run github.com/murksim/murksim/cmd/murksim@v%s verify %s"+
				"\n  or verify it with the program that recorded it, if that has components of its own", v, v, argument(rec.name))
		}
		return &problem{text, errors.Join(replay.ErrIncompatible, err)}
	}
	foreign := len(h.Descriptor) == 0 || h.Descriptor[0] != '{' || errors.Is(err, scenarios.ErrNoDescriptor)
	if foreign && h.Build.Version == originalVersion {
		text := "recorded by the original engine, which does not say what world it is of; try: " + rec.app.name + " verify --world WORLD.json " + argument(rec.name)
		return &problem{text, replay.ErrIncompatible}
	}
	if len(h.Descriptor) == 0 {
		return &problem{"incompatible: the header holds no scenario, so the world cannot be rebuilt from this file alone", replay.ErrIncompatible}
	}
	if foreign {
		const text = "recorded by another program, so this one cannot rebuild its world (the header holds no scenario); verify it with that program"
		return &problem{text, replay.ErrIncompatible}
	}
	text := strings.TrimPrefix(err.Error(), "scenarios: ")
	return &problem{"malformed header: " + text, errors.Join(replay.ErrMalformed, err)}
}

// describe names a build, which a recording may claim to be anything.
func describe(b replay.Build) string {
	parts := []string{b.Version, b.Target, b.Toolchain}
	if b.Flags != "" {
		parts = append(parts, b.Flags)
	}
	return printable(strings.TrimSpace(strings.Join(parts, " ")))
}

// lines is a text of several lines with a dot in place of each other character that a terminal may take for a command: names, and
// what a driver says, come from anywhere.
func lines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return cleanRune(r)
	}, s)
}

func cleanRune(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '·'
}

// printable is a text from a file, made fit for a terminal.
func printable(s string) string {
	const longest = 200
	shown := []rune(clean(s))
	if len(shown) > longest {
		return string(shown[:longest]) + "…"
	}
	return string(shown)
}

// clean puts a dot in place of each character that a terminal may take for a command.
func clean(s string) string { return strings.Map(cleanRune, s) }

// inTurn takes steps until one fails, and returns its error.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
