package minewars_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/minewars"
)

// The examples of FORMAT.md are what the code reads and writes, and the page names every error.
func TestFormatPage(t *testing.T) {
	b, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(b), "\r\n", "\n")
	block := func(mark string) string {
		_, text, found := strings.Cut(page, "\n```"+mark+"\n")
		text, _, ends := strings.Cut(text, "```\n")
		if !found || !ends {
			t.Fatalf("the page has no example %q", mark)
		}
		return text
	}
	digits := func(text string) []byte {
		var all string
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "#")
			all += strings.Join(strings.Fields(line), "")
		}
		return unhex(t, &all)
	}
	s := minewars.Start{TickRate: 60, Radius: 1, Players: 1, Cities: make([]minewars.Tile, 1), Map: terrain("3333333")}
	if got, want := minewars.Dictionary(s), digits(block("hex dictionary")); !bytes.Equal(got, want) {
		t.Errorf("dictionary %x, on the page %x", got, want)
	}
	file, lines := digits(block("hex file")), block("jsonl")
	if got := toLines(t, file, false); got != lines {
		t.Errorf("the lines of the example are\n%son the page\n%s", got, lines)
	}
	if got, _, err := fromLines(lines); err != nil || !bytes.Equal(got, file) {
		t.Errorf("the file of the lines is %x, %v", got, err)
	}
	r, err := open(file, false)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := readAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := encodeUpdates(t, r.Start(), frames); hex.EncodeToString(got) != hex.EncodeToString(file[49:]) {
		t.Errorf("the example is not canonical: %x", got)
	}
	for _, kind := range []minewars.Kind{
		minewars.ErrHeaderTruncated, minewars.ErrFrameLength, minewars.ErrStartTruncated, minewars.ErrVersion, minewars.ErrReservedFlags,
		minewars.ErrTickRate, minewars.ErrPlayerCount, minewars.ErrCityCount, minewars.ErrRadius, minewars.ErrMapLength, minewars.ErrNameUTF8,
		minewars.ErrChecksumHeader, minewars.ErrChecksumStart, minewars.ErrFramesTruncated, minewars.ErrTrailingBytes, minewars.ErrChecksumFrames,
		minewars.ErrMapLZ4, minewars.ErrMapPadding, minewars.ErrCoordinate, minewars.ErrFramesLZ4, minewars.ErrFrameTruncated, minewars.ErrFrameKind,
		minewars.ErrEmptyMask, minewars.ErrNoParticipants, minewars.ErrView, minewars.ErrMessageTruncated, minewars.ErrReservedOpcode,
		minewars.ErrReservedItem, minewars.ErrPlayer, minewars.ErrCity, minewars.ErrTooLarge, minewars.ErrValue, minewars.ErrLine,
	} {
		if !strings.Contains(page, "`"+string(kind)+"`") {
			t.Errorf("the page does not name %s", kind)
		}
	}
}

func terrain(codes string) (tiles []minewars.Terrain) {
	for _, c := range codes {
		tiles = append(tiles, minewars.Terrain(c-'0'))
	}
	return tiles
}
