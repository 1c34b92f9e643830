package plot_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/plot"
)

// TestLabel holds that the labels of an axis can be told apart.
func TestLabel(t *testing.T) {
	for _, tt := range []struct {
		v, step float64
		want    string
	}{
		{0, 1, "0"}, {2862.5, 0.5, "2,862.5"}, {2863, 0.5, "2,863.0"}, {8614, 1, "8,614"}, {-1234567, 1, "−1,234,567"},
		{20_000_000, 5_000_000, "20,000,000"}, {2e10, 5e9, "2.0e+10"}, {1.5e10, 5e9, "1.5e+10"}, {3e-7, 1e-7, "0.0000003"},
		{1.5e-12, 5e-13, "1.5e-12"}, {-1e-17, 0.5, "0.0"}, {0.3 - 0.1, 0.1, "0.2"}, {12345.678, 0.001, "12,345.678"},
	} {
		if got := plot.Label(tt.v, tt.step); got != tt.want {
			t.Errorf("Label(%g, %g) = %q, want %q", tt.v, tt.step, got, tt.want)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, tt := range []struct {
		lo, hi float64
		about  int
		want   []float64
		step   float64
	}{
		{0, 10, 5, []float64{0, 2, 4, 6, 8, 10}, 2},
		{0.5, 2, 3, []float64{0.5, 1, 1.5, 2}, 0.5},
		{-30, 90, 4, []float64{-0, 50}, 50},
		{3, 3, 5, []float64{3}, 1},
		{1e300, 9e300, 4, []float64{2e300, 4e300, 6e300, 8e300}, 2e300},
	} {
		list, step := plot.Steps(tt.lo, tt.hi, tt.about)
		if !slices.Equal(list, tt.want) || step != tt.step {
			t.Errorf("Steps(%g, %g, %d) = %g, %g, want %g, %g", tt.lo, tt.hi, tt.about, list, step, tt.want, tt.step)
		}
	}
}

func TestLogSteps(t *testing.T) {
	for _, tt := range []struct {
		lo, hi float64
		about  int
		want   []float64
	}{
		{0.01, 10, 5, []float64{0.01, 0.1, 1, 10}},
		{0.5, 60, 8, []float64{0.5, 1, 2, 5, 10, 20, 50}},
		{1e-6, 1e6, 7, []float64{1e-6, 1e-4, 1e-2, 1, 100, 1e4, 1e6}},
		{2.1, 4.9, 8, nil},
	} {
		if got := plot.LogSteps(tt.lo, tt.hi, tt.about); !slices.Equal(got, tt.want) {
			t.Errorf("LogSteps(%g, %g, %d) = %g, want %g", tt.lo, tt.hi, tt.about, got, tt.want)
		}
	}
}

func TestCut(t *testing.T) {
	const text = "propagators.diffusion.rate"
	if got := plot.Cut(text, 13, 1000); got != text {
		t.Errorf("Cut = %q although there is room", got)
	}
	for _, room := range []float64{150, 80, 20} {
		if got := plot.Cut(text, 13, room); plot.Width(got, 13) > room || !strings.HasSuffix(got, "…") {
			t.Errorf("Cut to %v is %q, %v wide", room, got, plot.Width(got, 13))
		}
		if got := plot.CutMiddle(text, 13, room); plot.Width(got, 13) > room || room > 50 && !strings.HasSuffix(got, "te") {
			t.Errorf("CutMiddle to %v is %q, %v wide", room, got, plot.Width(got, 13))
		}
	}
	for room, want := range map[float64]string{1000: text, 150: "…diffusion.rate", 80: "…rate", 32: "…te", 5: "…"} {
		if got := plot.CutPath(text, 13, room); got != want {
			t.Errorf("CutPath to %v is %q, want %q", room, got, want)
		}
	}
}

// TestWrap holds that nothing of a text is lost, and that words which are too long are broken behind a mark.
func TestWrap(t *testing.T) {
	const text = "b by propagators.diffusion.rate and aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	lines := plot.Wrap(text, 13, 130)
	for _, l := range lines {
		if plot.Width(l, 13) > 130 {
			t.Errorf("%q is %v wide", l, plot.Width(l, 13))
		}
	}
	if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != strings.ReplaceAll(text, " ", "") {
		t.Errorf("Wrap gives %q", lines)
	}
	if want := []string{"b by", "propagators.", "diffusion.rate and"}; !slices.Equal(lines[:3], want) {
		t.Errorf("Wrap gives %q, want it to begin with %q", lines, want)
	}
}

// TestStepsOfOddNumbers: there are few steps, all of them numbers, whatever the ends are.
func TestStepsOfOddNumbers(t *testing.T) {
	ends := []float64{-math.MaxFloat64, -1e300, -1e15 - 8, -1, -5e-324, 0, 5e-324, 1e-310, 1e-300, 1, 1 << 53, 1<<53 + 2, 1e15, 1e15 + 8, 1.7e308, math.MaxFloat64}
	for i, lo := range ends {
		for _, hi := range ends[i:] {
			list, step := plot.Steps(lo, hi, 5)
			if len(list) == 0 && hi > lo || len(list) > 30 || !(step > 0) || math.IsInf(step, 0) {
				t.Fatalf("Steps(%v, %v) = %v, %v", lo, hi, list, step)
			}
			for _, v := range list {
				if math.IsNaN(v) || math.IsInf(v, 0) || plot.Label(v, step) == "" || plot.Label(v, plot.Precision(lo, hi, 3)) == "" {
					t.Fatalf("Steps(%v, %v) has %v", lo, hi, v)
				}
			}
			if lo > 0 && len(plot.LogSteps(lo, hi, 5)) > 30 {
				t.Fatalf("LogSteps(%v, %v) = %v", lo, hi, plot.LogSteps(lo, hi, 5))
			}
		}
	}
}
