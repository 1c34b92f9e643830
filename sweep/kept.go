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
	"strings"
)

// KeptName returns where the recording of a job lies, or its last state, in the folder of its sweep.
func KeptName(job int, state bool) string {
	if state {
		return fmt.Sprintf("states/job-%d.state", job)
	}
	return fmt.Sprintf("recordings/job-%d.murk", job)
}

// KeptName returns where to keep the recording of a job, or its last state, in the folder of the sweep. In an extended sweep, an earlier
// design, whose jobs had other numbers, may have left a file there; then the name also has the number of the design.
func (j *Journal) KeptName(folder string, job int, state bool) string {
	name := KeptName(job, state)
	if j.designs > 1 && Exists(filepath.Join(folder, name)) {
		ending := path.Ext(name)
		name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ending), j.designs, ending)
	}
	return name
}

// plainKept matches the file names that a row of an extended sweep may have: the file is opened, so it must lie in the folder.
var plainKept = regexp.MustCompile(`^(recordings/job-[0-9]{1,9}(-[0-9]{1,9})?\.murk|states/job-[0-9]{1,9}(-[0-9]{1,9})?\.state)$`)

// keeps reports whether the file that a row names can be that of its job.
func (j *Journal) keeps(row *Row) bool {
	return row.Kept == "" || row.Kept == KeptName(row.Job, false) || row.Kept == KeptName(row.Job, true) || j.designs > 1 && plainKept.MatchString(row.Kept)
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
// a copy. A copy gets its name when it is complete.
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
	if err := t.to.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	if _, err := t.to.Stat(filepath.Dir(name)); err != nil { // where a link leads elsewhere
		return err
	}
	draft := name + ".part"
	if err := t.to.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !t.link(from, draft, info) {
		if err := t.copy(ctx, in, draft); err != nil {
			return errors.Join(err, t.to.Remove(draft))
		}
	}
	return t.to.Rename(draft, name)
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

func (t *transfer) copy(ctx context.Context, in io.Reader, draft string) error {
	out, err := t.to.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &interruptible{ctx, in})
	return errors.Join(err, out.Close())
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
