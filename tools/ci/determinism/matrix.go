package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
)

// A matrix runs scenarios in many environments, on real and on emulated processors, and
// compares all hashes with those of the first environment. Every run starts once from genesis
// and once from the state that the first environment saved halfway.
type matrix struct {
	builder
	environments []*environment
	scenarios    []string
	ticks        uint64
	planted      bool // plant a product that some processors fuse

	rows []matrixRow
	cli  []commandRun
}

// A matrixRow holds the results of a scenario.
type matrixRow struct {
	table *table // of all ticks, in the first environment
	state string // there, the SHA-256 of the state at the end
	cells []cell // one for each environment
}

// A cell is how a scenario ran in an environment.
type cell struct {
	final         string // the hash of the last state
	ticks, hashes uint64 // compared
	problem       error  // a *difference, or why it does not run
}

func (m *matrix) run() error {
	if target := runtime.GOOS + "/" + runtime.GOARCH; target != "linux/amd64" {
		return fmt.Errorf("this is %s; the matrix compares with, and runs on, linux/amd64", target)
	}
	if err := missing(m.environments); err != nil {
		return err
	}
	if m.planted {
		m.scenarios = []string{"heat"}
	}
	if err := m.compile(); err != nil {
		return err
	}
	m.head()
	m.reference()
	bad := m.compare()
	bad = m.runCommands() || bad
	m.foot()
	if err := m.end(); err != nil {
		return err
	}
	switch {
	case m.planted:
		return m.caught()
	case bad:
		return m.count()
	}
	fmt.Printf("%d of %d scenarios are equal in every column, at every tick, in every field\n", len(m.scenarios), len(m.scenarios))
	return nil
}

// compile builds what runs, and tries it.
func (m *matrix) compile() (err error) {
	fmt.Fprintln(os.Stderr, "building for", len(m.environments), "environments")
	for i, e := range m.environments {
		if e.program, err = e.compile(m.builder, "./tools/ci/determinism"); err != nil {
			return err
		}
		if !e.works() && (i == 0 || !e.optional) {
			return fmt.Errorf("%s: a program does not even start: %s", e.name, e.left)
		}
	}
	return m.compileCommands()
}

func (m *matrix) half() uint64 { return m.ticks / 2 }

// folder is where the state of a scenario lies.
func (m *matrix) folder(scenario int) string { return filepath.Join(m.dir, strconv.Itoa(scenario)) }

// request is for a run of a scenario from genesis.
func (m *matrix) request(scenario int, e *environment) request {
	r := request{Scenario: m.scenarios[scenario], Ticks: m.ticks, Workers: e.workers}
	if m.planted {
		r.Fault = "fused"
	}
	return r
}

// reference runs all scenarios in the first environment, which saves the states halfway.
func (m *matrix) reference() {
	m.rows = make([]matrixRow, len(m.scenarios))
	inOrder(len(m.rows), func(i int) {
		row := &m.rows[i]
		row.cells = make([]cell, len(m.environments))
		r := m.request(i, m.environments[0])
		r.SaveAt, r.SaveIn = []uint64{m.half()}, m.folder(i)
		err := os.Mkdir(r.SaveIn, 0o777)
		var a answer
		if err == nil {
			a, err = m.environments[0].ask(r)
		}
		if err == nil {
			row.table, err = parseTable(a.Table)
		}
		if row.state = a.State; err != nil {
			row.cells[0].problem = err
		}
	}, func(int) {})
}

// compare runs all scenarios everywhere, and prints their rows. It reports whether any is bad.
func (m *matrix) compare() (bad bool) {
	columns := len(m.environments)
	order := slices.Clone(m.environments)
	slices.Reverse(order) // the slow ones first
	inOrder(len(m.rows)*columns, func(i int) {
		m.fill(i/columns, columns-1-i%columns)
	}, func(i int) {
		if i%columns == columns-1 {
			m.print(i / columns)
			bad = bad || m.rows[i/columns].bad()
		}
	})
	return bad
}

// bad reports whether a scenario differs or does not run somewhere.
func (r *matrixRow) bad() bool {
	return slices.ContainsFunc(r.cells, func(c cell) bool { return c.problem != nil })
}

// fill runs a scenario in an environment, from both starts.
func (m *matrix) fill(scenario, column int) {
	row, e := &m.rows[scenario], m.environments[column]
	if row.table == nil || e.left != "" {
		return
	}
	c := &row.cells[column]
	for _, from := range []uint64{0, m.half()} {
		r, start := m.request(scenario, e), "genesis"
		if from > 0 {
			r.From, start = statePath(m.folder(scenario), from), fmt.Sprintf("the state of tick %d", from)
		}
		a, err := e.ask(r)
		if err == nil {
			err = sameRun(row.table, row.state, a, from)
		}
		if err != nil {
			*c = cell{problem: fmt.Errorf("from %s: %w", start, err)}
			return
		}
		c.final = a.Hash
		c.ticks += m.ticks - from
		c.hashes += (m.ticks - from) * row.table.fields()
		if m.planted {
			return
		}
	}
}

// end ends all processes, which must do so without an error, and prints where time went.
func (m *matrix) end() (err error) {
	for _, e := range m.environments {
		if bad := e.end(); bad != nil && e.left == "" {
			err = errors.Join(err, fmt.Errorf("%s: at the end: %w", e.name, bad))
		}
	}
	m.times()
	return err
}

// count returns how many scenarios are bad.
func (m *matrix) count() error {
	bad := 0
	for i := range m.rows {
		if m.rows[i].bad() {
			bad++
		}
	}
	if bad == 0 {
		return errors.New("the command line differs or does not run")
	}
	return fmt.Errorf("%d of %d scenarios differ or do not run", bad, len(m.rows))
}

// caught returns the result of the self-test: processors that fuse differ, others do not.
func (m *matrix) caught() error {
	for i, e := range m.environments {
		problem := m.rows[0].cells[i].problem
		if _, differs := errors.AsType[*difference](problem); problem != nil && !differs {
			return fmt.Errorf("%s: %w", e.name, problem)
		}
		if e.left == "" && e.fuses != e.differed {
			return fmt.Errorf("%s: it fuses products: %v; a difference was found: %v", e.name, e.fuses, e.differed)
		}
	}
	fmt.Println("self-test: the planted product was caught wherever it is fused, and nowhere else")
	return nil
}
