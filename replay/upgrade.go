package replay

import (
	"io"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/wire"
)

// ErrCurrent is the kind of error of [Upgrade] for a recording of the current version.
const ErrCurrent Kind = "already version 3"

// An oldVersion says how the layout of a command differs from version 3: in what follows
// its priority. Neither old version has an expiry or an arrival number.
type oldVersion struct {
	minCommandSize int
	meta           func(*Reader, *commands.Meta)
}

var oldVersions = map[uint8]*oldVersion{
	// Version 1: source and source sequence are bare numbers; 0 stands for none.
	1: {22, func(r *Reader, m *commands.Meta) {
		m.Source = r.d.Uint64("source")
		m.SourceSeq = r.d.Uint64("source sequence")
		m.HasSource, m.HasSeq = m.Source != 0, m.SourceSeq != 0
	}},
	// Version 2: each has a presence flag before it, as in version 3.
	2: {8, func(r *Reader, m *commands.Meta) {
		m.HasSource, m.Source = r.d.Optional("source")
		m.HasSeq, m.SourceSeq = r.d.Optional("source sequence")
	}},
}

// An Upgraded says what [Upgrade] read, and what it had to assume because the old
// version does not record it.
type Upgraded struct {
	Version  uint8  // of the source
	Frames   uint64 // upgraded whole
	Commands uint64 // in these frames; none expires, and the arrival of each is its number in the file
	// In version 1 a zero may mean zero or nothing; Upgrade takes it for nothing.
	NoSource uint64 // commands with a zero source
	NoSeq    uint64 // commands with a source and a zero sequence: without one, they act after the others of their source
}

// Upgrade reads a recording of version 1 or 2 from src and writes it to dst as version
// 3. It makes up for what the old versions do not record: commands never expire, and their
// arrival numbers count from 1 in the order of the file.
//
// Every error in src is a [*FormatError], of the kind [ErrCurrent] for version 3 and
// ErrVersion for versions that do not exist. Unless it lies in the header, dst has every
// frame before it.
func Upgrade(dst io.Writer, src io.Reader) (u Upgraded, err error) {
	r, err := newOldReader(src)
	if err != nil {
		return u, err
	}
	w, err := NewWriter(dst, r.Header)
	if err != nil {
		return u, err
	}
	u.Version = r.found
	u.Frames, u.Commands, err = copyFrames(w, r)
	u.NoSource, u.NoSeq = r.noSource, r.noSeq
	return u, err
}

// An oldReader reads frames of an old version and fills in what they lack.
type oldReader struct {
	*Reader
	found           uint8
	arrival         uint64 // of the last command
	noSource, noSeq uint64
}

func newOldReader(src io.Reader) (*oldReader, error) {
	const untold = -1
	r := &Reader{d: wire.NewDecoder(src, untold), at: place{frame: HeaderFrame}}
	v, err := r.version()
	switch r.old = oldVersions[v]; {
	case err != nil:
		return nil, err
	case v == version:
		return nil, versionError(ErrCurrent, v)
	case r.old == nil:
		return nil, versionError(ErrVersion, v)
	}
	if err := r.header(); err != nil {
		return nil, err
	}
	return &oldReader{Reader: r, found: v}, nil
}

// Next reads a frame as [Reader.Next] does.
func (r *oldReader) Next(f *Frame) error {
	if err := r.Reader.Next(f); err != nil {
		return err
	}
	for i := range f.Records {
		m := &f.Records[i].Meta
		r.arrival++
		m.Expires, m.Arrival = commands.NoExpiry, r.arrival
		if r.found != 1 {
			continue
		}
		if !m.HasSource {
			r.noSource++
		} else if !m.HasSeq {
			r.noSeq++
		}
	}
	return nil
}
