package jsonlines

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"unicode"
)

// Each character comes back, and none of them moves a terminal's cursor or ends a line.
func TestStrings(t *testing.T) {
	var all []rune
	for r := range rune(0x3000) {
		all = append(all, r)
	}
	text := string(append(all, '\u2028', '\u2029', '𝄞', unicode.MaxRune))
	var written bytes.Buffer
	if err := Write(&written, text); err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{AppendString(nil, text), AppendString(nil, []byte(text)), bytes.TrimSuffix(written.Bytes(), []byte("\n"))} {
		var back string
		if err := json.Unmarshal(b, &back); err != nil || back != text {
			t.Errorf("read back as %.100q, %v", back, err)
		}
		if i := bytes.IndexFunc(b, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }); i >= 0 {
			t.Errorf("byte %d of %.100q needs an escape", i, b[i:])
		}
	}
	if got := string(AppendString(nil, "a\x00\n\r\t\x7f\u009b\"\\<é\xff")); got != `"a\u0000\n\r\t\u007f\u009b\"\\<é`+"\ufffd\"" {
		t.Error(got)
	}
}

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, map[string]any{"a\x7f": "<b>\u0085"}); err != nil || b.String() != `{"a\u007f":"<b>\u0085"}`+"\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	b.Reset()
	if err := Write(&b, math.NaN()); err == nil || b.Len() > 0 {
		t.Errorf("NaN: wrote %q, %v", b.String(), err)
	}
}

func TestEscape(t *testing.T) {
	got := Escape([]byte("{\"a\":\"ä\u202e𝄞\xff\"}"), func(r rune) bool { return r > 0xff })
	if want := "{\"a\":\"ä\\u202e\\ud834\\udd1e\\ufffd\"}"; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNumbers(t *testing.T) {
	nan := math.Float64frombits(0xfff8000000000001)
	for _, tt := range []struct {
		got  []byte
		want string
	}{
		{AppendFloat32(nil, 0.1), "0.1"},
		{AppendFloat64(nil, float64(float32(0.1))), "0.10000000149011612"},
		{AppendFloat32(nil, float32(math.Copysign(0, -1))), "-0.0"},
		{AppendFloat64(nil, math.Copysign(0, -1)), "-0.0"},
		{AppendFloat64(nil, 1e20), "100000000000000000000"},
		{AppendFloat64(nil, -1e21), "-1e+21"},
		{AppendFloat64(nil, 1e-6), "0.000001"},
		{AppendFloat64(nil, 9e-7), "9e-07"},
		{AppendFloat64(nil, math.Inf(1)), `"0x7ff0000000000000"`},
		{AppendFloat64(nil, nan), `"0xfff8000000000001"`},
		{AppendFloat32(nil, float32(math.Inf(-1))), `"0xff800000"`},
		{AppendDigits(nil, 0xabc, 2), "bc"},
		{AppendHex(nil, []byte{0, 0xff}), `"00ff"`},
	} {
		if string(tt.got) != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
	}
}
