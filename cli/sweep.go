package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
	"github.com/murksim/murksim/sweep"
)

// A sweepJob runs a scenario many times, as the flags ask for it.
type sweepJob struct {
	*app
	output    string
	seeds     string
	sets      []string
	ticks     uint64
	random    int
	latin     int
	drawSeed  uint64
	exclude   []string
	stats     []string
	digest    bool
	workers   int
	timeLimit time.Duration
	maxMemory session.Size
	recheck   shareFlag
	keep      keepFlag
	keepAs    string // "recording" or "state"
	shard     shardFlag
	keepGoing bool
	extend    bool
	retry     []string // statuses
	dryRun    bool
	nats      natsFlags
	listen    string // of --serve
	server    serverFlags
	measuring measuring

	file      string         // of the design; "": it is made of flags
	root      *document.Node // of the design
	design    sweep.Design
	plan      *sweep.Plan
	scenario  *scenarios.Scenario // without the design's values
	template  *yaml.Template
	journal   *sweep.Journal
	progress  *sweepProgress
	before    int // jobs that were done when this process began
	rechecked int // likewise
}

func (a *app) sweepCommand() *cobra.Command {
	j := &sweepJob{app: a, maxMemory: session.DefaultMaxMemory, recheck: shareFlag{0.01, "1%"}}
	c := &cobra.Command{
		Use:   "sweep SCENARIO|DESIGN",
		Short: "Run a scenario many times, with different seeds and values",
		Long:  aboutSweep,
		Example: `  murksim sweep heat --seeds 1..100 --set propagators.diffusion.rate=0.5,1,2 -o out/
  murksim sweep heat --latin 200 --set propagators.diffusion.rate=0.1..2.0
  murksim sweep predators --seeds 1..50 --ticks 500 --keep failed
  murksim sweep design.yaml -o out/
  murksim sweep heat --seeds 1..100 --shard 2/8 -o part-2/
  murksim sweep heat --seeds 1..10000 --nats nats://10.0.0.1:4222 -o out/
  murksim sweep show out/
  murksim sweep plot out/ -o picture.svg
  murksim view out/`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 { // the first may be a subcommand, mistyped
				if mean := didYouMean(c, args[0]); mean != "" {
					return report.Usage("%s: unknown command %q%s\nSee: %s --help", c.CommandPath(), args[0], mean, c.CommandPath())
				}
			}
			return arguments(cobra.ExactArgs(1), "one scenario or design")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := j.check(c.Flags().Changed); err != nil {
				return err
			}
			return j.run(c.Context(), args[0], c.Flags().Changed)
		},
	}
	j.flags(c.Flags())
	c.AddCommand(a.sweepShowCommand(), a.sweepMergeCommand(), a.sweepPlotCommand())
	return c
}

const aboutSweep = `Sweep runs a scenario once for each combination of values and seeds, on all cores, and
writes a table with a row for each job: its values, how it ended, the final hash, and what
its fields hold at the end. Flags, or a design in a YAML file (see docs/SWEEP.md), say what
varies:

  --set PATH=0.5,1,2        each of these, with each value of the other --set
  --set PATH=1..10          whole numbers; 0..1/0.1 are numbers with a step between them
  --set PATH=0.1..2.0       any number between, with --random or --latin
  --set 'PATH=log 0.01..10' likewise, as many of each power of ten
  --seeds 1..100            each combination with each of these seeds

The folder has results.csv and results.parquet, which are rewritten now and then during the
sweep, and the journal, which has every finished job. If a sweep is killed at any moment,
the same command continues it. Command view shows a sweep in the browser while it runs.

A job that fails, or takes too much memory or time, gets a row that says so, and the others
continue. A share of the jobs, --recheck, is run again by another worker. If one gives
another result, a computer is broken or a component is not deterministic, and the sweep
ends.

Exit status: 0 all jobs are ok, 1 some are not (or an error), 3 a job gave another result
when it was run again.`

func (j *sweepJob) flags(f *pflag.FlagSet) {
	f.StringVarP(&j.output, "output", "o", "", "the `folder` of the table and the journal (default: such as heat-sweep, by the scenario or the design)")
	f.StringVar(&j.seeds, "seeds", "", "`seeds` such as 1..100 or 1,7,42 (default: the scenario's own)")
	f.StringArrayVar(&j.sets, "set", nil, "replace a value of the scenario, as in `path=values`; can be repeated")
	ticksFlag(f, &j.ticks, "how many ticks each job runs (default: the scenario's)")
	f.IntVar(&j.random, "random", 0, "draw so many `samples` of the values instead of all combinations")
	f.IntVar(&j.latin, "latin", 0, "draw so many `samples`, a Latin hypercube")
	f.Uint64Var(&j.drawSeed, "sample-seed", 0, "`seed` of --random and --latin")
	f.StringArrayVar(&j.exclude, "exclude", nil, "leave out combinations for which a `condition` holds, as in \"space.rows > 64 and space.cols < 8\"; can be repeated")
	f.StringSliceVar(&j.stats, "stats", nil, "statistics of these `fields` (default all), or none")
	f.BoolVar(&j.digest, "digest", false, "note the digest of each run, too; this hashes every tick")
	workersFlag(f, &j.workers, "jobs that run at the same time (default: one per core)")
	f.DurationVar(&j.timeLimit, "time-limit", 0, "end a job that takes longer, such as 30s or 10m (default: none)")
	f.Var(&j.maxMemory, "max-memory", "memory of all jobs that run at the same time; a job whose world takes more than its part is not run")
	f.Var(&j.recheck, "recheck", "`share` of the jobs that are run again by another worker, such as 5% or 0")
	f.Var(&j.keep, "keep", "keep recordings of `which` jobs: all, failed, or a share such as 1%")
	f.StringVar(&j.keepAs, "keep-as", "recording", "`what` --keep keeps: recording, or state for the last state")
	f.Var(&j.shard, "shard", "run a `part` of the jobs: 2/8 is every eighth from the second on; see sweep merge")
	f.BoolVar(&j.keepGoing, "keep-going", false, "continue even if a job gives another result when it is run again")
	f.BoolVar(&j.extend, "extend", false, "give the sweep in the folder this design, and keep the jobs that are already done")
	f.StringSliceVar(&j.retry, "retry", nil, "run jobs again that ended with a `status`, such as time or memory")
	j.measuring.flags(f)
	j.nats.flags(f)
	f.StringVar(&j.listen, "serve", "", "serve workers at an `address` and port; without an address, as in :4222, only those of this computer")
	f.Lookup("token-file").Usage += "; with --serve it is the one that workers must know"
	j.server.flags(f)
	f.BoolVar(&j.dryRun, "dry-run", false, "list the jobs and run none")
}

// check looks at the flags together.
func (j *sweepJob) check(given func(string) bool) error {
	switch {
	case given("random") && given("latin"):
		return report.Usage("--random and --latin cannot be used together")
	case given("random") && j.random < 1, given("latin") && j.latin < 1:
		return report.Usage("--random and --latin must be a number of samples above 0")
	case given("sample-seed") && !given("random") && !given("latin"):
		return report.Usage("--sample-seed needs --random or --latin")
	case j.keepAs != "recording" && j.keepAs != "state":
		return report.Usage("--keep-as must be recording or state, not %q", j.keepAs)
	case given("keep-as") && !given("keep"):
		return report.Usage("--keep-as needs --keep, which says of which jobs")
	case j.timeLimit < 0 || given("time-limit") && j.timeLimit == 0:
		return report.Usage("--time-limit must be longer than 0, not %v", j.timeLimit)
	}
	trim(j.stats)
	trim(j.retry)
	for _, status := range j.retry {
		if !slices.Contains(sweep.Statuses(), sweep.Status(status)) || status == string(sweep.Equal) {
			return report.Usage("--retry must be statuses, which are ok, failed, halted, panic, memory, time and error, not %q", status)
		}
	}
	if j.workers == 0 {
		j.workers = min(runtime.GOMAXPROCS(0), engine.MaxWorkers)
	}
	return cmp.Or(j.checkCluster(given), j.checkNATS(given), j.measuring.check(given))
}

// checkCluster looks at the flags about other machines.
func (j *sweepJob) checkCluster(given func(string) bool) error {
	switch {
	case given("serve") && given("nats"):
		return report.Usage("--serve and --nats cannot be used together: a sweep has servers elsewhere, or one of its own")
	case (given("serve") || given("nats")) && given("workers"):
		return report.Usage("--workers is for jobs on this computer; others say how many they run at a time (worker --workers)")
	case given("serve"):
		j.server.tokenFile = j.nats.tokenFile
		return listenAddress("serve", "10.0.0.1:4222", &j.listen)
	}
	for _, flag := range []string{"tls-cert", "tls-key", "tls-ca"} {
		if given(flag) {
			return report.Usage("--%s needs --serve", flag)
		}
	}
	return nil
}

// checkNATS looks at the flags about servers elsewhere. With --serve the token is that of the server, which tells it to this process.
func (j *sweepJob) checkNATS(given func(string) bool) error {
	if given("token-file") && !given("serve") && !given("nats") {
		return report.Usage("--token-file needs --serve or --nats")
	}
	return j.nats.check(func(flag string) bool { return given(flag) && (flag != "token-file" || !given("serve")) })
}

// load reads the design, or makes one of the flags, and the scenario.
func (j *sweepJob) load(name string, given func(string) bool) error {
	d, err := j.readDesign(name)
	if err != nil {
		return err
	}
	if d == nil {
		d = &sweep.Document{Design: sweep.Design{Scenario: name}}
		if err := j.flagged(&d.Design); err != nil {
			return err
		}
	} else {
		j.file = name
		for _, flag := range []string{"seeds", "set", "ticks", "random", "latin", "sample-seed", "exclude"} {
			if given(flag) {
				return report.Usage("%s is a design, which says what the jobs are; --%s cannot change it", document.FileName(name), flag)
			}
		}
		if !worlds.IsEmbedded(d.Scenario) && !filepath.IsAbs(d.Scenario) {
			d.Scenario = filepath.Join(filepath.Dir(name), d.Scenario)
		}
	}
	if !given("stats") && d.Stats != nil {
		j.stats = d.Stats
	}
	j.design = d.Design
	if j.plan, err = j.design.Plan(); err != nil {
		return report.Usage("%w", err)
	}
	if j.template, err = j.app.Template(j.design.Scenario, j.maxMemory); err != nil {
		return err
	}
	j.scenario, err = j.template.With()
	return err
}

// readDesign reads a file if it is a design; nil: it is not one.
func (j *sweepJob) readDesign(name string) (*sweep.Document, error) {
	if name == "-" || worlds.IsEmbedded(name) {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil // reading it as a scenario gives a better error
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	b, err := document.ReadAll(name, f)
	if err != nil {
		return nil, nil
	}
	root, err := yaml.Document(name, b)
	if err != nil || !sweep.IsDesign(root) {
		return nil, nil
	}
	j.root = root
	return sweep.ReadDesign(root)
}

// flagged makes a design of the flags.
func (j *sweepJob) flagged(d *sweep.Design) (err error) {
	d.Ticks, d.Exclude = j.ticks, j.exclude
	if j.seeds != "" {
		if d.Seeds, err = sweep.ParseSeeds(j.seeds); err != nil {
			return report.Usage("--seeds: %w", err)
		}
	}
	for _, text := range j.sets {
		a, err := sweep.ParseAxis(text)
		if err != nil {
			return report.Usage("--set: %w", err)
		}
		d.Axes = append(d.Axes, a)
	}
	switch {
	case j.random > 0:
		d.Sampling = sweep.Sampling{Kind: sweep.Random, Count: j.random, Seed: j.drawSeed}
	case j.latin > 0:
		d.Sampling = sweep.Sampling{Kind: sweep.Latin, Count: j.latin, Seed: j.drawSeed}
	}
	return nil
}

// make makes the scenario of a job.
func (j *sweepJob) make(sets []string) (*scenarios.Scenario, error) { return j.template.With(sets...) }

// tryFirst makes the scenario of the first job: what is wrong with a path is wrong with all.
func (j *sweepJob) tryFirst() error {
	p := j.plan.Point(0)
	_, err := j.make(j.plan.Sets(p))
	if e, ok := errors.AsType[*document.Error](err); ok && e.File == "--set" {
		if j.root != nil {
			return sweep.Blame(j.root, e)
		}
		return report.Usage("%w", err)
	}
	if i, k, ok := j.template.Twice(j.plan.Paths); ok { // the first one would change nothing
		return report.Usage("%s and %s lead to one value", j.plan.Paths[i], j.plan.Paths[k])
	}
	return nil // others may be right
}

// folder is where the sweep writes.
func (j *sweepJob) folder() string {
	name := j.scenario.Name
	if j.file != "" {
		name = strings.TrimSuffix(filepath.Base(j.file), filepath.Ext(j.file))
	}
	return cmp.Or(j.output, name+"-sweep")
}

// A shareFlag is a part of all jobs.
type shareFlag struct {
	share float64
	text  string
}

func (s *shareFlag) String() string { return s.text }

// Set implements [pflag.Value].
func (s *shareFlag) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return errors.New("no share")
	}
	*s = shareFlag{v, text}
	return nil
}

// Type implements [pflag.Value].
func (s *shareFlag) Type() string { return "share" }

// A keepFlag selects the jobs whose recordings or states are kept.
type keepFlag struct {
	failed bool
	share  shareFlag
}

func (k *keepFlag) String() string {
	if k.failed {
		return "failed"
	}
	return k.share.text
}

// Set implements [pflag.Value].
func (k *keepFlag) Set(text string) error {
	switch text {
	case "all":
		*k = keepFlag{share: shareFlag{1, text}}
		return nil
	case "failed":
		*k = keepFlag{failed: true}
		return nil
	}
	return k.share.Set(text)
}

// Type implements [pflag.Value].
func (k *keepFlag) Type() string { return "which" }

// A shardFlag is a part of a sweep, as in 2/8.
type shardFlag struct{ sweep.Shard }

func (s *shardFlag) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Set implements [pflag.Value].
func (s *shardFlag) Set(text string) error {
	a, b, _ := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(a)
	of, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || index < 1 || index > of || of > sweep.MaxJobs {
		return errors.New("no shard")
	}
	s.Shard = sweep.Shard{Index: index, Of: of}
	return nil
}

// Type implements [pflag.Value].
func (s *shardFlag) Type() string { return "shard" }

// run carries out the sweep.
func (j *sweepJob) run(ctx context.Context, name string, given func(string) bool) error {
	if err := j.load(name, given); err != nil {
		return err
	}
	if err := j.tryFirst(); err != nil {
		return err
	}
	if j.dryRun {
		return j.list()
	}
	ctx, stop := j.untilSignal(ctx)
	defer stop()
	return j.carryOut(ctx)
}
