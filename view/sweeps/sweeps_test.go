package sweeps_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/sweep"
	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/sweeps"
)

// head returns the head of a sweep with two varying values, a number and a text, and some seeds.
func head(seeds uint64) sweep.Head {
	d := sweep.Design{
		Scenario: "worlds/tiny.yaml", Seeds: []sweep.Span{{From: 5, To: 4 + seeds, Step: 1}},
		Axes: []sweep.Axis{{Path: "diffusion.rate", Values: []string{"10", "9", "0.5"}}, {Path: "edge", Values: []string{"wrap", "absorb"}}},
	}
	return sweep.Head{Form: 1, Jobs: 6 * int(seeds), Pick: "00", Stats: []string{"heat_mean", "gap"}, Units: []string{"K", ""}, Design: d}
}

// row returns the row of a job. An expectation fails in every fifth one; every seventh has no value of
// gap.
func row(job int) sweep.Row {
	r := sweep.Row{
		Job: job, ID: sweep.ID{byte(job), byte(job >> 8), 1}, Status: sweep.OK, Ticks: 10, Hash: fmt.Sprintf("%016x", job*job+1),
		Stats: []sweep.Number{sweep.Number(job%4) + 0.1, sweep.Number(-job)}, Seconds: float64(job%3) / 8, Worker: fmt.Sprint("w#", job%2), Build: "b",
	}
	if job%5 == 4 {
		r.Status, r.Reason = sweep.Failed, fmt.Sprint("heat is ", job)
	}
	if job%7 == 6 {
		r.Stats[1] = sweep.Number(math.NaN())
	}
	return r
}

// A fixture is a sweep in a folder, with its own journal writer.
type fixture struct {
	*testing.T
	folder  string
	journal *sweep.Journal
	sweep   *sweeps.Sweep
}

func begin(t *testing.T, seeds uint64, jobs ...int) *fixture {
	t.Helper()
	f := &fixture{T: t, folder: t.TempDir()}
	path := filepath.Join(f.folder, "journal")
	var err error
	if f.journal, err = sweep.CreateJournal(path, head(seeds)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.journal.Close() })
	f.add(jobs...)
	if f.sweep, err = sweeps.Open(sweeps.Config{Folder: f.folder, Journal: path, Name: "out", Open: refused}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.sweep.Close() })
	return f
}

var errRefused = errors.New("it is not opened in this test")

func refused(path string) (*view.Recording, error) {
	return nil, fmt.Errorf("%s: %w", filepath.Base(path), errRefused)
}

func (f *fixture) add(jobs ...int) {
	f.Helper()
	for _, job := range jobs {
		if err := f.journal.Add(row(job)); err != nil {
			f.Fatal(err)
		}
	}
}

func (f *fixture) about() *sweeps.About {
	f.Helper()
	head, _, err := f.sweep.AnswerSweep("sweep", &view.SweepQuery{})
	if err != nil {
		f.Fatal(err)
	}
	return head.(*sweeps.About)
}

func (f *fixture) rows(q view.SweepQuery) *sweeps.Rows {
	f.Helper()
	if q.Count == 0 {
		q.Count = sweeps.MaxRows
	}
	head, _, err := f.sweep.AnswerSweep("rows", &q)
	if err != nil {
		f.Fatal(err)
	}
	return head.(*sweeps.Rows)
}

// jobs lists the jobs of rows.
func jobs(r *sweeps.Rows) (list []int) {
	for _, x := range r.Rows {
		list = append(list, x.Job)
	}
	return list
}

// all lists numbers from 0.
func all(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// TestGrows checks that a sweep shows what its journal has, row by row.
func TestGrows(t *testing.T) {
	f := begin(t, 2)
	a := f.about()
	if a.Done != 0 || a.Jobs != 12 || a.Scenario != "tiny" || a.Folder != "out" || a.Text != "3 of diffusion.rate × 2 of edge × 2 seeds" || len(f.rows(view.SweepQuery{}).Rows) != 0 {
		t.Errorf("at first it is %+v", a)
	}
	for i, job := range []int{7, 3, 4, 0} {
		version := a.Version
		f.add(job)
		if a = f.about(); a.Done != i+1 || a.Version <= version || a.Problem != "" || a.Reading != 0 {
			t.Errorf("after %d rows it is %+v", i+1, a)
		}
	}
	if got := jobs(f.rows(view.SweepQuery{})); !slices.Equal(got, []int{0, 3, 4, 7}) {
		t.Errorf("the rows are those of %v", got)
	}
	if version := a.Version; f.about().Version != version {
		t.Error("nothing has changed, and the version has")
	}
	if want := []sweeps.StatusAbout{{"ok", 3, 0, ""}, {"failed", 1, 4, "heat is 4"}}; !slices.Equal(a.Statuses, want) || a.Bad != 1 {
		t.Errorf("the statuses are %+v, want %+v", a.Statuses, want)
	}
}

// table returns the rows of the journal's own table, as they go into results.csv.
func (f *fixture) table() [][]string {
	f.Helper()
	format, err := export.StatsFormatOf("results.csv")
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.journal.Table(sweep.Output{To: &b, Format: format}); err != nil {
		f.Fatal(err)
	}
	table, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		f.Fatal(err)
	}
	return table
}

// TestTable checks that the rows are those of results.csv, column by column, also where jobs equal each other.
func TestTable(t *testing.T) {
	f := begin(t, 4, all(12)...)
	like := func(job, as int) sweep.Row {
		return sweep.Row{Job: job, ID: row(as).ID, Status: sweep.Equal, As: as, Worker: "w#9", Build: "b"}
	}
	kept := row(20)
	kept.Kept = "recordings/job-20.murk"
	check := sweep.Check{Job: 2, Differ: "final hashes", Tick: 3, Row: row(2)}
	if err := errors.Join(f.journal.Add(like(13, 3), row(16), like(15, 16), like(14, 16), like(17, 16), like(18, 19), kept), f.journal.AddCheck(check)); err != nil {
		t.Fatal(err)
	}
	want := f.table()
	a, r := f.about(), f.rows(view.SweepQuery{})
	if len(r.Rows) != len(want)-1 || r.All != len(want)-1 || len(a.Columns) != len(want[0]) {
		t.Fatalf("there are %d rows of %d columns, want %d of %d", len(r.Rows), len(a.Columns), len(want)-1, len(want[0]))
	}
	for i, x := range r.Rows {
		for c := range a.Columns {
			got := ""
			switch v := x.Cells[c].(type) {
			case string:
				got = v
			case float64:
				got = strconv.FormatFloat(v, 'g', -1, 64)
			}
			if a.Columns[c].Name != want[0][c] || got != strings.TrimSuffix(want[i+1][c], ".0") {
				t.Errorf("row %d has %s %q, want %s %q", i, a.Columns[c].Name, got, want[0][c], want[i+1][c])
			}
		}
	}
	if d := a.Differing; a.Differ != 1 || len(d) != 1 || d[0].Job != 2 || d[0].Tick != 3 || d[0].Differ != "final hashes" || d[0].Workers != [2]string{"w#0", "w#0"} {
		t.Errorf("what differs is %+v", d)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// TestOrder checks that rows are sorted and filtered: numbers as numbers, texts as texts, rows without a value last.
func TestOrder(t *testing.T) {
	f := begin(t, 2, all(12)...)
	f.about()
	if err := f.journal.AddCheck(sweep.Check{Job: 8, Differ: "x", Row: row(8)}); err != nil {
		t.Fatal(err)
	}
	f.about()
	for _, tt := range []struct {
		q    view.SweepQuery
		want []int
	}{
		{view.SweepQuery{Down: true, Count: 3}, []int{11, 10, 9}},
		{view.SweepQuery{Sort: "diffusion.rate", Count: 5}, []int{8, 9, 10, 11, 4}}, // 0.5, 9, 10
		{view.SweepQuery{Sort: "edge", Count: 4, From: 4}, []int{10, 11, 0, 1}},
		{view.SweepQuery{Sort: "edge", Down: true, Count: 4}, []int{0, 1, 4, 5}},
		{view.SweepQuery{Sort: "seed", Count: 3}, []int{0, 2, 4}},
		{view.SweepQuery{Sort: "gap", Count: 3}, []int{11, 10, 9}},
		{view.SweepQuery{Sort: "gap", From: 11}, []int{6}},
		{view.SweepQuery{Sort: "gap", Down: true, From: 11}, []int{6}},
		{view.SweepQuery{Sort: "heat_mean", Count: 4}, []int{0, 4, 8, 1}},
		{view.SweepQuery{Sort: "reason", Count: 4}, []int{4, 9, 0, 1}},
		{view.SweepQuery{Sort: "final_hash", Down: true, Count: 1}, []int{11}},
		{view.SweepQuery{Status: "failed"}, []int{4, 9}},
		{view.SweepQuery{Status: "not ok", Down: true}, []int{9, 4}},
		{view.SweepQuery{Status: "ok", Count: 5}, []int{0, 1, 2, 3, 5}},
		{view.SweepQuery{Status: "differs"}, []int{8}},
		{view.SweepQuery{Status: "panic"}, nil},
		{view.SweepQuery{From: 99, Count: 5}, []int{11}},
		{view.SweepQuery{From: -7, Count: 1}, []int{0}},
		{view.SweepQuery{Count: -1}, nil},
	} {
		if got := jobs(f.rows(tt.q)); !slices.Equal(got, tt.want) {
			t.Errorf("%+v gives %v, want %v", tt.q, got, tt.want)
		}
	}
	for _, tt := range []struct {
		q    view.SweepQuery
		want string
	}{
		{view.SweepQuery{Sort: "gaps"}, `there is no column "gaps"; did you mean "gap"?`},
		{view.SweepQuery{Status: "fine"}, `no row has the status "fine"`},
		{view.SweepQuery{Status: "equal"}, `no row has the status "equal"`},
	} {
		if _, _, err := f.sweep.AnswerSweep("rows", &tt.q); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v, want %s", tt.q, err, tt.want)
		}
	}
}

// TestPicture checks that the picture has the bytes of sweep.Plot, and is not redrawn at once while the sweep grows.
func TestPicture(t *testing.T) {
	f := begin(t, 2)
	plot := func(q view.SweepQuery) (*sweeps.Plot, []byte) {
		t.Helper()
		head, svg, err := f.sweep.AnswerSweep("plot", &q)
		if err != nil {
			t.Fatal(err)
		}
		return head.(*sweeps.Plot), svg
	}
	f.about()
	if p, _ := plot(view.SweepQuery{}); p.None != "no job of the sweep is done yet" {
		t.Errorf("of nothing there is %+v", p)
	}
	f.add(all(9)...)
	version := f.about().Version
	for _, q := range []view.SweepQuery{{By: []string{"edge"}}, {Stats: []string{"gap"}, By: []string{"rate"}}, {Stats: []string{"seconds"}, By: []string{"seed"}}, {Stats: []string{"gap"}}} {
		var want bytes.Buffer
		if _, err := sweep.Plot(&want, f.journal, sweep.PlotOptions{Stats: q.Stats, By: q.By}); err != nil {
			t.Fatal(err)
		}
		if p, svg := plot(q); p.Version != version || !bytes.Equal(svg, want.Bytes()) {
			t.Errorf("%+v: the picture is another one (%+v)", q, p)
		}
	}
	f.add(9)
	f.about()
	if p, _ := plot(view.SweepQuery{Stats: []string{"gap"}}); p.Version != version {
		t.Error("the picture is drawn anew at once")
	}
	if p, _ := plot(view.SweepQuery{Stats: []string{"nothing"}}); !strings.HasPrefix(p.None, `there is no statistic "nothing"`) {
		t.Errorf("of nothing known there is %+v", p)
	}
}

// TestChanges checks what is shown for damaged lines, another design, another journal and a missing one.
func TestChanges(t *testing.T) {
	f := begin(t, 2, all(5)...)
	path := filepath.Join(f.folder, "journal")
	f.about()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.WriteString("00000000 {\"row\":{}}\n"); err != nil {
		t.Fatal(err)
	}
	to.Close()
	if a := f.about(); a.Damaged != 1 || a.Done != 5 || a.Problem != "" {
		t.Errorf("with a damaged line it is %+v", a)
	}
	j, err := sweep.OpenJournal(path, false)
	if err != nil {
		t.Fatal(err)
	}
	h := head(3)
	if _, err := j.Extend(h, func(job int) (sweep.ID, bool) { return row(job).ID, job < 3 }); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if a := f.about(); a.Jobs != 18 || a.Done != 3 || !slices.Equal(jobs(f.rows(view.SweepQuery{})), []int{0, 1, 2}) {
		t.Errorf("extended it is %+v", a)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if a := f.about(); a.Problem == "" || a.Done != 3 || len(f.rows(view.SweepQuery{}).Rows) != 3 {
		t.Errorf("without a journal it is %+v", a)
	}
	if j, err = sweep.CreateJournal(path, head(1)); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Add(row(5)); err != nil {
		t.Fatal(err)
	}
	if a := f.about(); a.Problem != "" || a.Jobs != 6 || !slices.Equal(jobs(f.rows(view.SweepQuery{})), []int{5}) {
		t.Errorf("with another journal it is %+v", a)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-1); err != nil {
		t.Fatal(err)
	}
	if a := f.about(); a.Done != 0 || a.Problem != "" || len(f.rows(view.SweepQuery{}).Rows) != 0 {
		t.Errorf("cut it is %+v", a)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if a := f.about(); a.Problem != sweep.ErrNoJournal.Error() {
		t.Errorf("empty it is %+v", a)
	}
}

// TestRecordings checks that a job's recordings are found: the two of one that differs, or the one that was kept.
func TestRecordings(t *testing.T) {
	f := begin(t, 2, 0)
	kept := row(1)
	kept.Kept = "recordings/job-1.murk"
	check := sweep.Check{Job: 2, Row: row(2), Files: []string{sweep.EvidenceName(2, 3), sweep.EvidenceName(2, 4)}} // they are equal
	if err := errors.Join(f.journal.Add(kept, row(2)), f.journal.AddCheck(check)); err != nil {
		t.Fatal(err)
	}
	f.about()
	counts := func() (list []int) {
		for _, r := range f.rows(view.SweepQuery{}).Rows {
			list = append(list, r.Recordings)
		}
		return list
	}
	if got := counts(); !slices.Equal(got, []int{0, 1, 0}) {
		t.Errorf("there are %v recordings", got)
	}
	if err := os.Mkdir(filepath.Join(f.folder, "differences"), 0o777); err != nil {
		t.Fatal(err)
	}
	for which := range 4 { // the first two belong to an earlier difference
		if err := os.WriteFile(filepath.Join(f.folder, sweep.EvidenceName(2, which+1)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.sweep.Recordings(1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone is %v", err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(f.folder, "recordings"), 0o777), os.WriteFile(filepath.Join(f.folder, kept.Kept), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if got := counts(); !slices.Equal(got, []int{0, 1, 0}) {
		t.Errorf("with two that are equal there are %v recordings", got)
	}
	check.Tick = 3
	if err := f.journal.AddCheck(check); err != nil {
		t.Fatal(err)
	}
	f.about()
	if got := counts(); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("with those of what differs there are %v recordings", got)
	}
	for job, want := range map[int]string{
		0: "no recording of job 0 was kept", 1: "job-1.murk: it is not", 2: "job-2-3.murk: it is not", 3: "there is no row of job 3", -1: "there is no row of job -1", 12: "there is no row of job 12",
	} {
		if _, err := f.sweep.Recordings(job); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("job %d: %v, want %s", job, err, want)
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.WriteFile(elsewhere, nil, 0o666), os.Remove(filepath.Join(f.folder, kept.Kept)), os.Symlink(elsewhere, filepath.Join(f.folder, kept.Kept))); err != nil {
		t.Fatal(err)
	}
	if _, err := f.sweep.Recordings(1); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a link that leads out of the folder is %v", err)
	}
}

// TestAnotherJobsRecording checks that a recording is shown for a job only if it has the job's values and ends as the row says.
func TestAnotherJobsRecording(t *testing.T) {
	f := &fixture{T: t, folder: t.TempDir()}
	file := func(job int) string { return filepath.Join(f.folder, "recordings", fmt.Sprintf("job-%d.murk", job)) }
	if err := os.Mkdir(filepath.Join(f.folder, "recordings"), 0o777); err != nil {
		t.Fatal(err)
	}
	var kept []sweep.Row
	for job, seed := range []int{3, 3, 4} {
		recording, scenario, hash := recorded(t, seed)
		if err := os.WriteFile(file(job), recording, 0o666); err != nil {
			t.Fatal(err)
		}
		r := row(job)
		r.ID, r.Ticks, r.Hash, r.Kept = sweep.IDOf(scenario), 5, fmt.Sprintf("%016x", hash), fmt.Sprintf("recordings/job-%d.murk", job)
		kept = append(kept, r)
	}
	kept[1].Hash = "0000000000000001"
	path := filepath.Join(f.folder, "journal")
	var err error
	if f.journal, err = sweep.CreateJournal(path, head(1)); err != nil {
		t.Fatal(err)
	}
	defer f.journal.Close()
	if err := f.journal.Add(kept...); err != nil {
		t.Fatal(err)
	}
	if f.sweep, err = sweeps.Open(sweeps.Config{Folder: f.folder, Journal: path, Name: "out", Open: opened}); err != nil {
		t.Fatal(err)
	}
	defer f.sweep.Close()
	f.about()
	if list, err := f.sweep.Recordings(0); err != nil || len(list) != 1 {
		t.Errorf("job 0 has %d recordings, %v", len(list), err)
	}
	if _, err := f.sweep.Recordings(1); err == nil || !strings.Contains(err.Error(), "the row has 0000000000000001") {
		t.Errorf("one that ends with another hash is %v", err)
	}
	if err := os.Rename(file(2), file(0)); err != nil {
		t.Fatal(err)
	}
	const another = "it is the recording of another job"
	if _, err := f.sweep.Recordings(0); err == nil || !strings.Contains(err.Error(), another) {
		t.Errorf("the recording of another job is %v", err)
	}
	// Both recordings of a pair must have the job's values, but may end differently.
	check := sweep.Check{Job: 1, Differ: "final hashes", Tick: 5, Row: kept[1], Files: []string{sweep.EvidenceName(1, 1), sweep.EvidenceName(1, 2)}}
	if err := errors.Join(f.journal.AddCheck(check), os.Mkdir(filepath.Join(f.folder, "differences"), 0o777)); err != nil {
		t.Fatal(err)
	}
	f.about()
	for _, seeds := range [][2]int{{3, 3}, {3, 4}, {4, 3}} {
		for i, seed := range seeds {
			recording, _, _ := recorded(t, seed)
			if err := os.WriteFile(filepath.Join(f.folder, check.Files[i]), recording, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if list, err := f.sweep.Recordings(1); seeds == [2]int{3, 3} && (err != nil || len(list) != 2) || seeds != [2]int{3, 3} && (err == nil || !strings.Contains(err.Error(), another)) {
			t.Errorf("with the seeds %v job 1 has %d recordings, %v", seeds, len(list), err)
		}
	}
}

// recorded records a small world.
func recorded(t *testing.T, seed int) (recording []byte, s *scenarios.Scenario, hash uint64) {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), "heat", "ticks=5", fmt.Sprint("seed=", seed), "expect=[]")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r, err := replay.NewRecorder(&b, w, s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	for range s.Ticks {
		if _, _, err := w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), s, w.Hash()
}

// opened opens a recording without an index.
func opened(path string) (*view.Recording, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return view.Open(view.Config{Name: path, Recording: bytes.NewReader(b), Size: int64(len(b)), Build: func(h *replay.Header) (*engine.World, *scenarios.Scenario, error) {
		s, err := worlds.Registry().FromDescriptor(h.World())
		if err != nil {
			return nil, nil, err
		}
		w, err := s.World(1)
		return w, s, err
	}})
}

// TestRoom checks that a table is refused if it needs more memory than the limit.
func TestRoom(t *testing.T) {
	f := begin(t, 2, 0)
	c := sweeps.Config{Folder: f.folder, Journal: filepath.Join(f.folder, "journal"), Memory: 1000}
	if _, err := sweeps.Open(c); err == nil || !strings.HasPrefix(err.Error(), "the table of 12 jobs would take ") {
		t.Errorf("there is no room: %v", err)
	}
	c.Memory = 4000
	var err error
	if f.sweep, err = sweeps.Open(c); err != nil {
		t.Fatal(err)
	}
	f.about()
	if _, err := f.journal.Extend(head(20), func(int) (sweep.ID, bool) { return sweep.ID{}, false }); err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"sweep", "rows", "plot"} {
		if _, _, err := f.sweep.AnswerSweep(op, &view.SweepQuery{}); err == nil || !strings.HasPrefix(err.Error(), "the table of 120 jobs would take ") {
			t.Errorf("%s: there is no room any more: %v", op, err)
		}
	}
}

// BenchmarkUpdate measures the requests of a page after a new row, in a sweep with 100,000 jobs.
func BenchmarkUpdate(b *testing.B) {
	const n = 100_000
	path := filepath.Join(b.TempDir(), "journal")
	j, err := sweep.CreateJournal(path, head((n+5)/6))
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	for job := range n {
		if err := j.Add(row(job)); err != nil {
			b.Fatal(err)
		}
	}
	s, err := sweeps.Open(sweeps.Config{Journal: path})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ask := func(op string, q view.SweepQuery) any {
		head, _, err := s.AnswerSweep(op, &q)
		if err != nil {
			b.Fatal(err)
		}
		return head
	}
	for ask("sweep", view.SweepQuery{}).(*sweeps.About).Done < n {
	}
	for _, bb := range []struct {
		op string
		q  view.SweepQuery
	}{
		{"sweep", view.SweepQuery{}}, {"rows", view.SweepQuery{Count: 100}}, {"rows", view.SweepQuery{Count: 100, Sort: "gap"}}, {"rows", view.SweepQuery{Count: 100, Sort: "diffusion.rate", Down: true, Status: "ok"}},
		{"plot", view.SweepQuery{By: []string{"diffusion.rate"}}},
	} {
		b.Run(strings.TrimSpace(bb.op+" "+bb.q.Sort), func(b *testing.B) {
			for b.Loop() {
				if err := j.Add(row(7)); err != nil {
					b.Fatal(err)
				}
				ask("sweep", view.SweepQuery{})
				if bb.op != "sweep" { // nothing may be cached from before
					ask(bb.op, view.SweepQuery{Status: "failed", Stats: []string{"seconds"}})
					ask(bb.op, bb.q)
				}
			}
		})
	}
}
