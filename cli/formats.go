package cli

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/murksim/murksim/replay/minewars"
)

// A format is what a file is, as far as commands that read several do different things with it.
type format int

const (
	formatRecording format = iota // or anything else, of which the reader of recordings tells what is wrong
	formatGame                    // of MineWars, as a file
	formatGameLines               // the same as JSON lines
)

const formatHead = 4096 // bytes that say what a file is

// formatOf says what an input is by what it begins with; where that is damaged, by its name.
func formatOf(in *bufio.Reader, name string) format {
	head, _ := in.Peek(formatHead) // an error comes again when it is read
	switch {
	case strings.HasPrefix(string(head), minewars.LinesMark):
		return formatGameLines
	case minewars.IsFile(head):
		return formatGame
	case strings.HasPrefix(string(head), recordingMark):
		return formatRecording
	case strings.EqualFold(filepath.Ext(name), gameEnding):
		return formatGame
	}
	return formatRecording
}

// gameEnding is what the name of a game's file ends in.
const gameEnding = ".mw1"

// formatOfFile says what a file is before it is opened to be read. What standard input gives for that is
// given again; of a pipe with a name only the name says something.
func (a *app) formatOfFile(name string) format {
	if name == "-" {
		in := bufio.NewReaderSize(a.in, formatHead)
		a.in = in
		return formatOf(in, name)
	}
	var in io.Reader = strings.NewReader("")
	if !isPipe(name) {
		if f, err := os.Open(name); err == nil {
			defer f.Close()
			in = f
		}
	}
	return formatOf(bufio.NewReaderSize(in, formatHead), name)
}
