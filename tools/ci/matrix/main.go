// Command matrix runs scenarios on many processors, real and emulated, and compares all
// hashes, tick by tick and field by field, with those of one worker on amd64. Every
// environment starts once from genesis and once from a state that amd64 saved halfway.
//
// It is called by tools/ci/verify_determinism.sh --arch. Exit status: 0 all equal, 1
// something differs or an emulator is missing, 2 usage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	arch := flag.String("arch", "all", "processors, separated by commas, or all")
	ticks := flag.Uint64("ticks", 1000, "how many ticks")
	jobs := flag.Int("jobs", runtime.NumCPU(), "how many processes at a time")
	selfTest := flag.Bool("self-test", false, "plant a product that some processors fuse, and check that it is caught")
	flag.Parse()
	list, err := choose(*arch)
	if err == nil && (*ticks < 2 || *jobs < 1) {
		err = errors.New("--ticks is 2 or more, --jobs 1 or more")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	m := &matrix{environments: list, ticks: *ticks, jobs: *jobs, scenarios: flag.Args(), planted: *selfTest}
	if err := m.run(); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		os.Exit(1)
	}
}

// A matrix is one comparison. The first environment is the one that all others are
// compared with.
type matrix struct {
	environments []*environment
	scenarios    []string
	ticks        uint64
	jobs         int
	planted      bool // run the program with a fault in it
	dir          string
}

func (m *matrix) run() (err error) {
	if target := runtime.GOOS + "/" + runtime.GOARCH; target != "linux/amd64" {
		return fmt.Errorf("this is %s; the matrix compares with, and runs on, linux/amd64", target)
	}
	if err := missing(m.environments); err != nil {
		return err
	}
	if m.dir, err = os.MkdirTemp("", "matrix"); err != nil {
		return err
	}
	defer os.RemoveAll(m.dir)
	program := "./cmd/murksim"
	if m.planted {
		program = "./tools/ci/planted"
	}
	fmt.Fprintln(os.Stderr, "building for", len(m.environments), "environments")
	for _, e := range m.environments {
		if err := e.build(program, m.dir); err != nil {
			return err
		}
	}
	if !m.environments[0].works() {
		return fmt.Errorf("%s does not run here: %s", m.environments[0].name, m.environments[0].left)
	}
	for _, e := range m.environments[1:] {
		if !e.works() && !e.optional {
			return fmt.Errorf("%s: a program does not even start: %s", e.name, e.left)
		}
	}
	if err := m.list(); err != nil {
		return err
	}
	return m.compare()
}

// list asks for all scenarios if none are named.
func (m *matrix) list() error {
	if len(m.scenarios) > 0 || m.planted {
		if m.planted {
			m.scenarios = []string{"heat"}
		}
		return nil
	}
	out, err := exec.Command(m.environments[0].binary, "scenarios", "--json").Output()
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		var info struct{ Name string }
		if err := parse(line, &info); err != nil {
			return err
		}
		m.scenarios = append(m.scenarios, info.Name)
	}
	return nil
}

// compare runs all scenarios, a row of the table each.
func (m *matrix) compare() error {
	m.head()
	bad := 0
	for _, scenario := range m.scenarios {
		results := m.row(scenario)
		m.print(scenario, results)
		for _, r := range results {
			if r.problem != "" {
				bad++
				break
			}
		}
	}
	m.foot()
	if m.planted {
		return m.caught()
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d scenarios differ or do not run", bad, len(m.scenarios))
	}
	fmt.Printf("%d of %d scenarios are equal in every column, at every tick, in every field\n", len(m.scenarios), len(m.scenarios))
	return nil
}

// row runs a scenario everywhere: first where all others are compared with.
func (m *matrix) row(scenario string) []result {
	dir := filepath.Join(m.dir, "runs")
	defer os.RemoveAll(dir)
	results := make([]result, len(m.environments))
	first := &job{scenario: scenario, ticks: m.ticks, planted: m.planted, dir: dir}
	want := first.reference(m.environments[0])
	if results[0] = want; want.problem != "" {
		return results[:1]
	}
	slots := make(chan struct{}, m.jobs)
	done := make(chan struct{})
	for i, e := range m.environments[1:] {
		go func() {
			slots <- struct{}{}
			results[i+1] = first.run(e, &want)
			<-slots
			done <- struct{}{}
		}()
	}
	for range m.environments[1:] {
		<-done
	}
	for i, e := range m.environments {
		if results[i].problem == "" && e.left == "" {
			e.ticks += results[i].ticks
			e.hashes += results[i].hashes
		}
	}
	return results
}

// caught returns the result of the self-test: processors that fuse differ, others do not.
func (m *matrix) caught() error {
	for _, e := range m.environments {
		if e.left == "" && e.fuses != e.differed {
			return fmt.Errorf("%s: it fuses products: %v; a difference was found: %v", e.name, e.fuses, e.differed)
		}
	}
	fmt.Println("self-test: the planted product was caught wherever it is fused, and nowhere else")
	return nil
}
