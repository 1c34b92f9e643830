package rle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/rle"
)

// drawn returns the cells of a small pattern as text.
func drawn(p *rle.Pattern) string {
	rows := make([][]byte, p.Rows)
	for i := range rows {
		rows[i] = []byte(strings.Repeat(".", p.Cols))
	}
	for r := range p.Cells() {
		for k := range r.Count {
			rows[r.Row][r.Col+k] = '0' + r.State
		}
	}
	var b strings.Builder
	for _, row := range rows {
		b.Write(row)
		b.WriteByte('/')
	}
	return b.String()
}

func TestParse(t *testing.T) {
	const glider = ".1./..1/111/"
	for _, tt := range []struct{ name, text, cells, runs, rule string }{
		{"Golly's", "#CXRLE Pos=0,-1377 Gen=3480106827776\nx = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n", glider, "bo$2bo$3o!", "B3/S23"},
		{"bare", "bo$2bo$3o!", glider, "bo$2bo$3o!", ""},
		{"in pieces", "#C a glider\r\n#P 1 2\r\nx=3,y=3\r\n1bo1b$bb\r\n#C between\r\n o$ 3\r\no", glider, "bo$2bo$3o!", ""},
		{"after the end", "bo$2bo$3o!\nthat was a glider", glider, "bo$2bo$3o!", ""},
		{"a rule with commas", "x = 2, y = 1, rule = R5,C0,M1,S34..58,B34..45,NM:T40,60\noo!", "11/", "2o!", "R5,C0,M1,S34..58,B34..45,NM:T40,60"},
		{"a box with room", "x = 4, y = 3\n$bo!", "..../.1../..../", "$bo!", ""},
		{"states", "x = 5, y = 1, rule = 345/2/4\n.ABC!", ".123./", ".ABC!", "345/2/4"},
		{"mixed letters", "b.oA2B!", "..1122/", "2.2A2B!", ""},
		{"dead ends", "o3b$3b2$bo5$!", "1./../../.1/", "o3$bo!", ""},
		{"plain", "!Name: Glider\n!\n.O\n..O\nOOO\n", glider, "bo$2bo$3o!", ""},
		{"plain with gaps", "!\r\nO...\r\n\r\n*\r\n", "1.../..../1.../", "o2$o!", ""},
		{"plain without a comment", ".O\n..O\nOOO", glider, "bo$2bo$3o!", ""},
		{"empty", "x = 0, y = 0, rule = B3/S23\n!", "", "!", "B3/S23"},
		{"nothing", "", "", "!", ""},
	} {
		p, err := rle.Parse(tt.text, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := drawn(p); got != tt.cells || p.Runs != tt.runs || p.Rule != tt.rule {
			t.Errorf("%s: %s %s %s, want %s %s %s", tt.name, got, p.Runs, p.Rule, tt.cells, tt.runs, tt.rule)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"x = 3, y = 3\nbo$1000000000000000000o!", "2:4: a run has at most 2147483647 cells"},
		{"x = 3, y = 3\nbo$99999999999999999999999999$!", "2:4: a run has at most"},
		{"2147483647b2147483647o!", "1:12: a row has at most 2147483647 cells"},
		{"2147483647$2147483647$o!", "1:12: a pattern has at most 2147483647 rows"},
		{"x = 3, y = 3\nbo$2bo$\n4o!", "3:1: a live cell in row 2, column 3 (from 0) lies outside of x = 3, y = 3"},
		{"x = 3, y = 1\nbo$\no!", "3:1: a live cell in row 1, column 0 (from 0) lies outside of x = 3, y = 1"},
		{"bo$2bz$3o!", `1:6: 'z' is not a cell`},
		{"#C\nbo$é", `2:4: 'é' is not a cell`},
		{"bo0$", "1:3: the count 0 belongs to nothing"},
		{"bo3!", "1:3: the count 3 belongs to nothing"},
		{"bo3", "1:3: the count 3 belongs to nothing"},
		{"yP!", "1:1: yP is state 256; the last is 255, yO"},
		{"p!", "1:1: 'p' is not a cell"},
		{"pZ!", "1:1: 'p' is not a cell"},
		{"x = 3\no!", "1:1: the header must look like"},
		{"#C\n\nx = 3, z = 3\no!", "3:1: the header must look like"},
		{"x = -3, y = 3\no!", `1:1: x must be 0 to 2147483647, not "-3"`},
		{"x = 3, y = 99999999999\no!", `1:1: y must be 0 to 2147483647, not "99999999999"`},
		{"!\n.O\n.o\n", "3:2: 'o' is not a cell; in a plain text"},
		{"!\n.O!\n", "2:3: '!' is not a cell; in a plain text"},
		{"oA2B!", ""},
	} {
		_, err := rle.Parse(tt.text, nil)
		if got := fmt.Sprint(err); !strings.Contains(got, tt.want) || tt.want == "" && err != nil {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
	_, err := rle.Parse("x = 9, y = 9, rule = 345/2/4\n.A$\n2.3B!", func(state uint8) string {
		if state > 1 {
			return "is not there"
		}
		return ""
	})
	if got, want := fmt.Sprint(err), "3:3: state 2 is not there"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLetters: every state has the letters of Golly, and is read back.
func TestLetters(t *testing.T) {
	for state, want := range map[uint8]string{1: "A", 24: "X", 25: "pA", 48: "pX", 49: "qA", 240: "xX", 241: "yA", 255: "yO"} {
		b := rle.Builder{Multi: true}
		b.Add(state, 2)
		if got := string(b.Text()); got != "2"+want+"!" {
			t.Errorf("state %d is %s, want 2%s!", state, got, want)
		}
	}
	for state := 1; state < 256; state++ {
		b := rle.Builder{Multi: true}
		b.Add(uint8(state), 1)
		p, err := rle.Parse(string(b.Text()), nil)
		if err != nil || !p.Has(uint8(state)) {
			t.Errorf("state %d: %v", state, err)
		}
	}
}

// TestWidth: lines are broken between runs, and say the same.
func TestWidth(t *testing.T) {
	write := func(width int) string {
		b := rle.Builder{Width: width}
		for i := range int64(100) {
			b.Add(1, i%3)
			b.Add(0, 1000)
			b.Add(1, 1)
			b.End(1)
		}
		return string(b.Text())
	}
	text := write(70)
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 70 {
			t.Errorf("a line has %d bytes: %s", len(line), line)
		}
	}
	if got, want := strings.ReplaceAll(text, "\n", ""), write(0); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// FuzzParse: whatever a text is, it is refused with a place or has one spelling, which is no longer than it.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!", "!\n.O\n..O\nOOO\n", "#C\nx=5,y=1\n.ABCpA!", "3o5$2147483647b$o", "1000000000000000000o",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := rle.Parse(text, nil)
		if err != nil {
			if e, ok := err.(*rle.Error); !ok || e.Line < 1 || e.Col < 1 {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if len(p.Runs) > len(text)+1 {
			t.Errorf("%q: the runs are longer: %q", text, p.Runs)
		}
		again, err := rle.Parse(p.Runs, nil)
		if err != nil || again.Runs != p.Runs || again.States != p.States || again.Rows > p.Rows || again.Cols > p.Cols {
			t.Errorf("%q is %+v, which is %+v, %v", text, p, again, err)
		}
		for r := range p.Cells() {
			if r.Row >= p.Rows || r.Col+r.Count > p.Cols || r.Count < 1 {
				t.Errorf("%q: %+v is outside of %d×%d", text, r, p.Rows, p.Cols)
			}
		}
	})
}
