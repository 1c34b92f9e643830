package minewars

import "fmt"

// A Kind says what is wrong with a stream, and is its own sentinel: errors.Is(err, ErrVersion).
type Kind string

// Error implements error.
func (k Kind) Error() string { return string(k) }

// The kinds of errors, by the names that FORMAT.md gives them, in the order in which a reader
// looks for them.
const (
	ErrHeaderTruncated  Kind = "header_truncated"
	ErrFrameLength      Kind = "frame_length"
	ErrStartTruncated   Kind = "is_truncated"
	ErrVersion          Kind = "version"
	ErrReservedFlags    Kind = "reserved_flags"
	ErrTickRate         Kind = "tick_rate"
	ErrPlayerCount      Kind = "player_count"
	ErrCityCount        Kind = "city_count"
	ErrRadius           Kind = "radius"
	ErrMapLength        Kind = "map_length"
	ErrNameUTF8         Kind = "name_utf8"
	ErrChecksumHeader   Kind = "checksum_header"
	ErrChecksumStart    Kind = "checksum_is_data"
	ErrFramesTruncated  Kind = "frames_truncated"
	ErrTrailingBytes    Kind = "trailing_bytes"
	ErrChecksumFrames   Kind = "checksum_frames"
	ErrMapLZ4           Kind = "map_lz4"
	ErrMapPadding       Kind = "map_padding"
	ErrCoordinate       Kind = "coord_out_of_map"
	ErrFramesLZ4        Kind = "frames_lz4"
	ErrFrameTruncated   Kind = "frame_truncated"
	ErrFrameKind        Kind = "frame_kind"
	ErrEmptyMask        Kind = "empty_mask"
	ErrNoParticipants   Kind = "no_participants"
	ErrView             Kind = "view_out_of_range"
	ErrMessageTruncated Kind = "message_truncated"
	ErrReservedOpcode   Kind = "reserved_opcode"
	ErrReservedItem     Kind = "reserved_item"
	ErrPlayer           Kind = "player_out_of_range"
	ErrCity             Kind = "city_out_of_range"

	ErrTooLarge Kind = "too_large" // more than 65,535 bytes of frames for one file
	ErrValue    Kind = "value"     // nothing in the format stands for it: the digit 7, an update before the last one
	ErrLine     Kind = "line"      // of JSON or text is not what FORMAT.md says
)

// An Error locates what is wrong with a stream, or what a writer cannot write.
type Error struct {
	Kind   Kind
	Offset int64  // of the first byte that could not be used; in frames from the start of the uncompressed frame data
	Frame  int    // from 1, of the frame that is wrong; 0 outside frames
	Tick   uint64 // of that frame; or that was to be written
	Line   int    // from 1, in JSON lines, instead of the offset
	Detail string
}

// Error implements error.
func (e *Error) Error() string {
	text := "minewars: " + string(e.Kind)
	switch {
	case e.Line > 0:
		text += fmt.Sprintf(" at line %d", e.Line)
	case e.Frame > 0:
		text += fmt.Sprintf(" at byte %d of the frames (frame %d, tick %d)", e.Offset, e.Frame, e.Tick)
	case e.Offset >= 0:
		text += fmt.Sprintf(" at byte %d", e.Offset)
	case e.Tick > 0:
		text += fmt.Sprintf(" (tick %d)", e.Tick)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// bad returns an error at an offset.
func bad(kind Kind, offset int, format string, args ...any) *Error {
	return &Error{Kind: kind, Offset: int64(offset), Detail: fmt.Sprintf(format, args...)}
}

// unwritable returns an error of a value that is not to be found in any bytes.
func unwritable(kind Kind, format string, args ...any) *Error {
	return bad(kind, -1, format, args...)
}
