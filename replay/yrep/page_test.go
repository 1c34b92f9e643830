package yrep_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/yrep"
)

// TestPage holds that FORMAT.md has every decision, every instruction and every kind of error, and that its
// example is a file with these JSON lines.
func TestPage(t *testing.T) {
	b, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for n := 1; n <= 15; n++ {
		if want := fmt.Sprintf("**Y-%d.**", n); strings.Count(page, want) != 1 {
			t.Errorf("the page has no paragraph %s", want)
		}
	}
	for id := yrep.AddPlayer; id <= yrep.PlayerRespawn; id++ {
		if want := fmt.Sprintf("| %d | %s |", id, id); !strings.Contains(page, want) {
			t.Errorf("the page has no row %s", want)
		}
	}
	for _, kind := range []yrep.Kind{
		yrep.ErrTruncated, yrep.ErrMagic, yrep.ErrVersion, yrep.ErrProtocol, yrep.ErrProtocolMismatch, yrep.ErrNegativeLength, yrep.ErrInvalidUTF8,
		yrep.ErrFrameNumber, yrep.ErrNegativeCount, yrep.ErrUnknownInstruction, yrep.ErrPayloadLength, yrep.ErrReservedBits, yrep.ErrSlot,
	} {
		if !strings.Contains(page, "\n| `"+string(kind)+"` |") {
			t.Errorf("the page has no error %s", kind)
		}
	}
	_, rest, _ := strings.Cut(page, "```text\n")
	dump, rest, _ := strings.Cut(rest, "```")
	_, rest, _ = strings.Cut(rest, "```json\n")
	lines, _, _ := strings.Cut(rest, "```")
	var file []byte
	for line := range strings.Lines(dump) {
		digits := regexp.MustCompile(`^ {0,2}((?:[0-9a-f]{2} {1,2})+)`).FindStringSubmatch(line)
		if digits == nil {
			t.Fatalf("line %q has no bytes", line)
		}
		part, err := hex.DecodeString(strings.ReplaceAll(digits[1], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, part...)
	}
	var got, back bytes.Buffer
	if _, err := yrep.Convert(&got, bytes.NewReader(file), yrep.Options{}, yrep.Auto); err != nil || got.String() != lines {
		t.Errorf("the example is %v,\n%s\nthe page says\n%s", err, got.String(), lines)
	}
	if _, err := yrep.Convert(&back, strings.NewReader(lines), yrep.Options{}, yrep.Auto); err != nil || !bytes.Equal(back.Bytes(), file) {
		t.Errorf("the lines give other bytes, %v", err)
	}
	if !strings.Contains(page, fmt.Sprintf(": %d bytes.\n", len(file))) {
		t.Errorf("the example has %d bytes, and the page says something else", len(file))
	}
	p, err := yrep.NewPlayback(bytes.NewReader(file), yrep.Options{}, nil)
	if err != nil || p.Seek(3) != nil {
		t.Fatal(err)
	}
	if l := p.State().Entity(128).Lifetimes; len(l) != 1 || l[0] != (yrep.Lifetime{Start: 1, End: 3}) {
		t.Errorf("lifetimes %v, want [1, 3]", l)
	}
}
