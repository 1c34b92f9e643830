package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/murksim/murksim/sweep/cluster"
)

// BenchmarkRun runs jobs of ten ticks of 16 cells by one worker with two cores, over a server within this process.
func BenchmarkRun(b *testing.B) {
	const jobs = 4000
	x := newBench(b, cluster.ServerConfig{})
	x.work("one", registry(b, false, 1))
	for b.Loop() {
		c, _ := x.sweep(jobs)
		if err := cluster.Run(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*jobs), "µs/job")
}

// BenchmarkWorkers runs jobs of some milliseconds by one worker and by two, each with one core, in turn, and says how much faster two are.
func BenchmarkWorkers(b *testing.B) {
	x := newBench(b, cluster.ServerConfig{})
	var took [2]time.Duration
	for b.Loop() {
		for i := range took {
			var stops []func()
			for n := range i + 1 {
				stops = append(stops, x.start(cluster.Worker{Registry: registry(b, false, 1), Cores: 1, Name: fmt.Sprintf("worker-%d", n)}))
			}
			c, _ := x.sweep(400, "ticks=5000")
			began := time.Now()
			if err := cluster.Run(b.Context(), c); err != nil {
				b.Fatal(err)
			}
			took[i] += time.Since(began)
			for _, stop := range stops {
				stop()
			}
		}
	}
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "times")
}

// BenchmarkFleet has 10, 100 and 1,000 workers of 16 cores each, whose jobs take ten seconds in which they sleep: so this machine carries what
// the coordinator and the server of so many machines have to do. It says which share of the time the workers work; two jobs a core take 20 s.
func BenchmarkFleet(b *testing.B) {
	const cores, takes, rounds = 16, 10 * time.Second, 2
	for _, machines := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("machines=%d", machines), func(b *testing.B) {
			x := newBench(b, cluster.ServerConfig{})
			sleepers := registryOf(b, truth{takes: takes}, 1)
			for i := range machines {
				x.start(cluster.Worker{Registry: sleepers, Cores: cores, Name: fmt.Sprintf("machine-%d", i)})
			}
			var took time.Duration
			for b.Loop() {
				c, _ := x.sweep(uint64(machines * cores * rounds))
				began := time.Now()
				if err := cluster.Run(b.Context(), c); err != nil {
					b.Fatal(err)
				}
				took += time.Since(began)
			}
			b.ReportMetric(float64(machines*cores*rounds*b.N)/took.Seconds(), "jobs/s")
			b.ReportMetric(100*float64(b.N)*(rounds*takes).Seconds()/took.Seconds(), "%busy")
		})
	}
}
