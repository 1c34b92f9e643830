package session

import (
	"fmt"

	"github.com/murksim/murksim/internal/words"
)

// A Size is a number of bytes as it is given on the command line. It implements [pflag.Value].
type Size struct {
	Bytes uint64
	Text  string
	typed string // by the user; "": the limit is the default
}

// String is the size as it was given.
func (b *Size) String() string { return b.Text }

// Set reads a size such as 4GiB.
func (b *Size) Set(s string) error {
	n, err := words.ParseSize(s)
	*b = Size{n, s, s}
	return err
}

// Type is what help calls it.
func (b *Size) Type() string { return "size" }

// DefaultMaxMemory is what a world may take unless a flag says otherwise.
var DefaultMaxMemory = Size{Bytes: 4 << 30, Text: "4GiB"}

// Indexed is the budget as an index takes it.
func (b *Size) Indexed() int64 {
	if b.Bytes == 0 {
		return -1
	}
	return int64(min(b.Bytes, 1<<60))
}

// Flag is the flag of a limit of memory as it was typed, with a blank before it; "" if it was not.
func (b Size) Flag() string {
	if b.typed == "" {
		return ""
	}
	return " --max-memory " + words.Argument(b.typed)
}

// Share is the limit of each of several worlds that are there at the same time, with what is
// held of their states.
func (b Size) Share(worlds uint64) Size {
	return Size{Text: fmt.Sprintf("1/%d of %s", worlds, b.Text), Bytes: b.Bytes / worlds, typed: b.typed}
}
