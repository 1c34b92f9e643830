//go:build !wasm

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// companions matches the names of the files that SQLite, and our locks, have beside a database.
var companions = regexp.MustCompile(`(?i)^(.+)-(wal|shm|journal|migration|writer-[0-9a-f-]{36})$`)

// companion returns an error if a name is that of a file beside a database: a database there would be overwritten or removed as soon as
// the other is opened.
func companion(ctx context.Context, name string) error {
	parts := companions.FindStringSubmatch(name)
	if parts == nil {
		return nil
	}
	if info, err := os.Stat(parts[1]); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if h, ok := headerWithoutLog(ctx, parts[1]); !ok || !bytes.HasPrefix(h[:], []byte("SQLite format 3\x00")) {
		return nil
	}
	return &Error{"opening " + name, ErrDSN, fmt.Errorf("%s belongs to the database %s; write to another file",
		filepath.Base(name), filepath.Base(parts[1]))}
}

// indexSize is the least size of the file that SQLite shares among the readers of a log.
const indexSize = 1 << 15

// strangeBeside returns an error if a file beside a database is none that SQLite has made there, and that it would overwrite or remove;
// for a log, see logRefused. It does not open a -shm, whose closing would drop all locks that this process has on it: SQLite makes one
// only beside a log.
func strangeBeside(path string) error {
	strange := func(ending string) error {
		return fmt.Errorf("%s%s is no file of SQLite, which would overwrite it; move it away", filepath.Base(path), ending)
	}
	const shm, journal = "-shm", "-journal"
	if info, err := os.Stat(path + shm); err == nil && info.Size() > indexSize {
		_, none := os.Stat(path + "-wal")
		if still, err := os.Stat(path + shm); err == nil && os.SameFile(info, still) && errors.Is(none, fs.ErrNotExist) {
			return strange(shm)
		}
	}
	f, err := os.Open(path + journal)
	if err != nil {
		return nil // SQLite says what is wrong
	}
	defer f.Close()
	begins, mark := [8]byte{}, [8]byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}
	n, _ := io.ReadFull(f, begins[:])
	if n > 0 && begins[0] != 0 && begins != mark { // one that begins with 0 is not used yet
		return strange(journal)
	}
	return nil
}
