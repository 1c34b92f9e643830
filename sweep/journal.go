package sweep

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/murksim/murksim/scenarios/document"
)

// A Head begins a journal: it says what the sweep is.
type Head struct {
	Form   int      `json:"murksim_sweep"` // 1
	Design Design   `json:"design"`
	Base   ID       `json:"base"` // of the scenario without the design's values
	Jobs   int      `json:"jobs"`
	Stats  []string `json:"stats,omitempty"`  // names of the rows' statistics
	Units  []string `json:"units,omitempty"`  // of each, for people; "": it has none
	Wholes []bool   `json:"wholes,omitempty"` // of each, whether it counts something
	Probes int      `json:"probes,omitempty"` // so many of them, the last, are the scenario's probes and its own statistics
	Wanted
	Shard Shard  `json:"shard,omitzero"`
	Pick  string `json:"pick"` // random: which jobs are rechecked depends on it, so that no worker knows
}

// Change names the difference that makes another head belong to another sweep; "": there is none.
func (h *Head) Change(other *Head) string {
	a, b := h.Design, other.Design
	switch {
	case a.Scenario != b.Scenario:
		return fmt.Sprintf("the scenario %s, not %s", document.Shorten(a.Scenario), document.Shorten(b.Scenario))
	case h.Base != other.Base:
		return fmt.Sprintf("another text of the scenario %s, or components of another version", document.Shorten(a.Scenario))
	case a.Ticks != b.Ticks:
		return "another number of ticks"
	case !slices.Equal(a.Seeds, b.Seeds):
		return "other seeds"
	case !reflect.DeepEqual(a, b):
		return "other values"
	case !slices.Equal(h.Stats, other.Stats) || !slices.Equal(h.Fields, other.Fields):
		return "other statistics"
	case h.Digest != other.Digest:
		return map[bool]string{true: "run digests", false: "no run digests"}[h.Digest]
	case h.Shard != other.Shard:
		return fmt.Sprintf("shard %v, not %v", h.Shard, other.Shard)
	}
	return ""
}

// String writes a shard as 2/8.
func (s Shard) String() string {
	if s.Of == 0 {
		return "1/1"
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// A Shard is a part of a sweep: every Of-th job, the Index-th of them first, from 1.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

// Jobs returns how many of some jobs belong to the shard.
func (s Shard) Jobs(all int) int {
	if s.Of == 0 {
		return all
	}
	return (all - s.Index + s.Of) / s.Of
}

// Holds reports whether a job belongs to the shard. The zero Shard has all.
func (s Shard) Holds(job int) bool { return s.Of == 0 || job%s.Of == s.Index-1 }

// A record is one line of a journal.
type record struct {
	Head  *Head  `json:"sweep,omitempty"`
	Row   *Row   `json:"row,omitempty"`
	Check *Check `json:"check,omitempty"`
}

// A Journal is a file of lines. A line is the CRC-32C of its rest in eight hexadecimal digits, a space, and
// one JSON object: first the head, then rows and checks as they come. Lines are only ever appended, so a
// killed process loses at most the line that it was writing. A damaged line is left out, and its job runs
// again.
type Journal struct {
	Head   Head
	Plan   *Plan
	Bad    int            // damaged lines
	Checks map[int]Check  // by job
	Counts map[Status]int // of rows

	file    *os.File
	size    int64
	half    int64 // bytes of a line without an end, the last of size
	taken   int   // lines of the file
	done    int
	places  []int64       // of the jobs' rows; 0: there is none
	lengths []int32       // of their lines
	codes   []uint8       // of their statuses, see code
	ids     map[ID]int32  // jobs by their ids
	before  map[int]lines // rows of jobs that are to run once more, see Forget
	designs int           // one, and one for each --extend
	old     map[ID]lines  // rows of designs before the last one
	differ  map[ID]Check  // of these rows
	line    []byte
}

// lines is where a line stands.
type lines struct {
	at     int64
	length int32
}

const maxLine = 16 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrNoJournal reports a file that is no journal of a sweep.
var ErrNoJournal = errors.New("it is not the journal of a sweep")

// CreateJournal begins a journal in a file that must not exist. The file gets its name once it has the head: if the process is killed before,
// or the disk is full, there is no journal, and at most a file with ".new" after the name.
func CreateJournal(path string, h Head) (*Journal, error) {
	if Exists(path) {
		return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	draft := path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed; it may be a link
		return nil, err
	}
	f, err := os.OpenFile(draft, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f}
	if err = j.begin(h); err == nil {
		err = j.append(record{Head: &h})
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(draft))
	}
	return OpenJournal(path, false)
}

// OpenJournal reads a journal, to continue it or, if readOnly, to look at it while another process
// writes.
func OpenJournal(path string, readOnly bool) (*Journal, error) {
	how := os.O_RDWR
	if readOnly {
		how = os.O_RDONLY
	}
	if err := regular(path); err != nil {
		return nil, err
	}
	if !readOnly {
		if err := unlinked(filepath.Dir(path)); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, how, 0)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f}
	if err = j.read(); err == nil && !readOnly {
		err = j.mend()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// unlinked refuses the folder of a sweep in which something that the sweep writes is a symbolic link: what it leads to would be replaced.
func unlinked(folder string) error {
	for _, name := range []string{"journal", "results.csv", "results.parquet", "recordings", "states", "differences"} {
		if info, err := os.Lstat(filepath.Join(folder, name)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return fmt.Errorf("%s in it is a symbolic link, and a sweep writes to its own folder alone; remove the link", name)
		}
	}
	return nil
}

// regular refuses anything but a regular file: opening a pipe, for one, may wait forever.
func regular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNoJournal
	}
	return err
}

// begin makes room for the rows of a head.
func (j *Journal) begin(h Head) error {
	if h.Form != 1 {
		return fmt.Errorf("it is of form %d; this program knows form 1", h.Form)
	}
	p, err := h.Design.Plan()
	if err != nil {
		return err
	}
	if p.Jobs() != h.Jobs || h.Shard.Of < 0 || h.Shard.Of > 0 && (h.Shard.Index < 1 || h.Shard.Index > h.Shard.Of) {
		return fmt.Errorf("its head says %d jobs; its design has %d", h.Jobs, p.Jobs())
	}
	if j.old == nil {
		j.old, j.differ = map[ID]lines{}, map[ID]Check{}
	}
	if !slices.Equal(h.Stats, j.Head.Stats) {
		clear(j.old) // rows without the statistics are of no use
	} else {
		for id, job := range j.ids {
			j.old[id] = lines{j.places[job], j.lengths[job]}
			delete(j.differ, id)
			if c, checked := j.Checks[int(job)]; checked && !c.Equal {
				j.differ[id] = c
			}
		}
	}
	j.designs++
	j.Head, j.Plan = h, p
	j.places, j.lengths, j.codes = make([]int64, h.Jobs), make([]int32, h.Jobs), make([]uint8, h.Jobs)
	j.ids, j.Checks, j.Counts, j.done, j.before = map[ID]int32{}, map[int]Check{}, map[Status]int{}, 0, map[int]lines{}
	return nil
}

// read reads what the file holds.
func (j *Journal) read() error {
	in := bufio.NewReaderSize(j.file, 1<<20)
	var line []byte
	for {
		var err error
		line, err = readLine(in, line[:0])
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) > 0 && line[len(line)-1] == '\n' {
			if err := j.take(line, nil); err != nil {
				return err
			}
		} else {
			j.half = int64(len(line)) // it is being written, or its process was killed
		}
		j.size += int64(len(line))
		if err != nil {
			break
		}
	}
	if j.Plan == nil {
		return ErrNoJournal
	}
	return nil
}

// take takes in a line of the file. If the line is a row, it calls visit, unless nil, with the row in full.
func (j *Journal) take(line []byte, visit func(*Row)) error {
	j.taken++
	var r record
	decode := r.index
	if visit != nil {
		decode = r.decode
	}
	if err := decode(line); err != nil {
		if j.Plan == nil { // without a head nothing else means anything
			return ErrNoJournal
		}
		j.Bad++
		return nil
	}
	switch {
	case r.Head != nil:
		return j.begin(*r.Head)
	case j.Plan == nil:
		return ErrNoJournal
	}
	if err := j.refuses(&r, len(line)); err != nil {
		return fmt.Errorf("line %d %w: the journal was changed, or is of an early version; sweep or merge into a new folder", j.taken, err)
	}
	switch {
	case !j.enter(&r, j.size, len(line)):
		j.Bad++
	case visit != nil && r.Row != nil:
		r.Row.Clean()
		visit(r.Row)
	}
	return nil
}

// refuses says why no journal may have a record, whose line has so many bytes. It is asked before a line is written and when one is read.
func (j *Journal) refuses(r *record, length int) error {
	switch {
	case length > maxLine:
		return fmt.Errorf("has %d bytes; a line of a journal has at most %d", length, maxLine)
	case r.Row != nil && !j.keeps(r.Row):
		return fmt.Errorf("says that %.80q is kept of job %d, which is %s or %s", r.Row.Kept, r.Row.Job, KeptName(r.Row.Job, false), KeptName(r.Row.Job, true))
	case r.Check != nil && !r.Check.plain():
		return fmt.Errorf("says that recordings of job %d are %.80q, which are such as %s", r.Check.Job, r.Check.Files, EvidenceName(r.Check.Job, 1))
	}
	return nil
}

// enter notes where a row or check stands. It returns false for one that this sweep cannot have.
func (j *Journal) enter(r *record, at int64, length int) bool {
	switch {
	case r.Row != nil && j.fits(r.Row):
		row := r.Row
		if j.Has(row.Job) { // it was run once more, see Forget
			j.drop(row.Job)
		}
		if before, again := j.before[row.Job]; again {
			if j.once(row, lines{at, int32(length)}) {
				at, length = before.at, int(before.length)
			}
			delete(j.before, row.Job)
		}
		j.Counts[row.Status]++
		j.done++
		j.places[row.Job], j.lengths[row.Job], j.codes[row.Job] = at, int32(length), code(row.Status)
		if _, known := j.ids[row.ID]; !known && row.Status != Equal { // the row of its twin may come later
			j.ids[row.ID] = int32(row.Job)
		}
	case r.Check != nil && r.Check.Job >= 0 && r.Check.Job < len(j.places):
		r.Check.Row.Clean()
		r.Check.Row.Kept = ""
		if r.Check.Files == nil && !r.Check.Equal { // of a version that did not name them
			r.Check.Files = []string{EvidenceName(r.Check.Job, 1), EvidenceName(r.Check.Job, 2)}
		}
		if !j.Has(r.Check.Job) { // the line of its row is damaged
			delete(j.Checks, r.Check.Job)
		}
		j.note(j.judged(*r.Check))
	default:
		return false
	}
	return true
}

// fits reports whether a row can be one of this sweep.
func (j *Journal) fits(row *Row) bool {
	return row.Job >= 0 && row.Job < len(j.places) && j.Head.Shard.Holds(row.Job) && slices.Contains(Statuses(), row.Status) &&
		(row.Status != Equal || row.As >= 0 && row.As < len(j.places))
}

// code is the place of a status in Statuses.
func code(s Status) uint8 { return uint8(slices.Index(Statuses(), s)) }

// mend repairs the last line, which a killed process left unfinished. It adds the line end if only that is missing; otherwise it removes
// the line.
func (j *Journal) mend() error {
	half := make([]byte, j.half, j.half+1)
	j.size -= j.half
	if _, err := j.file.ReadAt(half, j.size); err != nil || j.half == 0 {
		return err
	}
	j.half = 0
	var r record
	if decodeLine(half, &r) != nil || r.Head != nil { // another design is none before its line has an end
		return j.file.Truncate(j.size)
	}
	half = append(half, '\n')
	if _, err := j.file.WriteAt(half[len(half)-1:], j.size+int64(len(half)-1)); err != nil {
		return err
	}
	err := j.take(half, nil)
	j.size += int64(len(half))
	return err
}

// append writes records, with one write.
func (j *Journal) append(records ...record) error {
	j.line = j.line[:0]
	ends := make([]int, len(records))
	for i := range records {
		var err error
		from := len(j.line)
		if j.line, err = appendLine(j.line, records[i]); err != nil {
			return err
		}
		if err := j.refuses(&records[i], len(j.line)-from); err != nil {
			return err
		}
		ends[i] = len(j.line)
	}
	n, err := j.file.WriteAt(j.line, j.size)
	if err != nil { // the next line must not be read as the rest of a part
		return errors.Join(err, j.file.Truncate(j.size))
	}
	from := 0
	for i := range records {
		if records[i].Head == nil {
			j.enter(&records[i], j.size+int64(from), ends[i]-from)
		}
		from = ends[i]
	}
	j.size += int64(n)
	return nil
}

// Add adds rows.
func (j *Journal) Add(rows ...Row) error { return j.add(rows, nil) }

// add adds rows, and checks of them, with one write: no process that is killed leaves a row without the difference that was found with it.
func (j *Journal) add(rows []Row, checks []Check) error {
	var list []record
	for i := range rows {
		list = append(list, record{Row: &rows[i]})
	}
	for _, c := range checks {
		c.Row.Kept = ""
		if c.Files == nil && !c.Equal {
			c.Files = []string{}
		}
		list = append(list, record{Check: &c})
	}
	return j.append(list...)
}

// Has reports whether there is a row of a job.
func (j *Journal) Has(job int) bool { return j.places[job] != 0 }

// Done returns how many jobs have a row.
func (j *Journal) Done() int { return j.done }

// Statuses counts the jobs that are not ok, by status.
func (j *Journal) Statuses() (n int) {
	for status, jobs := range j.Counts {
		if jobs > 0 && status != OK && status != Equal {
			n++
		}
	}
	return n
}

// Missing lists the jobs of the shard that have no row.
func (j *Journal) Missing() iter.Seq[int] {
	return func(yield func(int) bool) {
		for job := range j.places {
			if j.Head.Shard.Holds(job) && !j.Has(job) && !yield(job) {
				return
			}
		}
	}
}

// Unchecked lists the rows of the jobs that [Chosen] selects and that were not run again.
func (j *Journal) Unchecked(share float64) (list []*Row, err error) {
	var jobs []int
	for id, job := range j.ids {
		if _, checked := j.Checks[int(job)]; !checked && Chosen(j.Head.Pick, id, share) {
			jobs = append(jobs, int(job))
		}
	}
	slices.Sort(jobs)
	for _, job := range jobs {
		row, err := j.Row(job)
		if err != nil {
			return nil, err
		}
		if row.Repeats() {
			list = append(list, row)
		}
	}
	return list, nil
}

// Twin returns the job of the sweep that has an id, if one has a row.
func (j *Journal) Twin(id ID) (job int, ok bool) {
	at, ok := j.ids[id]
	return int(at), ok
}

// hasID reports whether a job has a row with an id.
func (j *Journal) hasID(job int, id ID) bool {
	if job < 0 || job >= len(j.places) || !j.Has(job) {
		return false
	}
	row, err := j.Row(job)
	return err == nil && row.ID == id
}

// Row reads the row of a job that is done.
func (j *Journal) Row(job int) (*Row, error) { return j.rowAt(lines{j.places[job], j.lengths[job]}) }

func (j *Journal) rowAt(l lines) (*Row, error) {
	b := make([]byte, l.length)
	if _, err := j.file.ReadAt(b, l.at); err != nil {
		return nil, err
	}
	var r record
	if err := decodeLine(b, &r); err != nil || r.Row == nil {
		return nil, fmt.Errorf("the row at byte %d: %w", l.at, errors.Join(err, ErrNoJournal))
	}
	if !j.keeps(r.Row) {
		return nil, fmt.Errorf("the row at byte %d: the journal was changed while it was read", l.at)
	}
	r.Row.Clean()
	return r.Row, nil
}

// Extend gives the sweep another design. It takes over rows of earlier designs that the new one also has; id returns the id of a job, and
// is called for each. If a job gave another result when it was run again, its check is taken over with its row.
func (j *Journal) Extend(h Head, id func(job int) (ID, bool)) (taken int, err error) {
	if err := j.append(record{Head: &h}); err != nil {
		return 0, err
	}
	if err := j.begin(h); err != nil {
		return 0, err
	}
	for job := range h.Jobs {
		id, ok := id(job)
		if !ok {
			continue
		}
		row, err := j.earlier(job, id)
		if err != nil {
			return taken, err
		}
		if row == nil {
			continue
		}
		if err := j.Add(*row); err != nil {
			return taken, err
		}
		taken++
	}
	return taken, nil
}

// earlier returns the row that a job had in an earlier design. If that job gave another result when it was run again, earlier first
// writes down its check. It returns nil if there was no such row, or if the row lacks the digest that is now wanted.
func (j *Journal) earlier(job int, id ID) (*Row, error) {
	at, known := j.old[id]
	if _, again := j.before[job]; !known || again { // it is to run once more
		return nil, nil
	}
	row, err := j.rowAt(at)
	if err != nil || row.ID != id || row.Status == Equal || j.Head.Digest && row.Digest == "" && row.Ran() {
		return nil, nil
	}
	row.Job = job
	if !j.Head.Digest {
		row.Digest = ""
	}
	if c, differs := j.differ[id]; differs {
		c.Job, c.Row.Job = job, job
		return row, j.AddCheck(c)
	}
	return row, nil
}

// Sync writes the journal through to the disk.
func (j *Journal) Sync() error { return j.file.Sync() }

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// Exists reports whether there is a journal at a path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
