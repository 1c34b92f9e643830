package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandGroups are the headings of the commands, in the order of their help.
var commandGroups = []struct{ title, commands string }{
	{"Run and record", "run new check scenarios"},
	{"Check and compare", "verify diff bisect synctest audit"},
	{"Look, ask, take out", "view seek find why fork shrink inspect play export"},
	{"Many", "sweep worker"},
	{"Live", "serve join"},
	{"Files", "index cut recover convert upgrade"},
	{"Other", "schema version completion help"},
}

func init() { // once, since programs call commands from several goroutines
	cobra.EnableCommandSorting = false // they come in the order of their use
	cobra.AddTemplateFunc("groupedFlags", groupedFlags)
}

// groupCommands puts the commands under their headings. One that has none, as of a program with more of them, is under the last.
func groupCommands(root *cobra.Command) {
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
	}
	for _, c := range root.Commands() {
		c.GroupID = commandGroups[len(commandGroups)-1].title
		for _, g := range commandGroups {
			if slices.Contains(strings.Fields(g.commands), c.Name()) {
				c.GroupID = g.title
			}
		}
	}
	root.SetHelpCommandGroupID(commandGroups[len(commandGroups)-1].title)
	const flags = "{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "\n"+flags, "\n{{groupedFlags . | trimTrailingWhitespaces}}", 1))
}

// flagGroups are the headings of the flags of commands that have many; the first ones, which are those of every day, have none. A name
// that ends in a * stands for all that begin so.
var flagGroups = map[string][]struct{ title, flags string }{
	"run": {
		{"", "ticks until seed set output no-record force resume hashes watch view workers"},
		{"Saved states", "state save-state save-every state-hash"},
		{"Beside the recording", "split index-budget no-index sync events"},
		{"Statistics", "stats*"},
		{"Export", "export*"},
		{"Audit", "audit* webhook"},
		{"Pace, page, metrics", "realtime open listen metrics*"},
		{"Other", "max-memory help"},
	},
	"serve": {
		{"", "listen ticks seed set output no-record force tokens wait speed fast workers"},
		{"Who may connect", "tls-* origin max-clients max-newcomers max-per-address max-hello grace linger"},
		{"What a client may do", "max-orders max-queue max-stall"},
		{"Beside the recording", "split index-budget no-index sync"},
		{"Other", "metrics* max-memory help"},
	},
}

// groupedFlags returns the lines of a command's own flags, under headings if it has some.
func groupedFlags(c *cobra.Command) string {
	groups, ok := flagGroups[c.Name()]
	if !ok || c.Parent() != c.Root() {
		return c.LocalFlags().FlagUsages()
	}
	var b strings.Builder
	for _, g := range groups {
		set := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		set.SortFlags = g.title != "" // those of every day come in the order of their use
		for _, name := range strings.Fields(g.flags) {
			prefix, all := strings.CutSuffix(name, "*")
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Name == name || all && strings.HasPrefix(f.Name, prefix) {
					set.AddFlag(f)
				}
			})
		}
		if g.title != "" {
			b.WriteString("\n" + g.title + ":\n")
		}
		b.WriteString(set.FlagUsages())
	}
	return b.String()
}
