package cli

import (
	"strconv"
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
