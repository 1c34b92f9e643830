package cli

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
)

// TestNoFlagIsEmpty: a flag with nothing, as of a variable that a script does not set, is a mistake and never as if it was not there.
func TestNoFlagIsEmpty(t *testing.T) {
	n := 0
	var check func(path []string, c *cobra.Command)
	check = func(path []string, c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Name() != "completion" && sub.Name() != "help" && !sub.Hidden {
				check(append(path[:len(path):len(path)], sub.Name()), sub)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" || f.NoOptDefVal != "" && f.Value.Type() != "string" {
				return
			}
			n++
			status, out, errs := murksim(t, nil, append(path, "--"+f.Name+"=")...)
			if status != report.StatusUsage || out != "" || !strings.HasPrefix(errs, "--"+f.Name+" ") {
				t.Errorf("murksim %s --%s= is %d, %q, %q", strings.Join(path, " "), f.Name, status, out, errs)
			}
		})
	}
	check(nil, (&app{Session: &session.Session{Printer: &report.Printer{Out: new(bytes.Buffer)}, Name: "murksim"}}).root())
	if n < 200 {
		t.Errorf("%d flags were tried, want all", n)
	}
}

// TestGroupedFlags: every flag of a command with headings stands under one, and those of every day are twelve.
func TestGroupedFlags(t *testing.T) {
	root := (&app{Session: &session.Session{Printer: &report.Printer{Out: new(bytes.Buffer)}, Name: "murksim"}}).root()
	for name, groups := range flagGroups {
		c, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		c.InitDefaultHelpFlag()
		help := groupedFlags(c)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if n := len(regexp.MustCompile("(?m)^  (-.,|   ) --"+f.Name+"[ \\[]").FindAllString(help, -1)); n != 1 {
				t.Errorf("%s --%s is there %d times", name, f.Name, n)
			}
		})
		if n := len(strings.Fields(groups[0].flags)); n != 12 {
			t.Errorf("%s has %d flags of every day, want 12", name, n)
		}
	}
	for _, c := range root.Commands() {
		if c.GroupID == "" {
			t.Errorf("%s is in no group", c.Name())
		}
	}
}

// TestRangeFlag holds what a whole number from 1 on may be.
func TestRangeFlag(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "8": 8, "0": 0, "9": 0, "-1": 0, "1.5": 0, "x": 0, "99999999999999999999": 0} {
		got := 0
		f := rangeFlag[int]{&got, 8}
		if err := f.Set(text); got != want || (err == nil) != (want > 0) || f.String() != fmt.Sprint(want) {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}
