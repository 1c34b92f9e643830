package minewars_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay/minewars"
)

// validVectors are the names of the vectors that can be read, and whether each is a network stream.
func validVectors(t testing.TB) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(vectors.Path("minewars"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if stream := strings.HasSuffix(name, ".mw1s"); name[0] != 'x' && (stream || strings.HasSuffix(name, ".mw1")) {
			names[name] = stream
		}
	}
	if len(names) < 10 {
		t.Fatalf("only %d vectors can be read", len(names))
	}
	return names
}

func toLines(t testing.TB, b []byte, stream bool) string {
	t.Helper()
	var out bytes.Buffer
	if c, err := minewars.Convert(&out, bytes.NewReader(b), stream); err != nil || !c.ToLines {
		t.Fatalf("Convert = %+v, %v", c, err)
	}
	return out.String()
}

func fromLines(lines string) ([]byte, minewars.Conversion, error) {
	var out bytes.Buffer
	c, err := minewars.Convert(&out, strings.NewReader(lines), false)
	return out.Bytes(), c, err
}

// Lines give back every byte, also of blocks that our encoder would write otherwise.
func TestLinesBothWays(t *testing.T) {
	kept := 0
	for name, stream := range validVectors(t) {
		b := readVector(t, name)
		lines := toLines(t, b, stream)
		again, c, err := fromLines(lines)
		if err != nil || !bytes.Equal(again, b) || c.ToLines || c.Stream != stream {
			t.Errorf("%s: %+v, %v; it came back with other bytes:\n%s", name, c, err, lines)
		}
		kept += strings.Count(lines, "_block")
	}
	if kept < 3 {
		t.Errorf("only %d blocks were kept as they were", kept)
	}
}

// What the lines of FORMAT.md are.
func TestLines(t *testing.T) {
	want := `{"minewars":1,"carrier":"stream","grid":"hex","tick_rate":60,"radius":3,"players":3,"cities":["0,0","-1,2","1,-2"],"map":"......*....*.^...^~~~~~~~~~~~~~~~~~~~"}
{"tick":1,"delta":1,"kind":"heterogeneous","mask":3,"views":{"0":["OWN 1 0,0"],"1":["OWN 1 0,0","DIG 2/0,0"]}}
`
	if got := toLines(t, readVector(t, "04-network-stream.mw1s"), true); !strings.HasPrefix(got, want) {
		t.Errorf("lines\n%swant\n%s", got, want)
	}
	want = `{"tick":65535,"delta":65535,"kind":"homogeneous","mask":131,"messages":["OWN 1 0,0"]}
{"tick":131070,"delta":65535,"kind":"filler","mask":128,"messages":[]}
`
	if got := toLines(t, readVector(t, "09-long-gaps.mw1"), false); !strings.Contains(got, want) {
		t.Errorf("lines\n%swant\n%s", got, want)
	}
}

func TestLinesReject(t *testing.T) {
	good := toLines(t, readVector(t, "03-heterogeneous.mw1"), false)
	compressed := toLines(t, readVector(t, "05-compressed-liblz4.mw1"), false)
	for _, tt := range []struct {
		old, new string
		line     int
		kind     minewars.Kind
	}{
		{`"minewars":1`, `"minewars":2`, 1, minewars.ErrLine},
		{`"file"`, `"tape"`, 1, minewars.ErrLine},
		{`"hex"`, `"hexes"`, 1, minewars.ErrLine},
		{`"radius":3`, `"radius":2`, 1, minewars.ErrMapLength},
		{`"radius":3`, `"radios":3`, 1, minewars.ErrLine},
		{`"players":3`, `"players":7`, 1, minewars.ErrPlayerCount},
		{`"1,-2"]`, `"1,-2","0,4"]`, 1, minewars.ErrCoordinate},
		{`"1,-2"]`, `"1;2"]`, 1, minewars.ErrLine},
		{`"......*`, `"......x`, 1, minewars.ErrLine},
		{`"tick":61,`, `"tick":62,`, 3, minewars.ErrLine},
		{`"kind":"homogeneous"`, `"kind":"filler"`, 5, minewars.ErrLine},
		{`"mask":13,`, `"mask":12,`, 3, minewars.ErrLine},
		{`"mask":13,`, `"mask":141,`, 3, minewars.ErrLine},
		{`"mask":132,`, `"mask":128,`, 5, minewars.ErrNoParticipants},
		{`"OWN 2 -1,2"`, `"OWN 4 -1,2"`, 3, minewars.ErrPlayer},
		{`"OWN 2 -1,2"`, `"OWN 2 -1,4"`, 3, minewars.ErrCoordinate},
		{`"OWN 2 -1,2"`, `"OWNS 2 -1,2"`, 3, minewars.ErrLine},
		{"}\n{\"tick\":61", "}\n\r\n\n{\"tock\":61", 5, minewars.ErrLine},
		{"}\n{\"tick\":61", "}" + strings.Repeat(" ", 1<<20) + "\n{\"tick\":61", 2, minewars.ErrLine},
		{`"OWN 2 -1,2"`, "\"OWN 2 -1,2\xff\"", 3, minewars.ErrLine},
		{`"cities":[`, "\"names\":[\"\xff\",\"\",\"\"],\"cities\":[", 1, minewars.ErrLine},
		{"}\n{\"tick\":61", "}{}\n{\"tick\":61", 2, minewars.ErrLine},
		{"}\n{\"tick\":61", "\n{\"tick\":61", 2, minewars.ErrLine},
		{`"mask":3,"views":{"0":["OWN 1 0,0"],"1":["OWN 1 0,0","DIG 2/0,0"]}`, `"mask":0,"views":{}`, 2, minewars.ErrEmptyMask},
		{`"mask":10,"views":{"1":`, `"mask":24,"views":{"4":`, 4, minewars.ErrView},
	} {
		lines := strings.Replace(good, tt.old, tt.new, 1)
		b, _, err := fromLines(lines)
		if e, ok := errors.AsType[*minewars.Error](err); lines == good || !ok || e.Line != tt.line || e.Offset != -1 || e.Kind != tt.kind || len(b) > 0 {
			t.Errorf("%s instead of %s: %v, want %s at line %d", tt.new, tt.old, err, tt.kind, tt.line)
		}
	}
	if b, _, err := fromLines(strings.ReplaceAll(good, "\n", "\n\r\n\n")); err != nil || !bytes.Equal(b, readVector(t, "03-heterogeneous.mw1")) {
		t.Errorf("with empty lines: %v", err)
	}
	_, _, err := fromLines(strings.Replace(compressed, `"WAKE 1"`, `"WAKE 2"`, 1))
	if !errors.Is(err, minewars.ErrLine) || !strings.Contains(err.Error(), "leave map_block and frame_block out") {
		t.Errorf("a block of other frames: %v", err)
	}
	frame := `{"tick":0,"delta":0,"kind":"homogeneous","mask":255,"messages":["WAKE 1"` + strings.Repeat(`,"WAKE 1"`, 250) + "]}\n"
	head, _, _ := strings.Cut(good, "\n")
	if _, _, err := fromLines(head + "\n" + strings.Repeat(frame, 300)); !errors.Is(err, minewars.ErrTooLarge) {
		t.Errorf("300 long frames: %v, want %s", err, minewars.ErrTooLarge)
	}
}
