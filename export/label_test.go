package export

import "testing"

// TestAxisLabel holds that the labels of an axis can be told apart.
func TestAxisLabel(t *testing.T) {
	for _, tt := range []struct {
		v, step float64
		want    string
	}{
		{0, 1, "0"}, {2862.5, 0.5, "2,862.5"}, {2863, 0.5, "2,863.0"}, {8614, 1, "8,614"}, {-1234567, 1, "−1,234,567"},
		{20_000_000, 5_000_000, "20,000,000"}, {2e10, 5e9, "2.0e+10"}, {1.5e10, 5e9, "1.5e+10"}, {3e-7, 1e-7, "0.0000003"},
		{1.5e-12, 5e-13, "1.5e-12"}, {-1e-17, 0.5, "0.0"}, {0.3 - 0.1, 0.1, "0.2"}, {12345.678, 0.001, "12,345.678"},
	} {
		if got := axisLabel(tt.v, tt.step); got != tt.want {
			t.Errorf("axisLabel(%g, %g) = %q, want %q", tt.v, tt.step, got, tt.want)
		}
	}
}
