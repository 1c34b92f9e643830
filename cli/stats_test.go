package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// killedStats: a run that is killed leaves whole lines of its table, up to some tick, none
// missing.
func (p program) killedStats(t *testing.T) {
	for i, name := range []string{"a.csv", "b.jsonl", "c.csv", "d.jsonl"} {
		c := p.command("run", "decay", "--ticks", "1000000000", "--no-record", "--stats", name)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		p.grows(t, name, int64(1<<20+i*12345))
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil {
			t.Error("a killed run succeeds")
		}
		b := p.read(t, name)
		if !bytes.HasSuffix(b, []byte{'\n'}) {
			t.Errorf("%s ends in %q", name, b[len(b)-40:])
		}
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		if strings.HasSuffix(name, "csv") {
			names := lines[0]
			lines = lines[1:]
			for tick, line := range lines {
				if !strings.HasPrefix(line, fmt.Sprint(tick)+",") || strings.Count(line, ",") != strings.Count(names, ",") {
					t.Fatalf("%s: tick %d: %s", name, tick, line)
				}
			}
			continue
		}
		for tick, line := range lines {
			var row struct{ Tick int }
			if err := json.Unmarshal([]byte(line), &row); err != nil || row.Tick != tick {
				t.Fatalf("%s: tick %d: %s: %v", name, tick, line, err)
			}
		}
	}
}
