package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

// decodeLine is the inverse of appendLine.
func decodeLine(line []byte, r any) error {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	if len(line) < 9 || line[8] != ' ' {
		return ErrNoJournal
	}
	sum, err := strconv.ParseUint(string(line[:8]), 16, 32)
	if err != nil || uint32(sum) != crc32.Checksum(line[9:], castagnoli) {
		return errors.New("the checksum is wrong")
	}
	return json.Unmarshal(line[9:], r)
}

// decode decodes a line.
func (r *record) decode(line []byte) error { return decodeLine(line, r) }

// index decodes only the part of a line that the open journal keeps in memory: of a row, little.
func (r *record) index(line []byte) error {
	if !bytes.HasPrefix(line[min(9, len(line)):], []byte(`{"row":`)) {
		return decodeLine(line, r)
	}
	var brief struct {
		Row struct {
			Job    int
			ID     ID
			Status Status
			As     int
			Kept   string
		}
	}
	err := decodeLine(line, &brief)
	r.Row = &Row{Job: brief.Row.Job, ID: brief.Row.ID, Status: brief.Row.Status, As: brief.Row.As, Kept: brief.Row.Kept}
	return err
}

// appendLine appends a record as a line.
func appendLine(b []byte, r record) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return b, err
	}
	b = fmt.Appendf(b, "%08x ", crc32.Checksum(text, castagnoli))
	return append(append(b, text...), '\n'), nil
}
