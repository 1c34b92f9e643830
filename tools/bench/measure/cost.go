package measure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/murksim/murksim/internal/cputime"
)

// A cost is what some work took. Cpu and waited add up all threads of the process.
type cost struct {
	wall   time.Duration
	cpu    time.Duration // of the processor; below 0: not known
	waited time.Duration // in which threads could run, but had no core; below 0: not known
	sleeps bool          // whether the work waits for other things, too, such as a clock or its other threads
}

// share returns which part of the processor time that the work could have used it got, at most 1.
// It reports whether that is known.
func (c *cost) share() (part float64, known bool) {
	wanted := c.wall // work on one core that never sleeps could use all the time
	if c.sleeps {
		if c.waited < 0 {
			return 0, false
		}
		wanted = c.cpu + c.waited
	}
	if c.cpu < 0 || wanted <= 0 {
		return 0, false
	}
	return min(1, float64(c.cpu)/float64(wanted)), true
}

// enough is the share of the processor below which a contender is starved.
const enough = 0.9

// Usage is what the rounds of a contender took; a rival may be several contenders.
type Usage struct {
	Wall  time.Duration
	CPU   time.Duration // of the processor
	Share float64       // of the processor time that it could have used: the median of its rounds
	Known bool          // whether CPU and Share are
}

// use adds up what contenders took in the rounds.
func use(rounds [][]cost) Usage {
	var u Usage
	var shares []float64
	for _, costs := range rounds {
		least := 1.0
		for i := range costs {
			part, known := costs[i].share()
			if !known {
				return Usage{}
			}
			least = min(least, part)
			u.Wall += costs[i].wall
			u.CPU += costs[i].cpu
		}
		if len(costs) > 0 {
			shares = append(shares, least)
		}
	}
	if u.Known = len(shares) > 0; u.Known {
		u.Share = median(shares)
	}
	return u
}

// weigh looks at what the processor gave to the contenders. A row of which most rounds were
// starved has no other verdict, unless it is hardy, or is no ratio and its floor holds even so.
func (r *Result) weigh(rounds [][]cost, hardy bool) {
	ours, rivals := make([][]cost, len(rounds)), make([][]cost, len(rounds))
	least := 1.0
	for i, costs := range rounds {
		ours[i], rivals[i] = costs[:1], costs[1:]
		starved := false
		for k := range costs {
			if part, known := costs[k].share(); known && part < enough {
				starved, least = true, min(least, part)
			}
		}
		if starved {
			r.StarvedRounds++
		}
	}
	r.Used, r.RivalUsed = use(ours), use(rivals)
	if 2*r.StarvedRounds > len(rounds) && !hardy && (r.Versus != "" || r.Verdict == Missed) {
		r.Verdict = Starved
		r.Reason = fmt.Sprintf("in %d of %d rounds a contender got less than %.0f %% of the processor, at worst %.0f %%",
			r.StarvedRounds, len(rounds), 100*enough, 100*least)
	}
}

// A stopwatch measures the cost of what comes after it was started.
type stopwatch struct {
	start       time.Time
	cpu, waited time.Duration
}

func startWatch() stopwatch {
	waited := waitedTime()
	return stopwatch{cpu: cputime.Taken(), waited: waited, start: time.Now()}
}

// stop returns what it took since the start.
func (s *stopwatch) stop() cost {
	c := cost{wall: time.Since(s.start), cpu: cputime.Taken(), waited: -1}
	if c.cpu >= 0 {
		c.cpu -= s.cpu
	}
	if waited := waitedTime(); waited >= 0 && s.waited >= 0 {
		c.waited = max(0, waited-s.waited) // a thread that has ended takes its time with it
	}
	return c
}

// waitedTime returns how long the threads of this process have waited for a core. It is below 0
// where the system does not tell, as all but Linux.
func waitedTime() (total time.Duration) {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		numbers := bytes.Fields(text) // time on a core, time waiting for one, slices
		if len(numbers) < 3 {
			return -1
		}
		waited, err := strconv.ParseInt(string(numbers[1]), 10, 64)
		if err != nil {
			return -1
		}
		total += time.Duration(waited)
	}
	if len(files) == 0 {
		return -1
	}
	return total
}
