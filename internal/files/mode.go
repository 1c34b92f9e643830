package files

import (
	"io/fs"
	"runtime"
)

// OpenToOthers reports whether the mode of a file lets others read or write it. Windows has no such modes.
func OpenToOthers(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}
