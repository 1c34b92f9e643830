//go:build unix

package draft

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// keepOwner gives a file the owner and group of another, as far as it may.
func keepOwner(f *os.File, like fs.FileInfo) {
	s, ok := like.Sys().(*syscall.Stat_t)
	if ok && f.Chown(int(s.Uid), int(s.Gid)) != nil {
		f.Chown(-1, int(s.Gid))
	}
}

// sameDisk reports whether two folders lie on one file system.
func sameDisk(a, b fs.FileInfo) bool {
	s, ok := a.Sys().(*syscall.Stat_t)
	t, also := b.Sys().(*syscall.Stat_t)
	return !ok || !also || s.Dev == t.Dev
}

// renamable reports whether this process may rename another file to that of a path: in a
// folder such as /tmp only the owner of a file may.
func renamable(path string, file fs.FileInfo) bool {
	info, err := os.Stat(filepath.Dir(path))
	if err != nil || info.Mode()&fs.ModeSticky == 0 || os.Geteuid() == 0 {
		return true // as far as can be told
	}
	folder, ok := info.Sys().(*syscall.Stat_t)
	owned, also := file.Sys().(*syscall.Stat_t)
	return !ok || !also || int(owned.Uid) == os.Geteuid() || int(folder.Uid) == os.Geteuid()
}

// Ours reports whether a file belongs to the user of this process.
func Ours(file fs.FileInfo) bool {
	s, ok := file.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}
