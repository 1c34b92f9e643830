package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/sweep"
)

func (a *app) sweepShowCommand() *cobra.Command {
	all := false
	c := &cobra.Command{
		Use:   "show FOLDER",
		Short: "Show how far a sweep is, which jobs are not ok, and the statistics of the others",
		Long: `Show reads the journal of a sweep, which may still be going on. It prints how many jobs are
done, the jobs that are not ok with their values and the reason, and the minimum, mean and
maximum of each statistic over the jobs that are ok.

Exit status: 0 all jobs are done and ok, 1 some are not, 3 a job gave another result when it
was run again.`,
		Example: `  murksim sweep show out/
  murksim sweep show out/ --all
  murksim sweep show out/ --json | jq .statuses`,
		Args: arguments(cobra.ExactArgs(1), "the folder of a sweep"),
		RunE: func(_ *cobra.Command, args []string) error {
			j, err := openSweep(args[0])
			if err != nil {
				return err
			}
			defer j.Close()
			return a.showSweep(args[0], j, all)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list all jobs that are not ok, not the first ten")
	return c
}

// openSweep opens the journal of a sweep to look at it.
func openSweep(folder string) (*sweep.Journal, error) {
	j, err := sweep.OpenJournal(filepath.Join(folder, journalName), true)
	if err != nil {
		return nil, sweepProblem(folder, err)
	}
	return j, nil
}

// sweepProblem says why the journal in a folder cannot be opened.
func sweepProblem(folder string, err error) error {
	info, missing := os.Stat(folder)
	switch {
	case missing != nil:
		return words.About(folder, missing)
	case !info.IsDir():
		return fmt.Errorf("%s: it is a file, not the folder of a sweep", document.FileName(folder))
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no sweep in it", document.FileName(folder))
	}
	return words.About(filepath.Join(folder, journalName), err)
}

// A sweepShown is what sweep show prints with --json.
type sweepShown struct {
	Event      string         `json:"event"` // "state"
	Scenario   string         `json:"scenario"`
	Jobs       int            `json:"jobs"`
	Done       int            `json:"done"`
	Shard      string         `json:"shard,omitempty"`
	Statuses   map[string]int `json:"statuses"`
	Rechecked  int            `json:"rechecked"`
	Differing  []differing    `json:"differing,omitempty"`
	Damaged    int            `json:"damaged_lines,omitempty"`
	NotOK      []badJob       `json:"not_ok,omitempty"`
	Statistics []statistic    `json:"statistics,omitempty"`
	Seconds    float64        `json:"seconds"` // of all jobs together
	Slowest    float64        `json:"slowest_seconds"`
	SlowestJob int            `json:"slowest_job"`
}

// badJob is a job that is not ok.
type badJob struct {
	Job    int      `json:"job"`
	Status string   `json:"status"`
	Reason string   `json:"reason"`
	Sets   []string `json:"sets"`
}

// A statistic sums up one value over the jobs that are ok.
type statistic struct {
	Name string  `json:"name"`
	Jobs int     `json:"jobs"` // that have a value
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

func (a *app) showSweep(folder string, j *sweep.Journal, all bool) error {
	v, err := surveyed(folder, j)
	if err != nil {
		return words.About(folder, err)
	}
	if err := a.Emit(v); err != nil {
		return err
	}
	if err := a.Say("%s", strings.Join(v.lines(j, all), "\n")); err != nil {
		return err
	}
	switch bad := v.Done - j.Counts[sweep.OK] - j.Counts[sweep.Equal]; {
	case len(v.Differing) > 0:
		return report.Exit(report.StatusDiverged, nil)
	case bad > 0 || v.Done < v.Jobs:
		return report.Exit(report.StatusError, nil)
	}
	return nil
}

// surveyed adds up what a journal holds.
func surveyed(folder string, j *sweep.Journal) (*sweepShown, error) {
	h := &j.Head
	v := &sweepShown{Event: "state", Scenario: h.Design.Scenario, Jobs: h.Shard.Jobs(h.Jobs), Done: j.Done(), Statuses: statusCounts(j), Rechecked: j.Rechecked(), Damaged: j.Bad}
	if h.Shard.Of > 0 {
		v.Shard = h.Shard.String()
	}
	var err error
	if v.Differing, err = differingJobs(folder, j); err != nil {
		return nil, err
	}
	for _, name := range h.Stats {
		v.Statistics = append(v.Statistics, statistic{Name: name, Min: math.Inf(1), Max: math.Inf(-1)})
	}
	for row, err := range j.Rows() {
		if err != nil {
			return nil, err
		}
		v.add(j, row)
	}
	v.Statistics = slices.DeleteFunc(v.Statistics, func(s statistic) bool { return s.Jobs == 0 })
	for i := range v.Statistics {
		v.Statistics[i].Mean /= float64(v.Statistics[i].Jobs)
	}
	return v, nil
}

func (v *sweepShown) add(j *sweep.Journal, row *sweep.Row) {
	v.Seconds += row.Seconds
	if row.Seconds > v.Slowest {
		v.Slowest, v.SlowestJob = row.Seconds, row.Job
	}
	switch row.Status {
	case sweep.OK:
	default:
		v.NotOK = append(v.NotOK, badJob{row.Job, string(row.Status), row.Reason, j.Plan.Sets(j.Plan.Point(row.Job))})
		return
	}
	for i := range min(len(row.Stats), len(v.Statistics)) {
		s, x := &v.Statistics[i], float64(row.Stats[i])
		if math.IsNaN(x) {
			continue
		}
		s.Jobs++
		s.Min, s.Max = min(s.Min, x), max(s.Max, x)
		s.Mean += x
	}
}

// statusCounts counts the rows by status.
func statusCounts(j *sweep.Journal) map[string]int {
	counts := map[string]int{}
	for status, n := range j.Counts {
		counts[string(status)] = n
	}
	return counts
}

// differingJobs lists the jobs that gave another result when they were run again.
func differingJobs(folder string, j *sweep.Journal) (list []differing, err error) {
	for _, c := range j.Differing() {
		first, err := j.Row(c.Job)
		if err != nil {
			return nil, err
		}
		list = append(list, differing{c.Job, c.Differ, c.Tick, first.Worker, c.Row.Worker, c.Evidence(folder)})
	}
	return list, nil
}

// lines are the report for people.
func (v *sweepShown) lines(j *sweep.Journal, all bool) []string {
	lines := []string{strings.TrimSuffix(fmt.Sprintf("%-9s %s: %s", v.Scenario, words.Count(uint64(v.Jobs), "job"), j.Plan.Describe()), ": ")}
	done := fmt.Sprintf("done      %s of %s   %s", words.Number(uint64(v.Done)), words.Number(uint64(v.Jobs)), outcomes(j))
	if v.Shard != "" {
		done += "   shard " + v.Shard
	}
	if v.Rechecked > 0 {
		done += fmt.Sprintf("   %s rechecked: %s", words.Number(uint64(v.Rechecked)), cmp.Or(differCount(len(v.Differing)), "equal"))
	}
	lines = append(lines, done)
	if v.Done > 0 {
		lines = append(lines, fmt.Sprintf("time      %s a job, the slowest %s (job %s)", short(v.Seconds/float64(v.Done)), short(v.Slowest), words.Number(uint64(v.SlowestJob))))
	}
	for i := range v.Differing {
		lines = append(lines, v.Differing[i].lines()...)
	}
	if v.Damaged > 0 {
		lines = append(lines, fmt.Sprintf("damaged   %s of the journal", words.Count(uint64(v.Damaged), "line")))
	}
	lines = append(lines, v.badLines(all)...)
	if len(v.Statistics) > 0 {
		lines = append(lines, "", fmt.Sprintf("%-32s %14s %14s %14s", "of the jobs that are ok", "least", "mean", "greatest"))
	}
	for _, s := range v.Statistics {
		lines = append(lines, fmt.Sprintf("  %-30s %14s %14s %14s", s.Name, sevenDigits(s.Min), sevenDigits(s.Mean), sevenDigits(s.Max)))
	}
	return lines
}

// sevenDigits writes a number with seven digits at most.
func sevenDigits(x float64) string {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 7, 64), 64)
	return scenarios.Number(x)
}

// badLines lists the jobs that are not ok.
func (v *sweepShown) badLines(all bool) (lines []string) {
	const most = 10
	for i, b := range v.NotOK {
		if i == most && !all {
			return append(lines, fmt.Sprintf("          and %s more; list them with --all", words.Number(uint64(len(v.NotOK)-most))))
		}
		lines = append(lines, fmt.Sprintf("%-9s job %s  %s", b.Status, words.Number(uint64(b.Job)), strings.Join(b.Sets, "  ")), "          "+b.Reason)
	}
	return lines
}

// short formats a time in seconds.
func short(seconds float64) string {
	switch {
	case seconds < 1e-3:
		return fmt.Sprintf("%.3g µs", seconds*1e6)
	case seconds < 1:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	case seconds < 100:
		return fmt.Sprintf("%.3g s", seconds)
	}
	return words.Remaining(seconds)
}
