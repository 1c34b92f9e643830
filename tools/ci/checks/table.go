package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// printList prints the checks, and what --long adds.
func printList(out io.Writer, chosen []check) {
	for _, c := range chosen {
		fmt.Fprintf(out, "%-12s  %s\n", c.name, c.what)
		if c.adds != "" {
			fmt.Fprintf(out, "%-12s  --long adds %s\n", "", c.adds)
		}
	}
}

// printTable prints a row a check, and below it the command that repeats each one that failed. It
// returns the exit status.
func printTable(out io.Writer, results []result, took time.Duration, m mode) int {
	fmt.Fprintf(out, "\n%-12s  %7s  %7s  %-7s  %s\n", "check", "seconds", "of CPU", "result", "what --long adds")
	count := map[string]int{}
	var repeat strings.Builder
	var cpu time.Duration
	for _, r := range results {
		note, verdict := r.adds, r.verdict()
		switch {
		case r.status == skipped:
			note = r.reason()
		case verdict == "FAILED":
			fmt.Fprintf(&repeat, "repeat it alone: tools/ci/test.sh %s%s\n", m.flag(), r.name)
		case m.long:
			note = ""
		}
		count[verdict]++
		cpu += r.cpu
		fmt.Fprintf(out, "%-12s  %7.0f  %7.0f  %-7s  %s\n", r.name, r.wall.Seconds(), r.cpu.Seconds(), verdict, note)
	}
	fmt.Fprintf(out, "%-12s  %7.0f  %7.0f\n", "all", took.Seconds(), cpu.Seconds())
	fmt.Fprintf(out, "\n%s%d passed, %d failed, %d skipped\n", &repeat, count["passed"], count["FAILED"], count["skipped"])
	if count["FAILED"] > 0 {
		return 1
	}
	return 0
}
