package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/survey"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
)

// A change compares the world at the end of a run with the world at its beginning.
type change struct {
	before, after *survey.Survey
	from          uint64 // the tick of before
	counts        export.Counts
	settled       bool // entities count from tick 1 on, which brings the first population
}

// beginChange looks at the world before the first tick. The first population comes in tick 1,
// so entities are looked at after it.
func (j *runJob) beginChange() error {
	if j.Quiet {
		return nil
	}
	before, err := survey.New(j.Scenario, nil)
	if err != nil {
		return err
	}
	before.Look(j.World)
	j.change = &change{before: before, after: before.Clone(), from: j.start}
	if j.Scenario.Entities != nil && j.start == 0 {
		j.Watchers = append(j.Watchers, firstTick{j.change})
	}
	return nil
}

// firstTick is the watcher that sees the first population.
type firstTick struct{ *change }

// Next implements [runner.Watcher].
func (firstTick) Next(after uint64) uint64 {
	if after == 0 {
		return 1
	}
	return runner.Never
}

// Observe implements [runner.Watcher].
func (f firstTick) Observe(w *engine.World) error {
	f.after.Look(w)
	copy(f.before.Population, f.after.Population)
	for i := range f.before.Totals {
		if f.before.Totals[i].Entities {
			f.before.Totals[i] = f.after.Clone().Totals[i]
		}
	}
	f.counts, f.settled = export.Counts{}, true
	return nil
}

// A changeResult is what changed in a run, with --json. It leaves out what did not change.
type changeResult struct {
	FromTick   uint64                 `json:"from_tick"`
	Fields     []fieldChange          `json:"fields,omitempty"`
	Population map[string]countChange `json:"population,omitempty"`
	Births     uint64                 `json:"births,omitempty"`
	Deaths     uint64                 `json:"deaths,omitempty"`
}

type fieldChange struct {
	Name   string     `json:"name"`
	Before fieldTotal `json:"before"`
	After  fieldTotal `json:"after"`
}

// A fieldTotal is what a field holds in all, or of a field of categories how many elements
// have each.
type fieldTotal struct {
	Total  *float64          `json:"total,omitempty"`
	Min    *float64          `json:"min,omitempty"`
	Max    *float64          `json:"max,omitempty"`
	Counts map[string]uint64 `json:"counts,omitempty"`
}

type countChange struct {
	Before uint64 `json:"before"`
	After  uint64 `json:"after"`
}

// result compares the world with its beginning. It returns nil if c is nil.
func (c *change) result(s *scenarios.Scenario, w *engine.World) *changeResult {
	if c == nil {
		return nil
	}
	c.after.Look(w)
	r := &changeResult{FromTick: c.from, Births: c.counts.Births, Deaths: c.counts.Deaths, Population: map[string]countChange{}}
	for kind, n := range c.after.Population {
		if was := c.before.Population[kind]; was != n {
			r.Population[s.Entities.Kinds[kind]] = countChange{was, n}
		}
	}
	for i := range c.after.Totals {
		a, b := &c.before.Totals[i], &c.after.Totals[i]
		if a.Sum != b.Sum || a.Min != b.Min || a.Max != b.Max || !slices.Equal(a.Counts, b.Counts) {
			r.Fields = append(r.Fields, fieldChange{a.Field, totalOf(a), totalOf(b)})
		}
	}
	return r
}

func totalOf(t *survey.Total) (r fieldTotal) {
	if t.Values == nil {
		return fieldTotal{Total: &t.Sum, Min: &t.Min, Max: &t.Max}
	}
	r.Counts = make(map[string]uint64, len(t.Values))
	for i, name := range t.Values {
		r.Counts[name] = t.Counts[i]
	}
	return r
}

// mostChanges is how many lines say what changed.
const mostChanges = 8

// lines says what changed, for people: populations, then fields.
func (c *change) lines(s *scenarios.Scenario) []string {
	if c == nil {
		return nil
	}
	var list [][2]string // a name, and what changed
	for kind, n := range c.after.Population {
		if was := c.before.Population[kind]; was != n {
			list = append(list, [2]string{s.Entities.Kinds[kind], words.Number(was) + " → " + words.Number(n)})
		}
	}
	if c.counts.Births+c.counts.Deaths > 0 {
		since := ""
		if c.settled {
			since = " since tick 1"
		}
		list = append(list, [2]string{"entities", fmt.Sprintf("%s born, %s died%s", words.Number(c.counts.Births), words.Number(c.counts.Deaths), since)})
	}
	for i := range c.after.Totals {
		a, b := &c.before.Totals[i], &c.after.Totals[i]
		if text := changedTotal(a, b); text != "" {
			list = append(list, [2]string{a.Field, text})
		}
	}
	switch n := len(list); {
	case n == 0:
		list = [][2]string{{"no total, extreme or population"}}
	case n > mostChanges:
		list = append(list[:mostChanges-1], [2]string{fmt.Sprintf("and %d more, which --json has", n-mostChanges+1)})
	}
	width := 0
	for _, l := range list {
		if l[1] != "" {
			width = max(width, len(l[0]))
		}
	}
	var lines []string
	for _, l := range list {
		for _, text := range wrapped(l[1], report.DefaultColumns-len("changed   ")-width-2) {
			lines = append(lines, strings.TrimRight(fmt.Sprintf("%-9s %-*s  %s", "", width, l[0], text), " "))
			l[0] = ""
		}
	}
	lines[0] = "changed" + lines[0][len("changed"):]
	if c.from > 0 {
		lines = append([]string{"changed   since tick " + words.Number(c.from)}, lines...)
		lines[1] = "       " + lines[1][len("changed"):]
	}
	return lines
}

// gap stands between the parts of a line, where it may break.
const gap = "   "

// wrapped breaks a line into lines of at most so many characters.
func wrapped(text string, room int) (lines []string) {
	for i, part := range strings.Split(text, gap) {
		if last := len(lines) - 1; i > 0 && utf8.RuneCountInString(lines[last]+gap+part) <= room {
			lines[last] += gap + part
		} else {
			lines = append(lines, part)
		}
	}
	return lines
}

// changedTotal says how two totals differ, in the digits that are printed.
func changedTotal(a, b *survey.Total) string {
	var parts []string
	compare := func(what string, a, b float64) {
		if from, to := words.Rounded(a), words.Rounded(b); from != to {
			parts = append(parts, fmt.Sprintf("%s %s → %s", what, from, to))
		}
	}
	if a.Values == nil {
		compare("total", a.Sum, b.Sum)
		compare("least", a.Min, b.Min)
		compare("greatest", a.Max, b.Max)
		return strings.Join(parts, gap)
	}
	const most = 4 // categories
	for i, name := range a.Values {
		if a.Counts[i] != b.Counts[i] {
			parts = append(parts, fmt.Sprintf("%s %s → %s", name, words.Number(a.Counts[i]), words.Number(b.Counts[i])))
		}
	}
	if n := len(parts); n > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(parts, gap)
}
