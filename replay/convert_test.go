package replay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// converted converts an input as far as it goes.
func converted(b []byte) ([]byte, replay.Conversion, error) {
	var out bytes.Buffer
	c, err := replay.Convert(&out, bytes.NewReader(b))
	return out.Bytes(), c, err
}

// thereAndBack converts a recording to JSON lines, these back, and those again. It
// returns the lines.
func thereAndBack(t *testing.T, name string, b []byte) ([]byte, replay.Conversion) {
	t.Helper()
	lines, c, err := converted(b)
	if err != nil || !c.ToLines {
		t.Fatalf("%s: to lines: %+v, %v", name, c, err)
	}
	back, d, err := converted(lines)
	if err != nil || d.ToLines || d.Frames != c.Frames || d.Commands != c.Commands {
		t.Fatalf("%s: back: %+v, %v; there it was %+v", name, d, err, c)
	}
	if !bytes.Equal(back, b) {
		t.Fatalf("%s: %d bytes came back, not the same as the %d", name, len(back), len(b))
	}
	if again, _, err := converted(back); err != nil || !bytes.Equal(again, lines) {
		t.Fatalf("%s: the second time other lines, %v", name, err)
	}
	return lines, c
}

// TestVectorsConvert converts every recording of the vectors to lines and back.
func TestVectorsConvert(t *testing.T) {
	files, inputs, raw := 0, uint64(0), uint64(0)
	for _, folder := range []string{"murk/codec", "murk/malformed", "murk/sim"} {
		entries, err := os.ReadDir(vectors.Path(folder))
		if err != nil && folder != "murk/sim" { // the simulations are not everywhere
			t.Fatal(err)
		}
		found := 0
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".murkreplay") {
				continue
			}
			b, err := os.ReadFile(filepath.Join(vectors.Path(folder), e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			lines, c := thereAndBack(t, e.Name(), b)
			valid(t, e.Name(), lines)
			if want := uint64(bytes.Count(lines, []byte{'\n'})); c.Frames+1 != want {
				t.Errorf("%s: %d frames in %d lines", e.Name(), c.Frames, want)
			}
			found++
			inputs += c.Commands
			raw += c.Raw
		}
		if found == 0 && err == nil {
			t.Errorf("%s: no recordings", folder)
		}
		files += found
	}
	if raw == 0 || raw == inputs {
		t.Errorf("%d of %d commands stand as bytes; want some", raw, inputs)
	}
	t.Logf("%d recordings, %d commands, %d of them as bytes", files, inputs, raw)
}

// valid checks that every line is JSON to others, too.
func valid(t *testing.T, name string, lines []byte) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		if !json.Valid(line) || line[0] != '{' || line[len(line)-1] != '\n' {
			t.Fatalf("%s: not a line of JSON: %.200s", name, line)
		}
	}
}

// sampleLines is a recording with every form that there is.
const sampleLines = `{"murk":3,"toolchain":"go \"1\"\\","target":"any","engine_version":"ü\u2028","compiler_flags":"\u0000\t","seed":9007199254740992,"config_hash":"00000000000000ff","field_count":4294967295,"cell_count":"9007199254740993","descriptor":"{\"a\":\n1}"}
{"tick":1,"hash":"ffffffffffffffff","commands":[]}
{"tick":"18446744073709551615","hash":"0123456789abcdef","commands":[` +
	`{"kind":"move","entity":7,"coord":[-2147483648,2147483647],"priority":1,"arrival":1},` +
	`{"kind":"spawn","coord":[],"values":[],"priority":0,"source":0,"arrival":2},` +
	`{"kind":"spawn","coord":[1,2,3],"values":[{"field":0,"value":0.1},{"field":0,"value":"0x7fc00001"}],"priority":1,"source":"18446744073709551615","source_seq":3,"arrival":3},` +
	`{"kind":"despawn","entity":"18446744073709551615","priority":255,"source_seq":0,"arrival":0},` +
	`{"kind":"set_field","coord":[5],"field":2,"value":-0.0,"priority":1,"expires_after":0,"arrival":4},` +
	`{"kind":"set_field","coord":[5],"field":2,"value":1e-45,"priority":1,"expires_after":12,"arrival":5},` +
	`{"kind":"custom","type":3,"data":"0aff","priority":1,"arrival":6},` +
	`{"kind":"set_parameter","parameter":1,"value":0.1,"priority":1,"arrival":7},` +
	`{"kind":"set_parameter","parameter":1,"value":"0xfff0000000000000","priority":1,"arrival":8},` +
	`{"kind":"set_parameter_batch","values":[{"parameter":4,"value":1e+300},{"parameter":5,"value":123456789012345680000}],"priority":1,"arrival":9},` +
	`{"kind":"set_parameter_batch","values":[],"priority":1,"arrival":10},` +
	`{"payload_type":9,"payload":"","priority":1,"arrival":11},` +
	`{"payload_type":2,"payload":"000000000000000000","priority":1,"arrival":12}]}
`

func sampleRecording(t testing.TB) []byte {
	t.Helper()
	w := newWriter(t, replay.Header{
		Build: replay.Build{Toolchain: `go "1"\`, Target: "any", Version: "ü\u2028", Flags: "\x00\t"},
		Seed:  1 << 53, ConfigHash: 255, FieldCount: math.MaxUint32, CellCount: 1<<53 + 1, Descriptor: []byte("{\"a\":\n1}"),
	})
	with := func(c commands.Command, change func(*commands.Command)) commands.Command {
		change(&c)
		return c
	}
	spawn := commands.Spawn(space.At(1, 2, 3), commands.FieldValue{Value: 0.1}, commands.FieldValue{Value: math.Float32frombits(0x7fc00001)})
	inputs := []commands.Command{
		commands.Move(7, space.At(math.MinInt32, math.MaxInt32)),
		with(commands.Spawn(space.At()), func(c *commands.Command) { c.Priority, c.HasSource = 0, true }),
		spawn.From(math.MaxUint64, 3),
		with(commands.Despawn(math.MaxUint64), func(c *commands.Command) { c.Priority, c.HasSeq = 255, true }),
		with(commands.SetField(space.At(5), 2, float32(math.Copysign(0, -1))), func(c *commands.Command) { c.Expires = 0 }),
		with(commands.SetField(space.At(5), 2, math.SmallestNonzeroFloat32), func(c *commands.Command) { c.Expires = 12 }),
		commands.Custom(3, []byte{10, 255}),
		commands.SetParameter(1, 0.1),
		commands.SetParameter(1, math.Inf(-1)),
		commands.SetParameterBatch(commands.Parameter{Key: 4, Value: 1e300}, commands.Parameter{Key: 5, Value: 123456789012345680000}),
		commands.SetParameterBatch(),
	}
	f := replay.Frame{Tick: math.MaxUint64, Hash: 0x0123456789abcdef}
	for i, c := range inputs {
		if c.Arrival = uint64(i + 1); i > 3 {
			c.Arrival = uint64(i)
		} else if i == 3 {
			c.Arrival = 0
		}
		f.Records = append(f.Records, replay.Record{Tag: uint8(c.Kind), Payload: c.AppendPayload(nil), Meta: c.Meta})
	}
	for i, r := range []replay.Record{{Tag: 9}, {Tag: 2, Payload: make([]byte, 9)}} {
		r.Meta = commands.Meta{Priority: 1, Expires: commands.NoExpiry, Arrival: uint64(11 + i)}
		f.Records = append(f.Records, r)
	}
	w.copy(t, &replay.Frame{Tick: 1, Hash: math.MaxUint64})
	w.copy(t, &f)
	return w.bytes(t)
}

func TestConvert(t *testing.T) {
	b := sampleRecording(t)
	lines, c := thereAndBack(t, "the sample", b)
	if string(lines) != sampleLines {
		t.Errorf("lines:\n%s\nwant:\n%s", lines, sampleLines)
	}
	if want := (replay.Conversion{ToLines: true, Frames: 2, Commands: 13, Raw: 2}); c != want {
		t.Errorf("Convert = %+v, want %+v", c, want)
	}
	valid(t, "the sample", lines)
}

// TestConvertSpacesInStrings holds that a space is read wherever it stands in a string: at
// its beginning and end, after an escape, and after a character that is not ASCII.
func TestConvertSpacesInStrings(t *testing.T) {
	for _, text := range []string{" ", " go", "go ", "\" go", "\\  go", "\n ", "\u00fc go", "\U0001f600 ", "\u2028 \u2028", "~ }", "\r\t\x1f\u2029"} {
		w := newWriter(t, replay.Header{Build: replay.Build{Toolchain: text, Target: text + text}, Descriptor: []byte(text)})
		thereAndBack(t, fmt.Sprintf("%q", text), w.bytes(t))
	}
}

// TestConvertReadsEveryEscape holds that each escape of JSON is the character that it stands
// for, also one that takes two.
func TestConvertReadsEveryEscape(t *testing.T) {
	w := newWriter(t, replay.Header{Build: replay.Build{Toolchain: "\"\\/\b\f\n\r\té\uFFFD😀\U0010FFFF"}})
	header := `{"murk":3,"toolchain":"\"\\\/\b\f\n\r\t\u00e9\uFFFD\ud83d\uDE00\udbff\udfff","target":"","engine_version":"","compiler_flags":"",` +
		`"seed":0,"config_hash":"0000000000000000","field_count":0,"cell_count":0,"descriptor":""}`
	if got, _, err := converted([]byte(header)); err != nil || !bytes.Equal(got, w.bytes(t)) {
		t.Errorf("%q, %v; want %q", got, err, w.bytes(t))
	}
}

// TestConvertLenient: what other programs make of the lines comes to the same bytes.
func TestConvertLenient(t *testing.T) {
	want := sampleRecording(t)
	sorted := func() string { // as jq -S and others do; numbers are kept as they are written
		var b strings.Builder
		for line := range strings.Lines(sampleLines) {
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			var v map[string]any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(text, '\n'))
		}
		return b.String()
	}
	for name, lines := range map[string]string{
		"keys sorted":       sorted(),
		"spaces":            strings.NewReplacer(`"tick":`, "\t\"tick\" : ", `"kind":`, "\"kind\" :\t", `},{`, "} , {", `]}`, " ] } ").Replace(sampleLines),
		"returns":           strings.ReplaceAll(sampleLines, "\n", "\r\n"),
		"no last newline":   strings.TrimSuffix(sampleLines, "\n"),
		"empty lines":       "\n \n" + strings.ReplaceAll(sampleLines, "\n", "\n\n"),
		"numbers in quotes": strings.NewReplacer(`"arrival":1,`, `"arrival":"1",`, `"murk":3`, `"murk":"3"`).Replace(sampleLines),
		"other decimals":    strings.NewReplacer("-0.0", "-0e0", "0.1", "100.0E-3", "1e-45", "0."+strings.Repeat("0", 44)+"14").Replace(sampleLines),
		"bits of numbers":   strings.NewReplacer(`"value":-0.0`, `"value":"0x80000000"`, "1e+300", `"0x7E37E43C8800759C"`).Replace(sampleLines),
		"escapes":           strings.NewReplacer("ü", `\u00fc`, `"any"`, `"\u0061n\u0079"`, `\t`, `\u0009`, `"kind"`, `"\u006bind"`).Replace(sampleLines),
		"all as bytes": strings.Replace(sampleLines, `{"kind":"despawn","entity":"18446744073709551615",`,
			`{"payload_type":2,"payload":"FFffffffffffffff",`, 1),
		"descriptor as bytes": strings.Replace(sampleLines, `"descriptor":"{\"a\":\n1}"`, `"descriptor_hex":"7b2261223a0a317d"`, 1),
	} {
		if lines == sampleLines {
			t.Errorf("%s: nothing was changed", name)
		}
		if got, _, err := converted([]byte(lines)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %d bytes; want the same %d", name, err, len(got), len(want))
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	const header = `{"murk":3,"toolchain":"","target":"","engine_version":"","compiler_flags":"","seed":0,"config_hash":"0000000000000000","field_count":0,"cell_count":0,"descriptor":""}`
	const meta = `,"priority":1,"arrival":1}`
	frame := func(command string) string {
		return `{"tick":1,"hash":"0000000000000000","commands":[` + command + `]}`
	}
	const first = 49 // column of the first command
	long := strings.Repeat("x", 2000)
	for name, tt := range map[string]struct {
		lines string
		want  replay.LineError
	}{
		"no header":       {"{}", replay.LineError{1, 1, replay.ErrMalformed, `the header has no "murk"`}},
		"a frame first":   {frame(""), replay.LineError{1, 2, replay.ErrMalformed, `unknown key "tick"; the first line is the header`}},
		"cut header":      {header[:20], replay.LineError{1, 21, replay.ErrTruncated, "the input ends where the rest of a string belongs"}},
		"version":         {strings.Replace(header, "3", "4", 1), replay.LineError{1, 9, replay.ErrVersion, "version 4; this program writes version 3"}},
		"unknown key":     {strings.Replace(header, "seed", "sed", 1), replay.LineError{1, 78, replay.ErrMalformed, `unknown key "sed"; did you mean "seed"?`}},
		"long key":        {`{"` + long + `":1}`, replay.LineError{1, 2, replay.ErrLimit, "a key has more than 64 bytes"}},
		"key twice":       {`{"murk":3,"murk":3}`, replay.LineError{1, 11, replay.ErrMalformed, `the key "murk" occurs twice`}},
		"two descriptors": {strings.Replace(header, "}", `,"descriptor_hex":""}`, 1), replay.LineError{1, 1, replay.ErrMalformed, `the header cannot have "descriptor"`}},
		"null":            {strings.Replace(header, "0", "null", 1), replay.LineError{1, 85, replay.ErrMalformed, `'n' stands where seed belongs`}},
		"after the line":  {header + " {}", replay.LineError{1, 168, replay.ErrMalformed, `'{' stands where the end of the line belongs`}},
		"two lines":       {header + "\n{\n}", replay.LineError{2, 2, replay.ErrMalformed, "the line ends where a key belongs; an object is one line"}},
		"misspelt":        {header + "\n" + `{"tik":1}`, replay.LineError{2, 2, replay.ErrMalformed, `unknown key "tik"; did you mean "tick"?`}},
		"other key":       {header + "\n" + `{"qqqqqqq":1}`, replay.LineError{2, 2, replay.ErrMalformed, `unknown key "qqqqqqq"; known are tick, hash, commands`}},
		"no hash":         {header + "\n" + `{"tick":1}`, replay.LineError{2, 1, replay.ErrMalformed, `the frame has no "hash"`}},
		"short hash":      {header + "\n" + `{"hash":"0"}`, replay.LineError{2, 11, replay.ErrMalformed, `'"' stands where a hexadecimal digit belongs`}},
		"negative":        {header + "\n" + `{"tick":-1}`, replay.LineError{2, 9, replay.ErrMalformed, `tick must be a whole number from 0 to 18446744073709551615, not "-1"`}},
		"fraction":        {header + "\n" + `{"tick":1.5}`, replay.LineError{2, 9, replay.ErrMalformed, `tick must be a whole number from 0 to 18446744073709551615, not "1.5"`}},
		"rounded":         {header + "\n" + `{"tick":9007199254740993}`, replay.LineError{2, 9, replay.ErrMalformed, `tick is above 2^53, where JSON's numbers lose digits; write it as a string, "9007199254740993"`}},
		"too much":        {header + "\n" + `{"tick":"18446744073709551616"}`, replay.LineError{2, 9, replay.ErrMalformed, `tick must be a whole number from 0 to 18446744073709551615, not "18446744073709551616"`}},
		"zeros":           {header + "\n" + `{"tick":"007"}`, replay.LineError{2, 9, replay.ErrMalformed, `tick must be a whole number from 0 to 18446744073709551615, not "007"`}},
		"leading zero":    {header + "\n" + `{"tick":07}`, replay.LineError{2, 10, replay.ErrMalformed, `'7' stands where a comma or a brace belongs`}},
		"long number":     {header + "\n" + `{"tick":` + strings.Repeat("9", 3000), replay.LineError{2, 2057, replay.ErrLimit, "a number has more than 2048 digits"}},
		"ends":            {header + "\n" + `{"tick":1,`, replay.LineError{2, 11, replay.ErrTruncated, "the input ends where a key belongs"}},
		"kind": {header + "\n" + frame(`{"kind":"mov"`+meta), replay.LineError{2, first + 8, replay.ErrMalformed,
			`kind "mov" is unknown; did you mean "move"?`}},
		"no kind":        {header + "\n" + frame(`{"entity":1`+meta), replay.LineError{2, first, replay.ErrMalformed, `the command has no "kind"`}},
		"no entity":      {header + "\n" + frame(`{"kind":"despawn"`+meta), replay.LineError{2, first, replay.ErrMalformed, `a despawn has no "entity"`}},
		"entity":         {header + "\n" + frame(`{"kind":"custom","type":1,"data":"","entity":1`+meta), replay.LineError{2, first, replay.ErrMalformed, `a custom cannot have "entity"`}},
		"kind and bytes": {header + "\n" + frame(`{"kind":"custom","payload_type":1,"payload":""`+meta), replay.LineError{2, first, replay.ErrMalformed, `a command with a payload of bytes cannot have "kind"`}},
		"no arrival":     {header + "\n" + frame(`{"kind":"despawn","entity":1,"priority":1}`), replay.LineError{2, first, replay.ErrMalformed, `a despawn has no "arrival"`}},
		"odd hex":        {header + "\n" + frame(`{"data":"012"`+meta), replay.LineError{2, first + 12, replay.ErrMalformed, `'"' stands where a hexadecimal digit belongs`}},
		"no float32": {header + "\n" + frame(`{"kind":"set_field","coord":[],"field":0,"value":1e39`+meta), replay.LineError{2, first + 49, replay.ErrMalformed,
			"the value must be a float32, at most 3.4e38, or 0x and 8 hexadecimal digits of its bits"}},
		"no float64": {header + "\n" + frame(`{"kind":"set_parameter","parameter":0,"value":"0x7fc00000"`+meta), replay.LineError{2, first + 46, replay.ErrMalformed,
			"the value must be a float64, at most 1.8e308, or 0x and 16 hexadecimal digits of its bits"}},
		"no bits": {header + "\n" + frame(`{"value":"NaN"`+meta), replay.LineError{2, first + 9, replay.ErrMalformed,
			`value must be a number, or 0x and the hexadecimal digits of its bits, not "NaN"`}},
		"digits of bits": {header + "\n" + frame(`{"value":"0x7fc0"`+meta), replay.LineError{2, first + 9, replay.ErrMalformed,
			`value must be 0x and the bits in hexadecimal, 8 digits for a float32 or 16 for a float64, not "0x7fc0"`}},
		"a long fraction": {header + "\n" + `{"tick":0.` + strings.Repeat("5", 30) + `}`, replay.LineError{2, 9, replay.ErrMalformed,
			`tick must be a whole number from 0 to 18446744073709551615, not "0.5555555555555555555555"…`}},
		"fields of a batch": {header + "\n" + frame(`{"kind":"set_parameter_batch","values":[{"field":1,"value":1}]`+meta), replay.LineError{2, first, replay.ErrMalformed,
			"the values of a set_parameter_batch name a parameter each, not a field"}},
		"mixed": {header + "\n" + frame(`{"values":[{"field":1,"value":1},{"parameter":1,"value":1}]`+meta), replay.LineError{2, first + 33, replay.ErrMalformed,
			"fields and parameters are mixed"}},
		"components": {header + "\n" + frame(`{"coord":[1,2,3,4,5,6,7,8,9,0,1,2,3]`+meta), replay.LineError{2, first + 34, replay.ErrLimit,
			"coord has more than 12 components"}},
		"component":  {header + "\n" + frame(`{"coord":[2147483648]`+meta), replay.LineError{2, first + 10, replay.ErrMalformed, `a component must be a whole number from -2147483648 to 2147483647, not "2147483648"`}},
		"half":       {strings.Replace(header, `""`, `"ü\ud800"`, 1), replay.LineError{1, 25, replay.ErrMalformed, "half a character: a surrogate stands alone"}},
		"two halves": {strings.Replace(header, `""`, `"\ud83d\u0041"`, 1), replay.LineError{1, 24, replay.ErrMalformed, "half a character: a surrogate stands alone"}},
		"halves the wrong way round": {strings.Replace(header, `""`, `"\ude00\ud83d"`, 1), replay.LineError{1, 24, replay.ErrMalformed,
			"half a character: a surrogate stands alone"}},
		"not UTF-8":       {strings.Replace(header, `""`, "\"\xff\"", 1), replay.LineError{1, 23, replay.ErrMalformed, "toolchain is not UTF-8"}},
		"escape":          {strings.Replace(header, `""`, `"\x"`, 1), replay.LineError{1, 25, replay.ErrMalformed, "'x' stands where an escape of JSON belongs"}},
		"control":         {strings.Replace(header, `""`, "\"\x01\"", 1), replay.LineError{1, 24, replay.ErrMalformed, `'\x01' stands where the rest of a string belongs`}},
		"long string":     {strings.Replace(header, `""`, `"`+strings.Repeat("x", replay.MaxString+1)+`"`, 1), replay.LineError{1, 23, replay.ErrLimit, "toolchain has more than 1048576 bytes"}},
		"array":           {header + "\n[]", replay.LineError{2, 1, replay.ErrMalformed, "'[' stands where a frame, an object, belongs"}},
		"trailing commas": {header + "\n" + frame(`{"coord":[1,]}`), replay.LineError{2, first + 12, replay.ErrMalformed, "']' stands where a component belongs"}},
	} {
		_, _, err := converted([]byte(tt.lines))
		if got, ok := errors.AsType[*replay.LineError](err); !ok || *got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, err, &tt.want)
		}
	}
	for name, want := range map[string]replay.Kind{"": replay.ErrTruncated, "MUR": replay.ErrTruncated, "murk": replay.ErrMagic, "MURK\x02": replay.ErrVersion, "  [": replay.ErrMagic} {
		if _, _, err := converted([]byte(name)); kindOf(err) != want {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

// TestConvertPrefixes cuts recordings and lines at every byte: all that is whole is
// converted, and the end is clean between two frames only.
func TestConvertPrefixes(t *testing.T) {
	for name, b := range recordings(t) {
		if len(b) > 1500 {
			continue
		}
		lines, _ := thereAndBack(t, name, b)
		for n := 0; n < len(b); n += stride() {
			got, c, err := converted(b[:n])
			whole := bytes.SplitAfter(lines, []byte{'\n'})
			want := bytes.Join(whole[:min(c.Frames+1, uint64(len(whole)))], nil)
			if len(got) == 0 && kindOf(err) == replay.ErrTruncated && c.Frames == 0 {
				continue // inside the header
			}
			back, _, failed := converted(got)
			clean := failed == nil && len(back) == n
			if !bytes.Equal(got, want) || clean != (err == nil) || !clean && kindOf(err) != replay.ErrTruncated {
				t.Fatalf("%s cut at %d: %d frames, %v; got %d bytes, want %d", name, n, c.Frames, err, len(got), len(want))
			}
		}
		for n := 0; n < len(lines); n += stride() {
			got, c, err := converted(lines[:n])
			if !bytes.HasPrefix(b, got) {
				t.Fatalf("%s: lines cut at %d make %d bytes that are not of the recording", name, n, len(got))
			}
			e, failed := errors.AsType[*replay.LineError](err)
			whole := bytes.Count(lines[:n], []byte{'\n'})
			atEnd := n > 0 && lines[n-1] == '\n' || lines[n] == '\n'
			if n > 0 && failed == atEnd || failed && (e.Kind != replay.ErrTruncated || e.Line != int64(whole+1) || whole > 0 && c.Frames != uint64(whole-1)) {
				t.Fatalf("%s: lines cut at %d, in line %d: %d frames, %v", name, n, whole+1, c.Frames, err)
			}
		}
	}
}

// TestConvertWriting: what writing fails with is told, and nothing follows it.
func TestConvertWriting(t *testing.T) {
	b := sampleRecording(t)
	for _, in := range [][]byte{b, []byte(sampleLines)} {
		var sink bytes.Buffer
		if _, err := replay.Convert(&full{&sink, 5, io.ErrClosedPipe, false}, bytes.NewReader(in)); !errors.Is(err, io.ErrClosedPipe) || sink.Len() != 5 {
			t.Errorf("Convert into a full sink = %v after %d bytes, want %v after 5", err, sink.Len(), io.ErrClosedPipe)
		}
		broken := errors.New("broken")
		if _, err := replay.Convert(io.Discard, io.MultiReader(bytes.NewReader(in[:len(in)-9]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Errorf("Convert from a broken source = %v, want %v", err, broken)
		}
	}
	if _, err := replay.NewLineWriter(io.Discard, replay.Header{Build: replay.Build{Flags: "\xff"}}); kindOf(err) != replay.ErrMalformed {
		t.Errorf("NewLineWriter with other text than UTF-8 = %v, want %q", err, replay.ErrMalformed)
	}
}

// TestConvertMemory: lines of 1 MiB take less than 64 MiB, whatever they hold, and many
// frames no more than one.
func TestConvertMemory(t *testing.T) {
	const size, limit = 1 << 20, 64 << 20
	header, _, _ := strings.Cut(sampleLines, "\n")
	lines := func(command string) string {
		return header + "\n" + `{"tick":1,"hash":"0000000000000000","commands":[` + command
	}
	many := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, text := range map[string]string{
		"a long key":     `{"` + many("x"),
		"a long string":  `{"toolchain":"` + many("\\u0001"),
		"a descriptor":   `{"descriptor":"` + many("x"),
		"hexadecimal":    `{"descriptor_hex":"` + many("00"),
		"spaces":         `{` + many(" "),
		"empty lines":    header + many("\n"),
		"many digits":    `{"seed":` + many("1"),
		"many brackets":  header + "\n" + many("["),
		"many braces":    many(`{`),
		"many commands":  lines(many(`{"payload_type":9,"payload":"","priority":0,"arrival":0},`)),
		"empty commands": lines(many(`{},`)),
		"many values":    lines(`{"values":[` + many(`{"field":0,"value":0},`)),
		"components":     lines(`{"coord":[` + many(`0,`)),
		"data":           lines(`{"data":"` + many(`00`)),
		"many frames":    header + "\n" + many(`{"tick":1,"hash":"0000000000000000","commands":[]}`+"\n"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := replay.Convert(io.Discard, strings.NewReader(text))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > limit {
			t.Errorf("%s: allocated %d bytes, want at most %d (error %v)", name, got, limit, err)
		}
	}
}

// TestMostComponents: a coordinate may have as many components as a space can.
func TestMostComponents(t *testing.T) {
	w := newWriter(t, replay.Header{})
	full := commands.SetField(space.At(make([]int32, space.MaxDim)...), 1, 2)
	if err := w.WriteFrame(1, []commands.Command{full}, 0); err != nil {
		t.Fatal(err)
	}
	if _, c := thereAndBack(t, "a full coordinate", w.bytes(t)); c.Commands != 1 || c.Raw != 0 {
		t.Errorf("%d commands, %d of them as bytes; want 1 and 0", c.Commands, c.Raw)
	}
}

// TestLineLimits: what goes one beyond a limit is refused where it does.
func TestLineLimits(t *testing.T) {
	header, _, _ := strings.Cut(sampleLines, "\n")
	const begin = `{"tick":1,"hash":"0000000000000000","commands":[`
	const empty, raw, custom = `{"payload_type":9,"payload":"","priority":0,"arrival":0},`, `{"payload":"`, `{"kind":"custom","type":0,"data":"`
	hex := strings.Repeat("00", replay.MaxBytes)
	for name, tt := range map[string]struct {
		line   string
		column int
		detail string
	}{
		"commands": {begin + strings.Repeat(empty, replay.MaxCommands+1), len(begin) + replay.MaxCommands*len(empty), "a frame has more than 1000000 commands"},
		"bytes":    {begin + raw + hex + `00`, len(begin) + len(raw) - 1, "payload has more than 67108864 bytes"},
		"data":     {begin + custom + hex + `","priority":0,"arrival":0}`, len(begin), "payload of 67108872 bytes, the limit is 67108864"},
	} {
		if testing.Short() && name != "data" {
			continue // a hundred megabytes each
		}
		_, err := replay.Convert(io.Discard, strings.NewReader(header+"\n"+tt.line))
		want := replay.LineError{Line: 2, Column: int64(tt.column) + 1, Kind: replay.ErrLimit, Detail: tt.detail}
		if got, ok := errors.AsType[*replay.LineError](err); !ok || *got != want {
			t.Errorf("%s: %v, want %v", name, err, &want)
		}
	}
}

func FuzzConvertRecording(f *testing.F) {
	const small = 4 << 10
	for _, b := range recordings(f) {
		if len(b) <= small {
			f.Add(b)
		}
	}
	for _, b := range malformed(f) {
		f.Add(b)
	}
	f.Add(sampleRecording(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !bytes.HasPrefix(b, []byte("MURK")) {
			return
		}
		whole, _, wholeErr := copied(t, bytes.NewReader(b), -1)
		lines, _, err := converted(b)
		if (err == nil) != (wholeErr == nil) {
			t.Fatalf("%x: Convert = %v, reading it %v", b, err, wholeErr)
		}
		if len(lines) == 0 {
			return
		}
		if back, _, err := converted(lines); err != nil || !bytes.Equal(back, whole) {
			t.Errorf("%x becomes\n%s\nand that %x, %v", b, lines, back, err)
		}
	})
}

// TestColumnsBeginWithOne: an error at the start of a line is in column 1, also where the
// line begins with half a character.
func TestColumnsBeginWithOne(t *testing.T) {
	header, _, _ := strings.Cut(sampleLines, "\n")
	for _, line := range []string{"\xb8", "\xb8\xb8{", "ü", "x"} {
		_, _, err := converted([]byte(header + "\n" + line))
		if e, ok := errors.AsType[*replay.LineError](err); !ok || e.Line != 2 || e.Column != 1 {
			t.Errorf("a line %q: %v, want an error at line 2, column 1", line, err)
		}
	}
}

func FuzzConvertLines(f *testing.F) {
	f.Add(sampleLines)
	for line := range strings.Lines(sampleLines) {
		f.Add(line)
	}
	header, _, _ := strings.Cut(sampleLines, "\n")
	f.Add(header + "\n\xb8")
	for name, b := range recordings(f) {
		if lines, _, err := converted(b); err == nil && len(lines) < 4<<10 {
			f.Add(string(lines))
		} else if err != nil {
			f.Fatal(name, err)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.HasPrefix(s, "MURK") {
			return
		}
		b, c, err := converted([]byte(s))
		if e, ok := errors.AsType[*replay.LineError](err); ok && (e.Line < 1 || e.Column < 1 || e.Detail == "" || !strings.Contains(fmt.Sprint(err), string(e.Kind))) {
			t.Errorf("%q: no place in %+v", s, e)
		}
		if len(b) == 0 {
			if err == nil {
				t.Errorf("%q makes nothing of it, and no error", s)
			}
			return
		}
		lines, d, err := converted(b) // the canonical form of what was read
		if err != nil || d.Frames != c.Frames || d.Commands != c.Commands {
			t.Fatalf("%q becomes %x, and that %+v, %v", s, b, d, err)
		}
		if back, _, err := converted(lines); err != nil || !bytes.Equal(back, b) {
			t.Errorf("%q becomes %x, then\n%s, then %x, %v", s, b, lines, back, err)
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	recording, _ := mixedRecording(b, 100)
	lines, _, err := converted(recording)
	if err != nil {
		b.Fatal(err)
	}
	for name, in := range map[string][]byte{"to lines": recording, "from lines": lines} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, err := replay.Convert(io.Discard, bytes.NewReader(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestJSONLShows: the samples of JSONL.md are recordings, in their canonical form.
func TestJSONLShows(t *testing.T) {
	text, err := os.ReadFile("JSONL.md")
	if err != nil {
		t.Fatal(err)
	}
	samples := strings.Split(string(text), "```json\n")[1:]
	for i, s := range samples {
		s, _, _ = strings.Cut(s, "```")
		b, _, err := converted([]byte(s))
		if err != nil {
			t.Fatalf("sample %d: %v", i+1, err)
		}
		if lines, _, err := converted(b); err != nil || string(lines) != s {
			t.Errorf("sample %d is, in canonical form, %v,\n%s", i+1, err, lines)
		}
	}
	if len(samples) != 2 {
		t.Errorf("found %d samples, want 2", len(samples))
	}
}
