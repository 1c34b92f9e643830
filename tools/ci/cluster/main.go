// Command cluster sweeps on three hosts, network namespaces of this computer that a bridge joins, with real
// processes: a server and two workers on each, and the coordinator on the first. Meanwhile it kills them, cuts them
// off and fills their disks. At the end every job must have one row, equal to that of a run without all this.
//
// It is called by tools/ci/cluster.sh, in a network and a mount namespace of its own, so that all it
// makes is gone with its last process. Exit status: 0 all is as it should be, 1 something is not, 2 usage.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	s := &settings{}
	flag.StringVar(&s.murksim, "murksim", "", "the `program` of coordinator and workers")
	flag.StringVar(&s.server, "cluster", "", "the `program` of the servers")
	flag.StringVar(&s.dir, "dir", "", "an empty `folder`")
	flag.IntVar(&s.jobs, "jobs", 10_000, "of the sweep")
	flag.DurationVar(&s.work, "work", 100*time.Second, "about how long the jobs take without faults")
	flag.DurationVar(&s.cut, "cut", 30*time.Second, "how long a host is cut off")
	flag.IntVar(&s.rounds, "rounds", 3, "how often most faults come")
	flag.DurationVar(&s.most, "most", time.Hour, "give up after so long")
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().Unix()), "of the order of the faults, and of whom they hit")
	flag.StringVar(&s.only, "only", "", "make only the faults whose name has this `text`")
	million := flag.Bool("million", false, "sweep 1,000,000 empty worlds instead, on one host without faults")
	flag.Parse()
	if flag.NArg() > 0 || s.murksim == "" || s.server == "" || s.dir == "" || s.jobs < 100 || s.rounds < 1 {
		fmt.Fprintln(os.Stderr, "cluster: --murksim, --cluster and --dir are needed; --jobs is 100 or more, --rounds 1 or more")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := s.threeHosts
	if *million {
		run = s.millions
	}
	if err := run(ctx); err != nil {
		fmt.Println("FAIL:", err)
		os.Exit(1)
	}
}

// settings say what to do.
type settings struct {
	murksim, server string
	dir             string
	jobs            int
	work, cut, most time.Duration
	rounds          int
	seed            uint64
	only            string
}

// threeHosts is the sweep with faults.
func (s *settings) threeHosts(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.most)
	defer cancel()
	fmt.Printf("seed %d\n", s.seed)
	r := &rig{settings: s, rng: rand.New(rand.NewPCG(s.seed, 1)), processes: map[string]*process{}, peaks: map[string]uint64{}}
	defer r.end()
	if err := r.network(ctx); err != nil {
		return err
	}
	if err := r.calibrate(ctx); err != nil {
		return err
	}
	if err := r.start(ctx); err != nil {
		return r.explain(err)
	}
	err := r.torment(ctx)
	if err == nil {
		err = r.finish(ctx)
	}
	r.print()
	if err == nil {
		err = r.judge()
	}
	if err != nil {
		return r.explain(err)
	}
	fmt.Printf("every one of %d jobs has one row, equal to that of a run on one host\n", s.jobs)
	return nil
}

// calibrate makes the jobs so long that they take the time wanted, on whatever computer.
func (r *rig) calibrate(ctx context.Context) error {
	const ticks, jobs = 100, 200
	if err := os.WriteFile(r.scenario(), []byte(pond), 0o666); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, r.murksim, "sweep", r.scenario(), "--seeds", fmt.Sprint("1..", jobs), "--ticks", fmt.Sprint(ticks), "--recheck", "0", "-o", filepath.Join(r.dir, "calibration"))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	each := c.ProcessState.UserTime() / jobs // of a core, however busy the computer is
	all := r.work * time.Duration(r.cores()) / time.Duration(r.jobs)
	r.ticks = max(20, min(int(ticks*all/each), 20_000))
	fmt.Printf("%d jobs of %d ticks\n", r.jobs, r.ticks)
	return nil
}

// pond is a world that is small but not empty.
const pond = `murksim: 1
name: pond
ticks: 100
space: {kind: square4, rows: 64, cols: 64, edge: wrap}
fields:
  - {name: heat, initial: {noise: {from: 0, to: 1}}, min: -100, max: 100}
propagators:
  - diffusion: {field: heat, rate: 1}
  - noise: {field: heat, scale: 0.5}
probes:
  - {name: first, field: heat, cell: [0, 0]}
`
