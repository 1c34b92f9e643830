package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// The table is one row a scenario and one column each environment. A cell is the
// beginning of the hash of the last state, if all hashes of all ticks are equal.
const (
	nameWidth = 15
	cellWidth = 8 // digits
)

func (m *matrix) head() {
	fmt.Printf("%-*s %-16s", widthOf(m.scenarios, nameWidth), "scenario", "hash")
	for _, e := range m.environments {
		fmt.Printf("  %-*s", cellWidth, e.name)
	}
	fmt.Println()
}

// print prints a row, what differs below it, and counts what was compared.
func (m *matrix) print(scenario int) {
	name, row, hash := m.scenarios[scenario], &m.rows[scenario], "none"
	if row.table != nil {
		hash = row.table.final()
	}
	fmt.Printf("%-*s %-16s", widthOf(m.scenarios, nameWidth), name, hash)
	var problems []string
	for i := range row.cells {
		c, e := &row.cells[i], m.environments[i]
		fmt.Printf("  %-*s", cellWidth, c.text())
		e.ticks, e.hashes = e.ticks+c.ticks, e.hashes+c.hashes
		if _, differs := errors.AsType[*difference](c.problem); differs {
			e.differed = true
		}
		if c.problem != nil {
			problems = append(problems, fmt.Sprintf("  %s: %s: %s", name, e.name, c.problem))
		}
	}
	fmt.Println()
	if problems != nil {
		fmt.Println(strings.Join(problems, "\n"))
	}
}

// text is what stands in the table.
func (c *cell) text() string {
	_, differs := errors.AsType[*difference](c.problem)
	switch {
	case differs:
		return "DIFFERS"
	case c.problem != nil:
		return "FAILS"
	case c.final == "":
		return "-"
	}
	return c.final[:cellWidth]
}

// foot says of each column what it ran on, and how much of it was compared.
func (m *matrix) foot() {
	fmt.Println()
	for _, e := range m.environments {
		fmt.Printf("%-9s %s\n", e.name, e.summary(m.planted))
	}
	for _, c := range m.cli {
		result := equal
		if c.problem != nil {
			result = c.problem.Error()
		}
		fmt.Printf("%-9s the command line runs %s, too: %s\n", c.name, m.scenarios[0], result)
	}
	if !m.planted {
		fmt.Printf("each from genesis to tick %d, and from the state that %s saved at tick %d\n", m.ticks, reference, m.ticks/2)
	}
}

// times prints how much processor time the environments took.
func (m *matrix) times() {
	fmt.Fprint(os.Stderr, "seconds of processor time:")
	for _, e := range m.environments {
		fmt.Fprintf(os.Stderr, " %s %.1f", e.name, e.seconds.Seconds())
	}
	fmt.Fprintln(os.Stderr)
}

// summary says what an environment ran on, and how much of it was compared and equal.
func (e *environment) summary(planted bool) string {
	if e.left != "" {
		return fmt.Sprintf("left out: this processor cannot run it (%s)", firstLine(e.left))
	}
	build := strings.Join(e.env, " ")
	if e.race {
		build += " -race"
	}
	compared := fmt.Sprintf("%s ticks, %s field hashes", number(e.ticks), number(e.hashes))
	switch {
	case e.ticks == 0 && e.differed && planted:
		compared = "differs, as planted"
	case e.ticks == 0:
		compared = "no scenario is equal"
	}
	return fmt.Sprintf("%s; %s; workers %d; %s", compared, build, e.workers, e.processor())
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// number writes a count with a comma between groups of three digits.
func number(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
