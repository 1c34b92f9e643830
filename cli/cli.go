// Package cli is murksim's command line as a library, a file a subcommand.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/metrics"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/sweep/cluster"
)

// A Program is murksim's command line with components of its own, which scenarios can
// name beside those that come with murksim. The zero Program is murksim itself.
type Program struct {
	Name       string                // as people call it; default murksim
	Components []scenarios.Component // with names of their own

	// Build builds the worlds of recordings and chains whose descriptor is no scenario, at genesis: those that the program makes in Go. It
	// must be for every header that the program wrote, and must bound the memory that it takes, as a header is untrusted. Of a chain the header has the seed
	// and the descriptor alone. The world may have names for people: [fields.Def.Unit], [fields.Def.Values] and [engine.Config.Kinds]. Nil: there are none.
	Build replay.Builder

	// Page is the import path of a command in the program's module that calls worker.Main of package view/worker with the same components and builder:
	// export lets Go build it for browsers, into pages that replay the program's recordings; where the program was built with -trimpath, in the module's folder. Empty: its pages have what comes with murksim alone.
	Page string

	// Server starts a server of NATS for sweeps on many machines; nil: the program has none. It is not a part of
	// every program because it is large.
	Server func(cluster.ServerConfig) (cluster.Server, error)

	embedded bool   // in another program, whose signals are not ours
	source   string // the folder of its main, if it is known
}

// Main runs the process's command line and ends the process with its exit status.
func Main(p Program) {
	ignoreBrokenPipes()
	session.ProgramID() // before another program is put in the place of this one
	if _, file, _, ok := runtime.Caller(1); ok {
		p.source = filepath.Dir(file) // relative after -trimpath
	}
	os.Exit(p.run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit status.
func (p Program) run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	stdout, stderr := report.NewOutput(out), report.NewOutput(errs)
	a, err := p.app(in, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return report.StatusError
	}
	defer a.endMetrics() // after an error was said
	root := a.root()
	if len(args) > 1 && (args[0] == "--help" || args[0] == "-h") { // before a command
		args = append(slices.Clone(args[1:]), args[0])
	}
	root.SetArgs(args)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		plain(root)
	}
	if err = helpOfNothing(root, args); err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err := stdout.Failed(); err != nil {
		if a.recording || !errors.Is(err, syscall.EPIPE) { // a user who pipes reports into head wants no more
			fmt.Fprintln(stderr, words.About("/dev/stdout", err))
		}
		return report.StatusError
	}
	if err == nil {
		return report.StatusOK
	}
	status := report.Exit(report.StatusError, err)
	if e, ok := errors.AsType[*report.Error](err); ok {
		status = e
	}
	if status.Err == nil {
		return status.Code
	}
	object := errorObject{Event: "error", Error: status.Err.Error()}
	fmt.Fprintln(stderr, words.CleanLines(status.Err.Error()))
	if p, ok := errors.AsType[*engine.PanicError](status.Err); ok {
		object.Stack = string(p.Stack)
		if at := p.Place(); at != "" {
			fmt.Fprintf(stderr, "  at %s; --json has the whole stack\n", words.CleanLines(at))
		}
	}
	if errors.Is(status.Err, engine.ErrArithmetic) {
		object.Code = engine.ErrArithmetic.Error()
	}
	if err := a.Result(object, false); err != nil {
		fmt.Fprintln(stderr, words.About("/dev/stdout", err))
	}
	return status.Code
}

// app returns what the subcommands of the program share.
func (p Program) app(in io.Reader, out, errs *report.Output) (a *app, err error) {
	a = &app{Session: &session.Session{Printer: &report.Printer{Out: out, Errs: errs}, Name: cmp.Or(p.Name, "murksim"), In: in, Build: p.Build}, startServer: p.Server, page: cmp.Or(p.Page, ourPage), source: p.source, stdout: out, embedded: p.embedded}
	if a.Registry, err = scenarios.NewRegistry(slices.Concat(worlds.Components(), p.Components)...); err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	return a, nil
}

// An app is what all subcommands share.
type app struct {
	*session.Session
	stdout *report.Output // also when out is not

	page, source string                                             // see [Program]
	startServer  func(cluster.ServerConfig) (cluster.Server, error) // nil: the program has none

	recording bool // standard output is a recording: no byte may be lost

	metrics       *metrics.Server // nil: none are served
	metricsLinger time.Duration   // after the end
	lingering     chan os.Signal  // that end it; nil: no goroutine listens yet
	interrupted   atomic.Bool     // by a signal
	embedded      bool            // see [Program.Call]
}
