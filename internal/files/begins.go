package files

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// IsStdout reports whether a path is the file that standard output goes to, which has
// other things to say.
func IsStdout(path string) bool {
	out, err := os.Stdout.Stat()
	if err != nil || !out.Mode().IsRegular() {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, out)
}

// Begins says whether a regular file begins with a mark.
func Begins(path, mark string) (bool, error) {
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

// Same says whether two paths mean one file that would be overwritten.
func Same(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return a != os.DevNull
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}

// Dashed returns - for a path that names standard output, and others as they are.
func Dashed(path string) string {
	if namesStdout(path) {
		return "-"
	}
	return path
}

// namesStdout reports whether the links of a path lead to the descriptor of standard output,
// as those of /dev/stdout do.
func namesStdout(path string) bool {
	const most = 40 // links
	for range most {
		folder, name := filepath.Split(path)
		folder, err := filepath.EvalSymlinks(cmp.Or(folder, "."))
		if err != nil {
			return false
		}
		if name == "1" && (folder == "/dev/fd" || filepath.Base(folder) == "fd" && strings.HasPrefix(folder, fmt.Sprintf("/proc/%d/", os.Getpid()))) {
			return true
		}
		to, err := os.Readlink(filepath.Join(folder, name))
		if err != nil {
			return false
		}
		if path = to; !filepath.IsAbs(to) {
			path = folder + string(filepath.Separator) + to // Join would take .. literally
		}
	}
	return false
}
