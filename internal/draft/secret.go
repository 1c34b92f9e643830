package draft

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteSecret writes a file that only the user can read, and that is there once it is whole. Unless it may replace a file of that name, the error is
// [fs.ErrExist] if there is one; where a file system has no links, of two who write at once the last one stays.
func WriteSecret(path string, b []byte, replace bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if !replace {
		if err := os.Link(f.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return os.Rename(f.Name(), path)
}
