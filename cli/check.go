package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A checkJob checks scenarios without running them.
type checkJob struct {
	*app
	maxMemory session.Size
	golden    string // a recording with which a run is compared; "": none
	explain   bool   // say what the rules do
}

func (a *app) checkCommand() *cobra.Command {
	j := &checkJob{app: a, maxMemory: session.DefaultMaxMemory}
	c := &cobra.Command{
		Use:   "check SCENARIO...",
		Short: "Check scenarios without running them",
		Long: `Check reads scenarios and builds their worlds, as run does, and computes no tick. Each
SCENARIO is a YAML file, the name of one that comes with murksim, or - for standard input. A
mistake is shown where it is. Below each name, check prints what follows from the parameters
in this space, such as the speed of a wave. A rule that adds or compares what has different
units, such as metres and seconds, gets a warning, which run prints, too. With --explain it also says what each rule in the
file reads, writes and draws, and what it costs: steps for each cell, of 4,096.

With --golden, check runs one scenario and compares it with a recording that was kept, in a
repository say: it shows the values of the scenario that are others, the first tick that is
another, and in what, as diff does. What it recorded then stays beside that recording, as
NAME.new.murk, until another check differs. A run that fails after some ticks is compared, too.

Exit status: 0 all can be run, 1 one cannot, 2 usage, 3 the run is not as it was kept.`,
		Example: `  murksim check mine.yaml
  murksim check --json *.yaml
  murksim check --explain sir.yaml
  murksim check --golden testdata/mine.murk mine.yaml`,
		Args: arguments(cobra.MinimumNArgs(1), "one scenario or more"),
		RunE: func(c *cobra.Command, args []string) error {
			switch err := j.all(c.Context(), args); {
			case err != nil || !c.Flags().Changed("golden"):
				return err
			case len(args) > 1:
				return report.Usage("--golden takes one scenario, not %d", len(args))
			}
			return j.compareGolden(c.Context(), args[0])
		},
	}
	maxMemoryFlag(c.Flags(), &j.maxMemory)
	c.Flags().BoolVar(&j.explain, "explain", false, "say what the rules in the file read, write, draw and cost")
	c.Flags().StringVar(&j.golden, "golden", "", "run the scenario and compare it with a `recording` that was kept")
	return c
}

// A checkObject is the outcome for one scenario with --json.
type checkObject struct {
	Event    string   `json:"event"` // "check"
	File     string   `json:"file"`
	OK       bool     `json:"ok"`
	Scenario string   `json:"scenario,omitempty"` // its name
	Notes    []string `json:"notes,omitempty"`    // of its components
	Error    string   `json:"error,omitempty"`    // without the lines around
	Hint     string   `json:"hint,omitempty"`
	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`

	Warnings []warningObject       `json:"warnings,omitempty"`
	Rules    []scenarios.RuleAbout `json:"rules,omitempty"` // with --explain
}

// A warningObject is what is allowed in a scenario, and likely a mistake.
type warningObject struct {
	Message string `json:"message"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// warn prints what is allowed in a scenario, and likely a mistake.
func (a *app) warn(s *scenarios.Scenario) {
	for _, w := range s.Warnings() {
		w.Msg = "warning: " + w.Msg
		a.Warn("%s", w)
	}
}

// explained is what a rule does, in lines.
func explained(a *scenarios.RuleAbout) (lines []string) {
	lines = append(lines, fmt.Sprintf("rule %s  %s of %s steps for each %s, %s drawn", a.Rule, words.Number(uint64(a.Cost)), words.Number(uint64(a.Most())), a.Each, words.Count(uint64(a.Draws), "number")))
	rows := [][2]string{{"reads", strings.Join(a.Reads, ", ")}, {"writes", strings.Join(a.Writes, ", ")}}
	width := 0
	for _, f := range a.Formulas {
		rows = append(rows, [2]string{f.Place, f.Text})
		width = max(width, len(f.Place))
	}
	for _, row := range rows {
		if row[1] != "" {
			lines = append(lines, fmt.Sprintf("  %-*s  %s", max(width, len("writes")), row[0], row[1]))
		}
	}
	return lines
}

func (j *checkJob) all(ctx context.Context, names []string) error {
	failed := false
	for _, name := range names {
		o := checkObject{Event: "check", File: name}
		s, err := j.check(ctx, name, &o)
		if o.OK = err == nil; err != nil {
			failed = true
			o.Error = err.Error()
			if e, ok := errors.AsType[*document.Error](err); ok {
				o.Error, o.Hint, o.Line, o.Column = e.Msg, e.Hint, e.Line, e.Col
			}
		}
		if err := j.Result(o, o.OK); err != nil {
			return err
		}
		if j.JSON {
			continue
		}
		if err != nil {
			j.Warn("%s", err)
			continue
		}
		j.warn(s)
		lines := append([]string{o.Scenario}, o.Notes...)
		for i := range o.Rules {
			lines = append(lines, explained(&o.Rules[i])...)
		}
		if err := j.Say("ok  %s  scenario %s", inputName(name), strings.Join(lines, "\n    ")); err != nil {
			return err
		}
	}
	if failed {
		return report.Exit(report.StatusError, nil)
	}
	return nil
}

// check builds the world of a scenario, and notes the scenario's name, what its components say of themselves, warnings, and with --explain what its rules do.
func (j *checkJob) check(ctx context.Context, name string, o *checkObject) (*scenarios.Scenario, error) {
	s, err := j.LoadScenario(name, nil, j.maxMemory)
	if err != nil {
		return nil, err
	}
	o.Scenario = s.Name
	if j.explain {
		o.Rules = s.RulesAbout()
	}
	for _, w := range s.Warnings() {
		o.Warnings = append(o.Warnings, warningObject{w.Msg, w.Line, w.Col})
	}
	for x, b := range scenarios.Parts[scenarios.Noter](s) {
		o.Notes = append(o.Notes, x.Notes(b)...)
	}
	if n, tick := s.Unreached(); n > 0 {
		o.Notes = append(o.Notes, unreached(n, tick))
	}
	_, err = report.Made(ctx, j.Printer, func(step func(share float64) error) (*runner.Run, error) {
		return runner.New(runner.Config{Scenario: s, Workers: 1, MaxMemory: j.maxMemory.Bytes, Making: step})
	})
	if e, ok := errors.AsType[*runner.MemoryError](err); ok {
		err = session.TooLarge(s.Name, e.Need, j.maxMemory)
	}
	return s, err
}

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of scenarios, for editors",
		Long: `Schema prints a JSON Schema that lets editors complete the keys of a scenario and check its
values. It covers the components of this program. Editors with the YAML language server find
it if the first line of the scenario is

  # yaml-language-server: $schema=./scenario.schema.json`,
		Example: "  murksim schema > scenario.schema.json",
		Args:    arguments(cobra.NoArgs, "no argument"),
		RunE:    func(*cobra.Command, []string) error { return a.schema() },
	}
}

func (a *app) schema() error {
	b, err := a.Registry.Schema()
	if err != nil {
		return err
	}
	if a.JSON {
		var line bytes.Buffer
		if err := json.Compact(&line, b); err != nil {
			return err
		}
		b = append(line.Bytes(), '\n')
	}
	_, err = a.Out.Write(b)
	return err
}

// besideSchema returns the YAML of a scenario that comes with murksim as a file of its own,
// whose first lines say where its schema is.
func besideSchema(program string, source []byte) []byte {
	const mark = "# yaml-language-server: $schema="
	text := string(source)
	if first, rest, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, mark) {
		text = rest
	}
	return []byte("# For an editor that completes keys: " + program + " schema > scenario.schema.json\n" + mark + "./scenario.schema.json\n" + text)
}
