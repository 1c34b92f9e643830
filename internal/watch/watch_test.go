package watch

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

func TestTerminalColours(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want render.Colours
	}{
		{[]string{"TERM=xterm"}, render.Colours256},
		{[]string{"TERM=xterm", "COLORTERM=truecolor"}, render.TrueColour},
		{[]string{"COLORTERM=24bit"}, render.TrueColour},
		{[]string{"TERM=xterm-direct"}, render.TrueColour},
		{[]string{"WT_SESSION=1"}, render.TrueColour},
		{[]string{"COLORTERM=truecolor", "NO_COLOR=1"}, render.Shades},
	} {
		got := TerminalColours(func(name string) string {
			for _, e := range tt.env {
				if value, ok := strings.CutPrefix(e, name+"="); ok {
					return value
				}
			}
			return ""
		})
		if got != tt.want {
			t.Errorf("%v: %v, want %v", tt.env, got, tt.want)
		}
	}
}

// Drawing takes a small part of a processor, and there are at most 30 pictures a second.
func TestPause(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: time.Second / 30, time.Millisecond / 2: time.Second/30 - time.Millisecond/2, 4 * time.Millisecond: 160 * time.Millisecond, time.Minute: 2 * time.Second,
	} {
		if got := pause(took); got != want {
			t.Errorf("after a picture of %v the pause is %v, want %v", took, got, want)
		}
	}
}

// A sparkline joins neighbours when there are many totals, and keeps all of the run.
func TestKeep(t *testing.T) {
	v := View{each: 1}
	for i := range 1000 {
		v.keep(float64(i))
	}
	if n := len(v.totals); n < MostTotals/2 || n > MostTotals || v.each != 16 || v.totals[0] != 7.5 || v.totals[10] != 167.5 {
		t.Errorf("%d totals of %d each: %v", n, v.each, v.totals)
	}
}

func TestOutward(t *testing.T) {
	for _, tt := range [][4]float64{{-4.99, 199.9, -10, 200}, {0, 1, 0, 1}, {0.123, 0.987, 0.12, 0.99}, {5, 5, 5, 5}} {
		if lo, hi := outward(tt[0], tt[1]); math.Abs(lo-tt[2]) > 1e-12 || math.Abs(hi-tt[3]) > 1e-12 {
			t.Errorf("outward(%v, %v) = %v, %v, want %v, %v", tt[0], tt[1], lo, hi, tt[2], tt[3])
		}
	}
}

// Below a field of categories stands how many cells have another one than the first, whatever its element.
func TestCategoriesAreCounted(t *testing.T) {
	s, err := worlds.Open(worlds.Registry(), "minewars")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewView(s, "owner", render.TrueColour)
	if err != nil {
		t.Fatal(err)
	}
	c := &Canvas{Out: io.Discard, Size: func() (int, int) { return 80, 24 }}
	for range 2 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	want := 0
	for i := range w.Column(v.ID).Len() {
		if w.Column(v.ID).Bits(i) != 0 {
			want++
		}
	}
	if text := fmt.Sprintf(" %d\x1b[K", want); want == 0 || !strings.Contains(string(c.Over(v, w.Snapshot(), "")), text) {
		t.Errorf("the picture does not say that %d cells are not free", want)
	}
}

// heat returns the scenario of that name, and its world.
func heat(t *testing.T) (*scenarios.Scenario, *engine.World) {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), "heat")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

// Walls are drawn over another field, in the colour that the legend names.
func TestWallsAreDrawn(t *testing.T) {
	s, w := heat(t)
	for field, want := range map[string]bool{"heat": true, "wall": false} {
		v, err := NewView(s, field, render.TrueColour)
		if err != nil {
			t.Fatal(err)
		}
		const wall = "\x1b[48;2;80;88;100m"                                     // solid
		picture := string(v.draw(v.look(w.Snapshot(), 300, 140), "", 300, 140)) // a pixel a cell
		lines := strings.Split(picture, "\n")
		legend := lines[len(lines)-3]
		if (strings.Count(strings.Join(lines[:len(lines)-3], ""), wall) > 0) != want || strings.Contains(legend, "wall") != want {
			t.Errorf("%s: %q", field, picture)
		}
	}
}

// A terminal may say that it is of any size; a picture is not.
func TestPictureInLargeTerminal(t *testing.T) {
	s, w := heat(t)
	size := [2]int{80, 24}
	for _, field := range []string{"heat", "wall"} {
		v, err := NewView(s, field, render.TrueColour)
		if err != nil {
			t.Fatal(err)
		}
		c := &Canvas{Out: io.Discard, Size: func() (int, int) { return size[0], size[1] }}
		for _, size = range [][2]int{{80, 24}, {2000, 1000}, {65535, 65535}, {65535, 24}, {80, 65535}} {
			picture := c.Over(v, w.Snapshot(), "tick 1 of 2")
			columns, rows := min(size[0], MostColumns), min(size[1], MostRows)
			if lines := strings.Count(string(picture), "\n"); lines > rows || len(picture) > 50*columns*rows {
				t.Fatalf("%v: a picture of %d lines and %d bytes", size, lines, len(picture))
			}
		}
	}
}

// BenchmarkPicture is what a picture costs the goroutine that draws.
func BenchmarkPicture(b *testing.B) {
	for _, side := range []string{"128", "1024"} {
		b.Run(side, func(b *testing.B) {
			s, err := worlds.Open(worlds.Registry(), "diffusion", "space.rows="+side, "space.cols="+side)
			if err != nil {
				b.Fatal(err)
			}
			w, err := s.World(1)
			if err != nil {
				b.Fatal(err)
			}
			v, err := NewView(s, FirstField, render.TrueColour)
			if err != nil {
				b.Fatal(err)
			}
			c := &Canvas{Out: io.Discard, Size: func() (int, int) { return 80, 24 }}
			c.Over(v, w.Snapshot(), "")
			b.ReportAllocs()
			for b.Loop() {
				c.Out.Write(c.Over(v, w.Snapshot(), "tick 1 of 2"))
			}
		})
	}
}

// BenchmarkWatched is what --watch costs a run: a tick with it and without.
func BenchmarkWatched(b *testing.B) {
	for _, side := range []string{"128", "1024"} {
		for _, watched := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/watched=%v", side, watched), func(b *testing.B) {
				s, err := worlds.Open(worlds.Registry(), "diffusion", "space.rows="+side, "space.cols="+side)
				if err != nil {
					b.Fatal(err)
				}
				w, err := s.World(1)
				if err != nil {
					b.Fatal(err)
				}
				r := runner.Run{Scenario: s, World: w, Passed: func() error { return nil }}
				if watched {
					v, err := NewView(s, FirstField, render.TrueColour)
					if err != nil {
						b.Fatal(err)
					}
					x := &Watcher{Canvas: &Canvas{Out: io.Discard, Size: func() (int, int) { return 80, 24 }}, View: v, Title: render.Tick}
					x.Begin()
					defer x.End(w)
					r.Passed = func() error { x.See(w); return nil }
				}
				b.ResetTimer()
				if err := r.To(b.Context(), uint64(b.N)); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
