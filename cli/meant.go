package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/words"
)

// meant guesses the flag to which an argument too many belongs: "; did you mean --tick 500?", or "".
func meant(c *cobra.Command, args []string) string {
	for i, arg := range args {
		if flag := flagFor(c.Flags(), args[:i], arg); flag != "" {
			return fmt.Sprintf("; did you mean %s?", flag)
		}
	}
	return ""
}

// flagFor returns the flag, with its value, that an argument after others may have been meant for.
func flagFor(flags *pflag.FlagSet, before []string, arg string) string {
	given := func(name string) (f *pflag.Flag, is bool) {
		f = flags.Lookup(name)
		return f, f != nil && f.Changed
	}
	if sets, err := flags.GetStringArray("set"); err == nil && len(before) > 0 {
		if i := slices.IndexFunc(sets, func(s string) bool { return !strings.Contains(s, "=") }); i >= 0 {
			return "--set " + words.Argument(sets[i]+"="+arg)
		}
	}
	if sync, is := given("sync"); is && new(syncFlag).Set(arg) == nil {
		return "--" + sync.Name + "=" + arg
	}
	if tick, is := given("tick"); tick != nil && !is && len(before) > 0 && isWhole(arg) {
		return "--tick " + arg
	}
	if output, is := given("output"); output != nil && !is && len(before) > 0 && filepath.Ext(arg) != "" && !exists(arg) {
		return "-o " + words.Argument(arg)
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isWhole(text string) bool {
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil
}

// otherNames are words that users may try, with the command that does what they may want.
var otherNames = map[string][]string{
	"run":       {"start", "simulate", "exec"},
	"scenarios": {"list", "ls", "worlds", "examples"},
	"check":     {"validate", "lint"},
	"verify":    {"replay", "test", "proof"},
	"diff":      {"compare"},
	"view":      {"show", "open", "watch", "ui", "gui", "browse"},
	"seek":      {"goto", "state"},
	"inspect":   {"info", "cat", "dump", "stat"},
	"sweep":     {"batch", "grid"},
	"recover":   {"repair", "fix"},
	"new":       {"init", "create"},
}

// suggestible lets a command be found by other words.
func suggestible(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.SuggestFor = otherNames[c.Name()]
	}
}
