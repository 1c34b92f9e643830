package cli

import (
	"bufio"
	"io"
	"regexp"

	"github.com/murksim/murksim/internal/session"
)

// fileEndings are those that say what a file is, but for that of a network stream.
var fileEndings = []string{session.RecordingEnding, session.LinesEnding, session.GameEnding, session.YREPEnding}

var streamCarrier = regexp.MustCompile(`"carrier"\s*:\s*"stream"`)

// gameOfLines returns the ending of the file that the JSON lines of a game convert to.
func gameOfLines(in *bufio.Reader) string {
	if head, _ := in.Peek(session.FormatHead); streamCarrier.Match(head) {
		return session.StreamEnding
	}
	return session.GameEnding
}

// rewound returns an input with all its bytes after some were read ahead: the input itself if it can seek.
func rewound(src io.Reader, ahead *bufio.Reader) io.Reader {
	if s, ok := src.(io.Seeker); ok {
		if _, err := s.Seek(0, io.SeekStart); err == nil {
			return src
		}
	}
	return ahead
}
