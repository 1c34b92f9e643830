// Package draft writes files so that what an older one of the same name holds is lost only
// when its replacement is there, and so that no two processes write one file.
//
// A [File] is locked from [Open] to Close. What is written stands in a temporary file beside
// the older one until [File.Publish] gives it the name.
package draft

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/murksim/murksim/internal/filelock"
)

// A File is a file being written. Its errors name the path that Open got.
//
// Where no file can be made beside the older one, such as in a folder that may not be
// written, the temporary file lies in [os.TempDir], and Publish copies it over the older one.
// What is no regular file, such as a device or a pipe, is written as it goes; it is never
// locked.
type File struct {
	Unlocked error // why the file system has no lock for this file; nil: it is locked, or needs no lock

	// Through may be set before the first Write, and returns what a file that is not a regular
	// one is written through. Its Write may return before that of the file has.
	Through func(io.Writer) io.Writer

	path    string      // as the caller calls it
	target  string      // where its links lead; "" if it is no regular file
	older   fs.FileInfo // nil if there was no file, or if it is no regular one
	inPlace bool        // no other file can get the name of the older one
	lock    *lock       // may be nil
	guard   *os.File    // the older file, locked too: others may be unable to see the lock; may be nil

	mu      sync.Mutex // Close may come from another goroutine
	file    *os.File   // nil until the first Write
	through io.Writer  // what Through returned
	temp    string     // its name, until it is published
	at      int64      // where Write goes on
	size    int64      // the length that the file has if no other program changes it
	unsafe  error      // the first of syncing
	lost    error      // an ErrLost

	published, closed bool
	synced, durable   bool // Sync was called: by the package, by the caller
	nameSafe          bool // on the disk
	torn              bool // Publish failed when a part of the older contents was lost
}

// ErrTaken reports a file that appeared, took the place of the older one, or was written
// since Open.
var ErrTaken = errors.New("another program has written there meanwhile")

// ErrLost reports a file that another program cut, or whose name it took, while it was written.
var ErrLost = errors.New("another program has removed, renamed, replaced or changed it")

// perm is the mode of a new file, less the umask.
const perm = 0o666

// Open begins a new version of a file. It creates none, but finds out whether it can: an
// error at the end of a long run would come late. If another process writes to the file the
// error is a [*BusyError].
//
// A symbolic link stays: the file that it leads to is written, which need not exist.
func Open(path string) (*File, error) {
	f := &File{path: path}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		f.file, err = os.OpenFile(path, os.O_WRONLY, 0)
		return f, f.named(err)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, f.named(err)
	}
	if f.target, err = Destination(path); err != nil {
		return nil, f.named(err)
	}
	if _, err := os.Stat(f.target); info != nil && errors.Is(err, fs.ErrNotExist) {
		f.target = "" // it is one without a name, such as in /proc/self/fd
		f.file, err = os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		return f, f.named(err)
	}
	if err = f.claim(); err == nil {
		err = f.look()
	}
	if err != nil {
		f.Close()
		return nil, f.named(err)
	}
	return f, nil
}

// claim locks the file, or notes that there is no way to lock it.
func (f *File) claim() (err error) {
	if f.lock, err = acquire(f.target); busy(err) {
		return err
	}
	var unguarded error
	if f.guard, unguarded = guard(f.target); busy(unguarded) {
		return unguarded
	}
	if f.lock == nil && f.guard == nil && filelock.Supported {
		f.Unlocked = err
	}
	return nil
}

// look finds out how the file can be written, now that no other process changes that.
func (f *File) look() error {
	old, err := os.OpenFile(f.target, os.O_WRONLY, 0) // a file that may not be written is not to be replaced either
	if err == nil {
		f.older, err = old.Stat()
		err = errors.Join(err, old.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	probe, err := f.create()
	if err != nil {
		return err
	}
	f.inPlace = f.older != nil && (!f.isBeside(probe.Name()) || !renamable(f.target, f.older))
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Destination is where the links of a path lead, also if nothing is there.
func Destination(path string) (string, error) {
	const most = 40 // links
	for range most {
		folder, name := filepath.Split(path)
		folder, err := filepath.EvalSymlinks(cmp.Or(folder, "."))
		if err != nil {
			return "", err
		}
		path = filepath.Join(folder, name)
		to, err := os.Readlink(path)
		switch {
		case err != nil: // it is no link
			return path, nil
		case filepath.IsAbs(to):
			path = to
		default:
			path = folder + string(filepath.Separator) + to // Join would take .. literally
		}
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many links")}
}

// create makes a new file beside the older one or, where that must not be, among the
// temporary ones.
func (f *File) create() (*os.File, error) {
	file, err := f.createBeside()
	if f.older != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return os.CreateTemp("", short(filepath.Base(f.target))+".new-*")
	}
	return file, err
}

// isBeside reports whether the name of a temporary file is in the folder of the file.
func (f *File) isBeside(temp string) bool { return filepath.Dir(temp) == filepath.Dir(f.target) }

// createBeside makes a new file beside the older one, with its mode and owner.
func (f *File) createBeside() (*os.File, error) {
	mode := fs.FileMode(perm)
	if f.older != nil {
		mode = f.older.Mode().Perm()
	}
	folder, name := filepath.Split(f.target)
	const attempts = 10_000 // what Keep left may have the same name
	for i := range attempts {
		temp := fmt.Sprintf("%s.%s.new-%d", folder, short(name), os.Getpid())
		if i > 0 {
			temp += fmt.Sprintf("-%d", i)
		}
		file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil && f.older != nil {
			keepOwner(file, f.older)
			_ = file.Chmod(mode) // less the umask it has it already
		}
		if err == nil && filelock.Supported {
			_ = filelock.Lock(file) // for those who find it in the place of the older one
		}
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("%d temporary files of this name are left over", attempts)
}

// Regular reports whether the file is or will be a regular one.
func (f *File) Regular() bool { return f.target != "" }

// SharesDisk reports whether what is written to a path takes room on the file system of the file, as
// far as can be told.
func (f *File) SharesDisk(path string) bool {
	to, err := Destination(path)
	if err != nil || !f.Regular() {
		return false
	}
	if info, err := os.Stat(to); err == nil && !info.Mode().IsRegular() {
		return false
	}
	ours, err := os.Stat(filepath.Dir(f.target))
	theirs, failed := os.Stat(filepath.Dir(to))
	return err == nil && failed == nil && sameDisk(ours, theirs)
}

// Older reports whether there is an older version, which Publish will replace.
func (f *File) Older() bool { return f.older != nil && !f.published && !f.torn }

// Placed reports whether what was written has the file's name.
func (f *File) Placed() bool { return f.published && f.lost == nil || !f.Regular() }

// begun returns the file, which the first use opens.
func (f *File) begun() (_ *os.File, err error) {
	if f.closed {
		return nil, fs.ErrClosed
	}
	if f.lost != nil {
		return nil, f.lost
	}
	if f.file == nil {
		if f.file, err = f.create(); err == nil {
			f.temp = f.file.Name()
		}
	}
	return f.file, err
}

// lookAgain returns an [ErrLost] if another program has changed the length of the file.
func (f *File) lookAgain() error {
	if info, err := f.file.Stat(); f.lost == nil && f.Regular() && err == nil && info.Size() != f.size {
		f.lose()
	}
	return f.lost
}

func (f *File) lose() { f.lost = &fs.PathError{Op: "write", Path: f.path, Err: ErrLost} }

// Extend cuts the older file at a place, from where it is written on. Nothing can have been
// written before. Before that, check, unless it is nil, looks at the older file and its length; its
// error leaves the file as it is.
func (f *File) Extend(at int64, check func(older io.ReaderAt, length int64) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.older == nil || f.file != nil || f.closed {
		return f.named(&fs.PathError{Op: "extend", Path: f.path, Err: fs.ErrInvalid})
	}
	file, err := os.OpenFile(f.target, os.O_RDWR, 0)
	if err != nil {
		return f.named(err)
	}
	if check != nil {
		info, err := file.Stat()
		if err == nil {
			err = check(file, info.Size())
		}
		if err != nil {
			return errors.Join(f.named(err), file.Close())
		}
	}
	f.file, f.published = file, true
	if err = file.Truncate(at); err == nil {
		f.size = at
		f.at, err = file.Seek(at, io.SeekStart)
	}
	return f.named(err)
}

// Write implements [io.Writer]. If another program has cut or extended the file the error is
// [ErrLost], and so are those that follow.
func (f *File) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := f.begun()
	if err == nil {
		err = f.lookAgain()
	}
	if err != nil {
		return 0, f.named(err)
	}
	to := io.Writer(file)
	if f.Through != nil && !f.Regular() {
		if f.through == nil {
			f.through = f.Through(file)
		}
		to = f.through
	}
	n, err := to.Write(b)
	f.at += int64(n)
	f.size = max(f.size, f.at)
	return n, f.named(err)
}

// Seek implements [io.Seeker].
func (f *File) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := f.begun()
	if err != nil {
		return 0, f.named(err)
	}
	n, err := file.Seek(offset, whence)
	if err == nil {
		f.at = n
	}
	return n, f.named(err)
}

// Truncate cuts the file to a size.
func (f *File) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := f.begun()
	if err != nil {
		return f.named(err)
	}
	if err = file.Truncate(size); err == nil {
		f.size = size
	}
	return f.named(err)
}

// Sync writes what was written through to the disk, if it is a regular file, and its name, once
// it has that: also the first call of Publish after Sync does so.
func (f *File) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.target == "" || f.file == nil {
		return nil
	}
	f.durable = true
	return f.named(f.sync())
}

// sync fails for good: after an error the system may have dropped what it could not write,
// and say nothing the next time.
func (f *File) sync() error {
	f.synced = true
	if f.unsafe == nil {
		f.unsafe = f.file.Sync()
		f.syncName()
	}
	return f.unsafe
}

// Keep closes the file. One that is not published stays under a temporary name, which Keep
// returns; else it returns "".
func (f *File) Keep() (name string, err error) {
	f.mu.Lock()
	if f.temp != "" {
		name = filepath.Join(filepath.Dir(f.path), filepath.Base(f.temp))
		if link, err := os.Lstat(f.path); !f.isBeside(f.temp) || err == nil && link.Mode()&fs.ModeSymlink != 0 {
			name = f.temp
		}
	}
	f.temp = ""
	f.mu.Unlock()
	return name, f.Close()
}

// Close closes the file and gives up its lock. What was not published is removed; an older
// file stays as it was. If what was published no longer has its name or its length, the error
// is [ErrLost]. More calls do nothing.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	var err error
	if f.file != nil {
		if f.published {
			err = f.stillThere()
		}
		err = cmp.Or(err, f.file.Close())
	}
	if f.temp != "" {
		err = errors.Join(err, os.Remove(f.temp))
	}
	if f.guard != nil {
		f.guard.Close()
	}
	f.lock.release()
	return f.named(err)
}

// stillThere returns an [ErrLost] if the file does not have its name or its length any more.
func (f *File) stillThere() error {
	is, err := f.file.Stat()
	if now, gone := os.Lstat(f.target); err == nil && (errors.Is(gone, fs.ErrNotExist) || gone == nil && !os.SameFile(is, now)) && f.lost == nil {
		f.lose()
	}
	return f.lookAgain()
}

// named makes an error name the path that the caller knows.
func (f *File) named(err error) error {
	if e, ok := errors.AsType[*BusyError](err); ok {
		e.Path = f.path
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return &fs.PathError{Op: e.Op, Path: f.path, Err: e.Err}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		if dir := filepath.Clean(os.TempDir()); f.inPlace && filepath.Dir(e.Path) == dir && !f.isBeside(e.Path) {
			e.Err = fmt.Errorf("%w in %s", e.Err, dir)
		}
		e.Path = f.path
	}
	return err
}

// short is a file's name, cut so that a name made of it is not too long for a folder.
func short(name string) string {
	const most = 200
	if len(name) <= most {
		return name
	}
	hash := fnv.New64a() // tells apart what is cut
	hash.Write([]byte(name))
	return fmt.Sprintf("%s-%016x", strings.ToValidUTF8(name[:most-17], ""), hash.Sum64())
}
