package draft

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Publish gives the file its name, once what was written is safe on the disk if it replaces
// an older file. Writing may go on. An error leaves the older file as it was, unless it says
// otherwise, and Publish may be tried again. If nothing was written, Publish does nothing. It
// replaces no file but the one that Open found: if there is another by now, the error is
// [ErrTaken].
func (f *File) Publish() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.temp == "" || f.closed {
		return nil
	}
	if f.older != nil {
		if err := f.sync(); err != nil {
			return f.named(err)
		}
	}
	if err := f.place(); err != nil {
		return f.named(err)
	}
	f.temp, f.published = "", true
	if f.synced {
		f.syncName()
	}
	if f.durable {
		return f.named(f.unsafe)
	}
	return nil
}

// syncName makes the name of the file safe on the disk, once there is one.
func (f *File) syncName() {
	if !f.published || f.nameSafe {
		return
	}
	err := syncFolder(filepath.Dir(f.target))
	f.nameSafe, f.unsafe = err == nil, cmp.Or(f.unsafe, err)
}

// syncFolder writes the names of a folder through to the disk, where that is possible.
var syncFolder = func(path string) error {
	if runtime.GOOS == "windows" {
		return nil // it has no way to do so
	}
	folder, err := os.Open(path)
	if err != nil {
		return nil // it may not be read
	}
	defer folder.Close()
	if err = folder.Sync(); errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil // its file system has none
	}
	return err
}

// place gives what stands in the temporary file its name.
func (f *File) place() error {
	if f.older != nil {
		now, err := os.Lstat(f.target)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil && unchanged(now, f.older) {
			if !f.inPlace {
				err = f.closedOnWindows(func() error { return os.Rename(f.temp, f.target) })
				f.inPlace = errors.Is(err, syscall.EBUSY) // it is mounted there by itself, as containers do
			}
			if f.inPlace {
				return f.copyOver()
			}
			return err
		}
		f.older = nil // it was exchanged, written or removed
	}
	return f.closedOnWindows(f.linkAnew)
}

// linkAnew gives the temporary file a name that no file may have.
func (f *File) linkAnew() error {
	taken := &fs.PathError{Op: "rename", Path: f.target, Err: ErrTaken}
	err := os.Link(f.temp, f.target) // which, unlike Rename, replaces nothing
	switch {
	case err == nil:
		_ = os.Remove(f.temp) // a name too many does no harm
		return nil
	case errors.Is(err, fs.ErrExist):
		return taken
	}
	if _, err := os.Lstat(f.target); err == nil { // a file system without links
		return taken
	}
	return os.Rename(f.temp, f.target)
}

// unchanged reports whether two views of a file show one that was not written between them.
func unchanged(now, then fs.FileInfo) bool {
	return os.SameFile(now, then) && now.Size() == then.Size() && now.ModTime().Equal(then.ModTime())
}

// copyOver writes the temporary file over the older one, for want of a way to exchange them.
// Writing goes on there.
func (f *File) copyOver() error {
	at, err := f.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	from, err := os.Open(f.temp)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(f.target, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err = f.overwrite(to, from); err == nil {
		_, err = to.Seek(at, io.SeekStart)
	}
	if err != nil {
		if now, err := to.Stat(); err == nil {
			f.older = now // it was no other program that wrote there
		}
		return errors.Join(err, to.Close())
	}
	f.file.Close() // its contents are safe in the other file
	f.file = to
	_ = os.Remove(f.temp) // a file too many does no harm
	return nil
}

// overwrite copies one file over the older one. What goes beyond that one's end is first: if
// there is no room for it the older one stays as it was.
func (f *File) overwrite(to, from *os.File) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	size, older := info.Size(), f.older.Size()
	copied := func(begin, end int64) error {
		_, err := io.Copy(io.NewOffsetWriter(to, begin), io.NewSectionReader(from, begin, end-begin))
		return errors.Join(err, to.Sync())
	}
	if size > older {
		if err := copied(older, size); err != nil {
			if cut := to.Truncate(older); cut != nil {
				return f.tear(cut)
			}
			return err
		}
	}
	if err := copied(0, min(older, size)); err != nil {
		return f.tear(err)
	}
	if err := errors.Join(to.Truncate(size), to.Sync()); err != nil {
		return f.tear(err)
	}
	return nil
}

// tear notes that the older contents are lost, and says so.
func (f *File) tear(err error) error {
	f.torn = true
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: "write", Path: f.path, Err: fmt.Errorf("%w, and what it held is lost", err)}
}

// closedOnWindows renames the temporary file. Windows renames no file that is open.
func (f *File) closedOnWindows(rename func() error) error {
	if runtime.GOOS != "windows" {
		return rename()
	}
	at, err := f.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if err := f.file.Close(); err != nil {
		return err
	}
	if f.guard != nil {
		f.guard.Close()
	}
	renamed := rename()
	name := f.target
	if renamed != nil {
		name = f.temp
	}
	if f.file, err = os.OpenFile(name, os.O_WRONLY, 0); err == nil {
		_, err = f.file.Seek(at, io.SeekStart)
	}
	return errors.Join(renamed, err)
}
