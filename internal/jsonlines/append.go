package jsonlines

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendString appends a string of JSON. It escapes control characters and the two
// separators that some programs take for the end of a line.
func AppendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	for _, r := range string(s) {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		default:
			b = appendRune(b, r)
		}
	}
	return append(b, '"')
}

// appendRune appends a character of a string, or its escape.
func appendRune(b []byte, r rune) []byte {
	if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
		return AppendDigits(append(b, `\u`...), uint64(r), 4)
	}
	return utf8.AppendRune(b, r)
}

// AppendDigits appends the lowest n hexadecimal digits of v.
func AppendDigits(b []byte, v uint64, n int) []byte {
	for n--; n >= 0; n-- {
		b = append(b, "0123456789abcdef"[v>>(4*n)&15])
	}
	return b
}

// AppendHex appends bytes as a string of hexadecimal digits.
func AppendHex(b, data []byte) []byte {
	return append(hex.AppendEncode(append(b, '"'), data), '"')
}

// AppendFloat32 appends the shortest number that reads back as v. Negative zero keeps its sign,
// as -0.0. What JSON has no number for is a string, 0x and the digits of its bits.
func AppendFloat32(b []byte, v float32) []byte {
	if v-v != 0 {
		return append(AppendDigits(append(b, `"0x`...), uint64(math.Float32bits(v)), 8), '"')
	}
	return appendDecimal(b, float64(v), 32)
}

// AppendFloat64 is [AppendFloat32] for 64 bits.
func AppendFloat64(b []byte, v float64) []byte {
	if v-v != 0 {
		return append(AppendDigits(append(b, `"0x`...), math.Float64bits(v), 16), '"')
	}
	return appendDecimal(b, v, 64)
}

func appendDecimal(b []byte, v float64, bits int) []byte {
	size := math.Abs(v)
	switch {
	case v == 0 && math.Signbit(v):
		return append(b, "-0.0"...)
	case v != 0 && (size < 1e-6 || size >= 1e21):
		return strconv.AppendFloat(b, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(b, v, 'f', -1, bits)
}

// Write writes a value as a line. It escapes what AppendString does, and nothing for HTML.
func Write(w io.Writer, v any) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	text := line.Bytes()[:line.Len()-1]
	if isControl := func(r rune) bool { return r > '~' && unicode.IsControl(r) }; bytes.ContainsFunc(text, isControl) {
		text = Escape(text, isControl)
	}
	_, err := w.Write(append(text, '\n'))
	return err
}

// Escape returns JSON with an escape in place of each character that is to have one, all of which must stand in
// strings, and with the sign for a wrong character in place of what is not UTF-8.
func Escape(text []byte, escaped func(rune) bool) (b []byte) {
	for _, r := range string(text) {
		if !escaped(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			b = AppendDigits(append(b, `\u`...), uint64(unit), 4)
		}
	}
	return b
}
