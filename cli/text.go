package cli

import (
	"strconv"

	"github.com/murksim/murksim/internal/words"
)

// tickFlag is a number of ticks on the command line, in digits, as a seed is.
type tickFlag uint64

func (n *tickFlag) String() string { return strconv.FormatUint(uint64(*n), 10) }

func (n *tickFlag) Set(s string) error {
	v, err := strconv.ParseUint(s, 10, 64)
	if err == nil {
		*n = tickFlag(v)
	}
	return err
}

func (n *tickFlag) Type() string { return "uint64" }

// bytesFlag is a size on the command line.
type bytesFlag struct {
	bytes uint64
	text  string
	typed string // by the user; "": the limit is the default
}

func (b *bytesFlag) String() string { return b.text }

func (b *bytesFlag) Set(s string) error {
	n, err := words.ParseSize(s)
	*b = bytesFlag{n, s, s}
	return err
}

func (b *bytesFlag) Type() string { return "size" }

var defaultMaxMemory = bytesFlag{bytes: 4 << 30, text: "4GiB"}
