package yrep

import (
	"errors"
	"fmt"
	"io"
)

// newAutoReader reads the file to its end to find the dialect, and then goes back.
func newAutoReader(r io.Reader, o Options) (*Reader, error) {
	s, ok := r.(io.Seeker)
	if !ok {
		return nil, errors.New("yrep: finding the dialect needs an input that can be read twice")
	}
	start, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("yrep: finding the dialect needs an input that can be read twice: %w", err)
	}
	if o.Dialect, err = findDialect(r, s, start, o); err != nil {
		return nil, err
	}
	return NewReader(r, o)
}

// findDialect returns the dialect in which the file is whole, first without leniency; if there is none, the
// narrow one, whose error the reader will meet. The input is then at its start.
func findDialect(r io.Reader, s io.Seeker, start int64, o Options) (Dialect, error) {
	tries := []bool{false, true}
	if !o.Lenient {
		tries = tries[:1]
	}
	for _, lenient := range tries {
		for _, d := range []Dialect{Narrow, Wide} {
			o.Dialect, o.Lenient = d, lenient
			err := readAll(r, o)
			if _, failed := s.Seek(start, io.SeekStart); failed != nil {
				return 0, failed
			}
			if _, format := errors.AsType[*Error](err); err == nil || !format {
				return d, err
			}
		}
	}
	return Narrow, nil
}

// readAll reads a file to its end.
func readAll(r io.Reader, o Options) error {
	in, err := NewReader(r, o)
	if err != nil {
		return err
	}
	var f Frame
	for err == nil {
		err = in.Next(&f)
	}
	if err == io.EOF {
		return nil
	}
	return err
}
