//go:build !wasm

package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lukechampine.com/frand"
)

// mark gives a file a random number, in the field of its header that SQLite leaves to programs: user_version. The first page has it, and so
// has the log once that page is in it. By this number a log is told from that of another file. It keeps out mistakes, and proves nothing.
func mark(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", 1+frand.Uint64n(1<<30)))
	return err
}

// markLog writes the first page as it is, so that the log has the mark.
func markLog(ctx context.Context, conn *sql.Conn) error {
	var has int32
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&has); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", has))
	return err
}

// markAnew gives a database of ours another mark, unless it has a log: then it is in use, or its log has its mark. So a copy made before has
// another mark than what is written from now on. Nobody else uses the file meanwhile, and the mark is in the file itself at the end. Where
// that cannot be, the mark stays as it is.
func (s *sqliteFile) markAnew(ctx context.Context) {
	if _, err := os.Stat(s.path + "-wal"); !filled(s.path) || !errors.Is(err, fs.ErrNotExist) && readLog(s.path) != marks {
		return
	}
	db, err := dial(s.path, "rw&_pragma=locking_mode(exclusive)&_pragma=busy_timeout(0)")
	if err != nil {
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if ours, _, err := s.tables(ctx, db); err == nil && ours && mark(ctx, db) == nil {
		db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
}

// The file format of SQLite, 1.3 and 4: where the first page has the way of writing, two bytes that are 2 with a log, user_version, and what
// is counted with each change; how long the heads of a log and of a page in it are, and where the former has the size of a page.
const (
	wayAt, markAt         = 18, 60
	changesAt, validForAt = 24, 92
	pageHead              = 100
	logHead, logPage      = 32, 24
	pageSizeAt            = 8
)

// A page one is the beginning of the first page of a file, with the header.
type pageOne [pageHead]byte

func (p pageOne) mark() uint32 { return binary.BigEndian.Uint32(p[markAt:]) }

// unmarked is the page without its mark and what SQLite counts with each change.
func (p pageOne) unmarked() pageOne {
	clear(p[changesAt : changesAt+4])
	clear(p[markAt : markAt+4])
	clear(p[validForAt:])
	return p
}

func readPageOne(f *os.File, at int64) (p pageOne, err error) {
	_, err = f.ReadAt(p[:], at)
	return p, err
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
	page, err := readPageOne(f, 0)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && page[wayAt] == 2 && page[wayAt+1] == 2 && info.Size() > 4096
}

// A kept is what a log beside a file has.
type kept int

const (
	changes kept = iota // of the file, or none
	marks               // nothing but new marks: a process was killed before they were in the file
	another             // changes of another file
)

// readLog tells what the log beside a file has.
func readLog(path string) kept {
	f, err := os.Open(path)
	if err != nil {
		return changes
	}
	defer f.Close()
	ours, err := readPageOne(f, 0)
	if err != nil || ours.mark() == 0 {
		return changes
	}
	log, err := os.Open(path + "-wal")
	if err != nil {
		return changes
	}
	defer log.Close()
	var head [logHead]byte
	if _, err := log.ReadAt(head[:], 0); err != nil {
		return changes
	}
	size := int64(binary.BigEndian.Uint32(head[pageSizeAt:]))
	if size < 512 || size > 1<<16 {
		return changes
	}
	others, onlyMarks := false, true
	for at := int64(logHead); ; at += logPage + size {
		var number [4]byte
		if _, err := log.ReadAt(number[:], at); err != nil {
			break
		}
		theirs, err := readPageOne(log, at+logPage)
		if first := binary.BigEndian.Uint32(number[:]) == 1; err != nil || !first {
			onlyMarks = onlyMarks && first
			continue
		}
		others = others || theirs.mark() != 0 && theirs.mark() != ours.mark()
		onlyMarks = onlyMarks && theirs.unmarked() == ours.unmarked()
	}
	switch {
	case others && !onlyMarks:
		return another
	case others:
		return marks
	}
	return changes
}
