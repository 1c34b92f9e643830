// Command model runs an epidemic many times, on all cores, and prints the means of the runs as CSV. It needs no scenario and no other
// program.
//
//	go run . -replicas 32 -beta 0.3 > epidemic.csv
//	go run . -side 41 -ticks 100 -record testdata/epidemic.murk
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

func main() {
	log.SetFlags(0)
	var m Model
	flag.IntVar(&m.Side, "side", 101, "rows and columns of people")
	flag.Float64Var(&m.Beta, "beta", 0.3, "probability that an infected person infects a neighbour in a tick")
	flag.Float64Var(&m.Gamma, "gamma", 0.1, "probability that an infected person recovers in a tick")
	seed := flag.Uint64("seed", 1, "of the first replica; the next one has the next seed")
	replicas := flag.Int("replicas", 8, "how many")
	ticks := flag.Int("ticks", 200, "how many")
	record := flag.String("record", "", "a file for the recording of the first replica")
	flag.Parse()
	worlds := []*engine.World{must(m.World(*seed))}
	for i := 1; i < *replicas; i++ {
		worlds = append(worlds, must(m.World(*seed+uint64(i))))
	}
	end := func() error { return nil }
	if *record != "" {
		f := must(os.Create(*record))
		r := must(replay.NewRecorder(f, worlds[0], must(m.Descriptor())))
		worlds[0].Record(r)
		end = func() error { return errors.Join(r.Flush(), f.Close()) }
	}
	batch := must(engine.NewBatch(worlds, runtime.GOMAXPROCS(0)))
	check(errors.Join(table(batch, *ticks), end()))
}

// table runs the worlds and prints a line for every ten ticks: the means of all of them.
func table(batch *engine.Batch, ticks int) error {
	fmt.Println("tick,susceptible,infected,recovered")
	for tick := 0; tick <= ticks; tick += 10 {
		if tick > 0 {
			if _, err := batch.Run(10); err != nil {
				return err
			}
		}
		var sums [3]float64
		for _, w := range batch.Worlds() {
			for sort, people := range Count(w) {
				sums[sort] += float64(people)
			}
		}
		n := float64(len(batch.Worlds()))
		fmt.Printf("%d,%.1f,%.1f,%.1f\n", tick, sums[Susceptible]/n, sums[Infected]/n, sums[Recovered]/n)
	}
	return nil
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
