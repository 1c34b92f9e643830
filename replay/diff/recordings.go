package diff

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"github.com/murksim/murksim/replay"
)

// A Recording is what a comparison of two recordings says of one of them.
type Recording struct {
	Begin   uint64          // its first tick; 0: it has none
	Ticks   uint64          // that could be read
	Hash    uint64          // of the first tick that differs, or else of the last
	Records []replay.Record // of that tick
	Err     error           // why it could not be read to its end; nil if it was

	frame replay.Frame
}

// Frames says in which ticks two recordings differ.
type Frames struct {
	A, B      Recording
	Common    uint64 // ticks that both have, which are compared
	Equal     uint64 // of these, how many there are before the first that differs
	First     uint64 // the first tick that differs; 0: none does
	Commands  uint64 // the first tick whose commands differ; 0: none
	Differing uint64 // how many ticks differ
}

// Recordings compares two recordings frame by frame: commands and hashes, without replaying
// them. None of their frames must have been read; a frame of another tick than the one that is
// due ends a recording. Progress, unless nil, is called now and then with the number of ticks
// that have been read, and its error ends the comparison.
func Recordings(a, b replay.Source, progress func(ticks uint64) error) (*Frames, error) {
	const often = 1 << 12
	var f Frames
	a, b = replay.InOrder(a), replay.InOrder(b)
	moreA, moreB := f.A.next(a), f.B.next(b)
	for n := uint64(1); moreA || moreB; n++ {
		x, y := &f.A.frame, &f.B.frame
		if progress != nil && n%often == 0 {
			if err := progress(n); err != nil {
				return nil, err
			}
		}
		takeA := moreA && (!moreB || x.Tick <= y.Tick)
		takeB := moreB && (!moreA || y.Tick <= x.Tick)
		if takeA && takeB {
			f.compare(x, y)
		}
		if takeA {
			moreA = f.A.next(a)
		}
		if takeB {
			moreB = f.B.next(b)
		}
	}
	if f.First == 0 {
		f.Equal = f.Common
	}
	f.A.end()
	f.B.end()
	return &f, nil
}

// next reads the next frame and reports whether there is one.
func (r *Recording) next(s replay.Source) bool {
	f := &r.frame
	if r.Ticks > 0 && r.Records == nil { // else a frame that differs has been kept
		r.Hash = f.Hash
	}
	if r.Err = s.Next(f); r.Err != nil {
		return false
	}
	if r.Ticks++; r.Ticks == 1 {
		r.Begin = f.Tick
	}
	return true
}

// end takes the end of a recording for none of its errors.
func (r *Recording) end() {
	if r.Err == io.EOF {
		r.Err = nil
	}
}

func (f *Frames) compare(x, y *replay.Frame) {
	f.Common++
	inputs := SameRecords(x.Records, y.Records)
	if inputs && x.Hash == y.Hash {
		return
	}
	f.Differing++
	if !inputs && f.Commands == 0 {
		f.Commands = x.Tick
	}
	if f.First == 0 {
		f.First, f.Equal = x.Tick, f.Common-1
		f.A.keep(x)
		f.B.keep(y)
	}
}

// keep notes the commands of the first frame that differs, and its hash.
func (r *Recording) keep(f *replay.Frame) {
	r.Hash, r.Records = f.Hash, []replay.Record{}
	for i := range f.Records {
		c := f.Records[i]
		c.Payload = bytes.Clone(c.Payload)
		r.Records = append(r.Records, c)
	}
}

// SameRecords reports whether two ticks have the same commands.
func SameRecords(a, b []replay.Record) bool {
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
// that a recording does not have. Commands are compared in the order of their arrival. One that is left out or put in moves the numbers of those
// behind it, which is no difference of theirs, unless there is no other.
func Records(a, b []replay.Record, f func(x, y *replay.Record)) {
	byArrival := func(x, y replay.Record) int { return cmp.Compare(x.Arrival, y.Arrival) }
	a, b = slices.SortedStableFunc(slices.Values(a), byArrival), slices.SortedStableFunc(slices.Values(b), byArrival)
	found := false
	align(a, b, func(x, y *replay.Record) {
		found = true
		f(x, y)
	})
	for i := 0; !found && i < len(a); i++ { // all are the same commands
		if !sameRecord(&a[i], &b[i]) {
			f(&a[i], &b[i])
		}
	}
}

// sameOrder reports whether two commands are the same but for their number.
func sameOrder(x, y *replay.Record) bool {
	meta := y.Meta
	meta.Arrival = x.Arrival
	return x.Tag == y.Tag && x.Meta == meta && bytes.Equal(x.Payload, y.Payload)
}

// mostAligned is the largest product of two numbers of commands that are aligned as well as can be; longer lists are compared in their order.
const mostAligned = 1 << 22

// align calls f for what differs between two lists, of which as many commands as possible are taken for the same ones, in their order. Those between
// two of these are compared one by one.
func align(a, b []replay.Record, f func(x, y *replay.Record)) {
	for len(a) > 0 && len(b) > 0 && sameOrder(&a[0], &b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && sameOrder(&a[len(a)-1], &b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	n, m := len(a), len(b)
	if n > 0 && m > mostAligned/n {
		inTurn(a, b, f)
		return
	}
	most := make([]int32, (n+1)*(m+1)) // of a[i:] and b[j:], the length of their longest common subsequence
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if at := i*(m+1) + j; sameOrder(&a[i], &b[j]) {
				most[at] = most[at+m+2] + 1
			} else {
				most[at] = max(most[at+m+1], most[at+1])
			}
		}
	}
	i, j, fromA, fromB := 0, 0, 0, 0
	for i < n && j < m {
		switch at := i*(m+1) + j; {
		case sameOrder(&a[i], &b[j]):
			inTurn(a[fromA:i], b[fromB:j], f)
			i, j = i+1, j+1
			fromA, fromB = i, j
		case most[at+m+1] >= most[at+1]:
			i++
		default:
			j++
		}
	}
	inTurn(a[fromA:], b[fromB:], f)
}

// inTurn calls f for commands in the same places of two lists that differ.
func inTurn(a, b []replay.Record, f func(x, y *replay.Record)) {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			f(nil, &b[i])
		case i >= len(b):
			f(&a[i], nil)
		case !sameOrder(&a[i], &b[i]):
			f(&a[i], &b[i])
		}
	}
}
