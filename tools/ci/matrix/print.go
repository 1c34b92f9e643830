package main

import (
	"fmt"
	"strings"
)

// The table is one row a scenario and one column each environment. A cell is the
// beginning of the hash of the last state, if all hashes of all ticks are equal.
const (
	nameWidth = 15
	cellWidth = 8 // digits
)

func (m *matrix) head() {
	fmt.Printf("%-*s %-16s", nameWidth, "scenario", "hash")
	for _, e := range m.environments {
		fmt.Printf("  %-*s", cellWidth, e.name)
	}
	fmt.Println()
}

func (m *matrix) print(scenario string, results []result) {
	hash := "none"
	if results[0].table != nil {
		hash = results[0].table.final()
	}
	fmt.Printf("%-*s %-16s", nameWidth, scenario, hash)
	var problems []string
	for i, r := range results {
		e := m.environments[i]
		cell := "FAILS"
		switch {
		case e.left != "":
			cell = "-"
		case r.problem == "":
			cell = r.table.final()[:cellWidth]
		case r.differs:
			cell, e.differed = "DIFFERS", true
		}
		if r.problem != "" {
			problems = append(problems, fmt.Sprintf("  %s: %s: %s", scenario, e.name, r.problem))
		}
		fmt.Printf("  %-*s", cellWidth, cell)
	}
	fmt.Println()
	if problems != nil {
		fmt.Println(strings.Join(problems, "\n"))
	}
}

// foot says of each column what it ran on, and how much of it was compared.
func (m *matrix) foot() {
	fmt.Println()
	for _, e := range m.environments {
		fmt.Printf("%-9s %s\n", e.name, e.summary(m.planted))
	}
	if !m.planted {
		fmt.Printf("each from genesis to tick %d, and from the state that %s saved at tick %d\n", m.ticks, reference, m.ticks/2)
	}
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
