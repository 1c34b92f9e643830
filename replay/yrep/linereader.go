package yrep

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A lineReader reads the JSON lines of a file, one frame at a time.
type lineReader struct {
	header  Header
	dialect Dialect

	in     *bufio.Reader
	line   int64
	frame  int32
	text   []byte
	fields lineFields
	err    error // final
}

// newLineReader reads the header, the first line.
func newLineReader(r io.Reader, o Options) (*lineReader, error) {
	l := &lineReader{in: bufio.NewReader(r)}
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
	var line struct {
		Frame        *int64                       `json:"frame"`
		Instructions []map[string]json.RawMessage `json:"instructions"`
	}
	if err := l.next(&line); err != nil {
		return err
	}
	due := int64(l.frame) + 1
	switch {
	case line.Frame == nil || line.Instructions == nil:
		return l.fail(ErrLine, `a frame must have "frame" and "instructions"`)
	case due > math.MaxInt32 || *line.Frame != due:
		return l.fail(ErrFrameNumber, "frame number %d stands where %d is due", *line.Frame, due)
	case len(line.Instructions) > maxInstructions:
		return l.fail(ErrTooManyInstructions, "%d instructions; a frame holds %d", len(line.Instructions), maxInstructions)
	}
	l.frame++
	f.Number = l.frame
	for n, keys := range line.Instructions {
		f.Instructions = append(f.Instructions, Instruction{})
		if err := l.fields.instruction(&f.Instructions[n], keys); err != nil {
			e := l.fail(ErrLine, "%v", err)
			e.Frame, e.Instruction, e.Instructions = l.frame, n+1, len(line.Instructions)
			return e
		}
	}
	return nil
}

// next reads the next line that is not empty into v, or returns io.EOF. Memory grows with the bytes that
// arrive.
func (l *lineReader) next(v any) error {
	for {
		l.text = l.text[:0]
		l.line++
		for {
			part, err := l.in.ReadSlice('\n')
			l.text = append(l.text, part...)
			if err == bufio.ErrBufferFull {
				continue
			} else if err != nil && err != io.EOF {
				return err
			}
			break
		}
		if len(l.text) == 0 {
			return io.EOF
		}
		if len(bytes.TrimSpace(l.text)) > 0 {
			break
		}
	}
	if !utf8.Valid(l.text) {
		return l.fail(ErrInvalidUTF8, "the line is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(l.text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return l.fail(ErrLine, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return l.fail(ErrLine, "the line has more than one object")
	}
	return nil
}

func (l *lineReader) fail(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Line: l.line, Frame: l.frame, Detail: fmt.Sprintf(format, args...)}
}

// A lineFields is the [visitor] that takes the fields of an instruction from the keys of an object.
type lineFields struct {
	keys map[string]json.RawMessage
	err  error // the first one
}

// instruction reads an instruction.
func (l *lineFields) instruction(i *Instruction, keys map[string]json.RawMessage) error {
	l.keys, l.err = keys, nil
	var name string
	l.value("instruction", &name)
	if l.err == nil {
		i.ID, l.err = parseID(name)
	}
	if _, raw := keys["raw"]; raw {
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
	if l.err == nil && len(keys) > 0 {
		l.failed(fmt.Errorf("%s has no %q", i.ID, slices.Sorted(maps.Keys(keys))[0]))
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
