package export

import (
	"bufio"
	"fmt"
	"strconv"

	"github.com/murksim/murksim/engine"
)

// A csvSink writes a table with a line of names, as RFC 4180 has it, but for the ends of lines,
// which are those of Unix.
type csvSink struct {
	filesOnly
	out   *bufio.Writer
	plan  *Plan
	table *table
	rows  uint64
	line  []byte
}

func openCSV(to File, p *Plan, _ Ticks, _ Look) (Sink, error) {
	s := &csvSink{out: bufio.NewWriterSize(to, 256<<10), plan: p, table: p.newTable()}
	for i := range s.table.columns {
		s.line = append(s.line, ',')
		s.line = append(s.line, s.table.columns[i].name...)
	}
	_, err := s.out.Write(append(s.line[1:], '\n'))
	return s, err
}

// Add implements [Sink].
func (s *csvSink) Add(w *engine.World) error { return s.plan.rows(w, s.table, s.emit) }

func (s *csvSink) emit() error {
	for row := range s.table.rows {
		s.line = s.line[:0]
		for i := range s.table.columns {
			if i > 0 {
				s.line = append(s.line, ',')
			}
			s.line = s.table.columns[i].appendText(s.line, row)
		}
		if _, err := s.out.Write(append(s.line, '\n')); err != nil {
			return err
		}
	}
	s.rows += uint64(s.table.rows)
	return nil
}

// appendText appends a value: the fewest digits that give the same number again.
func (c *tableColumn) appendText(b []byte, row int) []byte {
	switch c.typ {
	case float32s:
		return strconv.AppendFloat(b, float64(c.float32s[row]), 'g', -1, 32)
	case float64s:
		return strconv.AppendFloat(b, c.float64s[row], 'g', -1, 64)
	case int32s:
		return strconv.AppendInt(b, int64(c.int32s[row]), 10)
	case uint64s:
		return strconv.AppendUint(b, c.uint64s[row], 10)
	}
	return append(b, c.texts[row]...) // names have letters, digits, _ and - only
}

// Close implements [Sink].
func (s *csvSink) Close() error { return s.out.Flush() }

// Summary implements [Sink].
func (s *csvSink) Summary() string { return tableSummary(s.rows, s.table) }

func tableSummary(rows uint64, t *table) string {
	return fmt.Sprintf("%d rows of %d columns", rows, len(t.columns))
}
