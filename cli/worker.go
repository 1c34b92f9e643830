package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/sweep"
	"github.com/murksim/murksim/sweep/cluster"
)

// A workerJob takes jobs of sweeps, as the flags ask for it.
type workerJob struct {
	*app
	nats      natsFlags
	cores     int
	idle      time.Duration
	maxMemory session.Size
	processes string
	done      atomic.Uint64
}

func (a *app) workerCommand() *cobra.Command {
	j := &workerJob{app: a, maxMemory: session.DefaultMaxMemory}
	c := &cobra.Command{
		Use:   "worker --nats URL",
		Short: "Run jobs for sweeps on other machines",
		Long: `Worker connects to NATS servers and runs jobs of all sweeps there (sweep --nats), one per
core, until Ctrl-C. It takes a job only if this program has every component of its world, in
the same version. Otherwise it says what is missing and leaves the job to others.

If the servers require a token, put it in a file (--token-file) or in the variable
MURKSIM_NATS_TOKEN. In a URL, as in nats://TOKEN@10.0.0.1:4222, other users of this computer
can see it.

A worker may be killed at any time: other workers run its jobs. While a server cannot be
reached, the worker keeps trying.`,
		Example: `  murksim worker --nats nats://10.0.0.1:4222
  murksim worker --nats tls://sweeps.example.org:4222 --nats-creds me.creds --workers 8
  murksim worker --nats nats://10.0.0.1:4222 --token-file token --idle 10m`,
		Args: arguments(cobra.NoArgs, "no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			given := c.Flags().Changed
			switch {
			case !given("nats"):
				return report.Usage("worker needs --nats, a URL such as nats://host:4222")
			case given("name") && (j.processes == "" || len(j.processes) > 100 || j.processes != words.Clean(j.processes) || strings.Contains(j.processes, "#")):
				return report.Usage("--name must be up to 100 characters that can be printed, without #, not %q", j.processes)
			case j.idle < 0:
				return report.Usage("--idle must not be below 0")
			}
			if err := j.nats.check(given); err != nil {
				return err
			}
			return j.run(c.Context())
		},
	}
	f := c.Flags()
	j.nats.flags(f)
	workersFlag(f, &j.cores, "jobs that run at the same time (default: one per core)")
	f.DurationVar(&j.idle, "idle", 0, "end after being idle for this long (default: never)")
	f.Var(&j.maxMemory, "max-memory", "memory of all jobs that run at the same time; a job whose world takes more than its part is not run")
	f.StringVar(&j.processes, "name", "", "the `name` of this worker in tables (default: its host and process)")
	return c
}

// A workerObject is what a worker says at its end, with --json.
type workerObject struct {
	Event string `json:"event"` // "worker"
	Name  string `json:"name"`
	Jobs  uint64 `json:"jobs"` // that it has done
}

func (j *workerJob) run(ctx context.Context) error {
	ctx, stop := j.untilSignal(ctx)
	defer stop()
	if j.cores == 0 {
		j.cores = min(runtime.GOMAXPROCS(0), engine.MaxWorkers)
	}
	name := j.processes
	if name == "" {
		name = sweep.Name()
	}
	err := cluster.Work(ctx, cluster.Worker{
		Options: j.nats.Options, Registry: j.Registry.Within(j.maxMemory.Share(uint64(j.cores)).Bytes), Cores: j.cores, Memory: j.maxMemory.Bytes, Build: buildName(), Name: name,
		Say: j.notice, Idle: j.idle, Done: func(rows int) { j.done.Add(uint64(rows)) },
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("worker %s: %w", name, err)
	}
	if err := j.Emit(workerObject{"worker", name, j.done.Load()}); err != nil {
		return err
	}
	return j.Say("worker    %s has done %s", name, words.Count(j.done.Load(), "job"))
}
