//go:build !wasm

package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"lukechampine.com/frand"
)

// The number of a change stands in the field of the header that SQLite leaves to programs: user_version. A file begins with a random one, and each of our
// transactions counts on. So a log says from which state of which file it goes on: its first number is the one after that of the file it began beside, and
// the file has that or one of the log's, if some of the log was merged. A log that was put beside an older copy, a newer one or another file is told from
// the file's own by that. It keeps out mistakes, and proves nothing.
const numbers = 1 << 31 // they go around, without 0: a file without a number

// beginNumbers gives a new file its first number.
func beginNumbers(ctx context.Context, db execer) error {
	return setNumber(ctx, db, 1+frand.Uint64n(numbers-1))
}

func setNumber(ctx context.Context, db execer, n uint64) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", n))
	return err
}

// begin implements backend. The transaction has the number after that of the last.
func (s *sqliteFile) begin(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	var n int64
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&n); err != nil {
		return err
	}
	return setNumber(ctx, conn, after(uint64(uint32(n))%numbers))
}

// after returns the number after another one.
func after(n uint64) uint64 { return max((n+1)%numbers, 1) }

// The file format of SQLite, 1.3 and 4: where the first page has the way of writing, two bytes that are 2 with a log, and user_version; how long the
// heads of a log and of a page in it are, and where the former has the size of a page, and what all frames of it repeat.
const (
	wayAt, numberAt     = 18, 60
	pageHead            = 100
	logHead, logPage    = 32, 24
	pageSizeAt, saltsAt = 8, 16
)

// A pageOne is the beginning of the first page of a file, with the header.
type pageOne [pageHead]byte

func (p pageOne) number() uint64 { return uint64(binary.BigEndian.Uint32(p[numberAt:])) % numbers }

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

// logOfAnother reports whether the log beside a file goes on from another file, or from another state of it. A log that changes meanwhile is that of a
// process that writes, which has looked at it.
func logOfAnother(ctx context.Context, path string) bool {
	log := numbersOf(path + "-wal")
	if log.count == 0 {
		return false
	}
	page, ok := pageOneOf(ctx, path)
	return ok && !log.goesOnFrom(page.number()) && log == numbersOf(path+"-wal")
}

// A logNumbers is what numbers the changes in a log have.
type logNumbers struct {
	count       int    // frames with page one
	first, last uint64 // the numbers of these
	sum         [8]byte
}

// goesOnFrom reports whether a file with a number may be the log's.
func (l *logNumbers) goesOnFrom(file uint64) bool {
	before := (file + numbers - l.first) % numbers // modulo their number
	return after(file) == l.first || before <= (l.last+numbers-l.first)%numbers
}

// numbersOf reads a log up to its last whole frame.
func numbersOf(path string) (l logNumbers) {
	f, err := os.Open(path)
	if err != nil {
		return l
	}
	defer f.Close()
	log := bufio.NewReaderSize(f, 1<<20)
	var head [logHead]byte
	if _, err := io.ReadFull(log, head[:]); err != nil {
		return l
	}
	size := int64(binary.BigEndian.Uint32(head[pageSizeAt:]))
	if size < 512 || size > 1<<16 || size&(size-1) != 0 {
		return l
	}
	l.sum = [8]byte(head[logHead-8:])
	frame := make([]byte, logPage+size)
	for {
		if _, err := io.ReadFull(log, frame); err != nil || [8]byte(frame[8:]) != [8]byte(head[saltsAt:]) || !whole(frame, l.sum[:], head[3]&1 != 0) {
			return l
		}
		l.sum = [8]byte(frame[logPage-8:])
		if binary.BigEndian.Uint32(frame) != 1 {
			continue
		}
		l.last = pageOne(frame[logPage:]).number()
		if l.count++; l.count == 1 {
			l.first = l.last
		}
	}
}

// whole reports whether a frame of a log has its checksum, which goes on from that before it: another is what a killed process left, and ends the log. The
// file format of SQLite, 4.2.
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
