package document

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Error says what is wrong with a document and where. It prints as
//
//	fire.yaml:12:5: unknown key "difusion"; did you mean "diffusion"?
//	  11 | propagators:
//	> 12 |   - difusion: {field: heat, rate: 0.8}
//	     |     ^
type Error struct {
	File      string
	Line, Col int    // from 1; 0 if it belongs to no place
	Msg       string // one line
	Hint      string // what to do about it; may be empty
	Excerpt   string // the lines around, the place marked; may be empty
	Err       error  // the cause, if another package found it
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.File != "" && e.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", FileName(e.File), e.Line, e.Col)
	case e.File != "":
		b.WriteString(FileName(e.File) + ": ")
	}
	b.WriteString(e.Msg)
	if e.Excerpt != "" {
		b.WriteString("\n" + e.Excerpt)
	}
	if e.Hint != "" {
		b.WriteString("\n  " + e.Hint)
	}
	return b.String()
}

// FileName returns the name of a file as messages show it: in quotes if it is empty or has
// anything that does not print, such as a line break or an escape sequence of a terminal.
func FileName(name string) string {
	name = secret.ReplaceAllString(name, "$1$3…$2")
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return strconv.Quote(name)
	}
	return name
}

// secret matches the password in an URL, which no message shows.
var secret = regexp.MustCompile(`^(\w+:/+[^:/@]*:)[^@/]*(@)|^(\w+:/+.*[?&]password=)[^&]*`)

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Because sets the cause and returns e.
func (e *Error) Because(err error) *Error {
	e.Err = err
	return e
}

// Errorf makes an error that points at the node. A nil node has no place.
func (n *Node) Errorf(format string, args ...any) *Error {
	const most = 400 // a key or name may be long
	e := &Error{Msg: fmt.Sprintf(format, args...)}
	if r := []rune(e.Msg); len(r) > most {
		e.Msg = string(r[:most]) + "…"
	}
	if n != nil {
		e.File, e.Line, e.Col = n.Source.Name, int(n.Line), int(n.Col)
		e.Excerpt = n.Source.excerpt(int(n.Line), int(n.Col))
	}
	return e
}

// excerpt shows a line and the one before it, with a mark under the column.
func (s *Source) excerpt(line, col int) string {
	const width = 100
	if line < 1 || s.Text == "" {
		return ""
	}
	lines := strings.SplitN(s.Text, "\n", line+1)
	if line > len(lines) {
		return ""
	}
	from := 0
	if col > width {
		from = col - width/2
	}
	digits := len(fmt.Sprint(line))
	var b strings.Builder
	if line > 1 {
		fmt.Fprintf(&b, "  %*d | %s\n", digits, line-1, window(lines[line-2], from, width))
	}
	fmt.Fprintf(&b, "> %*d | %s\n", digits, line, window(lines[line-1], from, width))
	fmt.Fprintf(&b, "  %*s | %s^", digits, "", strings.Repeat(" ", max(col-1-from, 0)))
	return b.String()
}

// window returns up to width characters of a line, each one column wide.
func window(line string, from, width int) string {
	out := make([]rune, 0, width)
	i := 0
	for _, r := range strings.TrimRight(line, "\r") {
		if i++; i <= from {
			continue
		}
		if len(out) == width {
			return string(out) + "…"
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}

// Suggestion is "; did you mean …?" for the known name closest to one that is
// unknown, or a list of the names if there are few, or nothing.
func Suggestion(name string, known []string) string {
	const few = 8
	switch near := Nearest(name, known); {
	case near != "":
		return fmt.Sprintf("; did you mean %q?", near)
	case len(known) == 0 || len(known) > few:
		return ""
	}
	return "; use " + Alternatives(known)
}

// Nearest returns the known name that may have been meant by one that is unknown, or "".
func Nearest(name string, known []string) string {
	best, bestAt := max(1, len(name)/3)+1, ""
	for _, k := range known {
		if d := distance(name, k, best); d < best {
			best, bestAt = d, k
		}
	}
	return bestAt
}

// Alternatives returns "a, b or c", or "" if there are no names.
func Alternatives(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// distance returns the number of letters to insert, delete, change or swap with their
// neighbour to get from a to b (optimal string alignment), or limit if it is more.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(a) > 64 {
		return limit
	}
	two, one, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := one[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, one[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], two[j-1]+1)
			}
		}
		two, one, row = one, row, two
	}
	return min(one[len(b)], limit)
}
