package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A commandRun is a run of the first scenario by the murksim command in an environment. Its
// table and its state at the end must be those of the matrix.
type commandRun struct {
	*environment
	murksim string // the program
	problem error
}

// sampleTicks is the number of ticks from which on the command is run on every other processor. A
// shorter matrix is a sample: if it is of several processors, the command is left out, since compiling all of
// murksim takes the longest.
const sampleTicks = 1000

// compileCommands builds the command where it is to be run.
func (m *matrix) compileCommands() error {
	var list []*environment
	for _, e := range m.environments {
		if e.left == "" && !m.planted && (m.ticks >= sampleTicks || e.arch != "") {
			list = append(list, e)
		}
	}
	if m.ticks < sampleTicks && len(list) > 1 {
		return nil
	}
	for _, e := range list {
		program, err := e.compile(m.builder, commandLine)
		if err != nil {
			return err
		}
		m.cli = append(m.cli, commandRun{environment: e, murksim: program})
	}
	return nil
}

// runCommands fills the commandRuns, and reports whether any is bad.
func (m *matrix) runCommands() (bad bool) {
	row := &m.rows[0]
	if row.table == nil {
		return true
	}
	inOrder(len(m.cli), func(i int) {
		for _, from := range []uint64{0, m.half()} {
			a, err := m.runCommand(&m.cli[i], from)
			if err == nil {
				err = sameRun(row.table, row.state, a, from)
			}
			if err != nil {
				m.cli[i].problem = fmt.Errorf("from tick %d: %w", from, err)
				return
			}
		}
	}, func(i int) { bad = bad || m.cli[i].problem != nil })
	return bad
}

// runCommand runs the command from a tick on.
func (m *matrix) runCommand(c *commandRun, from uint64) (a answer, err error) {
	path := filepath.Join(m.dir, fmt.Sprintf("%s.%d.tsv", c.name, from))
	args := []string{"run", m.scenarios[0], "--ticks", strconv.FormatUint(m.ticks, 10), "--workers", strconv.Itoa(c.workers),
		"--hashes", path, "--no-record", "--json", "--state-hash"}
	if from > 0 {
		args = append(args, "--state", statePath(m.folder(0), from))
	}
	var out, errs bytes.Buffer
	command := c.command(c.murksim, args...)
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		return a, fmt.Errorf("%w: %s", err, strings.TrimSpace(errs.String()))
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var end struct {
		StateHash string `json:"state_hash"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil {
		return a, fmt.Errorf("%q: %w", lines[len(lines)-1], err)
	}
	text, err := os.ReadFile(path)
	return answer{Table: string(text), State: end.StateHash}, err
}
