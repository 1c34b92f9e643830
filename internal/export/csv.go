package export

import (
	"io"
	"strconv"
	"strings"
)

// A lineWriter collects lines and hands on whole ones only.
type lineWriter struct {
	to    io.Writer
	lines []byte
}

// lineRoom is how many bytes of lines wait at most, about.
const lineRoom = 64 << 10

// flush hands on the lines that wait.
func (l *lineWriter) flush() error {
	_, err := l.to.Write(l.lines)
	l.lines = l.lines[:0]
	return err
}

// ended is called at the end of a line.
func (l *lineWriter) ended() error {
	if len(l.lines) < lineRoom {
		return nil
	}
	return l.flush()
}

func (l *lineWriter) close() error { return l.flush() }

// A csvWriter writes a table with a line of names, as RFC 4180 has it, but for the ends of lines,
// which are those of Unix.
type csvWriter struct{ lineWriter }

func newCSVWriter(to io.Writer, t *table, _ []pair) (tableWriter, error) {
	w := &csvWriter{lineWriter{to, make([]byte, 0, lineRoom+4096)}}
	for i := range t.columns {
		if i > 0 {
			w.lines = append(w.lines, ',')
		}
		w.lines = appendCSV(w.lines, t.columns[i].name)
	}
	w.lines = append(w.lines, '\n')
	return w, nil
}

func (w *csvWriter) write(t *table) error {
	for row := range t.rows {
		for i := range t.columns {
			if i > 0 {
				w.lines = append(w.lines, ',')
			}
			if c := &t.columns[i]; !c.null(row) {
				w.lines = c.appendText(w.lines, row)
			}
		}
		w.lines = append(w.lines, '\n')
		if err := w.ended(); err != nil {
			return err
		}
	}
	return nil
}

// appendText appends a value: the fewest digits that give the same number again. One that may have a fraction has a point or an exponent:
// readers that look at the first rows take 20 for a whole number.
func (c *tableColumn) appendText(b []byte, row int) []byte {
	switch c.typ {
	case float32s:
		return pointed(strconv.AppendFloat(b, float64(c.float32s[row]), 'g', -1, 32), len(b))
	case float64s:
		if c.whole {
			return strconv.AppendFloat(b, c.float64s[row], 'g', -1, 64)
		}
		return pointed(strconv.AppendFloat(b, c.float64s[row], 'g', -1, 64), len(b))
	case int32s:
		return strconv.AppendInt(b, int64(c.int32s[row]), 10)
	case uint64s:
		return strconv.AppendUint(b, c.uint64s[row], 10)
	}
	return appendCSV(b, c.texts[row])
}

// pointed adds a fraction of zero to the number from a byte on, if it has only digits.
func pointed(b []byte, from int) []byte {
	for _, x := range b[from:] {
		if x != '-' && (x < '0' || x > '9') {
			return b
		}
	}
	return append(b, '.', '0')
}

// appendCSV appends a text, in quotes if it has anything that would end it.
func appendCSV(b []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\r\n") {
		return append(b, text...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(text, `"`, `""`)...)
	return append(b, '"')
}

// A jsonWriter writes a table as JSON lines: an object a row, its keys the names of the columns.
type jsonWriter struct{ lineWriter }

func newJSONWriter(to io.Writer, _ *table, _ []pair) (tableWriter, error) {
	return &jsonWriter{lineWriter{to, make([]byte, 0, lineRoom+4096)}}, nil
}

func (w *jsonWriter) write(t *table) error {
	for row := range t.rows {
		for i := range t.columns {
			c, before := &t.columns[i], `,"`
			if i == 0 {
				before = `{"`
			}
			w.lines = append(append(append(w.lines, before...), c.name...), `":`...)
			if c.null(row) {
				w.lines = append(w.lines, "null"...)
				continue
			}
			w.lines = c.appendText(w.lines, row)
		}
		w.lines = append(w.lines, "}\n"...)
		if err := w.ended(); err != nil {
			return err
		}
	}
	return nil
}
