//go:build !wasm

package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"lukechampine.com/frand"
)

// mark gives a file a random number, in the field of its header that SQLite leaves to programs: user_version. The first page has it, and so
// has the log once that page is in it. By this number a log is told from that of another file. It keeps out mistakes, and proves nothing.
func mark(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", 1+frand.Uint64n(1<<30)))
	return err
}

// markLog writes the first page as it is, so that the log has the mark, where there is one.
func markLog(ctx context.Context, db *sql.DB) error {
	var has int32
	var mode string
	err := errors.Join(db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&has), db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode))
	if err != nil || mode != "wal" {
		return err
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", has))
	return err
}

// markAnew gives a database of ours a new mark, so that a copy made earlier has another mark than what is written from now on. No other
// process uses the file meanwhile. At the end, the file itself has the mark and the log's content, and there is no log. If that is not
// possible because another process has the file open, everything stays as it is.
func (s *sqliteFile) markAnew(ctx context.Context) {
	if !filled(s.path) {
		return
	}
	uri, err := fileURI(s.path)
	if err != nil {
		return
	}
	db, err := sql.Open("sqlite", uri+"?mode=rw&_pragma=locking_mode(exclusive)&_pragma=busy_timeout(0)")
	if err != nil {
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	// The log is merged before there is another mark, too: one that has both changes and another mark than the file is that of another file.
	if ours, _, err := s.tables(ctx, db); err == nil && ours && merge(ctx, db) && mark(ctx, db) == nil {
		merge(ctx, db)
	}
}

// merge copies all of the log into the file, and empties it.
func merge(ctx context.Context, db *sql.DB) bool {
	var busy, frames, merged int
	err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &merged)
	return err == nil && busy == 0
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

// pageOneOf reads the first page of a file as it is without its log. It does so by SQLite: closing a file that was opened by another way would
// drop all locks that this process has on it.
func pageOneOf(ctx context.Context, path string) (p pageOne, ok bool) {
	db, err := dial(path, "ro&immutable=1")
	if err != nil {
		return p, false
	}
	defer db.Close()
	var page []byte
	err = db.QueryRowContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = 1").Scan(&page)
	return p, err == nil && copy(p[:], page) == len(p)
}

// journalOfAnother reports whether a journal lies beside a file that has none: one with a log, and more than what a new one begins with.
func journalOfAnother(ctx context.Context, path string) bool {
	if !filled(path + "-journal") {
		return false
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() <= 4096 {
		return false
	}
	page, ok := pageOneOf(ctx, path)
	return ok && page[wayAt] == 2 && page[wayAt+1] == 2
}

// logOfAnother reports whether the log beside a file has changes of another one. A log of nothing but a new mark is the file's own: the process was killed
// before the mark was in the file.
func logOfAnother(ctx context.Context, path string) bool {
	if !filled(path + "-wal") {
		return false
	}
	ours, ok := pageOneOf(ctx, path)
	if !ok {
		return false
	}
	log, err := os.Open(path + "-wal")
	if err != nil {
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
	marked, changed := false, false // by another mark; otherwise
	before, frame := head[logHead-8:], make([]byte, logPage+size)
	for at := int64(logHead); ; at += int64(len(frame)) {
		if _, err := log.ReadAt(frame, at); err != nil { // what a killed process began is no frame
			return marked && changed
		}
		switch first := binary.BigEndian.Uint32(frame) == 1; {
		case !first:
			changed = true
		case whole(frame, before, head[3]&1 != 0):
			theirs := pageOne(frame[logPage:])
			marked = marked || theirs.mark() != ours.mark()
			changed = changed || theirs.unmarked() != ours.unmarked()
		}
		before = bytes.Clone(frame[logPage-8 : logPage])
	}
}

// whole reports whether a frame of a log has its checksum, which goes on from that before it. A killed process may have written its head, and not the page,
// over an older frame. The file format of SQLite, 4.2.
func whole(frame, before []byte, bigEndian bool) bool {
	word := binary.LittleEndian.Uint32
	if bigEndian {
		word = binary.BigEndian.Uint32
	}
	s0, s1 := binary.BigEndian.Uint32(before), binary.BigEndian.Uint32(before[4:])
	for _, part := range [...][]byte{frame[:8], frame[logPage:]} {
		for ; len(part) > 0; part = part[8:] {
			s0 += word(part) + s1
			s1 += word(part[4:]) + s0
		}
	}
	sum := frame[logPage-8:]
	return s0 == binary.BigEndian.Uint32(sum) && s1 == binary.BigEndian.Uint32(sum[4:])
}
