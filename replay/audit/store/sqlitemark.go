//go:build !wasm

package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"

	"lukechampine.com/frand"
)

// mark gives a file a random number, in the field of its header that SQLite leaves to programs, user_version. The first page has
// it, and so has the log once the file has grown. So SQLite does not copy a log, which may hold all that is left of a crashed run, into a file that took the name meanwhile. It keeps out
// mistakes, and proves nothing.
func mark(ctx context.Context, db *sql.DB) error {
	var has int32
	err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&has)
	if err == nil && has == 0 {
		_, err = db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", 1+frand.Uint64n(1<<30)))
	}
	return err
}

// The file format of SQLite, 1.3 and 4: where the first page has the way of writing, two bytes that are 2 with a log, and user_version; how
// long the heads of a log and of a page in it are, and where the former has the size of a page.
const (
	wayAt, markAt    = 18, 60
	pageHead         = 100
	logHead, logPage = 32, 24
	pageSizeAt       = 8
)

// pageOne reads the beginning of the first page at a place of a file.
func pageOne(f *os.File, at int64) (way, mark uint32, ok bool) {
	var head [pageHead]byte
	if _, err := f.ReadAt(head[:], at); err != nil {
		return 0, 0, false
	}
	return uint32(binary.BigEndian.Uint16(head[wayAt:])), binary.BigEndian.Uint32(head[markAt:]), true
}

// journalOfAnother reports whether a journal lies beside a file that has none: one with a log, and more than what a new one begins with.
func journalOfAnother(path string) bool {
	journal, err := os.Stat(path + "-journal")
	if err != nil || journal.Size() == 0 {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	way, _, ok := pageOne(f, 0)
	info, err := f.Stat()
	return ok && err == nil && way == 0x0202 && info.Size() > 4096
}

// logOfAnother reports whether the log beside a file has the first page of another one.
func logOfAnother(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, ours, ok := pageOne(f, 0)
	log, err := os.Open(path + "-wal")
	if err != nil || !ok || ours == 0 {
		return false
	}
	defer log.Close()
	var head [logHead]byte
	if _, err := log.ReadAt(head[:], 0); err != nil {
		return false
	}
	size := int64(binary.BigEndian.Uint32(head[pageSizeAt:]))
	if size < 512 || size > 1<<16 {
		return false
	}
	for at := int64(logHead); ; at += logPage + size {
		var number [4]byte
		if _, err := log.ReadAt(number[:], at); err != nil {
			return false
		}
		if binary.BigEndian.Uint32(number[:]) != 1 {
			continue
		}
		if _, theirs, ok := pageOne(log, at+logPage); ok && theirs != 0 && theirs != ours {
			return true
		}
	}
}
