package cli

import (
	"bytes"
	"os"
	"regexp"
	"runtime"
	"testing"
)

// TestSplitInterrupted: a part that was begun and has no tick is not there, so the summary names the part before it.
func TestSplitInterrupted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	p := build(t)
	p = program{p.path, t.TempDir()}
	write(t, p, "slow.yaml", `{murksim: 1, name: slow, ticks: 9, tick_rate: 0.0001,
  space: {kind: ring, length: 8}, fields: [{name: x, initial: 3}]}`)
	for _, tt := range []struct{ flag, want string }{
		{"-q=false", `\n1/9 ticks .*\nrecorded  slow.murk  [^\n]*\n(?s:.*)\nnext      murksim verify slow.murk\n$`},
		{"--json", `,"recording":"slow.murk","bytes":[0-9]+,"changed":`},
	} {
		c := p.command("run", "slow.yaml", "--realtime", "--split", "1", "--force", tt.flag)
		var out bytes.Buffer
		c.Stdout = &out
		c, errs := p.start(t, c)
		p.appears(t, "slow.murk")
		c.Process.Signal(os.Interrupt)
		if err := ends(t, c); err != nil || !regexp.MustCompile(tt.want).MatchString(out.String()) {
			t.Errorf("%s: %v, %s%s; want %s", tt.flag, err, &out, errs, tt.want)
		}
		p.onlyFiles(t, "slow.murk", "slow.yaml")
		p.must(t, "verify", "slow.murk")
		os.Remove(p.dir + "/slow.murk")
	}
}
