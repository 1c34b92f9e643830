package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
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

// A stopwatch measures the cost of what comes after it was started.
type stopwatch struct {
	start       time.Time
	cpu, waited time.Duration
}

func startWatch() stopwatch {
	waited := waitedTime()
	return stopwatch{cpu: cpuTime(), waited: waited, start: time.Now()}
}

// stop returns what it took since the start.
func (s *stopwatch) stop() cost {
	c := cost{wall: time.Since(s.start), cpu: cpuTime(), waited: -1}
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
