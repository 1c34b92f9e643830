package session

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/replay/yrep"
)

// A Format is what a file is, as far as commands that read several do different things with it.
type Format int

const (
	FormatRecording  Format = iota // or anything else, of which the reader of recordings tells what is wrong
	FormatGame                     // of MineWars, as a file
	FormatGameLines                // the same as JSON lines
	FormatGameStream               // maybe the network stream of one, which has no mark
	FormatYREP                     // a YREP file
	FormatYREPLines                // the same as JSON lines
)

// IsGame reports whether it is a game of MineWars.
func (f Format) IsGame() bool { return f == FormatGame || f == FormatGameLines }

// IsYREP reports whether it is what YREP files hold.
func (f Format) IsYREP() bool { return f == FormatYREP || f == FormatYREPLines }

// FormatHead is how many bytes say what a file is.
const FormatHead = 4096

// FormatOf says what an input is by what it begins with; where that is damaged, by its name.
func FormatOf(in *bufio.Reader, name string) Format {
	jsonlines.SkipMark(in)
	begins := func(mark string) bool {
		head, _ := in.Peek(len(mark)) // an error comes again when it is read
		return string(head) == mark
	}
	switch {
	case begins(RecordingMark): // which may come slowly, from a run
		return FormatRecording
	case begins(minewars.LinesMark):
		return FormatGameLines
	case begins(yrep.Magic):
		return FormatYREP
	case begins(yrep.LinesMark):
		return FormatYREPLines
	case begins(linesMark):
		return FormatRecording
	}
	head, _ := in.Peek(FormatHead)
	switch {
	case minewars.IsFile(head):
		return FormatGame
	case BeginsObject(head):
		return FormatRecording
	case strings.EqualFold(filepath.Ext(name), GameEnding):
		return FormatGame
	case strings.EqualFold(filepath.Ext(name), YREPEnding):
		return FormatYREP
	case minewars.IsStream(head):
		return FormatGameStream
	}
	return FormatRecording
}

// BeginsObject reports whether an input begins as an object of JSON. A game of MineWars, whose first bytes
// are any, has control characters soon after.
func BeginsObject(head []byte) bool {
	control := func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n", r) }
	return bytes.HasPrefix(head, []byte{'{'}) && !bytes.ContainsFunc(head, control)
}

// What the names of files end in.
const (
	RecordingEnding = ".murk"
	LinesEnding     = ".jsonl"
	GameEnding      = ".mw1"
	StreamEnding    = ".mw1s" // of the network stream of a game
	YREPEnding      = ".yrep"
)

// FormatOfFile says what a file is before it is opened to be read. What standard input gives for that is
// given again; of a pipe with a name only the name says something.
func (a *Session) FormatOfFile(name string) Format {
	if name == "-" {
		in := bufio.NewReaderSize(a.In, FormatHead)
		a.In = in
		return FormatOf(in, name)
	}
	var in io.Reader = strings.NewReader("")
	if !files.IsPipe(name) {
		if f, err := os.Open(name); err == nil {
			defer f.Close()
			in = f
		}
	}
	return FormatOf(bufio.NewReaderSize(in, FormatHead), name)
}

// RecordingMark is what every recording begins with, and linesMark what its JSON lines do.
const (
	RecordingMark = "MURK"
	linesMark     = `{"murk":`
)

// BeginsRecording reports whether a file begins like a recording, as bytes or JSON lines. Of what is read only once it says no.
func BeginsRecording(name string) bool {
	for _, mark := range []string{RecordingMark, linesMark, "\ufeff" + linesMark} {
		if begins, err := files.Begins(name, mark); err == nil && begins {
			return true
		}
	}
	return false
}

// A BuildView is a build, with the keys that it has in a recording as JSON lines.
type BuildView struct {
	Toolchain string `json:"toolchain"`
	Target    string `json:"target"`
	Version   string `json:"engine_version"`
	Flags     string `json:"compiler_flags"`
}

// ViewBuild returns a build as JSON has it.
func ViewBuild(b replay.Build) BuildView { return BuildView{b.Toolchain, b.Target, b.Version, b.Flags} }
