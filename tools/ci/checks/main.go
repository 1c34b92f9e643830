// Command checks runs every check of the project and prints a table of them. It is called by
// tools/ci/test.sh, in the root of the module.
//
// One check more than there are cores computes at a time, and two that mostly wait run beside
// them. What a check prints is shown when it has ended.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

const usage = `usage: tools/ci/test.sh [--quick | --long] [--list] [CHECK...]

Sets up and runs every check of the project, or only those that are named. On Debian it
installs what is missing, if it may. A check whose programs are missing then is skipped, and
counted in the last line.

  --quick  formatting, vet and short tests only
  --long   the same checks in full, for a night: no sample where all can be tried
  --list   print the checks, and what --long adds to each

Exit status: 0 no check failed, 1 one did, 2 usage.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	status, err := run(ctx, checks, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test.sh:", err)
	}
	os.Exit(status)
}

// run returns the exit status.
func run(ctx context.Context, all []check, args []string, out io.Writer) (int, error) {
	f := flag.NewFlagSet("test.sh", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	quick, long, list := f.Bool("quick", false, ""), f.Bool("long", false, ""), f.Bool("list", false, "")
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, usage)
		return 0, nil
	}
	if err == nil && *quick && *long {
		err = errors.New("--quick and --long exclude each other")
	}
	if err != nil {
		return 2, fmt.Errorf("%w\n%s", err, usage)
	}
	m := mode{*quick, *long}
	chosen, err := choose(all, f.Args(), m)
	if err != nil {
		return 2, err
	}
	if *list {
		printList(out, chosen)
		return 0, nil
	}
	began := time.Now()
	results := runAll(ctx, chosen, m, out)
	status := printTable(out, results, time.Since(began), m)
	if ctx.Err() != nil {
		return 1, errors.New("it was interrupted")
	}
	return status, nil
}

// choose returns the checks that are named, or else all that belong to the mode.
func choose(all []check, names []string, m mode) ([]check, error) {
	var chosen []check
	for _, c := range all {
		if len(names) == 0 && m.of(&c) || slices.Contains(names, c.name) {
			chosen = append(chosen, c)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(chosen, func(c check) bool { return c.name == name }) {
			return nil, fmt.Errorf("there is no check %q; --list prints all", name)
		}
	}
	return chosen, nil
}
