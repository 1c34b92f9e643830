// Command torture does to recordings what machines do: it kills the processes that write
// them, lets the file system under them fail, and damages every bit of them. Whatever is left
// must never give a wrong tick for a right one, and must have every tick that was reported to
// be safe on the disk.
//
// It is called by tools/ci/torture.sh, in the root of the module. Exit status: 0 nothing was
// wrong or lost, 1 something was, 2 usage.
package main

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"time"
)

func main() {
	program := flag.String("murksim", "", "the `program` whose processes are killed")
	kills := flag.Int("kills", 1000, "kill so many processes")
	points := flag.Int("points", 100_000, "crash a file system at so many points")
	flips := flag.Int("flips", 1, "flip one in so many bits")
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "of all that is random")
	flag.Parse()
	if flag.NArg() > 0 || *kills > 0 && *program == "" || *flips < 1 {
		fmt.Fprintln(os.Stderr, "torture: --murksim names a program, --flips is 1 or more")
		os.Exit(2)
	}
	fmt.Printf("seed %d\n", *seed)
	bad := 0
	for _, part := range []struct {
		name string
		run  func(*table) error
	}{
		{"kills", func(t *table) error { return kill(t, *program, *kills, *seed) }},
		{"crashes of a failing file system", func(t *table) error { return crashes(t, *points, *seed) }},
		{"truncations and flipped bits", func(t *table) error { return damage(t, *flips, *seed) }},
	} {
		began, t := time.Now(), &table{rows: map[string]int{}}
		err := part.run(t)
		t.print(part.name, time.Since(began))
		if err != nil {
			fmt.Println("FAIL:", err)
			bad++
		}
	}
	if bad > 0 {
		os.Exit(1)
	}
	fmt.Println("no wrong tick was accepted, and no tick that was safe is lost")
}

// A table counts what became of the cases of a part.
type table struct {
	rows  map[string]int
	among int // of these, counted in another row, too
}

func (t *table) count(outcome string) { t.rows[outcome]++ }

// of counts a case that is counted in another row, too.
func (t *table) of(outcome string) {
	t.rows[outcome]++
	t.among++
}

func (t *table) print(name string, took time.Duration) {
	var outcomes []string
	sum := 0
	for o, n := range t.rows {
		outcomes = append(outcomes, o)
		sum += n
	}
	sum -= t.among
	sort.Strings(outcomes)
	fmt.Printf("\n%-64s %7d  %s\n", name, sum, took.Round(time.Second))
	for _, o := range outcomes {
		fmt.Printf("  %-62s %7d\n", o, t.rows[o])
	}
}
