package cli

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/replay/yrep"
)

// A format is what a file is, as far as commands that read several do different things with it.
type format int

const (
	formatRecording  format = iota // or anything else, of which the reader of recordings tells what is wrong
	formatGame                     // of MineWars, as a file
	formatGameLines                // the same as JSON lines
	formatGameStream               // maybe the network stream of one, which has no mark
	formatYREP                     // a YREP file
	formatYREPLines                // the same as JSON lines
)

func (f format) isGame() bool { return f == formatGame || f == formatGameLines }
func (f format) isYREP() bool { return f == formatYREP || f == formatYREPLines }

const formatHead = 4096 // bytes that say what a file is

// formatOf says what an input is by what it begins with; where that is damaged, by its name.
func formatOf(in *bufio.Reader, name string) format {
	begins := func(mark string) bool {
		head, _ := in.Peek(len(mark)) // an error comes again when it is read
		return string(head) == mark
	}
	switch {
	case begins(recordingMark): // which may come slowly, from a run
		return formatRecording
	case begins(minewars.LinesMark):
		return formatGameLines
	case begins(yrep.Magic):
		return formatYREP
	case begins(yrep.LinesMark):
		return formatYREPLines
	case begins(linesMark):
		return formatRecording
	}
	head, _ := in.Peek(formatHead)
	switch {
	case minewars.IsFile(head):
		return formatGame
	case beginsObject(head):
		return formatRecording
	case strings.EqualFold(filepath.Ext(name), gameEnding):
		return formatGame
	case strings.EqualFold(filepath.Ext(name), yrepEnding):
		return formatYREP
	case minewars.IsStream(head):
		return formatGameStream
	}
	return formatRecording
}

// beginsObject reports whether an input begins as an object of JSON. A game of MineWars, whose first bytes
// are any, has control characters soon after.
func beginsObject(head []byte) bool {
	control := func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n", r) }
	return bytes.HasPrefix(head, []byte{'{'}) && !bytes.ContainsFunc(head, control)
}

// What the names of files end in.
const (
	recordingEnding = ".murk"
	linesEnding     = ".jsonl"
	gameEnding      = ".mw1"
	streamEnding    = ".mw1s" // of the network stream of a game
	yrepEnding      = ".yrep"
)

// fileEndings are those that say what a file is, but for that of a network stream.
var fileEndings = []string{recordingEnding, linesEnding, gameEnding, yrepEnding}

// formatOfFile says what a file is before it is opened to be read. What standard input gives for that is
// given again; of a pipe with a name only the name says something.
func (a *session) formatOfFile(name string) format {
	if name == "-" {
		in := bufio.NewReaderSize(a.in, formatHead)
		a.in = in
		return formatOf(in, name)
	}
	var in io.Reader = strings.NewReader("")
	if !files.IsPipe(name) {
		if f, err := os.Open(name); err == nil {
			defer f.Close()
			in = f
		}
	}
	return formatOf(bufio.NewReaderSize(in, formatHead), name)
}

var streamCarrier = regexp.MustCompile(`"carrier"\s*:\s*"stream"`)

// gameOfLines returns the ending of the file that becomes of the JSON lines of a game.
func gameOfLines(in *bufio.Reader) string {
	if head, _ := in.Peek(formatHead); streamCarrier.Match(head) {
		return streamEnding
	}
	return gameEnding
}

// rewound returns an input of which some was read ahead with all of its bytes: itself if it can seek.
func rewound(src io.Reader, ahead *bufio.Reader) io.Reader {
	if s, ok := src.(io.Seeker); ok {
		if _, err := s.Seek(0, io.SeekStart); err == nil {
			return src
		}
	}
	return ahead
}
