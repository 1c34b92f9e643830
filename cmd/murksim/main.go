// Command murksim runs simulations headless, records them, and proves recordings.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

// Exit statuses.
const (
	statusOK       = 0
	statusError    = 1
	statusUsage    = 2
	statusDiverged = 3
	statusHalted   = 5 // 4 is for broken evidence
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is a write error like any other
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	stdout := &checkedWriter{w: out}
	a := &app{in: in, out: stdout, errs: errs, registry: worlds.Registry()}
	root := a.root()
	root.SetArgs(args)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		plain(root)
	}
	err := root.ExecuteContext(ctx)
	if stdout.err != nil {
		if a.recording || !errors.Is(stdout.err, syscall.EPIPE) { // who pipes reports into head wants no more
			fmt.Fprintln(errs, about("/dev/stdout", stdout.err))
		}
		return statusError
	}
	if err == nil {
		return statusOK
	}
	status := &exitError{code: statusError, err: err}
	if e, ok := errors.AsType[*exitError](err); ok {
		status = e
	}
	if status.err == nil {
		return status.code
	}
	fmt.Fprintln(errs, status.err)
	report := map[string]string{"event": "error", "error": status.err.Error()}
	if errors.Is(status.err, engine.ErrArithmetic) {
		report["code"] = engine.ErrArithmetic.Error()
	}
	if err := a.result(report, false); err != nil {
		fmt.Fprintln(errs, about("/dev/stdout", err))
	}
	return status.code
}

// A checkedWriter keeps the first error of writing, also for callers that drop it.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// An exitError is an error with an exit status; a nil err has been reported already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return fmt.Sprint(e.err) }
func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{statusUsage, fmt.Errorf(format, args...)}
}

// An app is what all subcommands share.
type app struct {
	in        io.Reader
	out, errs io.Writer
	json      bool
	quiet     bool
	registry  *scenarios.Registry
	recording bool // standard output is a recording, of which no byte may be lost
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "murksim",
		Short: "Run simulations headless, record them, and prove recordings",
		Long: `murksim runs a world in fixed timesteps and records every tick with its commands
and a hash of the state. Anyone can replay a recording and check every tick.

Exit status: 0 ok, 1 error, 2 usage, 3 a recording and its replay diverge, or
verify --complete misses ticks, 5 a run halted by an arithmetic fault.`,
		Example: `  murksim run heat
  murksim verify heat.murk
  murksim new mine && murksim run mine.yaml`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "one JSON object a line on standard output")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "print nothing but errors")
	root.SetFlagErrorFunc(flagError)
	root.Flags().Bool("version", false, "print the version")
	root.Version = describe(replay.ThisBuild())
	root.SetVersionTemplate("murksim {{.Version}}\n")
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errs)
	root.RunE, root.Args = group((*cobra.Command).Help), cobra.ArbitraryArgs
	root.AddCommand(a.runCommand(), a.verifyCommand(), a.inspectCommand(), a.convertCommand(), a.upgradeCommand(),
		a.benchCommand(), a.scenariosCommand(), a.newCommand(), a.versionCommand())
	root.SetHelpCommand(helpCommand())
	addCompletion(root)
	return root
}

var badFlag = regexp.MustCompile(`for "(?:-., )?--([a-z-]+)" flag: `)

// flagError says what is wrong with a flag, and what its values are.
func flagError(c *cobra.Command, err error) error {
	bad, ok := err.(interface{ GetValue() string })
	name := badFlag.FindStringSubmatch(err.Error())
	if !ok || name == nil {
		return usage("%s: %v%s\nSee: %s --help", c.CommandPath(), err, didYouMeanFlag(c, err), c.CommandPath())
	}
	what := map[string]string{
		"uint":     "a whole number above 0",
		"uint64":   "a whole number above 0",
		"int":      fmt.Sprintf("1 to %d", engine.MaxWorkers),
		"float64":  "a number",
		"duration": "a time such as 500ms or 2s",
		"size":     "a size such as 512MiB or 4GB",
		"bool":     "true or false",
	}[c.Flag(name[1]).Value.Type()]
	return usage("--%s is %q; it is %s", name[1], bad.GetValue(), what)
}

// group is what a command with subcommands does: without an argument something of
// its own, with one complain that there is no such subcommand.
func group(otherwise func(*cobra.Command) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return otherwise(c)
		}
		return usage("%s: unknown command %q%s\nSee: %s --help", c.CommandPath(), args[0], didYouMean(c, args[0]), c.CommandPath())
	}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		Example: "  murksim help run",
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

// plain takes the marks of help out of what flags are for; completions show it as it is.
func plain(c *cobra.Command) {
	for _, sub := range c.Commands() {
		plain(sub)
	}
	for _, name := range []string{"output", "hashes", "seed", "set", "state", "save-state"} {
		if f := c.Flags().Lookup(name); f != nil {
			f.Usage = strings.ReplaceAll(f.Usage, "`", "")
		}
	}
}

func didYouMean(c *cobra.Command, name string) string {
	c.SuggestionsMinimumDistance = 2
	s := c.SuggestionsFor(name)
	if len(s) == 0 {
		return ""
	}
	best := max(0, slices.IndexFunc(s, func(s string) bool { return strings.HasPrefix(s, name) }))
	return fmt.Sprintf("; did you mean %q?", s[best])
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

// arguments is cobra's argument check with our exit status.
func arguments(check cobra.PositionalArgs, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usage("%s takes %s, not %d\nSee: %s --help", c.CommandPath(), what, len(args), c.CommandPath())
		}
		return nil
	}
}
