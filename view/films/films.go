// Package films opens files as sources of the viewer: games of MineWars and YREP files. Such a file only says what happened;
// it does not hold what is needed to compute that again.
//
// Files are untrusted. Malformed input causes an error that says where, or cuts the film short. Apart from a
// picture of bounded size, nothing is allocated that the file's bytes do not account for.
package films

import (
	"fmt"
	"io"
	"math"
	"path"
	"strings"
)

// A File is a file to show. It must not change.
type File struct {
	Name string
	io.ReaderAt
	Size int64
}

// reader returns a reader of the whole file.
func (f *File) reader() *io.SectionReader { return io.NewSectionReader(f, 0, f.Size) }

// title returns the file's name without folders.
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

// effects says why a kind of file cannot be verified.
func effects(ending string) string {
	return "a " + ending + " cannot be verified: it holds effects, not inputs"
}

// nothing is the value of a cell without one.
var nothing = float32(math.NaN())

// count returns a number of things, in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "y") {
		thing = strings.TrimSuffix(thing, "y") + "ie"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
