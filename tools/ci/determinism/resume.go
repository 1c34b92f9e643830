package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// A resumption saves scenarios at many ticks and restores each state in a process of its own,
// which goes on to the last tick. All hashes of these ticks and the state at the end must be
// those of the run that was not interrupted.
type resumption struct {
	dir          string
	scenarios    []string
	ticks, every uint64
	hidden       bool // plant a memory that is no state
}

func (r *resumption) run() error {
	if r.hidden {
		r.scenarios = []string{"heat"}
	}
	width := widthOf(r.scenarios, 15)
	fmt.Printf("%-*s %9s  %9s  %9s  %12s  %s\n", width, "scenario", "ticks", "restored", "compared", "field hashes", "result")
	bad := 0
	rows := make([]resumed, len(r.scenarios))
	inOrder(len(rows), func(i int) {
		dir := filepath.Join(r.dir, strconv.Itoa(i))
		rows[i] = r.check(r.scenarios[i], dir)
		os.RemoveAll(dir)
	}, func(i int) {
		row, result := rows[i], "equal"
		if row.err != nil {
			result = row.err.Error()
			bad++
		}
		fmt.Printf("%-*s %9d  %9d  %9d  %12d  %s\n", width, r.scenarios[i], r.ticks, row.states, row.ticks, row.hashes, result)
	})
	switch {
	case r.hidden && bad == 0:
		return errors.New("the hidden memory was not caught")
	case r.hidden:
		fmt.Println("self-test: the hidden memory was caught")
	case bad > 0:
		return fmt.Errorf("%d of %d scenarios differ", bad, len(r.scenarios))
	default:
		fmt.Printf("%d of %d scenarios go on as if they had not been saved\n", len(r.scenarios), len(r.scenarios))
	}
	return nil
}

// A resumed is how much of a scenario was compared, and the first difference.
type resumed struct {
	states, ticks, hashes uint64
	err                   error
}

// check runs a scenario, and once more from each of its states, which it saves in a folder.
func (r *resumption) check(scenario, dir string) (row resumed) {
	whole := request{Scenario: scenario, Ticks: r.ticks, Workers: 1, SaveIn: dir}
	for tick := uint64(0); tick < r.ticks; tick += r.every {
		whole.SaveAt = append(whole.SaveAt, tick)
	}
	if r.hidden {
		whole.Fault = "memory"
	}
	if row.err = os.Mkdir(dir, 0o777); row.err != nil {
		return row
	}
	var want answer
	if want, row.err = askSelf(whole); row.err != nil {
		return row
	}
	table, err := parseTable(want.Table)
	if err != nil {
		row.err = err
		return row
	}
	for _, tick := range whole.SaveAt {
		again := request{Scenario: scenario, Ticks: r.ticks, Workers: 2, From: statePath(dir, tick), Fault: whole.Fault}
		got, err := askSelf(again)
		row.states++
		if err == nil {
			err = sameRun(table, want.State, got, tick)
		}
		if err != nil {
			row.err = fmt.Errorf("restored at tick %d: %w", tick, err)
			return row
		}
		row.ticks += r.ticks - tick
		row.hashes += (r.ticks - tick) * table.fields()
	}
	return row
}
