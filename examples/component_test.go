package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestComponent: every command works on a scenario that names components of the program, its page among them, and a build with another
// rule is found out, with the component's name.
func TestComponent(t *testing.T) {
	program := built(t, "component", "")
	folder := filepath.Dir(program)
	scenario, err := os.ReadFile("component/moths.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("moths.yaml", string(scenario))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"check", "moths.yaml"}, "ok  moths.yaml"}, {[]string{"run", "moths.yaml"}, "expect    moth: 100 to 100 alive: ok"},
		{[]string{"verify", "--complete", "moths.murk"}, "ok  moths.murk  400 of 400 planned ticks"},
		{[]string{"synctest", "moths.yaml"}, "ok        moths  400 ticks"}, {[]string{"bisect", "moths.murk", "--phases"}, "EQUAL"},
		{[]string{"sweep", "moths.yaml", "--set", "propagators.wind.speed=0,12", "--seeds", "1..2", "-o", "out"}, "4 of 4 jobs"},
		{[]string{"schema"}, "Cells a second, in the strongest gusts."},
		{[]string{"version"}, "moths@1              Lets entities look for a scent."},
		{[]string{"export", "moths.murk", "-o", "visits.png", "--fields", "visits"}, "wrote  visits.png"},
	} {
		if status, text := said(t, program, tt.args...); status != 0 || !strings.Contains(text, tt.want) {
			t.Errorf("%q: %d: %s", tt.args, status, text)
		}
	}
	table, err := os.ReadFile(filepath.Join(folder, "out", "results.csv"))
	if err != nil || !strings.HasPrefix(string(table), "job,seed,propagators.wind.speed,status,") {
		t.Errorf("the table: %v: %s", err, table)
	}
	for _, tt := range []struct{ old, changed, want string }{
		{"speed: 12", "sped: 12", `unknown key "sped"; did you mean "speed"?`},
		{"from: west", "from: vest", `bad.yaml:19:32: wind: square8 has no direction "vest"`},
		{"speed: 12", "speed: 30", "raise tick_rate to 30 or more, or lower speed to 20"},
		{"capacity: 100", "capacity: 100\n  occupancy: 1", "moths share cells; leave out occupancy"},
	} {
		write("bad.yaml", strings.Replace(string(scenario), tt.old, tt.changed, 1))
		if status, text := said(t, program, "check", "bad.yaml"); status != 1 || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %d: %s", tt.changed, status, text)
		}
	}
	if !testing.Short() { // Go builds the engine for browsers
		page := filepath.Join(folder, "moths.html")
		if out, err := inFolder("component", program, "export", filepath.Join(folder, "moths.murk"), "-o", page); err != nil {
			t.Errorf("a page: %v: %s", err, out)
		}
	}

	changed := built(t, "component", "moths/wind.go", "(coming-now[cell])", "(coming-now[cell]*0.99)")
	recording := filepath.Join(folder, "moths.murk")
	older := fmt.Sprintf("%q seek %q --no-index --tick {tick} --phases --json", filepath.ToSlash(program), filepath.ToSlash(recording))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"verify", recording}, "DIVERGED"}, {[]string{"diff", recording}, "scent     1 of 5 tiles"},
		{[]string{"bisect", recording, "--phases", "--command", older}, "part      wind (propagator), 4 of 7, is the first that differs: scent"},
	} {
		if status, text := said(t, changed, tt.args...); status != 3 || !strings.Contains(text, tt.want) {
			t.Errorf("with another rule: %q: %d: %s", tt.args, status, text)
		}
	}
}
