package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/murksim/murksim/replay"
)

// A Recording is what a comparison of two recordings says of one of them.
type Recording struct {
	Ticks   uint64          // that could be read
	Hash    uint64          // of the first tick that differs, or else of the last
	Records []replay.Record // of that tick
	Err     error           // why it could not be read to its end; nil if it was

	last uint64 // hash
}

// Frames says in which ticks two recordings differ. Only ticks that both have are compared.
type Frames struct {
	A, B      Recording
	First     uint64 // the first tick that differs; 0: none does
	Commands  uint64 // the first tick whose commands differ; 0: none
	Differing uint64 // how many ticks differ
}

// Recordings compares two recordings frame by frame: commands and hashes, without replaying
// them. Progress, unless nil, is called now and then, and its error ends the comparison.
func Recordings(a, b replay.Source, progress func(tick uint64) error) (*Frames, error) {
	const often = 1 << 12
	var f Frames
	var x, y replay.Frame
	for tick := uint64(1); ; tick++ {
		if progress != nil && tick%often == 0 {
			if err := progress(tick); err != nil {
				return nil, err
			}
		}
		moreA, moreB := f.A.next(a, &x), f.B.next(b, &y)
		switch {
		case !moreA && !moreB:
			f.A.end(f.First != 0)
			f.B.end(f.First != 0)
			return &f, nil
		case moreA && moreB:
			f.compare(tick, &x, &y)
		}
	}
}

// next reads the next frame and reports whether there is one.
func (r *Recording) next(s replay.Source, f *replay.Frame) bool {
	if r.Err != nil {
		return false
	}
	switch err := s.Next(f); {
	case err != nil:
		r.Err = err
	case f.Tick != r.Ticks+1:
		at := &f.Position
		r.Err = &replay.FormatError{
			Offset: at.Offset, Line: at.Line, Frame: at.Frame, Kind: replay.ErrMalformed,
			Detail: fmt.Sprintf("tick %d stands where tick %d is due", f.Tick, r.Ticks+1),
		}
	default:
		r.Ticks, r.last = r.Ticks+1, f.Hash
		return true
	}
	return false
}

// end takes the end of a recording for none of its errors.
func (r *Recording) end(differs bool) {
	if r.Err == io.EOF {
		r.Err = nil
	}
	if !differs {
		r.Hash = r.last
	}
}

func (f *Frames) compare(tick uint64, x, y *replay.Frame) {
	inputs := sameRecords(x.Records, y.Records)
	if inputs && x.Hash == y.Hash {
		return
	}
	f.Differing++
	if !inputs && f.Commands == 0 {
		f.Commands = tick
	}
	if f.First == 0 {
		f.First = tick
		f.A.keep(x)
		f.B.keep(y)
	}
}

func (r *Recording) keep(f *replay.Frame) {
	r.Hash = f.Hash
	for i := range f.Records {
		c := f.Records[i]
		c.Payload = bytes.Clone(c.Payload)
		r.Records = append(r.Records, c)
	}
}

func sameRecords(a, b []replay.Record) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameRecord(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

func sameRecord(x, y *replay.Record) bool {
	return x.Tag == y.Tag && x.Meta == y.Meta && bytes.Equal(x.Payload, y.Payload)
}

// Records calls f for the commands of a tick in which two recordings differ, with nil for one
// that a recording does not have. A command is known by its arrival number.
func Records(a, b []replay.Record, f func(x, y *replay.Record)) {
	byArrival := func(x, y replay.Record) int { return cmp.Compare(x.Arrival, y.Arrival) }
	a, b = slices.SortedStableFunc(slices.Values(a), byArrival), slices.SortedStableFunc(slices.Values(b), byArrival)
	Merge(a, b, func(x, y *replay.Record) int { return byArrival(*x, *y) }, func(x, y *replay.Record) {
		if x == nil || y == nil || !sameRecord(x, y) {
			f(x, y)
		}
	})
}
