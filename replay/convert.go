package replay

import (
	"bufio"
	"io"

	"github.com/murksim/murksim/internal/jsonlines"
)

// A Conversion says what [Convert] converted.
type Conversion struct {
	ToLines  bool   // a recording to JSON lines; else the other way
	Frames   uint64 // converted whole
	Commands uint64 // in these frames
	Raw      uint64 // commands that JSON holds as the bytes of their payload
}

// Convert reads a recording from src, as bytes or JSON lines, and writes it to dst in the
// other form; JSONL.md specifies the lines. A recording that is converted and converted
// back has the same bytes. Convert holds one frame at a time.
//
// An error in src is a [*FormatError] or a [*LineError]. Then dst has every frame before
// it, or nothing if it lies in the header.
func Convert(dst io.Writer, src io.Reader) (c Conversion, err error) {
	in, err := Open(src)
	if err != nil {
		return c, err
	}
	if _, c.ToLines = in.(*Reader); !c.ToLines {
		w, err := NewWriter(dst, *in.Head())
		if err != nil {
			return c, err
		}
		c.Frames, c.Commands, err = copyFrames(w, in)
		return c, err
	}
	w, err := NewLineWriter(dst, *in.Head())
	if err != nil {
		return c, err
	}
	c.Frames, c.Commands, err = copyFrames(w, in)
	c.Raw = w.raw
	return c, err
}

// Open reads the header of a recording, which may be bytes or JSON lines.
func Open(r io.Reader) (Source, error) {
	in := bufio.NewReader(r)
	jsonlines.SkipMark(in)
	if beginsLines(in) {
		return newLineReader(in)
	}
	return NewReader(in)
}

// beginsLines reports whether an input begins as JSON does: spaces, then a brace.
func beginsLines(in *bufio.Reader) bool {
	const most = 64 // spaces
	for n := 1; n <= most; n++ {
		b, err := in.Peek(n)
		if err != nil {
			return false
		}
		switch b[n-1] {
		case ' ', '\t', '\r', '\n':
		default:
			return b[n-1] == '{'
		}
	}
	return false
}

// copyFrames copies all frames, writes them out, and counts them and their commands.
func copyFrames(
	dst interface {
		CopyFrame(*Frame) error
		Flush() error
	},
	src interface{ Next(*Frame) error },
) (frames, inputs uint64, err error) {
	var f Frame
	for {
		if err = src.Next(&f); err != nil {
			break
		}
		if err := dst.CopyFrame(&f); err != nil {
			return frames, inputs, err
		}
		frames++
		inputs += uint64(len(f.Records))
	}
	if flushed := dst.Flush(); flushed != nil {
		return frames, inputs, flushed
	}
	if err == io.EOF {
		err = nil
	}
	return frames, inputs, err
}
