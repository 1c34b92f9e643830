package yrep

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/murksim/murksim/internal/jsonlines"
)

// LinesMark is what JSON lines of a file begin with.
const LinesMark = `{"yrep":`

// A source is a file or its JSON lines.
type source interface {
	// Next reads the next frame into f, as that of [Reader] does.
	Next(f *Frame) error

	head() (Header, Dialect)
}

// open reads the header of a file or of its JSON lines, whichever src holds.
func open(src io.Reader, o Options) (source, error) {
	seeker, canSeek := src.(io.Seeker)
	var start int64
	var err error
	if canSeek = canSeek && o.Dialect == Auto; canSeek {
		start, err = seeker.Seek(0, io.SeekCurrent)
		canSeek = err == nil
	}
	in := bufio.NewReader(src)
	jsonlines.SkipMark(in)
	if begin, _ := in.Peek(1); len(begin) == 1 && begin[0] == LinesMark[0] {
		return newLineReader(in, o)
	}
	if !canSeek {
		return NewReader(in, o)
	}
	if _, err := seeker.Seek(start, io.SeekStart); err != nil {
		return nil, err
	}
	return NewReader(src, o)
}

// A Conversion says what [Convert] converted.
type Conversion struct {
	ToLines      bool    // else to a file
	Dialect      Dialect // of what was written
	Frames       uint64  // converted whole
	Instructions uint64  // in these frames
	Raw          uint64  // of those, the ones that stand as bytes
}

// Convert reads a file or its JSON lines from src, whichever it holds, and writes to dst a file of a dialect;
// [Auto] stands for the other of the two, in the same dialect. There and back gives the same bytes. Convert
// holds one frame at a time.
//
// An error in src is an [*Error]. Then dst has every frame before it, or nothing if it lies in the header.
func Convert(dst io.Writer, src io.Reader, o Options, to Dialect) (c Conversion, err error) {
	in, err := open(src, o)
	if err != nil {
		return c, err
	}
	h, d := in.head()
	_, file := in.(*Reader)
	if c.ToLines, c.Dialect = file && to == Auto, to; to == Auto {
		c.Dialect = d
	}
	buffered := bufio.NewWriterSize(dst, 64<<10)
	var out interface{ WriteFrame([]Instruction) error }
	lines := newLineWriter(buffered, h, d)
	if c.ToLines {
		out, err = lines, lines.Flush() // the header, also where no frame follows
	} else {
		out, err = NewWriter(buffered, h, c.Dialect)
	}
	if err != nil {
		return c, err
	}
	err = c.copy(out, in)
	return c, errors.Join(err, buffered.Flush())
}

// copy copies all frames.
func (c *Conversion) copy(out interface{ WriteFrame([]Instruction) error }, in source) error {
	var f Frame
	for {
		if err := in.Next(&f); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := out.WriteFrame(f.Instructions); err != nil {
			return err
		}
		c.Frames++
		c.Instructions += uint64(len(f.Instructions))
		for n := range f.Instructions {
			if f.Instructions[n].Raw != nil {
				c.Raw++
			}
		}
	}
}

// A LineWriter writes a file as JSON lines: the header, then one line per frame.
type LineWriter struct {
	w     io.Writer
	frame int32
	b     []byte
	p     printer
}

// NewLineWriter begins the JSON lines of what a reader reads. The header is written with the first
// frame or by Flush.
func NewLineWriter(w io.Writer, r *Reader) *LineWriter { return newLineWriter(w, r.Header, r.Dialect) }

func newLineWriter(w io.Writer, h Header, d Dialect) *LineWriter {
	b := fmt.Appendf(nil, `%s%d,"dialect":"%s","protocol":`, LinesMark, version, d)
	b = append(jsonlines.AppendString(b, h.Protocol), `,"metadata`...)
	if !utf8.Valid(h.Metadata) {
		b = append(b, `_hex`...)
	}
	b = appendMetadata(append(b, `":`...), h.Metadata)
	return &LineWriter{w: w, b: append(b, "}\n"...)}
}

// appendMetadata appends metadata as text, or as hexadecimal digits if it is none.
func appendMetadata(b, metadata []byte) []byte {
	if utf8.Valid(metadata) {
		return jsonlines.AppendString(b, metadata)
	}
	return jsonlines.AppendHex(b, metadata)
}

// CopyFrame writes a frame under its own number.
func (w *LineWriter) CopyFrame(f *Frame) error {
	w.frame = f.Number - 1
	return w.WriteFrame(f.Instructions)
}

// WriteFrame writes the next frame. One whose line could not be read again is an error.
func (w *LineWriter) WriteFrame(list []Instruction) error {
	w.frame++
	before := len(w.b)
	w.b = fmt.Appendf(w.b, `{"frame":%d,"instructions":[`, w.frame)
	for n := range list {
		if n > 0 {
			w.b = append(w.b, ',')
		}
		w.b = w.p.appendTo(w.b, &list[n])
	}
	w.b = append(w.b, "]}\n"...)
	if size := len(w.b) - before; size > maxLine {
		w.b = w.b[:before]
		return &Error{Kind: ErrPayloadTooLarge, Frame: w.frame, Detail: fmt.Sprintf("a line of %d bytes; the limit is %d", size, maxLine)}
	}
	return w.Flush()
}

// Flush writes what has not been written.
func (w *LineWriter) Flush() error {
	b := w.b
	w.b = w.b[:0]
	_, err := w.w.Write(b)
	return err
}
