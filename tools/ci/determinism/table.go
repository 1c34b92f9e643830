package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A table holds the hashes of a run: the tick, the state's hash, each field's.
type table struct {
	names []string
	rows  [][]string
}

func readTable(path string) (*table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseTable(string(b))
}

func parseTable(text string) (*table, error) {
	t := &table{}
	for line := range strings.Lines(text) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if t.names == nil {
			t.names = row
			continue
		}
		if len(row) != len(t.names) {
			return nil, fmt.Errorf("a line of %d columns in a table of %d: %q", len(row), len(t.names), line)
		}
		t.rows = append(t.rows, row)
	}
	if len(t.names) < 3 || len(t.rows) == 0 {
		return nil, fmt.Errorf("a table of %d columns and %d ticks", len(t.names), len(t.rows))
	}
	return t, nil
}

// fields returns how many fields' hashes a line of the table has.
func (t *table) fields() uint64 { return uint64(len(t.names) - 2) }

// final returns the hash of the last state.
func (t *table) final() string { return t.rows[len(t.rows)-1][1] }

// compare names the first tick and field at which a table differs from the one wanted,
// whose first ticks it may lack; empty if it does not.
func compare(want, got *table, from uint64) string {
	if !slices.Equal(want.names, got.names) {
		return fmt.Sprintf("the columns are %q, want %q", got.names, want.names)
	}
	if n := uint64(len(got.rows)) + from; n != uint64(len(want.rows)) {
		return fmt.Sprintf("it ends after tick %d, want %d", n, len(want.rows))
	}
	for i, row := range got.rows {
		wanted := want.rows[uint64(i)+from]
		for _, column := range want.order() {
			if row[column] != wanted[column] {
				return fmt.Sprintf("tick %s, %s: %s, want %s", wanted[0], want.names[column], row[column], wanted[column])
			}
		}
	}
	return ""
}

// sameRun returns an error that says where a run from a tick on differs from the one wanted, in
// its table or in the state at the end.
func sameRun(want *table, state string, got answer, from uint64) error {
	t, err := parseTable(got.Table)
	if err != nil {
		return err
	}
	if different := compare(want, t, from); different != "" {
		return &difference{different}
	}
	if got.State != state {
		return &difference{"the hashes are equal, but the state at the end is not"}
	}
	return nil
}

// A difference says where two runs differ.
type difference struct{ where string }

// Error implements error.
func (d *difference) Error() string { return d.where }

// order returns the order in which columns are compared: the state's hash follows from the
// fields', so it comes last.
func (t *table) order() []int {
	order := []int{0}
	for column := 2; column < len(t.names); column++ {
		order = append(order, column)
	}
	return append(order, 1)
}
