package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
)

func (a *app) scenariosCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "scenarios",
		Short:   "List the scenarios that come with murksim",
		Example: "  murksim scenarios\n  murksim scenarios show heat > mine.yaml",
		Args:    cobra.ArbitraryArgs,
		RunE:    group(func(*cobra.Command) error { return a.listScenarios() }),
	}
	list := &cobra.Command{
		Use: "list", Short: "List them (the default)", Example: "  murksim scenarios list --json",
		Args: arguments(cobra.NoArgs, "no argument"),
		RunE: func(*cobra.Command, []string) error { return a.listScenarios() },
	}
	show := &cobra.Command{
		Use: "show NAME", Short: "Print a scenario's YAML", Example: "  murksim scenarios show heat > mine.yaml",
		Args: arguments(cobra.ExactArgs(1), "one name"),
		RunE: func(_ *cobra.Command, args []string) error { return a.showScenario(args[0]) },
	}
	c.AddCommand(list, show)
	return c
}

func scenarioNames() []string {
	var names []string
	for _, s := range worlds.Embedded() {
		names = append(names, s.Name)
	}
	return names
}

func (a *app) listScenarios() error {
	worldsEnd := false
	for _, s := range worlds.Embedded() {
		if err := a.Emit(scenarioObject{Event: "scenario", Name: s.Name, About: s.About}); err != nil {
			return err
		}
		if s.Shows != "" && !worldsEnd {
			worldsEnd = true
			if err := a.Say("\nof one propagator each, by its name:"); err != nil {
				return err
			}
		}
		if err := a.Say("%-16s %s", s.Name, s.About); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) showScenario(name string) error {
	for _, s := range worlds.Embedded() {
		if s.Name != name {
			continue
		}
		s.Source = besideSchema(a.Name, s.Source)
		if a.JSON {
			return a.Emit(scenarioObject{"scenario", s.Name, s.About, string(s.Source)})
		}
		_, err := a.Out.Write(s.Source)
		return err
	}
	return a.UnknownScenario(name)
}

func (a *app) newCommand() *cobra.Command {
	var output string
	var force bool
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a scenario with comments to begin from",
		Long: `New writes a scenario with comments to begin from. docs/start/world.md says how to go on: with
rules that come with murksim, with one of your own in Go, or with a model in Go alone.`,
		Example: "  murksim new mine\n  murksim run mine.yaml",
		Args:    arguments(cobra.ExactArgs(1), "one name"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.newScenario(args[0], files.Dashed(cmp.Or(output, args[0]+".yaml")), force)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "the `file`, or - for standard output (default NAME.yaml)")
	c.Flags().BoolVar(&force, "force", false, "overwrite a file that exists")
	return c
}

func (a *app) newScenario(name, path string, force bool) error {
	text, err := worlds.Starter(name)
	if err != nil {
		if stem, ok := strings.CutSuffix(name, ".yaml"); ok {
			err = fmt.Errorf("%w\n  NAME is without .yaml: %s new %s", err, a.Name, stem)
		}
		return err
	}
	if path == "-" {
		out, err := a.takeStdout()
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	if err := a.writeFile(path, text, force); err != nil {
		return err
	}
	if err := a.Emit(fileObject{"file", name, path}); err != nil {
		return err
	}
	run := path
	if worlds.IsEmbedded(path) {
		run = "./" + path
	}
	note := ""
	if worlds.IsEmbedded(name) {
		note = fmt.Sprintf("note      %s run %s still runs the scenario that comes with %s\n", a.Name, name, a.Name)
	}
	return a.Say("wrote     %s\n%snext      %s run %s", document.FileName(path), note, a.Name, words.Argument(run))
}

// writeFile writes all of a file at once, and over one that exists only if forced to.
func (a *app) writeFile(path string, text []byte, force bool) error {
	return a.writeFrom(context.Background(), path, bytes.NewReader(text), force)
}

// writeFrom writes a file of what a reader gives. Unless forced it replaces none.
func (a *app) writeFrom(ctx context.Context, path string, from io.Reader, force bool) error {
	return a.writeBy(ctx, path, func(to io.Writer) error {
		_, err := io.Copy(to, from)
		return err
	}, force)
}

// writeBy writes a file of what a function gives. Unless forced it replaces none.
func (a *app) writeBy(ctx context.Context, path string, write func(to io.Writer) error, force bool) error {
	exists := fmt.Errorf("%s exists; overwrite it with --force", document.FileName(path))
	if _, err := os.Lstat(path); err == nil && !force {
		return exists
	}
	f, err := a.draft(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Older() && !force { // it has just come
		return exists
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err == nil {
		_, err = finish(f)
	}
	if err != nil {
		return words.About(path, err)
	}
	return nil
}
