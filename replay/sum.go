package replay

import (
	"crypto/sha256"
	"hash"
	"io"

	"github.com/murksim/murksim/engine"
)

// A Sum is the SHA-256 of a recording up to a frame: of the bytes that were used, and not of
// what a file holds later. It belongs to one goroutine. If it began with the header, it also has the
// digest of the run.
type Sum struct{ w Writer }

// NewSum returns the sum of a header. [Player] and others add the frames after it.
func NewSum(h *Header) *Sum {
	return &Sum{Writer{w: io.Discard, buf: appendHeader(nil, h), ends: []frameEnd{{}}, sum: sha256.New(), run: new(engine.RunDigest)}}
}

// SumAfter returns the sum of a recording up to the frame whose end a SHA-256 has come to. It
// owns the hash.
func SumAfter(h hash.Hash) *Sum { return &Sum{Writer{w: io.Discard, sum: h}} }

// Add adds a frame as a [Reader] returned it. Its error is a frame that no recording can hold.
func (s *Sum) Add(f *Frame) error { return s.w.CopyFrame(f) }

// ReadSum reads a whole recording and returns its sum.
func ReadSum(r io.Reader) (*Sum, error) {
	frames, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	s := NewSum(&frames.Header)
	for f := new(Frame); err == nil; {
		if err = frames.Next(f); err == nil {
			err = s.Add(f)
		}
	}
	if err != io.EOF {
		return nil, err
	}
	return s, nil
}

// SHA256 returns the sum of what was added.
func (s *Sum) SHA256() [sha256.Size]byte { return s.w.sum256() }

// Frames returns how many frames were added.
func (s *Sum) Frames() int { return s.w.frame }

// RunDigest returns that of the frames that were added, for the caller; nil if it is not known.
func (s *Sum) RunDigest() *engine.RunDigest {
	if s.w.run == nil {
		return nil
	}
	return s.w.run.Clone()
}

func (w *Writer) sum256() (sum [sha256.Size]byte) {
	w.summed().Sum(sum[:0])
	return sum
}

// summed returns the hash of all frames that the writer took, written or not.
func (w *Writer) summed() hash.Hash {
	c, err := w.sum.(hash.Cloner).Clone()
	if err != nil {
		panic(err) // those of the standard library can be cloned
	}
	c.Write(w.buf)
	return c
}
