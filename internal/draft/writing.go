package draft

import (
	"os"
	"path/filepath"

	"github.com/murksim/murksim/internal/filelock"
)

// Writing reports whether another process writes an open file, as far as locks tell: one that writes a [File], or holds a lock of the file itself.
// Where systems have no locks, it reports that none does.
func Writing(f *os.File) bool {
	if target, err := Destination(f.Name()); err == nil {
		folder, name := filepath.Split(target)
		if l, err := os.Open(folder + "." + short(name) + ".lock"); err == nil {
			defer l.Close()
			if is, err := os.Stat(target); err == nil && sameFile(f, is) && filelock.Try(l) == filelock.ErrBusy {
				return true
			}
		}
	}
	again, err := os.Open(f.Name())
	if err != nil {
		return false
	}
	defer again.Close()
	is, err := again.Stat()
	return err == nil && sameFile(f, is) && filelock.Try(again) == filelock.ErrBusy
}

// sameFile reports whether an open file is another, whose name may have got another file.
func sameFile(f *os.File, other os.FileInfo) bool {
	is, err := f.Stat()
	return err == nil && os.SameFile(is, other)
}
