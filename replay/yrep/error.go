package yrep

import "fmt"

// A Kind says what is wrong with a file, and is its own sentinel: errors.Is(err, ErrTruncated).
type Kind string

// Error implements error.
func (k Kind) Error() string { return string(k) }

// The kinds of errors.
const (
	ErrTruncated          Kind = "truncated"
	ErrMagic              Kind = "bad_magic"
	ErrVersion            Kind = "unsupported_version"
	ErrProtocol           Kind = "bad_protocol_version"
	ErrProtocolMismatch   Kind = "protocol_mismatch"
	ErrNegativeLength     Kind = "negative_length"
	ErrInvalidUTF8        Kind = "invalid_utf8"
	ErrFrameNumber        Kind = "frame_number"
	ErrNegativeCount      Kind = "negative_count"
	ErrUnknownInstruction Kind = "unknown_instruction"
	ErrPayloadLength      Kind = "payload_length"
	ErrReservedBits       Kind = "reserved_bits"
	ErrSlot               Kind = "bad_slot"

	// Of writing:
	ErrTooManyInstructions Kind = "too_many_instructions"
	ErrPayloadTooLarge     Kind = "payload_too_large"

	// Of JSON lines:
	ErrLine Kind = "malformed_line"
)

// lenient reports whether a lenient reader makes a warning of an error.
func (k Kind) lenient() bool {
	switch k {
	case ErrUnknownInstruction, ErrPayloadLength, ErrReservedBits, ErrSlot, ErrInvalidUTF8:
		return true
	}
	return false
}

// An Error locates what is wrong with a file, or with what should be written.
type Error struct {
	Kind   Kind
	Offset int64 // of the field that is wrong, in the file
	Line   int64 // in JSON lines, from 1, instead of the offset; 0 in bytes
	Frame  int32 // its number; 0 in the header
	Found  int   // the version, of ErrVersion

	// Instruction is its number in the frame, from 1, of Instructions; 0 outside of one.
	Instruction, Instructions int

	Detail string
}

// Error implements error.
func (e *Error) Error() string {
	where := fmt.Sprintf("at byte %d", e.Offset)
	if e.Line > 0 {
		where = fmt.Sprintf("at line %d", e.Line)
	}
	switch {
	case e.Instruction > 0:
		where += fmt.Sprintf(", in frame %d (instruction %d of %d)", e.Frame, e.Instruction, e.Instructions)
	case e.Frame > 0:
		where += fmt.Sprintf(", in frame %d", e.Frame)
	}
	return fmt.Sprintf("%s %s: %s", e.Kind, where, e.Detail)
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }
