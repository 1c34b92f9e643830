package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
)

// An output is a file that a run writes, or standard output.
type output struct {
	io.Writer
	file    *os.File // nil for standard output
	path    string
	made    bool // it did not exist before
	regular bool
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
	if o.file == nil || !o.regular {
		return nil
	}
	return o.file.Sync()
}

func (o *output) Close() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}

// replace writes all of a file at once. What was there before stays until the new one
// is on the disk, unless the folder takes no other file.
func (o *output) replace(b []byte) error {
	if !o.regular {
		_, err := o.Write(b)
		return err
	}
	path, err := filepath.EvalSymlinks(o.path)
	if err != nil {
		return err
	}
	info, err := o.file.Stat()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".murksim-*")
	if err != nil {
		if err := o.Truncate(0); err != nil {
			return err
		}
		_, err := o.Write(b)
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(info.Mode()), f.Sync(), f.Close(), o.Close())
	o.file = nil
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		e.Path = o.path
	}
	return err
}

// openOutputs opens the recording, the table of hashes and the state, those that are
// asked for, in this order. Unless all can be opened no file is changed or left behind.
func (j *runJob) openOutputs(scenario string) ([]*output, error) {
	var paths []string
	if !j.noRecord {
		paths = append(paths, j.output)
	}
	if j.hashes != "" {
		paths = append(paths, j.hashes)
	}
	if j.saveState != "" {
		paths = append(paths, j.saveState)
	}
	for i, path := range paths {
		if slices.ContainsFunc(paths[:i], func(other string) bool { return same(path, other) }) {
			return nil, usage("two outputs cannot both be written to %s", document.FileName(path))
		}
		if path != "-" && !worlds.IsEmbedded(scenario) && same(path, scenario) {
			return nil, usage("%s is the scenario itself; write to another file", document.FileName(path))
		}
	}
	if err := j.replaceable(); err != nil {
		return nil, err
	}
	var outputs []*output
	for _, path := range paths {
		o, err := j.open(path)
		if err != nil {
			abandon(outputs)
			return nil, about(path, err)
		}
		outputs = append(outputs, o)
	}
	if err := distinct(outputs); err != nil {
		abandon(outputs)
		return nil, err
	}
	for _, o := range outputs {
		if o.regular && !o.made && o.path != j.saveState { // which replace does
			if err := o.Truncate(0); err != nil {
				abandon(outputs)
				return nil, about(o.path, err)
			}
		}
	}
	return outputs, nil
}

// distinct refuses two outputs that turn out to be one file, by whatever names, and
// one that is standard output, which has other things to say.
func distinct(outputs []*output) error {
	var seen []os.FileInfo
	if info, err := os.Stdout.Stat(); err == nil && info.Mode().IsRegular() {
		seen = append(seen, info)
	}
	for _, o := range outputs {
		if o.file == nil {
			continue
		}
		info, err := o.file.Stat()
		if err != nil {
			return about(o.path, err)
		}
		for _, other := range seen {
			if os.SameFile(info, other) {
				return usage("%s is also another output of this run; write to another file", document.FileName(o.path))
			}
		}
		if o.regular {
			seen = append(seen, info)
		}
	}
	return nil
}

// replaceable refuses to overwrite files that no run wrote: what a run writes
// begins with a mark.
func (j *runJob) replaceable() error {
	for _, file := range []struct {
		path, mark, what string
		wanted           bool
	}{
		{j.output, recordingMark, "recording", !j.noRecord},
		{j.hashes, "tick\tstate", "table of hashes", j.hashes != ""},
		{j.saveState, stateMark, "saved state", j.saveState != ""},
	} {
		info, err := os.Stat(file.path)
		if !file.wanted || file.path == "-" || err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue // opening it tells what else is wrong
		}
		if ours, err := begins(file.path, file.mark); err != nil {
			return about(file.path, err)
		} else if !ours {
			return fmt.Errorf("%s exists and is no %s; choose another file", document.FileName(file.path), file.what)
		}
	}
	return nil
}

// recordingMark is what every recording begins with.
const recordingMark = "MURK"

// begins says whether a regular file begins with a mark.
func begins(path, mark string) (bool, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false, err // reading from a pipe would take the bytes away
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(mark))
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(head[:n]) == mark, err
}

// same says whether two paths mean one file that would be overwritten.
func same(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return a != os.DevNull
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}

// open creates a file or opens one that exists, as it is, or takes standard output,
// which is then used for nothing else.
func (j *runJob) open(path string) (*output, error) {
	if path == "-" {
		out := j.out
		j.out, j.recording = j.errs, true
		return &output{Writer: out, path: path}, nil
	}
	const mode = 0o666
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	made := err == nil
	if errors.Is(err, fs.ErrExist) {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, mode)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &output{Writer: f, file: f, path: path, made: made, regular: info.Mode().IsRegular()}, nil
}

// abandon closes outputs and removes those that were made.
func abandon(outputs []*output) {
	for _, o := range outputs {
		o.Close()
		if o.made {
			os.Remove(o.path)
		}
	}
}
