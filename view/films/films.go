// Package films opens files that say what happened, and hold nothing from which it could be computed again, as sources of the
// viewer: games of MineWars and YREP files.
//
// Files are untrusted: what is malformed is an error that says where, or cuts the film short; nothing is allocated
// that their bytes cannot account for, but for a picture of a bounded size.
package films

import (
	"fmt"
	"io"
	"math"
	"path"
	"strings"
)

// A File is a file to look at. It must not change.
type File struct {
	Name string
	io.ReaderAt
	Size int64
}

// reader returns a reader of the whole file.
func (f *File) reader() *io.SectionReader { return io.NewSectionReader(f, 0, f.Size) }

// title is the file's name without folders.
func (f *File) title() string { return path.Base(strings.ReplaceAll(f.Name, `\`, "/")) }

// An Error says which of several files is wrong.
type Error struct {
	File int // from 0
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("file %d: %v", e.File+1, e.Err) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// effects says why a file with an ending cannot be verified.
func effects(ending string) string {
	return "a " + ending + " cannot be verified: it holds effects, not inputs"
}

// nothing is the value of a cell that has none.
var nothing = float32(math.NaN())

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "y") {
		thing = strings.TrimSuffix(thing, "y") + "ie"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
