package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// The arguments that a shell offers for each command: scenarios by their names, and files by the ends of theirs. Others get any file.
var offered = map[string][]string{
	"run": {scenarioNamed, ".yaml"}, "check": {scenarioNamed, ".yaml"}, "sweep": {scenarioNamed, ".yaml"}, "serve": {scenarioNamed, ".yaml"},
	"scenarios show": {scenarioNamed}, "synctest": {scenarioNamed, ".yaml", ".murk", ".jsonl"},
	"view":   {scenarioNamed, ".murk", ".yaml", ".mw1", ".yrep"},
	"verify": {".murk"}, "seek": {".murk", ".db", ".audit"}, "diff": {".murk", ".db", ".audit", ".yrep"}, "bisect": {".murk", ".db", ".audit", ".tsv"}, "index": {".murk"},
	"inspect": {".murk", ".idx", ".yrep", ".mw1"}, "export": {".murk", ".yrep", ".mw1"}, "recover": {".murk", ".yrep"}, "play": {".murk", ".yrep", ".mw1"},
	"convert": {".murk", ".jsonl", ".yrep", ".mw1"}, "upgrade": {".murk"},
}

const scenarioNamed = "a scenario" // none of the ends

// completes lets a shell complete arguments, and values of flags that name parts of the given scenario.
func (a *app) completes(c *cobra.Command) {
	for _, sub := range c.Commands() {
		a.completes(sub)
	}
	_, name, _ := strings.Cut(c.CommandPath(), " ")
	if what := offered[name]; what != nil {
		c.ValidArgsFunction = func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return offers(what, begun)
		}
	}
	for _, flag := range []string{"set", "fields", "stats", "watch"} {
		if c.Flags().Lookup(flag) == nil || flag == "stats" && c.Name() != "sweep" || flag == "watch" && c.Name() == "join" {
			continue
		}
		_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if flag == "set" {
				return a.paths(args), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
			}
			return a.fieldsAtHand(args), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// offers lists scenarios and files whose names begin like the text and have one of the endings, and folders, which may have more of them.
func offers(what []string, begun string) (list []string, how cobra.ShellCompDirective) {
	if what[0] == scenarioNamed {
		list = scenarioNames()
		if len(what) == 1 {
			return list, cobra.ShellCompDirectiveNoFileComp
		}
	}
	folder, _ := filepath.Split(begun)
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil {
		return list, cobra.ShellCompDirectiveDefault
	}
	found := false
	for _, e := range entries {
		switch name := folder + e.Name(); {
		case !strings.HasPrefix(name, begun) || strings.HasPrefix(e.Name(), ".") && begun == folder:
		case e.IsDir():
			list = append(list, name+string(filepath.Separator))
			how = cobra.ShellCompDirectiveNoSpace
		case slices.Contains(what, filepath.Ext(name)):
			list, found = append(list, name), true
		}
	}
	if how |= cobra.ShellCompDirectiveNoFileComp; !found && how&cobra.ShellCompDirectiveNoSpace == 0 {
		how = cobra.ShellCompDirectiveDefault // a file may have any name
	}
	return list, how
}

// fieldsAtHand names the fields of the scenario that the first argument names, or that a recording holds.
func (a *app) fieldsAtHand(args []string) (names []string) {
	s, err := a.atHand(args)
	if err != nil {
		return nil
	}
	for i := range s.Fields {
		names = append(names, s.Fields[i].Name)
	}
	return names
}

var errNothing = errors.New("there is no argument")

func (a *app) atHand(args []string) (*scenarios.Scenario, error) {
	if len(args) == 0 {
		return nil, errNothing
	}
	if ours, err := files.Begins(args[0], session.RecordingMark); err != nil || !ours {
		return a.LoadScenario(args[0], nil, limitOf(0))
	}
	rec, err := a.OpenRecording(context.Background(), args[0])
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	return a.ScenarioOf(rec.Frames.Head())
}

// paths lists what --set may replace in a scenario, each with its present value.
func (a *app) paths(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	var text []byte
	if i := slices.IndexFunc(worlds.Embedded(), func(s worlds.Info) bool { return s.Name == args[0] }); i >= 0 {
		text = []byte(worlds.Embedded()[i].Source)
	} else if f, err := os.Open(args[0]); err == nil {
		defer f.Close()
		text, _ = document.ReadAll(args[0], f)
	}
	n, err := yaml.Document(args[0], text)
	if err != nil {
		return nil
	}
	return appendPaths(nil, "", n)
}

// appendPaths lists the paths to the values below a node. The elements of a list go by their names, their components, or
// their numbers.
func appendPaths(list []string, path string, n *document.Node) []string {
	switch n.Kind {
	case document.Mapping:
		for i := 0; i+1 < len(n.Kids); i += 2 {
			if strings.Contains(n.Kids[i].Raw, ".") { // which a path cannot name
				continue
			}
			list = appendPaths(list, strings.TrimPrefix(path+"."+n.Kids[i].Raw, "."), n.Kids[i+1])
		}
	case document.List:
		seen := map[string]int{}
		for _, x := range n.Kids {
			seen[elementName(x)]++
		}
		for i, x := range n.Kids {
			at := elementName(x)
			if at == "" || seen[at] > 1 {
				at = fmt.Sprint(i)
			} else if x.Get("name") == nil { // a component, in which the path goes on
				x = x.Kids[1]
			}
			list = appendPaths(list, path+"."+at, x)
		}
	default:
		list = append(list, fmt.Sprintf("%s=\t%s", path, n.Raw))
	}
	return list
}

// elementName is how a path names an element of a list: by its name or its component; "": by its number.
func elementName(n *document.Node) string {
	if n.Kind != document.Mapping {
		return ""
	}
	if name := n.Get("name"); name != nil {
		return name.Raw
	}
	if len(n.Kids) != 2 || n.Kids[1].Kind != document.Mapping {
		return ""
	}
	return n.Kids[0].Raw
}
