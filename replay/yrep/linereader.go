package yrep

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/internal/jsonlines"
)

// maxLine is how long a line may be.
const maxLine = 64 << 20

// A lineReader reads the JSON lines of a file, one frame at a time.
type lineReader struct {
	header  Header
	dialect Dialect

	in     *jsonlines.Reader
	frame  int32
	list   json.RawMessage // the instructions of the line
	fields lineFields
	err    error // final
}

// newLineReader reads the header, the first line.
func newLineReader(r io.Reader, o Options) (*lineReader, error) {
	l := &lineReader{in: jsonlines.NewReader(r, maxLine)}
	var h struct {
		Version     int     `json:"yrep"`
		Dialect     string  `json:"dialect"`
		Protocol    string  `json:"protocol"`
		Metadata    *string `json:"metadata"`
		MetadataHex *string `json:"metadata_hex"`
	}
	if err := l.next(&h); err == io.EOF {
		return nil, l.fail(ErrTruncated, "there is no header")
	} else if err != nil {
		return nil, err
	}
	d, err := ParseDialect(h.Dialect)
	switch {
	case h.Version != version:
		e := l.fail(ErrVersion, "version %d; this program reads %d", h.Version, version)
		e.Found = h.Version
		return nil, e
	case err != nil || d == Auto:
		return nil, l.fail(ErrLine, "dialect must be %s or %s, not %q", Narrow, Wide, h.Dialect)
	case !isProtocol(h.Protocol):
		return nil, l.fail(ErrProtocol, "protocol version %q; it must have the form of %s", clip(h.Protocol), DefaultProtocol)
	case o.Protocol != "" && !strings.EqualFold(h.Protocol, o.Protocol):
		return nil, l.fail(ErrProtocolMismatch, "protocol version %s; it must be %s", h.Protocol, o.Protocol)
	case (h.Metadata == nil) == (h.MetadataHex == nil):
		return nil, l.fail(ErrLine, `the header must have either "metadata" or "metadata_hex"`)
	}
	l.dialect, l.header.Protocol = d, h.Protocol
	if h.Metadata != nil {
		l.header.Metadata = []byte(*h.Metadata)
	} else if l.header.Metadata, err = hex.DecodeString(*h.MetadataHex); err != nil {
		return nil, l.fail(ErrLine, "metadata_hex: %v", err)
	}
	return l, nil
}

func (l *lineReader) head() (Header, Dialect) { return l.header, l.dialect }

// Next implements [source].
func (l *lineReader) Next(f *Frame) error {
	*f = Frame{Instructions: f.Instructions[:0]}
	if l.err == nil {
		l.err = l.read(f)
	}
	if l.err != nil {
		f.Instructions = f.Instructions[:0]
	}
	return l.err
}

// read reads a frame.
func (l *lineReader) read(f *Frame) error {
	line := struct {
		Frame        *int64          `json:"frame"`
		Instructions json.RawMessage `json:"instructions"`
	}{Instructions: l.list[:0]}
	if err := l.next(&line); err != nil {
		return err
	}
	l.list = line.Instructions
	due := int64(l.frame) + 1
	switch {
	case line.Frame == nil || !bytes.HasPrefix(l.list, []byte("[")):
		return l.fail(ErrLine, `a frame must have "frame" and "instructions", a number and an array`)
	case due > math.MaxInt32 || *line.Frame != due:
		return l.fail(ErrFrameNumber, "frame number %d stands where %d is due", *line.Frame, due)
	}
	l.frame++
	f.Number = l.frame
	return l.instructions(f)
}

// instructions decodes the instructions of the line one by one: of what the text holds too much of, nothing
// is decoded.
func (l *lineReader) instructions(f *Frame) error {
	for text := range parts(l.list) {
		if len(f.Instructions) == maxInstructions {
			return l.fail(ErrTooManyInstructions, "more than %d instructions", maxInstructions)
		}
		f.Instructions = append(f.Instructions, Instruction{})
		if err := l.fields.instruction(&f.Instructions[len(f.Instructions)-1], text); err != nil {
			e := l.fail(ErrLine, "%v", err)
			e.Frame, e.Instruction = l.frame, len(f.Instructions)
			for range parts(l.list) {
				e.Instructions++
			}
			return e
		}
	}
	return nil
}

// parts yields the elements of an array, or the keys and values of an object, which must be valid JSON.
func parts(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		depth, start := 0, 1
		for i := 0; i < len(text); i++ {
			c := text[i]
			switch c {
			case '"':
				for i++; text[i] != '"'; i++ {
					if text[i] == '\\' {
						i++
					}
				}
			case '[', '{':
				depth++
			case ']', '}':
				depth--
			}
			if depth > 1 || depth == 1 && c != ',' && c != ':' {
				continue
			}
			if part := bytes.TrimSpace(text[start:i]); len(part) > 0 && !yield(part) {
				return
			}
			start = i + 1
		}
	}
}

// next reads the next line that is not empty into v, or returns io.EOF.
func (l *lineReader) next(v any) error {
	err := l.in.Next(v)
	if wrong, ok := err.(jsonlines.Error); ok {
		kind := ErrLine
		if wrong == jsonlines.NotUTF8 {
			kind = ErrInvalidUTF8
		}
		return l.fail(kind, "%v", wrong)
	}
	return err
}

func (l *lineReader) fail(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Line: int64(l.in.Line), Frame: l.frame, Detail: fmt.Sprintf(format, args...)}
}

// A lineFields is the [visitor] that takes the fields of an instruction from the keys of an object.
type lineFields struct {
	keys map[string]json.RawMessage
	err  error // the first one
}

// maxFields is more than any instruction has.
const maxFields = 32

// object takes the keys of an object.
func (l *lineFields) object(text []byte) error {
	if text[0] != '{' {
		return errors.New("an instruction must be an object")
	}
	if l.keys == nil {
		l.keys = map[string]json.RawMessage{}
	}
	clear(l.keys)
	n, key := 0, ""
	for part := range parts(text) {
		switch n++; {
		case n > 2*maxFields:
			return fmt.Errorf("an instruction has at most %d keys", maxFields)
		case n%2 == 0:
			l.keys[key] = part
		case bytes.IndexByte(part, '\\') < 0:
			key = string(part[1 : len(part)-1])
		default:
			if err := json.Unmarshal(part, &key); err != nil {
				return err
			}
		}
	}
	return nil
}

// instruction reads an instruction.
func (l *lineFields) instruction(i *Instruction, text []byte) error {
	if l.err = l.object(text); l.err != nil {
		return l.err
	}
	var name string
	l.value("instruction", &name)
	if l.err == nil {
		i.ID, l.err = parseID(name)
	}
	if _, raw := l.keys["raw"]; raw {
		var digits string
		l.value("raw", &digits)
		b, err := hex.DecodeString(digits)
		if i.Raw = append([]byte{}, b...); err != nil {
			l.failed(fmt.Errorf("raw: %w", err))
		}
	} else if l.err == nil && !i.ID.known() {
		l.failed(fmt.Errorf(`instruction %s needs "raw"`, i.ID))
	} else {
		i.visit(l)
	}
	if l.err == nil && len(l.keys) > 0 {
		l.failed(fmt.Errorf("%s has no %q", i.ID, slices.Sorted(maps.Keys(l.keys))[0]))
	}
	return l.err
}

// parseID returns the id of a name, or of the number of an unknown one.
func parseID(name string) (ID, error) {
	if i := slices.Index(names[:], name); i > 0 {
		return ID(i), nil
	}
	digits, isNumber := strings.CutPrefix(name, "0x")
	n, err := strconv.ParseUint(digits, 16, 16)
	if !isNumber || len(digits) != 4 || err != nil || ID(n).known() {
		return 0, fmt.Errorf("there is no instruction %q", clip(name))
	}
	return ID(n), nil
}

func (l *lineFields) failed(err error) {
	if l.err == nil {
		l.err = err
	}
}

// value takes the value of a key that must be there.
func (l *lineFields) value(name string, v any) {
	text, there := l.keys[name]
	if !there {
		l.failed(fmt.Errorf("there is no %q", name))
		return
	}
	delete(l.keys, name)
	if string(text) == "null" {
		l.failed(fmt.Errorf("%s must not be null", name))
	} else if err := json.Unmarshal(text, v); err != nil {
		l.failed(fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "json: ")))
	}
}

func (l *lineFields) int8(name string, v *int8)   { l.value(name, v) }
func (l *lineFields) int32(name string, v *int32) { l.value(name, v) }

func (l *lineFields) float32(name string, v *float32) {
	var bits uint32
	if l.bits(name, v, 32, func(n uint64) { bits = uint32(n) }) {
		*v = math.Float32frombits(bits)
	}
}

func (l *lineFields) float64(name string, v *float64) {
	var bits uint64
	if l.bits(name, v, 64, func(n uint64) { bits = n }) {
		*v = math.Float64frombits(bits)
	}
}

// bits reads a number into v, or hands on the bits of one that JSON has no number for.
func (l *lineFields) bits(name string, v any, size int, set func(uint64)) bool {
	if !bytes.HasPrefix(l.keys[name], []byte(`"`)) {
		l.value(name, v)
		return false
	}
	var text string
	l.value(name, &text)
	digits, prefixed := strings.CutPrefix(text, "0x")
	n, err := strconv.ParseUint(digits, 16, size)
	if !prefixed || len(digits) != size/4 || err != nil {
		l.failed(fmt.Errorf("%s must be a number, or 0x and %d hexadecimal digits of its bits, not %q", name, size/4, clip(text)))
	}
	set(n)
	return true
}

func (l *lineFields) uuid(name string, v *UUID) {
	var text string
	l.value(name, &text)
	var ok bool
	if *v, ok = parseUUID(text); !ok {
		l.failed(fmt.Errorf("%s: %q is not a UUID", name, clip(text)))
	}
}

// text refuses escapes of half a character, which would be replaced.
func (l *lineFields) text(name string, v *string) {
	was := l.keys[name]
	l.value(name, v)
	const replacement = "\ufffd"
	if strings.Contains(*v, replacement) && !bytes.Contains(was, []byte(replacement)) && !bytes.Contains(bytes.ToLower(was), []byte(`\ufffd`)) {
		l.failed(fmt.Errorf("%s has half of a surrogate pair", name))
	}
}

func (l *lineFields) slot(name string, v *int8) {
	var text string
	l.value(name, &text)
	slot := slices.Index(slots[:], text)
	if slot < 0 {
		l.failed(fmt.Errorf("%s must be one of %s, not %q", name, strings.Join(slots[:], ", "), clip(text)))
	}
	*v = int8(slot)
}

func (l *lineFields) present(v *uint8, names []string) {
	for bit, name := range names {
		if _, there := l.keys[name]; there {
			*v |= 1 << bit
		}
	}
}

func (l *lineFields) states(v *uint8, names []string) {
	for bit, name := range names {
		var set bool
		if l.value(name, &set); set {
			*v |= 1 << bit
		}
	}
}
