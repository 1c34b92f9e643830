package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/sweep"
)

// carryOut runs the jobs that are not done and writes the tables.
func (j *sweepJob) carryOut(ctx context.Context) error {
	folder := j.folder()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return words.About(folder, err)
	}
	claim, err := j.draft(ctx, filepath.Join(folder, "sweep"))
	if err != nil {
		return err
	}
	defer claim.Close()
	if err := j.openJournal(folder); err != nil {
		return err
	}
	defer j.journal.Close()
	again := 0
	for _, status := range j.retry {
		again += j.journal.Forget(sweep.Status(status))
	}
	j.before, j.rechecked = j.journal.Done(), j.journal.Rechecked()
	if err := j.headline(again); err != nil {
		return err
	}
	if err := j.measure(); err != nil {
		return err
	}
	stop, err := j.serve()
	if err != nil {
		return err
	}
	defer stop()
	j.progress = j.newProgress()
	c := sweep.Config{
		Journal: j.journal, Make: j.make, Workers: j.workers, Recheck: j.recheck.share, KeepGoing: j.keepGoing,
		Limits: j.limits(), Build: buildName(), Name: sweep.Name(), Keep: j.kept, KeepStates: j.keepAs == "state", Folder: folder, Added: j.added, Running: j.measuring.sweep.Running,
	}
	if j.nats.URL != "" {
		err = j.remote(ctx, c)
	} else {
		err = sweep.Run(ctx, c)
	}
	j.progress.Clear()
	left, lost := j.journal.Restore()
	err = errors.Join(unlessCancelled(err), lost, j.journal.Sync())
	if !j.tables().current() {
		err = errors.Join(err, j.tables().write(context.Background())) // also after Ctrl-C
	}
	if err != nil {
		if _, differ := errors.AsType[*sweep.DifferError](err); !differ {
			return err
		}
	}
	return j.summary(ctx, left, err)
}

// unlessCancelled drops the error of a context: the summary says that the sweep was stopped.
func unlessCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// jobs returns how many jobs the sweep has, or its shard.
func (j *sweepJob) jobs() int { return j.shard.Jobs(j.plan.Jobs()) }

// noOthers refuses a folder that has no journal but files that a sweep would replace.
func noOthers(folder string) error {
	folders := []string{filepath.Dir(sweep.KeptName(0, false)), filepath.Dir(sweep.KeptName(0, true)), filepath.Dir(sweep.EvidenceName(0, 1))}
	for _, name := range append(folders, csvName, parquetName) {
		if file := filepath.Join(folder, name); sweep.Exists(file) {
			return fmt.Errorf("%s exists, and the folder has no journal of a sweep; choose another folder", document.FileName(file))
		}
	}
	return nil
}

// openJournal goes on with the journal of the folder, or begins one.
func (j *sweepJob) openJournal(folder string) error {
	head, err := j.head()
	if err != nil {
		return err
	}
	path := filepath.Join(folder, journalName)
	j.journal, err = sweep.OpenJournal(path, false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := noOthers(folder); err != nil {
			return err
		}
		j.journal, err = sweep.CreateJournal(path, head)
		return words.About(path, err)
	case err != nil:
		return words.About(path, err)
	}
	head.Pick = j.journal.Head.Pick
	if change := j.journal.Head.Change(&head); change != "" {
		if !j.extend {
			j.journal.Close()
			return fmt.Errorf("%s: it is of a sweep with %s\n  choose another folder, or give this one the new design with --extend", document.FileName(folder), change)
		}
		return words.About(path, j.adopt(head))
	}
	return nil
}

// head returns the journal's head for this sweep.
func (j *sweepJob) head() (h sweep.Head, err error) {
	h = sweep.Head{Form: 1, Design: j.design, Base: sweep.IDOf(j.scenario), Jobs: j.plan.Jobs(), Wanted: sweep.Wanted{Fields: j.stats, Digest: j.digest}, Shard: j.shard.Shard, Pick: rng.FreshID()}
	if slices.Equal(j.stats, []string{sweep.NoStats}) {
		return h, nil
	}
	first := j.scenario
	if s, err := j.make(j.plan.Sets(j.plan.Point(0))); err == nil { // whose probes may be others
		first = s
	}
	values, err := export.NewValues(first, j.stats)
	if err != nil {
		return h, words.About(j.scenario.Name, err)
	}
	h.Stats = values.Names()
	h.Wholes = values.Wholes()
	h.Units, h.Probes = values.Units()
	return h, nil
}

// adopt gives the journal another design.
func (j *sweepJob) adopt(head sweep.Head) error {
	_, err := j.journal.Extend(head, func(job int) (sweep.ID, bool) {
		s, err := j.make(j.plan.Sets(j.plan.Point(job)))
		if err != nil {
			return sweep.ID{}, false
		}
		return sweep.IDOf(s), true
	})
	return err
}

// kept reports whether the recording of a job is kept.
func (j *sweepJob) kept(row *sweep.Row) bool {
	if j.keep.failed {
		return row.Status != sweep.OK
	}
	return j.keep.share.share > 0 && sweep.Chosen("keep", row.ID, j.keep.share.share)
}

// measure serves the metrics of the sweep.
func (j *sweepJob) measure() error {
	if err := j.measuring.start(j.app); err != nil || j.metrics == nil {
		return err
	}
	var statuses []string
	for _, s := range sweep.Statuses() {
		statuses = append(statuses, string(s))
	}
	j.measuring.sweep = j.metrics.Sweep(j.scenario.Name, j.jobs(), j.before, statuses)
	return j.measuring.announce(j.app)
}

// added shows progress, and writes the tables when it is time.
func (j *sweepJob) added(rows []sweep.Row, checks []sweep.Check) error {
	for i := range rows {
		j.measuring.sweep.Job(string(rows[i].Status), sweep.Process(rows[i].Worker), rows[i].Ticks)
	}
	for i := range checks {
		j.measuring.sweep.Recheck(checks[i].Equal)
	}
	j.progress.show()
	if now := time.Now(); now.After(j.progress.tables) {
		if err := j.tables().write(context.Background()); err != nil {
			return err
		}
		const least, share = 2 * time.Second, 20 // so that tables take a twentieth of the time at most
		j.progress.tables = time.Now().Add(max(least, share*time.Since(now)))
	}
	return nil
}

// A sweepStart is the first line of a sweep with --json.
type sweepStart struct {
	Event    string `json:"event"` // "start"
	Scenario string `json:"scenario"`
	Jobs     int    `json:"jobs"`
	Done     int    `json:"done"` // already
	Workers  int    `json:"workers"`
	Folder   string `json:"folder"`
	Shard    string `json:"shard,omitempty"`
}

// headline says what is about to run.
func (j *sweepJob) headline(again int) error {
	if err := j.Emit(sweepStart{"start", j.scenario.Name, j.jobs(), j.before, j.workers, j.folder(), j.shard.String()}); err != nil {
		return err
	}
	text := fmt.Sprintf("%-9s %s", j.scenario.Name, words.Count(uint64(j.jobs()), "job"))
	if what := j.plan.Describe(); what != "" {
		text += ": " + what
	}
	if s := j.shard.String(); s != "" {
		text += ", shard " + s
	}
	err := j.Say("%s", text)
	if again > 0 {
		err = cmp.Or(err, j.Say("retry     %s: %s", words.Count(uint64(again), "job"), strings.Join(j.retry, ", ")))
	}
	if j.before == 0 {
		return err
	}
	text = fmt.Sprintf("goes on   %s of them done already", words.Number(uint64(j.before)))
	if j.keep.failed || j.keep.share.share > 0 {
		text += "; of these nothing more is kept than was before (--retry ok runs them once more)"
	}
	return cmp.Or(err, j.Say("%s", text))
}

// A sweepEnd is the last line of a sweep with --json.
type sweepEnd struct {
	Event     string         `json:"event"` // "end"
	Scenario  string         `json:"scenario"`
	Jobs      int            `json:"jobs"`
	Done      int            `json:"done"`
	Statuses  map[string]int `json:"statuses"`
	Rechecked int            `json:"rechecked"`
	Before    int            `json:"rechecked_before,omitempty"` // of these, by what the folder says
	Differing []differing    `json:"differing,omitempty"`
	Stopped   bool           `json:"stopped,omitempty"`
	Damaged   int            `json:"damaged_lines,omitempty"`
	Seconds   float64        `json:"seconds"`
	Tables    []string       `json:"tables"`
}

// differing is a job that gave different results.
type differing struct {
	Job    int    `json:"job"`
	Differ string `json:"differ"`
	Tick   uint64 `json:"tick,omitempty"`
	First  string `json:"first_worker"`
	Second string `json:"second_worker"`

	Recordings []string `json:"recordings,omitempty"` // the paths of both, if there are both
}

// recorded reports whether there are two recordings of the job that differ.
func (d differing) recorded() bool { return d.Tick > 0 && d.Recordings != nil }

// summary reports the result of the sweep, in which so many jobs were to run once more and have not.
func (j *sweepJob) summary(ctx context.Context, left int, cause error) error {
	took := time.Since(j.progress.Started)
	r, err := j.ended(took)
	if err != nil {
		return err
	}
	r.Stopped = ctx.Err() != nil && r.Done-left < r.Jobs
	if err := j.Emit(r); err != nil {
		return err
	}
	line := fmt.Sprintf("%s of %s  %s  %s   %s", words.Number(uint64(r.Done)), words.Count(uint64(r.Jobs), "job"), j.whom(), elapsed(took), outcomes(j.journal))
	if r.Rechecked > 0 {
		before := ""
		if r.Before > 0 {
			before = fmt.Sprintf(" (%s before, as the folder says)", words.Number(uint64(r.Before)))
		}
		line += fmt.Sprintf("   %s rechecked%s: %s", words.Number(uint64(r.Rechecked)), before, cmp.Or(differCount(len(r.Differing)), "equal"))
	}
	if r.Rechecked == 0 && j.recheck.share > 0 && r.Done == r.Jobs {
		line += "   none rechecked"
	}
	lines := []string{line}
	for _, d := range r.Differing {
		lines = append(lines, d.lines()...)
	}
	why, err := j.reasons()
	if err != nil {
		return err
	}
	lines = append(lines, why...)
	if r.Damaged > 0 {
		lines = append(lines, fmt.Sprintf("damaged   %s of the journal, whose jobs were run again", words.Count(uint64(r.Damaged), "line")))
	}
	lines = append(lines, fmt.Sprintf("wrote     %s, %s", document.FileName(r.Tables[1]), document.FileName(r.Tables[0])))
	if next := j.next(r); next != "" {
		lines = append(lines, next)
	}
	if err := j.Say("%s", strings.Join(lines, "\n")); err != nil {
		return err
	}
	return j.status(r, r.Done-left, cause)
}

// reasons says why jobs are not ok: of each status, the first job's reason.
func (j *sweepJob) reasons() (lines []string, err error) {
	if j.journal.Statuses() == 0 {
		return nil, nil
	}
	said := map[sweep.Status]bool{}
	for row, err := range j.journal.Rows() {
		if err != nil {
			return nil, err
		}
		if row.Status == sweep.OK || said[row.Status] {
			continue
		}
		said[row.Status] = true
		lines = append(lines, fmt.Sprintf("%-9s such as job %s: %s", row.Status, words.Number(uint64(row.Job)), row.Reason))
		if len(lines) == j.journal.Statuses() {
			break
		}
	}
	return lines, nil
}

// next says what to do after the sweep.
func (j *sweepJob) next(r *sweepEnd) string {
	switch bad := j.bad(); {
	case r.Stopped:
		return "next      the same command goes on where it was"
	case slices.ContainsFunc(r.Differing, differing.recorded):
		both := r.Differing[slices.IndexFunc(r.Differing, differing.recorded)].Recordings
		return fmt.Sprintf("next      %s diff %s %s", j.Name, words.Argument(both[0]), words.Argument(both[1]))
	case len(r.Differing) > 0: // no recordings show the difference
		return ""
	case bad > 0:
		return fmt.Sprintf("next      %s sweep show %s", j.Name, words.Argument(j.folder()))
	case r.Done > 1:
		return fmt.Sprintf("next      %s sweep plot %s -o %s.svg", j.Name, words.Argument(j.folder()), j.scenario.Name)
	}
	return ""
}

// bad counts the jobs that are done and not ok.
func (j *sweepJob) bad() int {
	c := j.journal.Counts
	return j.journal.Done() - c[sweep.OK] - c[sweep.Equal]
}

// ended counts what the journal holds.
func (j *sweepJob) ended(took time.Duration) (*sweepEnd, error) {
	r := &sweepEnd{
		Event: "end", Scenario: j.scenario.Name, Jobs: j.jobs(), Done: j.journal.Done(), Statuses: statusCounts(j.journal),
		Rechecked: j.journal.Rechecked(), Before: j.rechecked, Damaged: j.journal.Bad, Seconds: took.Seconds(),
		Tables: j.tables().names(),
	}
	var err error
	r.Differing, err = differingJobs(j.folder(), j.journal)
	return r, err
}

// status is the exit status of a sweep that has done so many jobs.
func (j *sweepJob) status(r *sweepEnd, done int, cause error) error {
	bad := j.bad()
	switch {
	case len(r.Differing) > 0:
		return report.Exit(report.StatusDiverged, fmt.Errorf("%s: %s came to another end when run again", j.scenario.Name, words.Count(uint64(len(r.Differing)), "job")))
	case cause != nil:
		return cause
	case r.Stopped:
		return fmt.Errorf("%s: interrupted after %s of %s", j.scenario.Name, words.Number(uint64(done)), words.Count(uint64(r.Jobs), "job"))
	case bad > 0:
		return fmt.Errorf("%s: %s of %s", j.scenario.Name, outcomes(j.journal), words.Count(uint64(r.Done), "job"))
	}
	return nil
}

func (d *differing) lines() []string {
	list := []string{fmt.Sprintf("DIFFERS   job %s  %s", words.Number(uint64(d.Job)), d.Differ), fmt.Sprintf("          run by %s, and again by %s", d.First, d.Second)}
	if d.Tick > 0 {
		list = append(list, fmt.Sprintf("          tick %s is the first that differs", words.Number(d.Tick)))
	}
	return list
}

func differCount(n int) string {
	if n == 0 {
		return ""
	}
	return words.Count(uint64(n), "job") + " differ"
}

// outcomes counts the rows by status, as in "297 ok, 3 failed an expectation".
func outcomes(j *sweep.Journal) string {
	said := map[sweep.Status]string{sweep.Failed: "failed an expectation", sweep.Memory: "too large", sweep.Time: "too long", sweep.Panic: "panicked", sweep.Broken: "without a world", sweep.Equal: "equal to others"}
	var parts []string
	for _, s := range sweep.Statuses() {
		if n := j.Counts[s]; n > 0 {
			parts = append(parts, words.Number(uint64(n))+" "+cmp.Or(said[s], string(s)))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none done")
}

// elapsed formats how long something took.
func elapsed(d time.Duration) string {
	if d < 10*time.Second {
		return short(math.Round(d.Seconds()*1000) / 1000)
	}
	return words.Remaining(d.Seconds() - 1)
}

// list prints the jobs without running them.
func (j *sweepJob) list() error {
	const most = 20
	if err := j.headline(0); err != nil {
		return err
	}
	for job := range j.plan.Jobs() {
		p := j.plan.Point(job)
		if err := j.Emit(sweepPoint{"job", job, words.Whole(p.Seed), j.plan.Sets(p)}); err != nil {
			return err
		}
		if job < most {
			if err := j.Say("%9s %s", words.Number(uint64(job)), strings.Join(j.plan.Sets(p), "  ")); err != nil {
				return err
			}
		}
	}
	if more := j.plan.Jobs() - most; more > 0 {
		return j.Say("          and %s more", words.Number(uint64(more)))
	}
	return nil
}

// A sweepPoint is a job that --dry-run lists.
type sweepPoint struct {
	Event string      `json:"event"` // "job"
	Job   int         `json:"job"`
	Seed  words.Whole `json:"seed,omitempty"`
	Sets  []string    `json:"sets"`
}
