package replay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A hash table is text with a line for each tick: the tick, the snapshot hash, and the hash
// of every field, separated by tabs. The first line names the columns.

// A TableWriter writes a hash table of a world's ticks. It is an [engine.Settler].
type TableWriter struct {
	w       io.Writer
	fields  int
	text    []byte // not yet written: whole lines
	settled int    // of these bytes, those of ticks that have happened
	err     error

	world *engine.World // of the last tick, and its number
	last  uint64
}

// NewTableWriter begins a hash table for a world with these fields.
func NewTableWriter(w io.Writer, defs []fields.Def) *TableWriter {
	h := &TableWriter{w: w, fields: len(defs)}
	h.text = append(h.text, "tick\tstate"...)
	for i := range defs {
		h.text = append(append(h.text, '\t'), defs[i].Name...)
	}
	h.text = append(h.text, '\n')
	h.settled = len(h.text)
	return h
}

// tableBuffer is the number of bytes of lines that a [TableWriter] keeps before it writes
// them.
const tableBuffer = 4 << 10

// Record implements [engine.Recorder]. An error in writing the ticks before is final.
func (h *TableWriter) Record(t *engine.Tick) error {
	h.settled = len(h.text) // without a call of Settle, a tick counts as happened
	if h.settled >= tableBuffer {
		h.Flush()
	}
	if h.err != nil {
		return h.err
	}
	h.world, h.last = t.World(), t.Number
	h.text = strconv.AppendUint(h.text, t.Number, 10)
	h.text = appendHash(h.text, t.Hash())
	for i := range h.fields {
		h.text = appendHash(h.text, t.FieldHash(fields.ID(i)))
	}
	h.text = append(h.text, '\n')
	return nil
}

// Settle implements [engine.Settler].
func (h *TableWriter) Settle(happened bool) {
	if !happened {
		h.text = h.text[:h.settled]
	}
	h.settled = len(h.text)
}

// Flush writes the lines of all ticks that were recorded. Within a tick that has a line, but
// that another recorder may still refuse, it fails with [engine.ErrUnderWay].
func (h *TableWriter) Flush() error {
	if len(h.text) > h.settled && underWay(h.world, h.last) {
		return fmt.Errorf("replay: Flush: %w", engine.ErrUnderWay)
	}
	if h.err == nil {
		engine.Guard(&h.err, func() error {
			n, err := h.w.Write(h.text)
			if err == nil && n < len(h.text) {
				err = io.ErrShortWrite
			}
			return err
		})
		h.text, h.settled = h.text[:0], 0
	}
	return h.err
}

func appendHash(b []byte, h uint64) []byte {
	return fmt.Appendf(b, "\t%016x", h)
}

const maxTableLine = 1 << 20 // bytes

// A TableReader compares the ticks of a replayed world with a hash table.
type TableReader struct {
	tableLines
	fields []string
}

// A tableLines reads a hash table line by line.
type tableLines struct {
	name string
	s    *bufio.Scanner
	line int
}

func linesOf(name string, r io.Reader) tableLines {
	h := tableLines{name: name, s: bufio.NewScanner(r)}
	h.s.Buffer(nil, maxTableLine)
	return h
}

// ReadTable calls f with each line of a hash table, of any world and of any ticks: the tick,
// all cells of the line, of which the second is the hash of the state, and the names of the
// columns. They are f's to keep. An error of f ends the reading. Errors begin with name and line.
func ReadTable(name string, r io.Reader, f func(tick uint64, row, columns []string) error) error {
	h := linesOf(name, r)
	columns, err := h.next()
	if err != nil {
		return err
	}
	for {
		row, err := h.next()
		if row == nil {
			return err
		}
		tick, err := strconv.ParseUint(row[0], 10, 64)
		if err != nil || len(row) != len(columns) {
			return fmt.Errorf("%s:%d: this is not a line of %d columns that begins with a tick", h.name, h.line, len(columns))
		}
		if err := h.hashes(row); err != nil {
			return err
		}
		if err := f(tick, row, columns); err != nil {
			return fmt.Errorf("%s:%d: %w", h.name, h.line, err)
		}
	}
}

// NewTableReader reads the first line of a hash table, which must be of a world with these
// fields. Errors begin with name.
func NewTableReader(name string, r io.Reader, defs []fields.Def) (*TableReader, error) {
	h := &TableReader{tableLines: linesOf(name, r)}
	row, err := h.row()
	if err != nil {
		return nil, err
	}
	want := []string{"tick", "state"}
	for i := range defs {
		want = append(want, defs[i].Name)
	}
	if got := strings.Join(row, "\t"); got != strings.Join(want, "\t") {
		return nil, fmt.Errorf("%s:1: not a table of this world's hashes: the columns are %.200q, not %q", name, got, strings.Join(want, "\t"))
	}
	h.fields = want[2:]
	return h, nil
}

// next returns the cells of the next line. At the end of the table they are nil.
func (h *tableLines) next() ([]string, error) {
	h.line++
	if h.s.Scan() {
		return strings.Split(h.s.Text(), "\t"), nil
	}
	switch err := h.s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: the line is longer than %d bytes", h.name, h.line, maxTableLine)
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", h.name, h.line, err)
	}
	return nil, nil
}

// row is next where the table must not end.
func (h *tableLines) row() ([]string, error) {
	row, err := h.next()
	if row == nil && err == nil {
		err = fmt.Errorf("%s:%d: the table of hashes ends here", h.name, h.line)
	}
	return row, err
}

// hashes checks that all cells of a line but the first are hashes.
func (h *tableLines) hashes(row []string) error {
	if i := slices.IndexFunc(row[1:], func(s string) bool { return !isHash(s) }); i >= 0 {
		return fmt.Errorf("%s:%d: %.40q is not a hash (16 hexadecimal digits)", h.name, h.line, row[1+i])
	}
	return nil
}

// End returns an error if the table has a line after those that were compared.
func (h *TableReader) End() error {
	if row, err := h.next(); row == nil {
		return err
	}
	return fmt.Errorf("%s:%d: the table of hashes goes on here; the recording has ended", h.name, h.line)
}

// ErrTable reports a tick whose hashes differ from the hash table.
var ErrTable = errors.New("hashes differ")

// A TableError says in what a tick differs from the hash table. It unwraps to [ErrTable].
type TableError struct {
	File string
	Line int
	Tick uint64
	What string // the columns that differ, with both hashes of the first

	// Alone reports that the state has the hash of the table although fields of it do not, which no run gives: the table was changed.
	Alone bool
}

// Error implements error.
func (e *TableError) Error() string {
	text := fmt.Sprintf("%s:%d: tick %d: %v: %s", e.File, e.Line, e.Tick, ErrTable, e.What)
	if e.Alone {
		text += "; the state has the hash of the table, so the table was changed"
	}
	return text
}

// Unwrap returns ErrTable.
func (e *TableError) Unwrap() error { return ErrTable }

// Compare compares the world's current tick with the next line. The error, a [*TableError] if hashes
// differ, names every field that differs, and shows both hashes of the first.
func (h *TableReader) Compare(w *engine.World) error {
	row, err := h.row()
	if err != nil {
		return err
	}
	if len(row) != len(h.fields)+2 || row[0] != strconv.FormatUint(w.Tick(), 10) {
		return fmt.Errorf("%s:%d: this is not the line of tick %d", h.name, h.line, w.Tick())
	}
	if err := h.hashes(row); err != nil {
		return err
	}
	var different []string
	for i, name := range h.fields {
		if got := hex16(w.FieldHash(fields.ID(i))); row[i+2] != got {
			name = strconv.Quote(name)
			if len(different) == 0 {
				name += both(row[i+2], got)
			}
			different = append(different, name)
		}
	}
	what, state := "fields ", hex16(w.Hash())
	switch {
	case len(different) == 1:
		what = "field "
	case len(different) == 0 && row[1] == state:
		return nil
	case len(different) == 0:
		what = "state, though no field does" + both(row[1], state)
	}
	return &TableError{h.name, h.line, w.Tick(), what + strings.Join(different, ", "), row[1] == state}
}

// both formats two hashes that differ.
func both(table, replay string) string { return fmt.Sprintf(" (table %s, replay %s)", table, replay) }

// isHash reports whether s is a hash as tables write it, in lower case.
func isHash(s string) bool { return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == "" }

func hex16(h uint64) string { return fmt.Sprintf("%016x", h) }
