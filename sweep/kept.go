package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// KeptName returns where the recording of a job lies, or its last state, in the folder of its sweep.
func KeptName(job int, state bool) string {
	if state {
		return fmt.Sprintf("states/job-%d.state", job)
	}
	return fmt.Sprintf("recordings/job-%d.murk", job)
}

// KeptName returns where to keep the recording of a job, or its last state, in the folder of the sweep: beside what was kept of a
// job that runs once more, since that stays until the job has its new row. In an extended sweep, an earlier design, whose jobs had
// other numbers, may have left a file there, too. Then the name also has a number.
func (j *Journal) KeptName(folder string, job int, state bool) string {
	name, older := KeptName(job, state), j.keptBefore(job)
	ending := path.Ext(name)
	stem := strings.TrimSuffix(name, ending)
	for n := 2; name == older || j.designs > 1 && Exists(filepath.Join(folder, name)); n++ {
		name = fmt.Sprintf("%s-%d%s", stem, n, ending)
	}
	return name
}

// keptBefore returns what was kept of a job that is to run once more; "": nothing.
func (j *Journal) keptBefore(job int) string {
	if before, again := j.before[job]; again {
		if row, err := j.rowAt(before); err == nil {
			return row.Kept
		}
	}
	return ""
}

// plainKept matches the file names that a row may have: the file is opened, so it must lie in the folder.
var plainKept = regexp.MustCompile(`^(?:recordings/job-([0-9]{1,9})(?:-[0-9]{1,9})?\.murk|states/job-([0-9]{1,9})(?:-[0-9]{1,9})?\.state)$`)

// keeps reports whether the file that a row names can be that of its job, or in an extended sweep of any.
func (j *Journal) keeps(row *Row) bool {
	of := plainKept.FindStringSubmatch(row.Kept)
	return row.Kept == "" || of != nil && (j.designs > 1 || of[1]+of[2] == strconv.Itoa(row.Job))
}

// Put writes a file into the folder of a sweep. It gets its name when it is whole, and replaces what had that.
func Put(folder, name string, write func(to io.Writer) error) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return place(root, name, func(draft string) error { return writeTo(root, draft, write) })
}

// place gives a draft its name when it is whole. It replaces what has these names, such as the draft of a process that was killed,
// and follows no link.
func place(root *os.Root, name string, write func(draft string) error) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	if _, err := root.Stat(path.Dir(name)); err != nil { // where a link leads elsewhere
		return err
	}
	draft := name + ".part"
	if err := root.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := write(draft)
	if err == nil {
		err = root.Rename(draft, name)
	}
	if err != nil {
		_ = root.Remove(draft)
	}
	return err
}

// writeTo writes a new file.
func writeTo(root *os.Root, name string, write func(to io.Writer) error) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// FindKept returns the path of a file in the folder of a sweep. The error says if there is none, if it is not a regular file, or if a symbolic
// link leads out of the folder.
func FindKept(folder, name string) (path string, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	path = filepath.Join(folder, name)
	info, err := root.Stat(name)
	return path, ordinary(path, info, err)
}

// ordinary is an error unless a file is a regular one.
func ordinary(path string, info fs.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// A transfer brings what was kept from one folder of a sweep into another.
type transfer struct {
	from, to         *os.Root
	fromPath, toPath string
}

func openTransfer(from, to string) (t *transfer, err error) {
	t = &transfer{fromPath: from, toPath: to}
	if t.from, err = os.OpenRoot(from); err != nil {
		return nil, err
	}
	if t.to, err = os.OpenRoot(to); err != nil {
		t.from.Close()
		return nil, err
	}
	return t, nil
}

func (t *transfer) close() {
	t.from.Close()
	t.to.Close()
}

// bring copies a file of one folder into the other: as a hard link, which takes no room, or if that fails, such as on another disk, as
// a copy.
func (t *transfer) bring(ctx context.Context, from, name string) error {
	info, err := t.from.Stat(from)
	if err := ordinary(from, info, err); err != nil {
		return err
	}
	in, err := t.from.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err = in.Stat(); err != nil {
		return err
	}
	if there, err := t.to.Stat(name); err == nil && os.SameFile(there, info) { // of a merge that was killed
		return nil
	}
	return place(t.to, name, func(draft string) error {
		if t.link(from, draft, info) {
			return nil
		}
		return writeTo(t.to, draft, func(to io.Writer) error {
			_, err := io.Copy(to, &interruptible{ctx, in})
			return err
		})
	})
}

// link makes a hard link and reports whether it did. It leaves none if it would lead to another file.
func (t *transfer) link(name, draft string, want fs.FileInfo) bool {
	if os.Link(filepath.Join(t.fromPath, name), filepath.Join(t.toPath, draft)) != nil {
		return false
	}
	got, err := t.to.Lstat(draft)
	if err == nil && os.SameFile(got, want) {
		return true
	}
	t.to.Remove(draft)
	return false
}

// An interruptible reader fails once its context has ended.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r *interruptible) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}
