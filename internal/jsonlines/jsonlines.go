// Package jsonlines reads lines of JSON strictly: a line is UTF-8, has a largest length, and holds one value
// without unknown keys. Empty lines are skipped.
package jsonlines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// An Error says what is wrong with a line.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

// NotUTF8 is the error of a line that is not UTF-8.
const NotUTF8 Error = "the line is not UTF-8"

// A Reader reads lines one by one.
type Reader struct {
	Line int // number of the last line read, from 1

	in   *bufio.Reader
	max  int
	text bytes.Buffer
}

// NewReader returns a reader of lines of at most max bytes, their ends included.
func NewReader(r io.Reader, max int) *Reader { return &Reader{in: bufio.NewReader(r), max: max} }

// Next decodes the next line that is not empty into v. After the last line it returns io.EOF. Every other
// error is an [Error], or that of the underlying reader.
func (r *Reader) Next(v any) error {
	for {
		if err := r.read(); err != nil {
			return err
		}
		if len(bytes.TrimSpace(r.text.Bytes())) > 0 {
			break
		}
	}
	if !utf8.Valid(r.text.Bytes()) {
		return NotUTF8
	}
	d := json.NewDecoder(bytes.NewReader(r.text.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return Error(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return Error("the line has more than one object")
	}
	return nil
}

// read reads a line. Memory grows with the bytes that arrive.
func (r *Reader) read() error {
	r.text.Reset()
	r.Line++
	for {
		part, err := r.in.ReadSlice('\n')
		if r.text.Len()+len(part) > r.max {
			return Error(fmt.Sprintf("the line is longer than %d bytes", r.max))
		}
		r.text.Write(part)
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && r.text.Len() > 0:
			return nil
		default:
			return err
		}
	}
}
