package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
)

// An output is a file that a run writes, or standard output.
type output struct {
	io.Writer
	file   *draft.File // nil for standard output
	path   string
	whole  bool        // a part of it is of no use, so it takes the place of no older file before it is whole
	onFull func() bool // on a full disk; reports whether there may be some now
}

// full reports whether an error says that there is no room for a file.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// Write implements [io.Writer].
func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if full(err) && o.onFull != nil && o.onFull() {
		var more int
		more, err = o.Writer.Write(b[n:])
		n += more
	}
	return n, err
}

// Seek, Truncate and Sync let the recorder cut off a frame that could not be
// written whole, and reach the disk.
func (o *output) Seek(offset int64, whence int) (int64, error) {
	if o.file == nil {
		return 0, errors.ErrUnsupported
	}
	return o.file.Seek(offset, whence)
}

func (o *output) Truncate(size int64) error {
	if o.file == nil {
		return errors.ErrUnsupported
	}
	return o.file.Truncate(size)
}

func (o *output) Sync() error {
	if o.file == nil {
		return nil
	}
	return o.file.Sync()
}

// regular reports whether it is a regular file.
func (o *output) regular() bool { return o.file != nil && o.file.Regular() }

// older reports whether there is an older file that has not been replaced.
func (o *output) older() bool { return o.file != nil && o.file.Older() }

// publish gives what was written its name.
func (o *output) publish() error {
	if o.file == nil {
		return nil
	}
	return o.file.Publish()
}

// end publishes and closes a file that is whole, or as much of it as there is to keep.
// After a failure an older file stays, and the new one beside it, whose name is returned.
func (o *output) end(keep, failed bool) (beside string, err error) {
	switch {
	case o.file == nil:
		return "", nil
	case !keep:
		return "", o.file.Close()
	case failed && o.older():
		return o.file.Keep()
	}
	return finish(o.file)
}

// finish publishes and closes a file. One that cannot be published is kept; the error says
// where, and finish returns its name.
func finish(f *draft.File) (beside string, err error) {
	if err = f.Publish(); err == nil {
		return "", f.Close()
	}
	beside, closed := f.Keep()
	if closed != nil {
		return beside, closed
	}
	return beside, words.NewProblem(fmt.Sprintf("it cannot be put in its place (%s); it lies in %s", words.InWords(err), document.FileName(beside)), err)
}

// A lineCounter counts the complete lines that were written.
type lineCounter struct {
	w       io.Writer
	n       int
	written int64 // bytes
	whole   int64 // likewise, of whole lines
}

func (c *lineCounter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += bytes.Count(b[:n], []byte{'\n'})
	if last := bytes.LastIndexByte(b[:n], '\n'); last >= 0 {
		c.whole = c.written + int64(last) + 1
	}
	c.written += int64(n)
	return n, err
}

// openOutputs opens the files that are asked for. Unless all can be opened no file is changed or
// left behind.
func (j *runJob) openOutputs(ctx context.Context, scenario string) error {
	type place struct {
		path   string
		output **output
	}
	places := slices.DeleteFunc([]place{
		{j.output, &j.murk}, {j.hashes, &j.hashesOut}, {j.stats.path, &j.stats.out}, {j.export.path, &j.export.out}, {j.saveState, &j.stateOut},
	}, func(p place) bool { return p.path == "" })
	for i, p := range places {
		if slices.ContainsFunc(places[:i], func(other place) bool { return files.Same(p.path, other.path) }) {
			return report.Usage("two outputs cannot both be written to %s", document.FileName(p.path))
		}
		if p.path != "-" && !worlds.IsEmbedded(scenario) && files.Same(p.path, scenario) {
			return report.Usage("%s is the scenario itself; write to another file", document.FileName(p.path))
		}
		if files.IsStdout(p.path) {
			return otherOutput(p.path)
		}
		if j.auditing.dsn != "" && files.Same(p.path, j.auditing.dsn) {
			return report.Usage("%s is the database of the audit; write to another file", document.FileName(p.path))
		}
		if err := sparesSource(p.path, j.auditing.dsn); err != nil {
			return err
		}
		if tick := j.savedTo(p.path); tick > 0 {
			return report.Usage("--save-every writes the state of tick %s to %s; write to another file", words.Number(tick), document.FileName(p.path))
		}
	}
	if tick := j.savedTo(j.state); tick > 0 {
		return report.Usage("--save-every writes the state of tick %s to %s, the file of --state; give that another name", words.Number(tick), document.FileName(j.state))
	}
	if err := j.replaceable(); err != nil {
		return err
	}
	if j.resumed != nil {
		j.murk, places = j.resumed.out, places[1:]
	}
	for _, p := range places {
		o, err := j.open(ctx, p.path)
		if err != nil {
			return err
		}
		*p.output, j.outputs = o, append(j.outputs, o)
	}
	return j.unmoved()
}

func otherOutput(path string) error {
	return report.Usage("%s is also another output; write to another file", document.FileName(path))
}

// replaceable refuses to overwrite files that no run wrote: the files of a run
// begins with a mark.
func (j *runJob) replaceable() error {
	for _, file := range []struct {
		path, mark, what string
	}{
		{j.output, session.RecordingMark, "recording"},
		{j.hashes, session.TableMark, "table of hashes"},
		{j.saveState, session.StateMark, "saved state"},
	} {
		if file.path == "" || file.path == "-" {
			continue
		}
		if err := replaceable(file.path, file.mark, file.what); err != nil {
			return err
		}
	}
	return j.stats.replaceable()
}

// replaceable refuses to overwrite a file that does not begin with a mark.
func replaceable(path, mark, what string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil // opening it reports what else is wrong
	}
	ours, err := files.Begins(path, mark)
	if errors.Is(err, fs.ErrPermission) { // maybe it is another user's, who writes to it
		err = cmp.Or(writtenElsewhere(path), err)
	}
	if err != nil {
		return words.About(path, err)
	}
	if !ours {
		return fmt.Errorf("%s exists and is no %s; choose another file", document.FileName(path), what)
	}
	return nil
}

// writtenElsewhere returns an error that names the process that writes a regular file now; nil if none does.
func writtenElsewhere(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil // to open a pipe would wait for its reader
	}
	f, err := draft.Open(path)
	if err == nil {
		err = f.Close()
	}
	if busy, ok := errors.AsType[*draft.BusyError](err); ok {
		return busy
	}
	return nil
}

// open begins a file, or takes standard output, which is then used for nothing else.
func (j *runJob) open(ctx context.Context, path string) (*output, error) {
	if path == "-" {
		out, err := j.takeStdout()
		j.recording = true
		return &output{Writer: out, path: path}, err
	}
	f, err := j.draft(ctx, path)
	if err != nil {
		return nil, err
	}
	return &output{Writer: f, file: f, path: path, onFull: func() bool { return j.dropIndex(path) }}, nil
}

// draft begins a file. Waiting for the reader of a pipe, to come or to read, ends with the context.
func (a *app) draft(ctx context.Context, path string) (*draft.File, error) {
	if files.IsStdout(path) {
		return nil, otherOutput(path)
	}
	open := func() (*draft.File, error) { return draft.Open(path) }
	if opening := open; files.IsPipe(path) {
		var long <-chan time.Time
		if _, terminal := a.Errs.Terminal(); terminal && !a.Quiet {
			long = time.After(time.Second)
		}
		waits := func() { a.Warn("%s: it is a pipe, and waits for a reader", document.FileName(path)) }
		open = func() (*draft.File, error) { return files.Await(ctx, opening, long, waits) }
	}
	f, err := open()
	if ctx.Err() != nil && err == ctx.Err() {
		return nil, fmt.Errorf("%s: interrupted", document.FileName(path))
	}
	if busy, ok := errors.AsType[*draft.BusyError](err); ok {
		if busy.Holder.Self() {
			return nil, otherOutput(path) // by another name
		}
		busy.Path = document.FileName(busy.Path)
		return nil, fmt.Errorf("%w\n  write to another file, or wait until it ends", busy)
	}
	if folder := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && !exists(folder) {
		return nil, fmt.Errorf("%s: there is no folder %s", document.FileName(path), document.FileName(folder))
	}
	if err != nil {
		return nil, words.About(path, err)
	}
	if !f.Regular() {
		f.Through = func(w io.Writer) io.Writer { return files.NewPatientWriter(ctx, w, path) }
	}
	if f.Unlocked != nil && !a.Quiet {
		a.Warn("%s: it cannot be locked (%v); let no other process write to it", document.FileName(path), f.Unlocked)
	}
	return f, nil
}

// takeStdout takes standard output for data.
func (a *app) takeStdout() (io.Writer, error) {
	if err := a.stdoutOpen(); err != nil {
		return nil, err
	}
	out := a.Out
	a.Out = a.Errs
	return out, nil
}

// stdoutOpen returns an error if standard output is closed, for commands that were asked to write
// data there. Go opens the null device, for reading and writing, in place of one that is closed,
// so one that was opened like that counts as closed.
func (a *app) stdoutOpen() error {
	if w, ok := a.Out.(*report.Output); !ok || !w.WritesTo(os.Stdout) {
		return nil
	}
	info, err := os.Stdout.Stat()
	null, missing := os.Stat(os.DevNull)
	if err == nil && missing == nil && os.SameFile(info, null) {
		if _, end := os.Stdout.Read(make([]byte, 1)); end == io.EOF {
			err = fmt.Errorf("it is closed, or the null device opened for reading and writing; to drop the data, write to %s", os.DevNull)
		}
	}
	if err != nil {
		return words.About("/dev/stdout", err)
	}
	return nil
}

// abandon closes outputs; nothing is left of them.
func abandon(outputs []*output) {
	for _, o := range outputs {
		if o.file != nil {
			o.file.Close()
		}
	}
}

// spares refuses an output that is one of the files that are read.
func spares(output string, read ...string) error {
	for _, name := range read {
		if output != "" && name != "" && files.Same(output, name) {
			return report.Usage("%s is read; write to another file", document.FileName(output))
		}
	}
	return nil
}
