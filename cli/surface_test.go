package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
)

var update = flag.Bool("update", false, "write testdata/surface.txt")

// TestSurface: every command and flag that people type is in a list, so that none goes, or comes, unseen. What is no longer wanted
// answers with an error that names what does it now.
func TestSurface(t *testing.T) {
	root := (&app{Session: &session.Session{Printer: &report.Printer{Out: &bytes.Buffer{}}, Name: "murksim"}}).root()
	root.InitDefaultHelpFlag()
	var b strings.Builder
	surface(&b, root)
	const path = "testdata/surface.txt"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.SplitAfter(string(want), "\n")
	for line := range strings.Lines(b.String()) {
		if i := slices.Index(listed, line); i >= 0 {
			listed[i] = ""
		} else {
			t.Errorf("not listed: %s", line)
		}
	}
	if gone := strings.Join(listed, ""); gone != "" {
		t.Errorf("gone:\n%s", gone)
	}
}

// surface lists a command, what it takes beside flags, its flags, and those below it.
func surface(b *strings.Builder, c *cobra.Command) {
	hidden := func(is bool) string {
		if is {
			return " (hidden)"
		}
		return ""
	}
	fmt.Fprintf(b, "%s%s\n", c.UseLine(), hidden(c.Hidden))
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		short := ""
		if f.Shorthand != "" {
			short = ", -" + f.Shorthand
		}
		fmt.Fprintf(b, "%s --%s%s %s%s\n", c.CommandPath(), f.Name, short, f.Value.Type(), hidden(f.Hidden))
	})
	for _, sub := range slices.SortedFunc(slices.Values(c.Commands()), func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) }) {
		surface(b, sub)
	}
}
