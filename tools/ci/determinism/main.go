// Command determinism runs scenarios in many ways and compares all their hashes, tick by
// tick and field by field: with several numbers of workers, on other processors, or from
// saved states. Runs are those of murksim, or of processes of this program.
//
// tools/ci/verify_determinism.sh calls it with the folder of the repository and its own
// arguments. Exit status: 0 all equal, 1 something differs or is missing, 2 usage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `usage: tools/ci/verify_determinism.sh [--ticks N] [--self-test] [--update] [SCENARIO...]
       tools/ci/verify_determinism.sh --arch LIST [--ticks N] [--self-test] [SCENARIO...]
       tools/ci/verify_determinism.sh --resume [--every N] [--ticks N] [--self-test] [SCENARIO...]

  --ticks N     ticks to run (default 1000, with --resume 200; final hashes of the scenarios
                that come with murksim are compared at 1000 only)
  --self-test   plant a nondeterminism and check that it is caught
  --update      write the final hashes to tools/ci/golden_hashes.tsv
  --arch LIST   compare processors: some of arm64,riscv64,s390x,ppc64le,386,wasm,windows, or all;
                1, 2 and 8 workers, GOAMD64=v1 and v3 and the race detector come along.
                All but 386 are emulated (qemu-user-static, nodejs, wine64)
  --resume      save each scenario at every tick (with --every, every so many), and go on
                from each state in a process of its own
  SCENARIO...   which scenarios: names of those that come with murksim (default: all), or
                files of your own

Exit status: 0 all equal, 1 something differs or is missing, 2 usage.
`

func main() {
	if len(os.Args) == 2 && os.Args[1] == childArgument {
		waitForInput()
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: determinism ROOT [ARGUMENT...]")
		os.Exit(2)
	}
	o, err := parse(os.Args[1], os.Args[2:])
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v\n\n%s", err, usage)
		os.Exit(2)
	}
	if o.scenarios, err = scenariosOf(o.scenarios); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := o.run(); err != nil {
		if err != errShown {
			fmt.Fprintln(os.Stderr, "FAIL:", err)
		}
		os.Exit(1)
	}
}

// errShown ends a comparison that has printed what is wrong.
var errShown = errors.New("see above")

// An options holds what the arguments say.
type options struct {
	root                     string // of the repository
	ticks, every             uint64
	environments             []*environment // nil without --arch
	resume, selfTest, update bool
	scenarios                []string
}

// parse reads the arguments of the script; scenarios and flags may stand in any order.
func parse(root string, args []string) (*options, error) {
	o := &options{root: root}
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Uint64Var(&o.ticks, "ticks", 1000, "")
	f.Uint64Var(&o.every, "every", 1, "")
	arch := f.String("arch", "", "")
	f.BoolVar(&o.resume, "resume", false, "")
	f.BoolVar(&o.selfTest, "self-test", false, "")
	f.BoolVar(&o.update, "update", false, "")
	for len(args) > 0 {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if args = f.Args(); len(args) > 0 {
			o.scenarios, args = append(o.scenarios, args[0]), args[1:]
		}
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if o.resume && !given["ticks"] {
		o.ticks = 200
	}
	if err := o.check(given); err != nil {
		return nil, err
	}
	var err error
	if given["arch"] {
		o.environments, err = choose(root, *arch)
	}
	return o, err
}

func (o *options) check(given map[string]bool) error {
	modes := 0
	for _, mode := range []string{"arch", "resume", "update"} {
		if given[mode] {
			modes++
		}
	}
	switch {
	case modes > 1:
		return errors.New("--arch, --resume and --update exclude each other")
	case given["every"] && !o.resume:
		return errors.New("--every is for --resume")
	case o.ticks == 0 || o.every == 0:
		return errors.New("--ticks and --every must be above 0")
	case given["arch"] && o.ticks < 2:
		return errors.New("--ticks must be above 1 with --arch")
	}
	return nil
}

// run does what the options say.
func (o *options) run() error {
	dir, err := os.MkdirTemp("", "determinism")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	builder := builder{root: o.root, dir: dir}
	switch {
	case o.environments != nil:
		m := &matrix{builder: builder, environments: o.environments, scenarios: o.scenarios, ticks: o.ticks, planted: o.selfTest}
		return m.run()
	case o.resume:
		r := &resumption{dir: dir, scenarios: o.scenarios, ticks: o.ticks, every: o.every, hidden: o.selfTest}
		return r.run()
	case o.selfTest:
		return catchOrder()
	default:
		golden, err := readGolden(o.root)
		if err != nil {
			return err
		}
		w := &workersCheck{builder: builder, scenarios: o.scenarios, ticks: o.ticks, golden: golden, update: o.update}
		return w.run()
	}
}
