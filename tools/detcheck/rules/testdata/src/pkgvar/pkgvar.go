package pkgvar

import (
	"bytes"
	"errors"
	"io"
)

var (
	next   uint64
	cache  = map[string]int{}
	table  [256]byte
	limits = config{most: 3}
	home   = &config{}
	out    bytes.Buffer
	kinds  = []config{{most: 1}, {most: 2}}
	onUse  = func() { next++ } // want `pkgvar: next is written after start`
	errEnd = errors.New("end")
)

type config struct{ most int }

func (c *config) raise()           { c.most++ }
func (c *config) room(n int) bool  { return n < c.most }
func (c config) with(n int) config { c.most = n; return c }

func after(n int) uint64 {
	next++                // want `pkgvar: next is written after start; put it into the state`
	cache["n"] = n        // want `pkgvar: cache is written`
	delete(cache, "m")    // want `pkgvar: cache is written`
	table[n%256] ^= 1     // want `pkgvar: table is written`
	limits.most, n = n, 0 // want `pkgvar: limits is written`
	home.most = n         // want `pkgvar: home is written`
	limits.raise()        // want `pkgvar: limits may be written by its method raise`
	out.WriteByte(1)      // want `pkgvar: out may be written by its method WriteByte`
	p := &next            // want `pkgvar: next has its address taken`
	copy(table[:], "abc") // want `pkgvar: table is written`
	for next = range 3 {  // want `pkgvar: next is written`
	}
	io.EOF = nil // want `pkgvar: EOF is written`
	return *p
}

// Start is the time to write, and reading is free.

var filled = func() int {
	table[1] = 1
	return 1
}()

func init() {
	for i := range table {
		table[i] = byte(i * 7)
	}
	cache["init"] = 1
}

func reads(n int) int {
	t := &table
	k := &kinds[1]
	next := cache["n"] // a variable of its own
	next++
	own := limits.with(n)
	own.raise()
	if limits.room(n) && errEnd != nil {
		return int(t[3]) + k.most
	}
	return next + own.most
}
