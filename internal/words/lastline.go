package words

import (
	"strings"
)

// A LastLine keeps the last line that is written to it.
type LastLine struct{ Buf []byte }

// Write implements [io.Writer].
func (l *LastLine) Write(b []byte) (int, error) {
	const most = 64 << 10
	if l.Buf = append(l.Buf, b...); len(l.Buf) > 2*most {
		l.Buf = append(l.Buf[:0], l.Buf[len(l.Buf)-most:]...)
	}
	return len(b), nil
}

// Text returns that line, for people.
func (l *LastLine) Text() string {
	lines := strings.Split(strings.TrimSpace(string(l.Buf)), "\n")
	return Printable(strings.TrimSpace(lines[len(lines)-1]))
}
