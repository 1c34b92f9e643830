package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/scenarios/document"
)

// A transfer makes one file of another. The new file appears when it is whole, under
// its name; until then its bytes stand in a temporary file beside it.
type transfer struct {
	*app
	force   bool
	in, out string

	bytes int64 // written
}

// flags adds what all transfers have.
func (t *transfer) flags(c *cobra.Command) {
	c.Args = arguments(cobra.ExactArgs(2), "two files, IN and OUT")
	c.Flags().BoolVar(&t.force, "force", false, "overwrite OUT if it exists")
}

// run opens both files and lets work do the rest. If the input turns out to be damaged,
// what was made of it before is kept, and the error says so; if nothing was made, or
// writing failed, there is no new file, and one that was there stays as it was.
func (t *transfer) run(work func(dst io.Writer, src io.Reader) (frames uint64, err error)) error {
	if t.in == "" || t.out == "" {
		return usage("IN and OUT must be files; one is empty")
	}
	if t.in != "-" && t.out != "-" && same(t.in, t.out) {
		return usage("%s is the input itself; write to another file", document.FileName(t.out))
	}
	src := t.app.in
	if t.in != "-" {
		f, err := os.Open(t.in)
		if err != nil {
			return about(t.in, err)
		}
		defer f.Close()
		src = f
	}
	dst, err := t.open()
	if err != nil {
		return err
	}
	w := &checkedWriter{w: io.MultiWriter(dst, (*counter)(&t.bytes))}
	frames, err := work(w, src)
	switch {
	case w.err != nil:
		dst.abandon()
		return about(t.out, cause(w.err))
	case t.bytes == 0:
		dst.abandon()
		return about(t.in, err)
	}
	if failed := dst.commit(); failed != nil {
		return about(t.out, cause(failed))
	}
	if err == nil {
		return nil
	}
	out := document.FileName(t.out)
	if out == "-" {
		out = "standard output"
	}
	return fmt.Errorf("%w\n  %s has what is whole before it: %s", about(t.in, err), out, count(frames, "frame"))
}

func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return document.FileName(name)
}

// cause is an error without the name of the temporary file.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// A counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// A draft is a file being written: a temporary one, which becomes the file of its path,
// or else what is no regular file and is written as it goes.
type draft struct {
	io.Writer
	file    *os.File // nil for standard output
	path    string   // what it becomes; "" if it is written as it goes
	release func()   // of the signals
}

// open begins the output. Standard output is then used for nothing else.
func (t *transfer) open() (*draft, error) {
	if t.out == "-" {
		out := t.app.out
		t.app.out = t.app.errs
		return &draft{Writer: out}, nil
	}
	const mode = 0o666
	path, perm := t.out, os.FileMode(mode)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s is a link to a file that does not exist; remove it, or write to another", document.FileName(path))
		}
	case err != nil:
		return nil, about(path, err)
	case !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, mode)
		if err != nil {
			return nil, about(path, err)
		}
		return &draft{Writer: f, file: f}, nil
	case !t.force:
		return nil, fmt.Errorf("%s exists; overwrite it with --force", document.FileName(path))
	default:
		perm = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, about(t.out, err)
		}
	}
	signals := listen() // before there is a file to be left behind
	f, err := temporary(filepath.Dir(path), perm)
	if err != nil {
		signal.Stop(signals)
		return nil, about(t.out, cause(err))
	}
	return &draft{Writer: f, file: f, path: path, release: t.removeOnSignal(signals, f)}, nil
}

// temporary makes a new file in a folder.
func temporary(folder string, perm os.FileMode) (f *os.File, err error) {
	const attempts = 100
	for i := range attempts {
		name := filepath.Join(folder, fmt.Sprintf(".murksim-%d-%d.tmp", os.Getpid(), i))
		if f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// removeOnSignal lets a signal that ends the program take the file with it.
func (t *transfer) removeOnSignal(signals chan os.Signal, f *os.File) (release func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			f.Close()
			os.Remove(f.Name())
			fmt.Fprintf(t.errs, "%s: interrupted; %s was not written\n", inputName(t.in), document.FileName(t.out))
			os.Exit(statusError)
		case <-done:
		}
	}()
	return func() { signal.Stop(signals); close(done) }
}

// commit gives the file its name, once its bytes are safe.
func (d *draft) commit() error {
	if d.file == nil {
		return nil
	}
	if d.path == "" {
		return d.file.Close()
	}
	err := cmp.Or(d.file.Sync(), d.file.Close())
	if err == nil {
		err = os.Rename(d.file.Name(), d.path)
	}
	if err != nil {
		os.Remove(d.file.Name())
	}
	d.release()
	return err
}

func (d *draft) abandon() {
	if d.file == nil {
		return
	}
	d.file.Close()
	if d.path != "" {
		os.Remove(d.file.Name())
		d.release()
	}
}
