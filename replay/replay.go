// Package replay records a world and plays it back bit for bit.
//
// A recording is a Murk v3 file: a header, then one frame a tick. FORMAT.md
// specifies every byte:
//
//	header: "MURK" | version u8 | build | seed u64 | config hash u64 | counts | descriptor
//	frame:  tick u64 | command count u32 | commands | state hash u64
//
// A [Recorder] records a world tick by tick; a [Player] rebuilds the world from a
// recording, or from any other [Source] of frames, feeds it the recorded commands and
// compares every hash. Below them are the format's own [Writer] and [Reader], which know
// nothing of worlds: the Reader accepts anything well-formed, while the Player is strict. A
// [TableWriter] writes the hash of every field to a table beside a recording, and a
// [TableReader] compares a replay with it.
//
// The hash is FNV-1a over every byte of the state, which takes longer than most ticks. The
// Recorder computes it on another goroutine, for several ticks at a time, and hashes only
// what has changed. What it writes does not depend on that. See [Recorder] for how many
// ticks it holds.
//
// Input is untrusted: malformed bytes yield a [*FormatError], never a panic, and
// nothing is allocated that the bytes already read cannot account for. A replay that
// reaches another state yields a [*MismatchError].
package replay

import (
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/wire"
)

const (
	magic   = "MURK"
	version = 3
)

// The limits of the format. [Reader] and [Writer] refuse what exceeds them.
const (
	MaxString      = 1 << 20             // bytes of a build string
	MaxBytes       = commands.MaxPayload // bytes of the descriptor, and of a payload
	MaxCommands    = 1_000_000           // commands in a frame
	MaxFrame       = 1 << 30             // bytes of all payloads in a frame
	minCommandSize = 24                  // no payload, no source, no sequence
)

// A Build names the program that made a recording. Nothing depends on it.
type Build struct {
	Toolchain string // such as "go1.26.1"
	Target    string // such as "linux/amd64"
	Version   string // of the engine
	Flags     string // of the compiler
}

// A Header describes the world of a recording.
type Header struct {
	Build      Build
	Seed       uint64 // master seed
	ConfigHash uint64 // see [fields.Setup]; 0 in some foreign files: not recorded
	FieldCount uint32 // fields that the frames' hashes cover
	CellCount  uint64
	Descriptor []byte // opaque here; DESCRIPTOR.md says what this program puts there

	line int64 // in JSON lines; 0 in bytes
}

// A Frame is one tick: its inputs and the hash of the state after it.
type Frame struct {
	Tick     uint64
	Records  []Record
	Hash     uint64
	Position Position // in the source
	payload  []byte   // what the records' payloads alias
}

// Commands appends the commands of the frame to a list. Their data is that of the frame, and changes with it. The error is that of [Record.Command].
func (f *Frame) Commands(list []commands.Command) ([]commands.Command, error) {
	for i := range f.Records {
		c, err := f.Records[i].Command()
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// A Position says where a frame stands in a recording.
type Position struct {
	Frame  int   // its index, from 0
	Line   int64 // in JSON lines, from 1; 0 in bytes
	Offset int64 // of its first byte; 0 in JSON lines
	Size   int64 // in bytes; 0 in JSON lines
}

// A Source is a recording in any form that a [Player] can play: a [Reader] of bytes, JSON
// lines by [Open], or frames that a program gets from elsewhere.
type Source interface {
	// Head returns the recording's header.
	Head() *Header

	// Next reads the next frame into f and reuses its memory. At the end it returns
	// io.EOF; every other error is final.
	Next(f *Frame) error
}

// A Record is a command as it stands in a frame, its payload not yet decoded.
type Record struct {
	Tag     uint8  // the payload type, known or not
	Payload []byte // owned by the frame
	commands.Meta
	at place // of the payload
}

// A place is a position in a frame.
type place struct {
	offset            int64
	line              int64 // in JSON lines; 0 in bytes
	tick              uint64
	frame             int
	command, commands uint32 // from 1, of how many; 0 outside commands
}

// Command decodes the record strictly: the payload type must be known and every
// byte used. The command's data aliases the payload. An error is a [*FormatError].
func (r *Record) Command() (c commands.Command, err error) {
	if err := c.Decode(r.Tag, r.Payload); err != nil {
		return commands.Command{}, r.at.payloadError(r.Tag, err)
	}
	c.Meta = r.Meta
	return c, nil
}

// error returns an error at an offset in the frame of p.
func (p place) error(offset int64, kind Kind, detail string) *FormatError {
	return &FormatError{
		Offset: offset, Line: p.line, Tick: p.tick, Frame: p.frame, Command: int(p.command), Commands: int(p.commands), Kind: kind, Detail: detail,
	}
}

func (p place) payloadError(tag uint8, err error) error {
	e := p.error(p.offset, ErrMalformed, "")
	switch err := err.(type) {
	case *commands.UnknownKindError:
		e.Kind, e.Found = ErrUnknownPayload, tag
	case *commands.PayloadError:
		if p.line == 0 {
			e.Offset += int64(err.Offset)
		}
		e.Detail = fmt.Sprintf("%s payload: %s", err.Kind, err.Reason)
	}
	return e
}

// A Kind says what is wrong with a recording, and is its own sentinel:
// errors.Is(err, ErrTruncated).
type Kind string

// Error implements error.
func (k Kind) Error() string { return string(k) }

// The kinds of errors.
const (
	ErrMagic          Kind = "not a recording"
	ErrVersion        Kind = "unsupported version"
	ErrUnknownPayload Kind = "unknown payload type"
	ErrMismatch       Kind = "state hash mismatch"
	ErrIncompatible   Kind = "incompatible recording"
	ErrTruncated           = Kind(wire.ErrTruncated)
	ErrMalformed           = Kind(wire.ErrMalformed)
	ErrLimit               = Kind(wire.ErrLimit)
)

// HeaderFrame is the Frame of an error in the header.
const HeaderFrame = -1

// A FormatError locates what is wrong with a recording.
type FormatError struct {
	Offset   int64  // of the first byte that could not be used
	Line     int64  // in JSON lines, from 1, instead of the offset; 0 in bytes
	Tick     uint64 // of the frame; 0 in the header, before the tick is read, and if it is not the tick due
	Frame    int    // the frame's index, or HeaderFrame
	Command  int    // which of the frame's commands, from 1; 0 outside commands
	Commands int    // how many commands the frame claims, if Command is one of them
	Kind     Kind
	Found    uint8  // ErrVersion: the version; ErrUnknownPayload: the payload type
	Detail   string // what stands there instead, for people; may be empty
}

// Error implements error.
func (e *FormatError) Error() string {
	what, where, detail := string(e.Kind), "header", ""
	if e.Kind == ErrVersion || e.Kind == ErrUnknownPayload {
		what = fmt.Sprintf("%s %d", e.Kind, e.Found)
	}
	switch {
	case e.Frame == HeaderFrame:
	case e.Tick == 0: // or not read yet
		where = fmt.Sprintf("frame %d", e.Frame+1)
	case e.Command != 0:
		where = fmt.Sprintf("tick %d, command %d of %d", e.Tick, e.Command, e.Commands)
	default:
		where = fmt.Sprintf("tick %d", e.Tick)
	}
	if e.Detail != "" {
		detail = ": " + e.Detail
	}
	return fmt.Sprintf("replay: %s at %s (%s)%s", what, spotText(e.Line, e.Offset), where, detail)
}

// spotText returns the place of an error: a line, or a byte where lines are not counted.
func spotText(line, offset int64) string {
	if line != 0 {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("byte %d", offset)
}

// Unwrap returns the kind.
func (e *FormatError) Unwrap() error { return e.Kind }
