package cli

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
)

// TestNoEscapes: no error hands on to a terminal what it may take for a command, wherever it comes from.
func TestNoEscapes(t *testing.T) {
	t.Chdir(t.TempDir())
	const red = "\x1b[31mred\u202e\u009b2J"
	for _, args := range [][]string{
		{"audit", red + ".db"}, {"audit", "x.db", "--run", red}, {"verify", "--nats", "nats://" + red + ":1", "x.murk"}, {"verify", red + ".murk"},
		{"serve", "heat", "--tls-cert", red, "--tls-key", "x"}, {"run", red}, {"run", "heat", "--set", red + "=1"}, {"seek", "x.murk", "--tick", red}, {red},
		{"sweep", "show", red}, {"export", "x.murk", "-o", red}, {"index", red}, {"view", red},
	} {
		status, out, errs := murksim(t, nil, args...)
		if status == report.StatusOK || strings.ContainsAny(out+errs, "\x1b\u202e\u009b") {
			t.Errorf("%q: status %d, %q %q", args, status, out, errs)
		}
	}
}
