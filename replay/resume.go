package replay

import (
	"errors"
	"io"
	"os"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/filelock"
)

// A File is a recording that [Resume] can go on with. An *os.File that was opened to read and write is one.
type File interface {
	io.ReaderAt
	io.WriteSeeker
	Truncate(size int64) error
}

// Resume goes on with a recording that a process wrote until it ended or was killed. It builds the world, replays every whole frame and compares every
// hash, cuts off the frame that the process had begun, and returns the world after its last tick with a recorder that writes the next ones: attach
// it by [engine.World.Record]. What is recorded from then on is byte for byte what an uninterrupted process records. Cut is what was cut off; it
// may hold commands of a tick that never happened for sure.
//
// In an empty file it begins a recording: of the world that the builder makes of the seed and the descriptor of begin, at tick 0. A recording that is there
// has its own header, and begin does not count: what the world is, the recording says.
//
// After an error the file is as it was: [ErrTruncated] where it ends within its header, so that no tick is lost if it is emptied, a [*MismatchError] or [*FormatError] of the frames, the builder's error, a [*FormatError] where a damaged frame hides
// other ones behind it, or an error that the file was changed while it was read. Nothing else may write the file meanwhile, see [Lock], and the caller
// closes it.
func Resume(f File, build Builder, begin Header) (w *engine.World, r *Recorder, cut []byte, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, nil, nil, err
	}
	if size == 0 {
		if w, err = build(&begin); err == nil {
			err = noneSubmitted(w)
		}
		if err == nil {
			r, err = NewRecorder(f, w, begin.Descriptor)
		}
		if err != nil {
			return nil, nil, nil, err
		}
		return w, r, nil, nil
	}
	end, h, err := WholePart(f, size, nil)
	if h == nil || err != nil && !errors.Is(err, ErrTruncated) {
		return nil, nil, nil, err
	}
	frames, err := NewReader(io.NewSectionReader(f, 0, end.Offset))
	if err != nil {
		return nil, nil, nil, err
	}
	p, err := NewPlayer(frames, build)
	if err != nil {
		return nil, nil, nil, err
	}
	p.Sum = NewSum(frames.Head())
	if _, err := p.Verify(); err != nil {
		return nil, nil, nil, err
	}
	sum, err := p.Sum.Unchanged(f, end)
	if now, failed := f.Seek(0, io.SeekEnd); err == nil && (failed != nil || now != size) {
		err = errors.Join(ErrChanged, failed)
	}
	if err == nil {
		cut, err = io.ReadAll(io.NewSectionReader(f, end.Offset, size-end.Offset))
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if r, err = ResumeRecorder(f, p.World, *frames.Head(), end, sum); err != nil {
		return nil, nil, nil, err
	}
	if _, err = f.Seek(end.Offset, io.SeekStart); err == nil {
		err = f.Truncate(end.Offset)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return p.World, r, cut, nil
}

// The errors of [Lock].
var (
	ErrBusy     = errors.New("replay: another process is writing the recording")
	ErrReplaced = errors.New("replay: another file has taken the place of the recording since it was opened; open it again")
)

// Lock keeps other processes from writing a recording, those that call Lock too and this project's commands, until the file is closed or the process
// ends, however it ends. It returns [ErrBusy] if another one has the lock, and [ErrReplaced] if the name of the file leads to another one, or to none,
// by now. Readers need none. On systems without locks it is an error.
func Lock(f *os.File) error {
	switch err := filelock.Lock(f); err {
	case nil:
	case filelock.ErrBusy:
		return ErrBusy
	default:
		return err
	}
	is, err := f.Stat()
	if now, gone := os.Stat(f.Name()); err != nil || gone != nil || !os.SameFile(is, now) {
		return ErrReplaced
	}
	return nil
}

// ErrChanged reports a file that was changed while it was read.
var ErrChanged = errors.New("replay: the recording was changed while its ticks were computed")

// Unchanged reads a recording once more, up to the position up to which s is its sum, and returns the sum, also of its run; [ErrChanged] if another
// program changed it meanwhile.
func (s *Sum) Unchanged(recording io.ReaderAt, end Position) (*Sum, error) {
	now, err := ReadSum(io.NewSectionReader(recording, 0, end.Offset))
	if err != nil || now.SHA256() != s.SHA256() {
		return nil, ErrChanged
	}
	return now, nil
}
