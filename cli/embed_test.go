package cli_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/cli"
)

// A program that has murksim in it runs its commands, with their exit statuses, and looks at recordings.
func TestEmbedded(t *testing.T) {
	var out, errs bytes.Buffer
	file := filepath.Join(t.TempDir(), "heat.murk")
	call := func(ctx context.Context, want int, args ...string) {
		t.Helper()
		out.Reset()
		errs.Reset()
		if got := (cli.Program{}).Call(ctx, args, strings.NewReader(""), &out, &errs); got != want {
			t.Errorf("%q ended with %d, want %d: %s", args, got, want, &errs)
		}
	}
	call(t.Context(), 0, "run", "heat", "--ticks", "50", "-o", file, "--json")
	call(t.Context(), 0, "verify", "--json", file)
	if !strings.Contains(out.String(), `"status":"ok","ticks":50`) {
		t.Errorf("verify said %s", &out)
	}
	call(t.Context(), 2, "verify")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	call(ended, 1, "verify", file)
	r, closeAll, err := cli.Program{}.Open(t.Context(), file, cli.Look{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	if w, err := r.At(t.Context(), 50); err != nil || w.Tick() != 50 {
		t.Errorf("At(50) = %v, %v", w, err)
	}
	if _, _, err := (cli.Program{}).Open(t.Context(), "nowhere.murk", cli.Look{}); err == nil || !strings.Contains(err.Error(), "nowhere.murk") {
		t.Errorf("a recording that is not there: %v", err)
	}
	s, err := cli.Program{}.Scenario("heat", []string{"seed=7"}, 0)
	if err != nil || s.Seed != 7 {
		t.Errorf("Scenario = %v, %v", s, err)
	}
	if _, err := (cli.Program{}).Scenario("heat", nil, 1000); err == nil {
		t.Error("a world may take more than its limit")
	}
}
