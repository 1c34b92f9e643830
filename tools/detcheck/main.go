// Command detcheck finds Go code that may give other results on other machines or in
// other runs: what a deterministic simulation must not do. Its rules, and how a place in
// the code is excepted from one, are in package rules.
//
//	go run github.com/murksim/murksim/tools/detcheck ./...
//
// It checks the state path: the methods by which propagators, systems, handlers and
// components of scenarios take part in a world, what initial values are made of, and all code
// of the module that these use, by calls, methods, closures and interfaces. The program around
// a world, recorders and watchers included, may read clocks and files. With -all it checks all
// code of the packages, as it does in a module that has no such methods.
//
// It ends with status 0 and without a word if nothing is found, with 1 after findings, and
// with 2 if it was called wrongly or the packages could not be loaded.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/murksim/murksim/tools/detcheck/rules"
)

// Exit statuses.
const (
	statusSilent   = 0
	statusFindings = 1
	statusError    = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run checks the packages that the arguments name and returns the exit status.
func run(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("detcheck", flag.ContinueOnError)
	flags.SetOutput(errs)
	asJSON := flags.Bool("json", false, "print one JSON object a finding")
	whole := flags.Bool("all", false, "check all code of the packages, not only the state path: what propagators, systems and handlers use")
	tests := flags.Bool("tests", false, "check test files, too")
	flags.Usage = func() { usage(flags) }
	if slices.ContainsFunc(args, func(a string) bool { return a == "--help" || a == "-help" || a == "-h" }) {
		flags.SetOutput(out)
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return statusSilent
	} else if err != nil {
		return statusError
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(errs, "detcheck: name the packages to check, such as ./... ; --help tells more")
		return statusError
	}
	found, err := check(flags.Args(), *tests, *whole, errs)
	if err == nil {
		err = write(out, found, *asJSON)
	}
	switch {
	case err != nil:
		fmt.Fprintln(errs, "detcheck:", err)
		return statusError
	case len(found) > 0:
		return statusFindings
	}
	return statusSilent
}

func usage(flags *flag.FlagSet) {
	w := flags.Output()
	fmt.Fprint(w, `Finds Go code that may give other results on other machines or in other runs.

usage: detcheck [-all] [-json] [-tests] packages

`)
	flags.PrintDefaults()
	fmt.Fprint(w, "\nThe rules, why they are, and what to do instead:\n\n")
	for _, r := range rules.All {
		fmt.Fprintf(w, "  %-15s%s: %s\n", r.Name, r.Why, r.Instead)
	}
	fmt.Fprint(w, `
A place is excepted from a rule by a comment with a reason, on its line or on the one above:

  //detcheck:allow RULE reason

Findings read file:line:column: rule: message. The status is 0 if there are none, 1 if there
are some, 2 if detcheck was called wrongly or the packages cannot be loaded.
`)
}

// A found is a finding as it is printed.
type found struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// check loads the packages and gives what is found in them, each finding once, in the
// order of files and lines. Unless it is to check them whole, it reads the rest of their
// modules as well, to find the state path.
func check(patterns []string, tests, whole bool, notes io.Writer) ([]found, error) {
	list, rest, err := load(patterns, tests, whole)
	if err == nil {
		err = loaded(list, patterns)
	}
	if err != nil {
		return nil, err
	}
	var path *statePath
	if !whole {
		if path = newStatePath(slices.Concat(list, rest)); path == nil {
			fmt.Fprintln(notes, "detcheck: the module has no propagators, systems or handlers; all code of the packages is checked, as with -all")
		}
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{rules.Analyzer}, list, nil)
	if err != nil {
		return nil, err
	}
	var all []found
	for _, action := range graph.Roots {
		if action.Err != nil {
			return nil, fmt.Errorf("%s: %w", action.Package.PkgPath, action.Err)
		}
		for _, d := range action.Diagnostics {
			if path != nil && !path.holds(action.Package, d.Pos, d.Message) {
				continue
			}
			all = append(all, newFound(action.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all), nil // packages are loaded with and without their tests
}

// load loads the packages that patterns name and, unless those are checked whole, the others
// of their modules.
func load(patterns []string, tests, whole bool) (list, rest []*packages.Package, err error) {
	const need = packages.LoadSyntax | packages.NeedModule // and with them the language version
	named := map[string]bool{}                             // by id
	if !whole {
		first, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedModule, Tests: tests}, patterns...)
		if err != nil {
			return nil, nil, err
		}
		patterns = slices.Clone(patterns)
		for _, p := range first {
			named[p.ID] = true
			if p.Module == nil {
				continue
			}
			if all := p.Module.Path + "/..."; !slices.Contains(patterns, all) {
				patterns = append(patterns, all)
			}
		}
	}
	// With -trimpath the files that cgo makes may come from a cache, and name those of another folder.
	both, err := packages.Load(&packages.Config{Mode: need, Tests: tests, BuildFlags: []string{"-trimpath=false"}}, patterns...)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range both {
		switch {
		case strings.HasSuffix(p.ID, ".test"): // a generated main
		case whole || named[p.ID]:
			list = append(list, p)
		case len(p.Errors) == 0:
			rest = append(rest, p)
		}
	}
	return list, rest, nil
}

// loaded says what kept the packages from being loaded whole.
func loaded(list []*packages.Package, patterns []string) error {
	if len(list) == 0 {
		return fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	var faults []error
	for _, p := range list {
		for _, e := range p.Errors {
			faults = append(faults, errors.New(strings.TrimPrefix(e.Error(), "-: "))) // "-" is no place
		}
	}
	return errors.Join(faults...)
}

// newFound names files from the working directory on if they lie below it.
func newFound(at token.Position, message string) found {
	f := found{File: at.Filename, Line: at.Line, Column: at.Column}
	f.Rule, f.Message = rules.Split(message)
	if here, err := os.Getwd(); err == nil {
		if name, err := filepath.Rel(here, at.Filename); err == nil && filepath.IsLocal(name) {
			f.File = filepath.ToSlash(name)
		}
	}
	return f
}

func write(out io.Writer, list []found, asJSON bool) error {
	for _, f := range list {
		var err error
		if asJSON {
			err = json.NewEncoder(out).Encode(f)
		} else {
			_, err = fmt.Fprintf(out, "%s:%d:%d: %s: %s\n", f.File, f.Line, f.Column, f.Rule, f.Message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
