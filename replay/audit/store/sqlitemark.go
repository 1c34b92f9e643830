//go:build !wasm

package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"lukechampine.com/frand"
)

// Each of our transactions says in the header of the database from which state it goes on: application_id is a sum of the header before it, and user_version
// is drawn anew, so that no two states have the same header. So a log says to which file it belongs: one whose header has the sum that stands in the log's first
// change, or, if some of the log was merged, one whose header stands in the log. A log beside an older copy, a newer one, one that went another way, one that
// another program has changed, or another file is told from the file's own by that. It keeps out mistakes, and proves nothing.
//
// That only holds for a log whose first change is ours: of another program's, one cannot say from which header it goes on. So
// begin merges a log that begins with such a change, after which SQLite begins the log anew, with ours.

// A begun is a log that begins with a change of ours.
type begun struct {
	sync.Mutex
	conn    *sql.Conn // of the last transaction
	version int64     // of the data when it began; it changes with each commit of another connection
	log     [16]byte  // what tells the log from others
}

// beginTries is how often a transaction begins before it goes on whatever the log begins with.
const beginTries = 5

// leastDrawn is the least number that is drawn for user_version: other programs number what they make by less.
const leastDrawn = 1 << 16

// begin implements backend. It looks at the log while no other may write to it.
func (s *sqliteFile) begin(ctx context.Context, conn *sql.Conn) error {
	var merged header
	for tries := 1; ; tries++ {
		if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		before, err := headerOf(ctx, conn)
		var version int64
		if err == nil {
			err = conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
		}
		if err != nil {
			return err
		}
		if s.goesOn(ctx, conn, version) || before == merged || tries == beginTries { // a reader may keep the log from being begun anew
			mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", before.sum(), leastDrawn+frand.Uint64n(1<<31-leastDrawn))
			_, err = conn.ExecContext(ctx, mark)
			return err
		}
		merged = before
		if _, err := conn.ExecContext(ctx, "ROLLBACK; PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
			return err
		}
	}
}

// goesOn reports whether the log begins with a change of ours that goes on from the file, or will with the next.
func (s *sqliteFile) goesOn(ctx context.Context, conn *sql.Conn, version int64) bool {
	s.begun.Lock()
	defer s.begun.Unlock()
	if conn == s.begun.conn && version == s.begun.version {
		return true // nothing was written since its last transaction
	}
	log := changesOf(s.path+"-wal", nil)
	if log.count > 0 && log.name != s.begun.log {
		if file, ok := headerWithoutLog(ctx, s.path); !ok || file.sum() != log.first.before() {
			return false
		}
		s.begun.log = log.name
	}
	s.begun.conn, s.begun.version = conn, version
	return true
}

// The file format of SQLite, 1.3 and 4: where the first page has the way of writing, two bytes that are 2 with a log, and
// application_id, behind user_version; how long the heads of a log and of a page in it are, and where the former has the size of a page, and what all
// frames of it repeat.
const (
	wayAt               = 18
	versionAt           = 60
	beforeAt            = 68
	headerSize          = 100
	logHead, logPage    = 32, 24
	pageSizeAt, saltsAt = 8, 16
)

// A header is the beginning of the first page of a file.
type header [headerSize]byte

// sum tells headers apart. It has 31 bits, since the field has a sign.
func (h *header) sum() uint32 { return crc32.ChecksumIEEE(h[:]) >> 1 }

// before is the sum of the header before the change that has written this one.
func (h *header) before() uint32 { return binary.BigEndian.Uint32(h[beforeAt:]) }

// othersAfter reports whether a header is that of another program's change of the one before. Such a change leaves application_id as it was, and
// user_version, too, or sets a small number. One of ours on a copy of an earlier state has the same application_id, and draws user_version; the
// count of changes would not tell, since a connection that stays open counts one only.
func (h *header) othersAfter(before *header) bool {
	number := binary.BigEndian.Uint32(h[versionAt:])
	return h.before() == before.before() && (number < leastDrawn || number == binary.BigEndian.Uint32(before[versionAt:]))
}

// headerOf reads the header of a database as a connection sees it.
func headerOf(ctx context.Context, q querier) (h header, err error) {
	var page []byte
	err = q.QueryRowContext(ctx, "SELECT substr(data, 1, 100) FROM sqlite_dbpage WHERE pgno = 1").Scan(&page)
	if err == nil && copy(h[:], page) != len(h) {
		err = io.ErrUnexpectedEOF
	}
	return h, err
}

// headerWithoutLog reads the header of a file as it is without its log, also of one that was cut: opened by another way, its closing
// would drop all locks that this process has on it. Of a file that is no database, on which no connection has locks, it reads the bytes.
func headerWithoutLog(ctx context.Context, path string) (h header, ok bool) {
	db, err := dial(path, "ro&immutable=1&_pragma=writable_schema(1)") // with which the file may have fewer pages than its header says
	if err != nil {
		return h, false
	}
	defer db.Close()
	if h, err = headerOf(ctx, db); err == nil {
		return h, true
	}
	f, err := os.Open(path)
	if err != nil {
		return h, false
	}
	defer f.Close()
	n, err := io.ReadFull(f, h[:])
	return h, n > 0 && (err == nil || err == io.ErrUnexpectedEOF) // a shorter one is another file
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
	h, ok := headerWithoutLog(ctx, path)
	return ok && h[wayAt] == 2 && h[wayAt+1] == 2
}

// foreign is the error for a journal or a log of another file.
func foreign(path, ending string) error {
	return &Error{"opening " + path, ErrForeign, fmt.Errorf("%s-%s belongs to another file that had this name; "+
		"move it beside that one, as NAME-%[2]s", filepath.Base(path), ending)}
}

// logRefused returns an error if the log beside a file goes on from another file, or from another state of it, which SQLite would copy
// into it, or if it is damaged before its end, behind which SQLite would throw everything away. A log that changes meanwhile is that of a
// process that writes, which has looked at it. A log without a change of ours does not say from where it goes on.
func logRefused(ctx context.Context, path string) error {
	if !filled(path + "-wal") {
		return nil
	}
	log, ours := changesBeside(ctx, path)
	if ours && !log.damaged {
		return nil
	}
	again, ours := changesBeside(ctx, path) // its header was read while the log was as it is before and after
	switch {
	case again.end != log.end:
		return nil
	case again.damaged && log.damaged && again.size == log.size:
		return &Error{"opening " + path, ErrDamaged, fmt.Errorf("%s-wal, its log, is damaged at byte %d, and all that was committed behind it "+
			"would be thrown away; nothing was changed: copy both files before anything else; sqlite3 opens a copy of both, and shows what stands "+
			"before that byte", filepath.Base(path), log.size)}
	case !ours:
		return foreign(path, "wal")
	}
	return nil
}

// changesBeside reads the log beside a file, and reports whether it may be the file's own.
func changesBeside(ctx context.Context, path string) (log changes, ours bool) {
	file, ok := headerWithoutLog(ctx, path)
	if !ok {
		return log, true
	}
	log = changesOf(path+"-wal", &file)
	// The last: a change of another program on the same state, which after a crash no change of ours has followed; see begin.
	return log, log.count == 0 || log.has || file.sum() == log.first.before() || log.first.othersAfter(&file)
}

// A changes is what the headers in a log say.
type changes struct {
	count int // frames with page one
	first header
	has   bool // one is a given header
	end   [8]byte
	name  [16]byte // is another one in each log

	size    int64 // of what is whole
	damaged bool  // more was committed behind that, and none of it can be read
}

// changesOf reads a log up to its last whole frame; without a header, up to the first one with page one.
func changesOf(path string, file *header) (l changes) {
	f, err := os.Open(path)
	if err != nil {
		return l
	}
	defer f.Close()
	log := bufio.NewReaderSize(f, 1<<16)
	var head [logHead]byte
	n, _ := io.ReadFull(log, head[:])
	if !headOfLog(head[:n]) {
		l.damaged = !zero(head[:n]) || !zeros(log)
		return l
	}
	if n < logHead {
		return l
	}
	l.end, l.name, l.size = [8]byte(head[logHead-8:]), [16]byte(head[saltsAt:]), logHead
	frame, salts := make([]byte, logPage+binary.BigEndian.Uint32(head[pageSizeAt:])), [8]byte(head[saltsAt:])
	for {
		if _, err := io.ReadFull(log, frame); err != nil {
			return l
		}
		if [8]byte(frame[8:]) != salts || !whole(frame, l.end[:], head[3]&1 != 0) {
			l.damaged = file != nil && commits(log, frame, salts)
			return l
		}
		l.end, l.size = [8]byte(frame[logPage-8:]), l.size+int64(len(frame))
		if binary.BigEndian.Uint32(frame) != 1 {
			continue
		}
		h := header(frame[logPage:])
		if l.count++; l.count == 1 {
			l.first = h
		}
		if file == nil {
			return l
		}
		l.has = l.has || h == *file
	}
}

// commits reports whether the rest of a log, behind a frame that is not whole, has a frame that ends a transaction of this log. No killed
// process leaves that: frames are written one after the other, those of a transaction that was given up end none, and those of an earlier
// log have other salts. Their checksums say nothing, since each goes on from that before it. The frame is overwritten.
func commits(log io.Reader, frame []byte, salts [8]byte) bool {
	for {
		if _, err := io.ReadFull(log, frame); err != nil {
			return false
		}
		if [8]byte(frame[8:]) == salts && binary.BigEndian.Uint32(frame[4:]) != 0 {
			return true
		}
	}
}

// headOfLog reports whether bytes are the head of a log, or, if they are fewer, may be what a killed process has written of one.
func headOfLog(b []byte) bool {
	const version = 3007000
	if len(b) < logHead {
		return len(b) >= 4 && binary.BigEndian.Uint32(b)&^1 == walMagic
	}
	size := binary.BigEndian.Uint32(b[pageSizeAt:])
	return binary.BigEndian.Uint32(b)&^1 == walMagic && binary.BigEndian.Uint32(b[4:]) == version &&
		size >= 512 && size <= 1<<16 && size&(size-1) == 0 &&
		summed(b[logHead-8:], make([]byte, 8), b[3]&1 != 0, b[:logHead-8])
}

// zero reports whether all bytes are 0, and zeros whether all that are left are.
func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func zeros(r *bufio.Reader) bool {
	for {
		b, err := r.ReadByte()
		if b != 0 || err != nil {
			return b == 0
		}
	}
}

// whole reports whether a frame of a log has its checksum, which goes on from that before it: another is what a killed process left, and
// ends the log.
func whole(frame, before []byte, bigEndian bool) bool {
	return summed(frame[logPage-8:], before, bigEndian, frame[:8], frame[logPage:])
}

// summed reports whether some bytes have a checksum that goes on from another one. The file format of SQLite, 4.2.
func summed(sum, before []byte, bigEndian bool, parts ...[]byte) bool {
	word := binary.LittleEndian.Uint32
	if bigEndian {
		word = binary.BigEndian.Uint32
	}
	s0, s1 := binary.BigEndian.Uint32(before), binary.BigEndian.Uint32(before[4:])
	for _, part := range parts {
		for ; len(part) > 0; part = part[8:] {
			s0 += word(part) + s1
			s1 += word(part[4:]) + s0
		}
	}
	return s0 == binary.BigEndian.Uint32(sum) && s1 == binary.BigEndian.Uint32(sum[4:])
}
