package replay

import (
	"errors"
	"fmt"
	"io"
)

// Prefix reads all frames that are left and returns the position after the last one that is
// whole. A frame is whole if it is well-formed, of the tick that is due, and all of its
// commands can be decoded; whether its hash is right only a replay can tell. The error says
// why the recording is not whole after that, and is nil if it ends there. Progress, unless
// nil, is called after frames; its error ends the reading.
func (r *Reader) Prefix(progress func(Position) error) (end Position, err error) {
	var f Frame
	end = r.Position()
	frames := inOrder{Source: r, due: r.Header.after() + 1 + uint64(end.Frame)}
	for {
		if err := frames.Next(&f); err == io.EOF {
			return end, nil
		} else if err != nil {
			return end, err
		}
		for i := range f.Records {
			if _, err := f.Records[i].Command(); err != nil {
				return end, err
			}
		}
		end = r.Position()
		if progress != nil {
			if err := progress(end); err != nil {
				return end, err
			}
		}
	}
}

// InOrder returns a source of the frames of s, of which none has been read, that checks their
// ticks as a [Player] does: the first must be the one after the state at which the recording
// begins, or tick 1, and each other the one after the frame before it. The error of another
// tick is a [*FormatError].
func InOrder(s Source) Source { return &inOrder{Source: s, due: s.Head().after() + 1} }

type inOrder struct {
	Source
	due uint64 // tick
	err error  // final
}

// Next implements [Source].
func (o *inOrder) Next(f *Frame) error {
	if o.err != nil {
		return o.err
	}
	switch err := o.Source.Next(f); {
	case err == io.EOF:
		return err
	case err != nil:
		o.err = misplaced(err, o.Source, o.due)
	case f.Tick != o.due:
		o.err = outOfOrder(&f.Position, f.Tick, o.due)
	}
	o.due++
	return o.err
}

// misplaced returns an error of a source, which for a [Reader] is about the tick of the frame if
// that is not the one due: bytes that are no frame tell nothing else.
func misplaced(err error, from Source, due uint64) error {
	e, damaged := errors.AsType[*FormatError](err)
	r, ok := from.(*Reader)
	if !damaged || !ok || e.Tick == 0 || e.Tick == due {
		return err
	}
	return outOfOrder(&Position{Frame: e.Frame, Offset: r.Offset()}, e.Tick, due)
}

// outOfOrder is the error of a frame whose tick is not the one that is due.
func outOfOrder(at *Position, is, due uint64) *FormatError {
	detail := fmt.Sprintf("tick %d stands where tick %d is due", is, due)
	return &FormatError{Offset: at.Offset, Line: at.Line, Frame: at.Frame, Kind: ErrMalformed, Detail: detail}
}
