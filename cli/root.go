package cli

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/scenarios/document"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   a.Name,
		Short: "Run simulations headless, record them, and prove recordings",
		Long: `murksim runs a world in fixed timesteps and records every tick with its commands
and a hash of the state. Anyone can replay a recording and check every tick.

Exit status: 0 ok, 1 error, 2 usage, 3 a recording and its replay diverge, two
recordings or states differ, or ticks are missing, 4 the evidence of an audit is broken, 5 a run
is halted, 7 a condition never holds.`,
		Example: `  murksim run heat
  murksim verify heat.murk
  murksim new mine && murksim run mine.yaml`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().BoolVar(&a.JSON, "json", false, "one JSON object a line on standard output")
	root.PersistentFlags().BoolVarP(&a.Quiet, "quiet", "q", false, "print nothing but errors")
	root.SetFlagErrorFunc(flagError)
	root.Flags().Bool("version", false, "print the version")
	root.Version = session.DescribeBuild(replay.ThisBuild())
	root.SetVersionTemplate(a.Name + " {{.Version}}\n")
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Errs)
	root.PersistentPreRunE = sparesServer
	root.RunE, root.Args = group((*cobra.Command).Help), cobra.ArbitraryArgs
	root.AddCommand(
		a.runCommand(), a.newCommand(), a.checkCommand(), a.scenariosCommand(),
		a.verifyCommand(), a.diffCommand(), a.bisectCommand(), a.synctestCommand(), a.auditCommand(),
		a.viewCommand(), a.seekCommand(), a.findCommand(), a.whyCommand(), a.forkCommand(), a.shrinkCommand(), a.inspectCommand(), a.playCommand(), a.exportCommand(),
		a.sweepCommand(), a.workerCommand(),
		a.serveCommand(), a.joinCommand(),
		a.indexCommand(), a.cutCommand(), a.recoverCommand(), a.convertCommand(), a.upgradeCommand(),
		a.schemaCommand(), a.versionCommand(), movedBench())
	if a.startServer != nil {
		root.AddCommand(a.natsCommand())
	}
	root.SetHelpCommand(helpCommand())
	addCompletion(root)
	rename(root, a.Name)
	checkGiven(root)
	groupCommands(root)
	a.completes(root)
	suggestible(root)
	return root
}

// rename lets examples call the program by its name.
func rename(c *cobra.Command, name string) {
	c.Example = commandLine.ReplaceAllString(c.Example, "${1}"+name+" ")
	for _, sub := range c.Commands() {
		rename(sub, name)
	}
}

// commandLine is the name in an example, where a command begins.
var commandLine = regexp.MustCompile(`(?m)(^  |\| |&& |\()murksim `)

// flagError says what is wrong with a flag, and what its values are.
func flagError(c *cobra.Command, err error) error {
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		f := missing.GetFlag()
		value, _ := pflag.UnquoteUsage(f)
		return report.Usage("--%s needs a value: --%[1]s %s\nSee: %s --help", f.Name, value, c.CommandPath())
	}
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		if text := goneFlag(c, err); text != "" {
			return report.Usage("%s", text)
		}
		return report.Usage("%s: %s%s\nSee: %s --help", c.CommandPath(), words.Clean(err.Error()), didYouMeanFlag(c, err), c.CommandPath())
	}
	switch {
	case errors.Is(err, errTwice):
		return report.Usage("--%s may be given once", bad.GetFlag().Name)
	case errors.Is(err, errEmpty):
		return report.Usage("--%s is empty; give it a value, or leave it out", bad.GetFlag().Name)
	}
	what := map[string]string{
		"uint":     "a whole number above 0",
		"uint64":   "a whole number above 0",
		"int":      "a whole number",
		"float64":  "a number",
		"duration": "a time such as 500ms or 2s",
		"period":   "a number of ticks above 0, or a time such as 500ms or 2s",
		"size":     "a size such as 512MiB or 4GB",
		"bool":     "true or false",
		"share":    "a share such as 5% or 0.05",
		"shard":    "a part such as 2/8",
		"which":    "all, failed, or a share such as 1%",
	}[bad.GetFlag().Value.Type()]
	switch name := bad.GetFlag().Name; {
	case name == "ticks":
		what = fmt.Sprintf("a whole number from 1 to %d", uint64(maxTicks))
	case name == "workers":
		what = fmt.Sprintf("1 to %d", engine.MaxWorkers)
	case name == "repeat":
		what = fmt.Sprintf("1 to %d", mostRepeats)
	case name == "from", name == "to", name == "tick" && c.Name() != "inspect": // where it may be 0
		what = "a whole number"
	}
	value := bad.GetValue()
	if _, err := strconv.ParseFloat(value, 64); err != nil { // a number needs no quotes
		value = strconv.Quote(value)
	}
	return report.Usage("--%s must be %s, not %s", bad.GetFlag().Name, what, value)
}

// group is the action of a command with subcommands: without an argument something of
// its own, with one the error that there is no such subcommand.
func group(otherwise func(*cobra.Command) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return otherwise(c)
		}
		return report.Usage("%s: unknown command %q%s\nSee: %s --help", c.CommandPath(), args[0], didYouMean(c, args[0]), c.CommandPath())
	}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		Example: "  murksim help run",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) (names []string, how cobra.ShellCompDirective) {
			if about, rest, err := c.Root().Find(args); err == nil && len(rest) == 0 {
				for _, sub := range about.Commands() {
					if sub.IsAvailableCommand() {
						names = append(names, sub.Name()+"\t"+sub.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			return group((*cobra.Command).Help)(about, rest)
		},
	}
}

// addCompletion adds cobra's completion command, with examples.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.RunE, c.Args, c.Example = group((*cobra.Command).Help), cobra.ArbitraryArgs, "  murksim completion bash --help"
		for _, shell := range c.Commands() {
			shell.Example = map[string]string{
				"bash":       "  source <(murksim completion bash)",
				"zsh":        "  source <(murksim completion zsh)",
				"fish":       "  murksim completion fish | source",
				"powershell": "  murksim completion powershell | Out-String | Invoke-Expression",
			}[shell.Name()]
			shell.Args = arguments(cobra.NoArgs, "no argument")
		}
	}
}

// plain removes the marks of help from a flag's description; completions show the text as it is.
func plain(c *cobra.Command) {
	for _, sub := range c.Commands() {
		plain(sub)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") })
}

func didYouMean(c *cobra.Command, name string) string {
	c.SuggestionsMinimumDistance = 2
	s := c.SuggestionsFor(name)
	if len(s) == 0 {
		return ""
	}
	best := []string{cmp.Or(document.Nearest(name, s), s[0])} // or the shortest of those that begin so
	for _, n := range s {
		switch shortest := best[0]; {
		case !strings.HasPrefix(n, name):
		case !strings.HasPrefix(shortest, name) || len(n) < len(shortest):
			best = []string{n}
		case len(n) == len(shortest) && n != shortest:
			best = append(best, n)
		}
	}
	for i := range best {
		best[i] = strconv.Quote(best[i])
	}
	return "; did you mean " + document.Alternatives(best) + "?"
}

// helpOfNothing returns an error if help is asked for an unknown command: cobra would show the program's help.
func helpOfNothing(root *cobra.Command, args []string) error {
	c, rest, err := root.Find(args)
	asked := slices.Contains(args, "--help") || slices.Contains(args, "-h")
	if err != nil || c != root || !asked || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil
	}
	return group((*cobra.Command).Help)(root, rest)
}

// didYouMeanFlag asks cobra as if flags were commands.
func didYouMeanFlag(c *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || len(unknown.GetSpecifiedName()) < 2 {
		return ""
	}
	var all cobra.Command
	c.Flags().VisitAll(func(f *pflag.Flag) {
		all.AddCommand(&cobra.Command{Use: "--" + f.Name, Run: func(*cobra.Command, []string) {}})
	})
	return didYouMean(&all, "--"+unknown.GetSpecifiedName())
}

// sparesServer refuses a database on a server where a file belongs, without saying its name, which may hold a password.
func sparesServer(c *cobra.Command, args []string) error {
	taken := []string{"audit", "bisect", "diff", "seek"}
	for top := c; top.HasParent(); top = top.Parent() {
		if slices.Contains(taken, top.Name()) {
			return nil
		}
	}
	if slices.ContainsFunc(args, store.IsServer) {
		return report.Usage("%s takes no database; %s do", c.CommandPath(), strings.Join(taken[:3], ", ")+" and "+taken[3])
	}
	return nil
}

// arguments is cobra's argument check with our exit status.
func arguments(check cobra.PositionalArgs, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n"); err != nil && len(args) == 0 && example != "" {
			return report.Usage("%s needs %s, as in: %s\nSee: %s --help", c.CommandPath(), what, example, c.CommandPath())
		}
		if err != nil {
			return report.Usage("%s takes %s, not %d%s\nSee: %s --help", c.CommandPath(), what, len(args), meant(c, args), c.CommandPath())
		}
		return nil
	}
}
