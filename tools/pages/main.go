// Command pages writes what the documents say about components from the code: from
// the tags of their parameters, from the Go type of a propagator, and from the
// scenario that shows it.
//
//	go run ./tools/pages
//	go run ./tools/pages -check
//
// The rule is short: tables follow the code, prose is written once. The first table
// under a component's heading, and the index of the propagators' pages, are always
// written anew:
//
//	docs/propagators/README.md  the index
//	docs/propagators/KIND.md    the table under "## Parameters"
//	docs/SCENARIO.md            the table under "### KIND"
//	replay/DESCRIPTOR.md        the table under "**KIND@VERSION**"
//
// A page or section that is missing is written in full; one that is there keeps all
// else that it says. With -check nothing is written, and a file that would change is
// an error.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/murksim/murksim/scenarios/worlds"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

func run(args []string, errs io.Writer) error {
	f := flag.NewFlagSet("pages", flag.ContinueOnError)
	f.SetOutput(errs)
	root := f.String("root", ".", "the source `folder`")
	check := f.Bool("check", false, "write nothing; fail if a file would change")
	if err := f.Parse(args); err != nil {
		return err
	}
	files, err := generate(*root)
	if err != nil {
		return err
	}
	for _, file := range files {
		path := filepath.Join(*root, file.path)
		switch old, err := os.ReadFile(path); {
		case err != nil && !os.IsNotExist(err):
			return err
		case err == nil && string(old) == file.text:
			continue
		case *check:
			return fmt.Errorf("%s is stale; run: go run ./tools/pages", file.path)
		}
		if err := os.WriteFile(path, []byte(file.text), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(errs, "wrote", file.path)
	}
	return nil
}

// A file is what one of the documents says when its tables follow the code.
type file struct{ path, text string }

// generate makes all files, with slashes in their paths.
func generate(root string) ([]file, error) {
	shows, err := exhibits()
	if err != nil {
		return nil, err
	}
	var files []file
	for i := range shows {
		f, err := shows[i].page(root)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shows[i].Name, err)
		}
		files = append(files, f)
	}
	for _, d := range []struct {
		path   string
		update func(string) (string, error)
	}{
		{"docs/propagators/README.md", func(text string) (string, error) { return replaceTable(text, "# Propagators", index(shows)) }},
		{"docs/SCENARIO.md", func(text string) (string, error) { return updateGuide(text, worlds.Components(), shows) }},
		{"replay/DESCRIPTOR.md", func(text string) (string, error) { return updateDescriptor(text, worlds.Components()) }},
	} {
		old, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(d.path)))
		if err != nil {
			return nil, err
		}
		text, err := d.update(string(old))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.path, err)
		}
		files = append(files, file{d.path, text})
	}
	return files, nil
}
