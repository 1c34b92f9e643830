package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/cli/internal/bench"
)

// A missed floor is status 1, whatever the other rows say, and no error message.
func TestBenchStatus(t *testing.T) {
	i := slices.IndexFunc(bench.Table, func(r bench.Row) bool { return r.Name == "empty-tick" })
	row := &bench.Table[i]
	before := row.Floor
	defer func() { row.Floor = before }()
	for _, tt := range []struct {
		floor  float64
		status int
		want   string
	}{
		{1e9, statusOK, "\n1 of 1 floors hold\n"},
		{1e-3, statusError, "\n0 of 1 floors hold, 1 missed\n"},
	} {
		row.Floor = tt.floor
		var out, errs bytes.Buffer
		status := Program{}.run(t.Context(), []string{"bench", "--seconds", "0.01", "--rounds", "1", "empty-tick"}, nil, &out, &errs)
		if status != tt.status || !strings.HasSuffix(out.String(), tt.want) || errs.Len() != 0 {
			t.Errorf("floor %v: status %d, %q, %q; want %d and %q", tt.floor, status, &out, &errs, tt.status, tt.want)
		}
	}
}

func TestQuantity(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		unit string
		want string
	}{
		{713e6, "cells/s", "713 M cells/s"}, {1.5e9, "B/s", "1.50 GB/s"}, {999.4, "B/s", "999 B/s"}, {999.9, "B/s", "1.00 kB/s"},
		{239.4, "ns", "239 ns"}, {12345, "µs", "12345 µs"}, {0.0312, "ms", "0.0312 ms"}, {64, "MiB", "64.0 MiB"}, {0, "ms", "0.00 ms"},
	} {
		if got := quantity(tt.v, tt.unit); got != tt.want {
			t.Errorf("%v %s is written %q, want %q", tt.v, tt.unit, got, tt.want)
		}
	}
}
