package draft

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/murksim/murksim/internal/filelock"
)

// A BusyError reports a file that another process writes to.
type BusyError struct {
	Path   string
	Holder Holder
}

// A Holder is a process that writes to a file, as far as it is known.
type Holder struct {
	Process int       `json:"process"` // its id; 0: nothing is known
	Host    string    `json:"host"`
	Since   time.Time `json:"since"`
	Command string    `json:"command"` // its program and subcommand; what else was typed may be secret
	Mark    string    `json:"mark"`    // random: containers may have one host name and the same process ids
}

// busy reports whether an error is a [*BusyError].
func busy(err error) bool {
	_, ok := errors.AsType[*BusyError](err)
	return ok
}

// Error implements error.
func (e *BusyError) Error() string { return e.Path + ": " + e.Reason() }

// Reason is the error without the path.
func (e *BusyError) Reason() string {
	h := &e.Holder
	if h.Process == 0 {
		return "another process is writing to it"
	}
	return fmt.Sprintf("process %d on %.64q has been writing to it since %s: %.400q", h.Process, h.Host,
		h.Since.Local().Format(time.DateTime), h.Command)
}

// Self reports whether the holder is this process.
func (h *Holder) Self() bool { return h.Mark == mark() }

// mark is this process's.
var mark = sync.OnceValue(rand.Text)

func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// A lock keeps other processes from writing to a file. The system gives it up when the
// process ends, however it ends. It is a lock of a file of its own beside the other one,
// which holds who has it: locks keep readers away on some systems, and a file can be
// replaced by another while it is locked. What a killed process leaves of it is not locked.
type lock struct{ file *os.File }

// acquire locks a file that may not exist. A [*BusyError] has no path yet; after any other
// error there can be no such lock.
func acquire(target string) (*lock, error) {
	folder, name := filepath.Split(target)
	name = folder + "." + short(name) + ".lock"
	const attempts = 100 // the holder may remove the file after it was opened here
	for range attempts {
		file, err := openLock(name)
		if err != nil {
			return nil, err
		}
		l := &lock{file}
		err = filelock.Lock(file)
		holder, signed := l.holder()
		switch {
		case err == filelock.ErrBusy:
			file.Close()
			if holder.Host == host() && !alive(holder.Process) { // left by it, and locked by one that could not sign it
				holder = Holder{}
			}
			return nil, &BusyError{Holder: holder}
		case err == nil && !signed:
			file.Close()
			return nil, &fs.PathError{Op: "lock", Path: name, Err: errors.New("it is a file of something else")}
		case err != nil:
			if info, e := file.Stat(); e == nil && info.Size() == 0 { // no process has ever locked it
				os.Remove(name)
			}
			file.Close()
			return nil, err
		}
		is, err := file.Stat()
		if now, gone := os.Lstat(name); err == nil && gone == nil && os.SameFile(is, now) {
			l.sign()
			return l, nil
		}
		file.Close()
	}
	return nil, &BusyError{}
}

// openLock opens the file of a lock. It follows no link, and takes no other thing that may
// lie there.
func openLock(name string) (*os.File, error) {
	if !filelock.Supported {
		return nil, filelock.ErrNone
	}
	var file *os.File
	err := fs.ErrPermission
	for _, how := range []int{os.O_RDWR | os.O_CREATE, os.O_RDWR, os.O_RDONLY} { // in /tmp what is another user's is not to be created
		if errors.Is(err, fs.ErrPermission) {
			file, err = os.OpenFile(name, how|noFollow, perm)
		}
	}
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, errors.Join(err, &fs.PathError{Op: "lock", Path: name, Err: errors.New("it is no regular file")})
	}
	return file, nil
}

// guard opens and locks an older file itself.
func guard(target string) (*os.File, error) {
	if !filelock.Supported {
		return nil, filelock.ErrNone
	}
	const attempts = 100 // the holder may replace the file after it was opened here
	for range attempts {
		file, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		if err := filelock.Lock(file); err != nil {
			file.Close()
			if err == filelock.ErrBusy {
				err = &BusyError{}
			}
			return nil, err
		}
		is, err := file.Stat()
		if now, gone := os.Lstat(target); err == nil && gone == nil && os.SameFile(is, now) {
			return file, nil
		}
		file.Close()
	}
	return nil, &BusyError{}
}

// sign writes who holds the lock, and lets other users read and lock it, too, whatever the
// umask is. An error only makes a message say less, or is another user's to mend.
func (l *lock) sign() {
	_ = l.file.Chmod(0o644)
	b, err := json.Marshal(Holder{os.Getpid(), host(), time.Now().UTC().Truncate(time.Second), command(os.Args), mark()})
	if err == nil && l.file.Truncate(0) == nil {
		l.file.WriteAt(append(b, '\n'), 0)
	}
}

// holder reads who holds the lock, or held it last. A file that holds anything else is not
// that of a lock: signed is false.
func (l *lock) holder() (h Holder, signed bool) {
	const most = 1 << 20 // bytes: no command line is longer
	b, err := io.ReadAll(io.NewSectionReader(l.file, 0, most))
	if err != nil || len(b) == 0 { // not signed yet, or its process was killed before it was
		return Holder{}, err == nil
	}
	if json.Unmarshal(b, &h) != nil || h.Process == 0 {
		return Holder{}, false
	}
	return h, true
}

// release gives up the lock and removes its file.
func (l *lock) release() {
	if l == nil {
		return
	}
	removed := os.Remove(l.file.Name()) == nil // while it is locked: another process may wait to lock it
	l.file.Close()
	if !removed { // Windows removes no file that is open
		os.Remove(l.file.Name())
	}
}

// command returns what may be told of a command line: the program and its subcommand. Flags and their values may hold
// tokens and passwords.
func command(args []string) string {
	if len(args) == 0 {
		return ""
	}
	name := filepath.Base(args[0])
	if len(args) > 1 && subcommand(args[1]) {
		name += " " + args[1]
	}
	return name
}

// subcommand reports whether an argument is a word, and no flag, file or URL.
func subcommand(arg string) bool {
	for _, c := range arg {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return len(arg) > 0 && len(arg) <= 16
}
