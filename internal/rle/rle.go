// Package rle reads and writes patterns of cellular automata as Golly and other programs keep them: run-length
// encoded, and as plain text.
//
// A run-length encoded pattern has an optional header, x = 3, y = 3, rule = B3/S23, and runs of cells: a count, which may be left
// out, and a letter for the state. A plain text has a line for each row.
//
// Input is untrusted: it yields an [*Error], never a panic, and nothing is allocated that is longer than the text.
package rle

import (
	"fmt"
	"iter"
	"strconv"
)

// A Pattern is a box of cells, most of them usually dead.
type Pattern struct {
	Rows, Cols int       // of the box: what the header says, else what the live cells need; at most 2^31 - 1
	Rule       string    // of the header, as it stands there; "" if there is none
	Runs       string    // the cells, in the one spelling: bo$2bo$3o!
	States     [4]uint64 // bit n: a cell has the state n; state 0 is never missing
}

// Has reports whether a cell has a state.
func (p *Pattern) Has(state uint8) bool { return p.States[state/64]>>(state%64)&1 != 0 }

// A Run is some cells of one state side by side.
type Run struct {
	Row, Col, Count int
	State           uint8
}

// Cells yields the runs of live cells of a pattern that [Parse] made.
func (p *Pattern) Cells() iter.Seq[Run] {
	return func(yield func(Run) bool) {
		s := scanner{text: p.Runs}
		row, col := 0, 0
		for {
			t, err := s.next()
			switch {
			case err != nil || t.what == end:
				return
			case t.what == rowEnd:
				row, col = row+int(t.count), 0
				continue
			case t.state != 0 && !yield(Run{row, col, int(t.count), t.state}):
				return
			}
			col += int(t.count)
		}
	}
}

// An Error says what is wrong with a pattern, and where.
type Error struct {
	Line, Col int // from 1
	Reason    string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Reason) }

// A Builder writes the runs of a pattern in the one spelling: neighbouring cells of a state are one run, dead cells at the
// end of a row and rows at the end are left out, and an exclamation mark stands at the end. Two states are b and o; more are ., A, B
// and so on, X, pA, …, yO.
type Builder struct {
	Multi bool // more than two states
	Width int  // a line is broken before it is longer than this; 0: never

	text       []byte
	line       int   // where the last line begins
	rows, dead int64 // not written yet
	count      int64 // of the run that is not written yet
	state      uint8 // of it
}

// Add adds cells to a row.
func (b *Builder) Add(state uint8, count int64) {
	switch {
	case count == 0:
	case state == 0:
		b.flush()
		b.dead += count
	case b.count > 0 && b.state == state:
		b.count += count
	default:
		b.flush()
		b.item(b.rows, "$")
		b.item(b.dead, b.letters(0))
		b.rows, b.dead, b.count, b.state = 0, 0, count, state
	}
}

// End ends a row, or several.
func (b *Builder) End(rows int64) {
	b.flush()
	b.dead = 0
	b.rows += rows
}

// Text ends the pattern and returns it.
func (b *Builder) Text() []byte {
	b.flush()
	b.item(1, "!")
	return b.text
}

// flush writes the run of live cells.
func (b *Builder) flush() {
	b.item(b.count, b.letters(b.state))
	b.count = 0
}

// item writes a count, unless it is 1, and what there is so often; nothing if it is 0.
func (b *Builder) item(count int64, what string) {
	if count == 0 {
		return
	}
	var digits [20]byte
	number := digits[:0]
	if count > 1 {
		number = strconv.AppendInt(number, count, 10)
	}
	if b.Width > 0 && len(b.text)-b.line+len(number)+len(what) > b.Width {
		b.text = append(b.text, '\n')
		b.line = len(b.text)
	}
	b.text = append(append(b.text, number...), what...)
}

// letters returns what a state is called.
func (b *Builder) letters(state uint8) string {
	if !b.Multi {
		return "bo"[min(state, 1):][:1]
	}
	if state == 0 {
		return "."
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWX"
	group, letter := (state-1)/24, letters[(state-1)%24:][:1]
	if group == 0 {
		return letter
	}
	return "pqrstuvwxy"[group-1:][:1] + letter
}
