//go:build postgres

package readme_test

import (
	"os"
	"strings"
	"testing"
)

// TestProveOnPostgres runs the README's section on audits with the server that tools/ci/postgres.sh has started in place of a file: it
// prints the same.
func TestProveOnPostgres(t *testing.T) {
	dsn := os.Getenv("MURKSIM_POSTGRES")
	if dsn == "" {
		t.Fatal("MURKSIM_POSTGRES is no DSN; run tools/ci/postgres.sh")
	}
	d := read(t, "README.md")
	_, section, _ := strings.Cut(d.String(), "\n## Prove it to someone else\n")
	section, _, _ = strings.Cut(section, "\n## ")
	r := newRunner(t)
	r.env = append(r.env, "DSN="+dsn) // nothing else uses the schema public
	run := 0
	for _, b := range d.blocks {
		if b.lang != "console" || !strings.Contains(section, b.body) {
			continue
		}
		body := strings.ReplaceAll(b.body, "run.db", `"$DSN"`)
		run += strings.Count(body, "$DSN")
		if got := r.console(t, body); got != body {
			t.Errorf("line %d: %s", b.at, firstDifference(got, body))
		}
	}
	if run < 4 {
		t.Errorf("%d commands used the server; want at least 4", run)
	}
}
