package cli

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
)

// pixelsOf counts the pixels of cells that differ in a picture of 128×128 cells of 6 pixels:
// those that are not covered. It also counts the colours.
func pixelsOf(t *testing.T, path string) (pixels, colours int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	const covered = 1 // of the palette
	p, used := m.(*image.Paletted), map[uint8]bool{}
	for y := range p.Rect.Max.Y {
		for x := range p.Rect.Max.X {
			if used[p.ColorIndexAt(x, y)] = true; image.Pt(x, y).In(image.Rect(12, 36, 780, 804)) && p.ColorIndexAt(x, y) != covered {
				pixels++
			}
		}
	}
	return pixels, len(used)
}

var shows = regexp.MustCompile(`where\.png shows ([0-9,]+) cells? of (\w+)`)

// TestDiffPicture holds that the picture shows as many cells as differ, of fields of all kinds
// and on lattices of all kinds, and is not written where none does.
func TestDiffPicture(t *testing.T) {
	for _, c := range []struct {
		name   string
		other  string // a value of the scenario
		pixels int    // of a cell; 0: not counted
		field  string
	}{
		{"heat", "propagators.diffusion.rate=4.00001", 6 * 6, "heat"},
		{"life", "seed=3", 6 * 6, "cells"},
		{"crystal", "seed=3", 0, ""},
		{"predators", "seed=3", 0, "grass"},
		{"colony", "seed=3", 0, ""},
		{"waves", "propagators.0.wave.speed=0.1", 0, ""},
	} {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		for file, set := range map[string]string{"a.murk": "ticks=40", "b.murk": c.other} {
			if err := os.WriteFile(at(file), record(t, c.name, "--set", "ticks=40", "--set", set), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		status, out, errs := murksim(t, nil, "diff", at("a.murk"), at("b.murk"), "--picture", at("where.png"))
		found := shows.FindStringSubmatch(out)
		if status != report.StatusDiverged || found == nil || c.field != "" && found[2] != c.field {
			t.Errorf("%s: diff = %d, %s%s; want a picture of %s", c.name, status, out, errs, c.field)
			continue
		}
		differ, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		if n, colours := pixelsOf(t, at("where.png")); c.pixels > 0 && n != differ*c.pixels || differ == 0 || colours < 5 {
			t.Errorf("%s: %d pixels in %d colours show %d cells of %d pixels", c.name, n, colours, differ, c.pixels)
		}
	}
}

// TestDiffPictureRefuses holds what diff says of flags of a picture that do not fit.
func TestDiffPictureRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for file, b := range map[string][]byte{"a.murk": record(t, "heat", "--ticks", "3"), "b.murk": record(t, "heat", "--ticks", "3", "--seed", "3"), "there.png": nil} {
		if err := os.WriteFile(at(file), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--picture", at("there.png")}, report.StatusError, "exists; overwrite it with --force"},
		{[]string{"--picture", at("it.gif")}, report.StatusUsage, "--picture must be a PNG file"},
		{[]string{"--field", "heat"}, report.StatusUsage, "are about --picture"},
		{[]string{"--picture", at("new.png"), "--field", "cold"}, report.StatusUsage, `"cold" is none`},
		{[]string{"--picture", at("new.png"), "--field", "wall"}, report.StatusDiverged, "no cell of wall is known to differ"},
	} {
		status, out, errs := murksim(t, nil, append([]string{"diff", at("a.murk"), at("b.murk")}, c.args...)...)
		if status != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("diff %q = %d, %s%s; want %d and %q", c.args, status, out, errs, c.code, c.want)
		}
		if _, err := os.Stat(at("new.png")); err == nil {
			t.Errorf("diff %q leaves a picture", c.args)
		}
	}
	if status, out, errs := murksim(t, nil, "diff", at("a.murk"), at("b.murk"), "--picture", at("there.png"), "--force"); status != report.StatusDiverged || errs != "" {
		t.Errorf("diff --force = %d, %s%s", status, out, errs)
	}
}
