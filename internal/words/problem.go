package words

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios/document"
)

// A Problem is an error about a file in words for people: what is wrong and where,
// without the name of the file or of a package of ours.
type Problem struct {
	text string
	err  error
}

// NewProblem says an error in words.
func NewProblem(text string, err error) *Problem { return &Problem{text, err} }

// Error implements error.
func (p *Problem) Error() string { return p.text }

// Unwrap returns the error that is said in words.
func (p *Problem) Unwrap() error { return p.err }

// About names the file that an error is about; nil stays nil.
func About(name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path != name {
		name = e.Path
	}
	instead := ""
	if errors.Is(err, fs.ErrNotExist) {
		instead = insteadOf(name)
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
		return fmt.Errorf("%s:%d:%d: %w", name, e.Line, e.Column, &Problem{e.Detail, err})
	}
	if e, ok := errors.AsType[*yrep.Error](err); ok && e.Line > 0 {
		return fmt.Errorf("%s:%d: %w", name, e.Line, &Problem{yrepProblem(e), err})
	}
	return fmt.Errorf("%s: %w%s", name, InWords(err), instead)
}

// mostNames is the most names of a folder that insteadOf looks at.
const mostNames = 1000

// insteadOf says which file may be meant by the name of one that is not there: one in its folder with nearly that name.
func insteadOf(name string) string {
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return ""
	}
	defer dir.Close()
	names, err := dir.Readdirnames(mostNames)
	if err != nil {
		return ""
	}
	slices.Sort(names)
	base := filepath.Base(name)
	alike := func(of func(string) string) {
		names = slices.DeleteFunc(names, func(n string) bool { return of(n) != of(base) && document.Nearest(of(base), []string{of(n)}) == "" })
	}
	alike(filepath.Ext)
	alike(func(n string) string { return strings.TrimSuffix(n, filepath.Ext(n)) })
	near := document.Nearest(base, names)
	if near == "" {
		return ""
	}
	return "; did you mean " + Argument(filepath.Join(filepath.Dir(name), near)) + "?"
}

// Argument returns a name as it is typed on a command line, so that no shell does anything with it.
func Argument(name string) string {
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

// packages are those whose names errors begin with.
var packages = regexp.MustCompile(`^(?:(?:audit|checkpoint|diff|engine|enginetest|exec|minewars|replay|scenarios|serve|stamp|store|yrep): )+`)

// Bare is what an error says, without the name of the package that it comes from.
func Bare(err error) string { return packages.ReplaceAllString(err.Error(), "") }

// InWords puts an error into words.
func InWords(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	p := &Problem{Bare(err), err}
	if e, ok := errors.AsType[*replay.FormatError](err); ok {
		p.text = formatProblem(e)
	} else if e, ok := errors.AsType[*yrep.Error](err); ok {
		p.text = yrepProblem(e)
	} else if e, ok := errors.AsType[*fs.PathError](err); ok {
		p.text = e.Err.Error()
	} else if e, ok := errors.AsType[*draft.BusyError](err); ok {
		p.text = e.Reason()
	} else if e, ok := errors.AsType[*engine.TickError](err); ok {
		p.text = fmt.Sprintf("tick %s: %s: %v", Number(e.Tick), e.Where, e.Err)
		if f, ok := errors.AsType[*replay.FailedError](err); ok {
			p.text += strings.TrimPrefix(f.Error(), e.Error())
		}
	} else if e, ok := errors.AsType[*audit.CommitError](err); ok {
		p.text = (&audit.CommitError{Committed: e.Committed, Err: InWords(e.Err)}).Error()
	}
	p.text = bareNumber.ReplaceAllStringFunc(p.text, func(place string) string {
		i := strings.LastIndexByte(place, ' ') + 1
		n, err := strconv.ParseUint(place[i:], 10, 64)
		if err != nil {
			return place
		}
		return place[:i] + Number(n)
	})
	return p
}

// formatProblem tells what is wrong with the bytes of a recording.
func formatProblem(e *replay.FormatError) string {
	at, where := Spot(e.Line, e.Offset), place(e)
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

// Spot is a line, or a byte where there are no lines.
func Spot(line, offset int64) string {
	if line != 0 {
		return "line " + Number(uint64(line))
	}
	return "byte " + Number(uint64(offset))
}

// place says in which part of a recording an error lies.
func place(e *replay.FormatError) string {
	switch {
	case e.Frame == replay.HeaderFrame:
		return "the header"
	case e.Tick == 0:
		return "frame " + Number(uint64(e.Frame)+1)
	case e.Command != 0:
		return fmt.Sprintf("tick %s (command %s of %s)", Number(e.Tick), Number(uint64(e.Command)), Number(uint64(e.Commands)))
	}
	return "tick " + Number(e.Tick)
}

// yrepProblem puts an error of a YREP file into words.
func yrepProblem(e *yrep.Error) string {
	if e.Line > 0 { // which stands before it
		return fmt.Sprintf("%s: %s", e.Kind, e.Detail)
	}
	return e.Error()
}
