//go:build !wasm

package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"modernc.org/sqlite"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/replay/audit"
)

// lockPatience is how long to wait for the lock of a run's writer, in milliseconds: a process that checks the lock holds it for a moment.
const lockPatience = 500

// patience is how long to wait for a locked file, in milliseconds.
const patience = 10_000

// sqliteFile is the backend of a database in a file. Never open the file other than through SQLite: closing it would drop
// the locks that SQLite has on it.
type sqliteFile struct {
	path  string
	info  fs.FileInfo // of the file that was opened
	begun begun
}

func openSQLite(ctx context.Context, path string, how opening) (*DB, error) {
	doing, name := "opening "+path, path
	if real, err := draft.Destination(path); err == nil { // there is one file beside it that the writer of a run locks
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, &Error{doing, ErrDSN, hint("it is a folder")}
	case err == nil && !info.Mode().IsRegular():
		return nil, &Error{doing, ErrDSN, hint("it is not a regular file")}
	case errors.Is(err, fs.ErrNotExist) && how != writing:
		return nil, &Error{doing, ErrNoDatabase, err}
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, &Error{doing, ErrDSN, fmt.Errorf("there is no folder for it: %w", err)}
		}
	case err != nil:
		return nil, &Error{doing, "", err}
	}
	if how != reading {
		if err := cmp.Or(companion(ctx, name), companion(ctx, path)); err != nil {
			return nil, err
		}
	}
	for _, beside := range []string{"-journal", "-wal", "-shm"} {
		if err := regularBeside(path + beside); err != nil {
			return nil, &Error{doing, ErrForeign, err}
		}
	}
	if err := strangeBeside(path); err != nil {
		return nil, &Error{doing, ErrForeign, err}
	}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 && !filled(path) { // which SQLite would remove
		return nil, &Error{doing, ErrForeign, fmt.Errorf("%s-wal has %d bytes, and belongs to another file that had this name; move it beside that one, as NAME-wal", filepath.Base(path), log.Size())}
	}
	if journalOfAnother(ctx, path) { // which SQLite would copy into it
		return nil, foreign(path, "journal")
	}
	if err := logRefused(ctx, path); err != nil {
		return nil, err
	}
	mode := map[opening]string{writing: "rwc", reading: "ro", adding: "rw"}[how]
	file := &sqliteFile{path: path}
	d := &DB{backend: file, name: path}
	if d.sql, err = dial(path, mode); err != nil {
		return nil, &Error{doing, "", err}
	}
	if how == reading {
		// A file in WAL mode can be read only if the files beside it can be made, or if nothing can change: on a read-only disk.
		if err := d.sql.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(new(int)); err != nil && sealed(err, path) {
			d.sql.Close()
			if d.frozen, err = frozen(path); err == nil {
				d.sql, err = dial(path, "ro&immutable=1")
			}
			if err != nil {
				return nil, &Error{doing, "", err}
			}
		}
	}
	if err := d.inUTF8(ctx); err != nil {
		d.sql.Close()
		return nil, &Error{doing, ErrForeign, err}
	}
	return d, nil
}

// filled reports whether a file is there and has something.
func filled(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// inUTF8 refuses a file that has its text in UTF-16: ids and digests would have other lengths.
func (d *DB) inUTF8(ctx context.Context) error {
	var encoding string
	if err := d.sql.QueryRowContext(ctx, "PRAGMA encoding").Scan(&encoding); err != nil || encoding == "UTF-8" {
		return nil // the first read reports the error
	}
	return fmt.Errorf("it has its text in %s; use one in UTF-8", encoding)
}

// regularBeside returns an error unless the files that SQLite has beside a database are regular ones: opening a pipe would wait forever.
func regularBeside(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; remove it", filepath.Base(path))
	}
	return nil
}

// sealed reports whether an error comes from a file in WAL mode in a place where no file can be made, and with no log to be merged.
func sealed(err error, path string) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok || e.Code()&0xff != codeCantOpen && e.Code()&0xff != codeReadOnly {
		return false
	}
	wal, err := os.Stat(path + "-wal")
	return err != nil || wal.Size() == 0
}

// frozen returns a function that returns an error unless a file, which is read without locks, is still as it is now, and no log lies
// beside it: another user may write where this one may not.
func frozen(path string) (func() error, error) {
	was, err := os.Stat(path)
	return func() error {
		now, err := os.Stat(path)
		if err == nil && os.SameFile(was, now) && was.Size() == now.Size() && was.ModTime().Equal(now.ModTime()) && !filled(path+"-wal") {
			return nil
		}
		return &Error{"reading " + path, ErrWritten, err}
	}, err
}

// dial opens a file by SQLite. It reads nothing yet.
func dial(path, mode string) (*sql.DB, error) {
	uri, err := fileURI(path)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", fmt.Sprintf("%s?mode=%s&_pragma=busy_timeout(%d)&_pragma=foreign_keys(1)&_pragma=synchronous(normal)&_pragma=cache_size(-16000)", uri, mode, patience))
}

func fileURI(path string) (string, error) {
	path, err := filepath.Abs(path)
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath(), err
}

func (s *sqliteFile) dialect() goose.Dialect { return goose.DialectSQLite3 }
func (s *sqliteFile) place() string {
	if path, err := filepath.Abs(s.path); err == nil {
		return path
	}
	return s.path
}

func (s *sqliteFile) table(name string) string { return name }
func (s *sqliteFile) beginRead() string        { return "BEGIN" }
func (s *sqliteFile) id(id audit.ID) any       { return id.String() }
func (s *sqliteFile) time(t time.Time) any     { return t.UnixMicro() }

// joined converts concatenated values, which SQLite takes for text, to bytes.
func (s *sqliteFile) joined(bytes string) string { return "CAST(" + bytes + " AS BLOB)" }

func (s *sqliteFile) plain(column string) string {
	return "CASE WHEN " + column + " IS NULL OR octet_length(" + column + ") <= 64 THEN " + column + " ELSE '' END"
}

func (s *sqliteFile) bounded(column string, bytes int64) string {
	return fmt.Sprintf("CASE WHEN octet_length(%s) <= %d THEN %[1]s END", column, bytes)
}

func (s *sqliteFile) text(column string) string { return column }

func (s *sqliteFile) insertAlert() string {
	return `INSERT INTO alerts (alert_id, run_id, tick, code, severity, detail, raised_at, audit_id)
		SELECT coalesce(max(alert_id), 0) + 1, $1, $2, $3, $4, $5, $6, $7 FROM alerts`
}

func (s *sqliteFile) tables(ctx context.Context, db *sql.DB) (versions, others bool, err error) {
	err = db.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE name = $1) > 0, count(*) > 0 FROM sqlite_schema WHERE type = 'table'", versionTable).Scan(&versions, &others)
	return versions, others, err
}

func (s *sqliteFile) untrue(ctx context.Context, db *sql.DB) (name string, err error) {
	// A strict table has values of the types that its columns have.
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(s.name), '') FROM sqlite_schema s LEFT JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.name
		WHERE lower(s.name) IN `+ourTables+` AND (s.type <> 'table' OR s.rootpage = 0 OR t.strict IS NOT 1 AND lower(s.name) <> '`+versionTable+`')`).Scan(&name)
	return name, err
}

// lockMigrations locks a file beside the database, since SQLite has no lock but that of a transaction, and the journal's mode is changed
// outside of one.
func (s *sqliteFile) lockMigrations(ctx context.Context, making *sql.DB) (*sql.DB, lock.SessionLocker, func(), error) {
	unlock, err := s.lockBeside(ctx, "migration", patience)
	if err != nil {
		return nil, nil, nil, err
	}
	db, err := dial(s.path, "rwc")
	if err == nil {
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL") // it stays with the file
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		unlock()
		return nil, nil, nil, err
	}
	return making, nil, unlock, nil
}

func (s *sqliteFile) lockRun(ctx context.Context, _ *sql.Conn, id audit.ID) (func(), error) {
	unlock, err := s.lockBeside(ctx, "writer-"+id.String(), lockPatience)
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == codeBusy {
		return nil, &Error{fmt.Sprintf("run %s in %s", id, s.path), ErrWriter, nil}
	}
	return unlock, err
}

// lockedRun reads the file that the writer of a run has locked.
func (s *sqliteFile) lockedRun(ctx context.Context, _ *sql.DB, id audit.ID) (bool, error) {
	path := s.path + "-writer-" + id.String()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err := regularBeside(path); err != nil {
		return false, &Error{"looking at " + s.path, ErrForeign, err}
	}
	uri, err := fileURI(path)
	if err != nil {
		return false, err
	}
	db, err := sql.Open("sqlite", uri+"?mode=ro")
	if err != nil {
		return false, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(new(int))
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case codeBusy:
			return true, nil
		case codeCantOpen, codeIO: // it was removed
			return false, nil
		}
	}
	return false, err
}

// besides is held while this process locks a file beside a database: it must not open and close a file that it has locked already.
var besides sync.Mutex

// lockBeside locks a file of its own beside the database, also by SQLite: an empty database in an exclusive transaction. The owner of the
// lock removes the file at the end. So another process may have locked a file that no longer exists; it tries again.
func (s *sqliteFile) lockBeside(ctx context.Context, name string, wait int) (unlock func(), err error) {
	besides.Lock()
	defer besides.Unlock()
	path := s.path + "-" + name
	for tries := 0; ; tries++ {
		before, err := os.Stat(path)
		if err == nil && before.Size() > 0 {
			return nil, &Error{"locking " + path, ErrForeign, errors.New("it is not empty, so it is no lock; move it away")}
		}
		if errors.Is(err, fs.ErrNotExist) {
			var f *os.File
			if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666); err == nil {
				err = f.Close()
			}
			if err == nil || errors.Is(err, fs.ErrExist) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		db, conn, err := exclusive(ctx, path, wait)
		now, gone := os.Stat(path)
		if err == nil && gone == nil && os.SameFile(before, now) {
			return func() {
				os.Remove(path) // where an open file cannot be removed, it stays
				conn.Close()
				db.Close()
			}, nil
		}
		if err == nil {
			conn.Close()
			db.Close()
			continue
		}
		// A file that is removed while it is opened is an error of input and output.
		if e, ok := errors.AsType[*sqlite.Error](err); !ok || e.Code()&0xff != codeIO && e.Code()&0xff != codeCantOpen || tries == maxTries {
			return nil, err
		}
	}
}

const maxTries = 100

// exclusive locks a file as an empty database.
func exclusive(ctx context.Context, path string, wait int) (*sql.DB, *sql.Conn, error) {
	uri, err := fileURI(path)
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", fmt.Sprintf("%s?mode=rw&_pragma=busy_timeout(%d)", uri, wait)) // other pragmas would wait for the lock first
	if err != nil {
		return nil, nil, err
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		if _, err = conn.ExecContext(ctx, "BEGIN EXCLUSIVE"); err == nil {
			return db, conn, nil
		}
		conn.Close()
	}
	db.Close()
	return nil, nil, err
}

// rowsAtOnce are the numbers of rows of one INSERT.
var rowsAtOnce = []int{50, 7, 1}

func (s *sqliteFile) insert(ctx context.Context, conn *sql.Conn, prepared prepared, b *bulk) error {
	return conn.Raw(func(raw any) error {
		width := len(b.columns)
		row := make([]driver.Value, width)
		var args []driver.NamedValue
		for i := 0; i < b.rows; {
			n := 0
			for _, n = range rowsAtOnce {
				if n <= b.rows-i {
					break
				}
			}
			stmt, err := statement(ctx, raw.(driver.ConnPrepareContext), prepared, b, n)
			if err != nil {
				return err
			}
			args = args[:0]
			for range n {
				clear(row)
				b.fill(i, row)
				for _, v := range row {
					args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: v})
				}
				i++
			}
			result, err := stmt.(driver.StmtExecContext).ExecContext(ctx, args)
			if err != nil {
				return fmt.Errorf("%s: %w", b.table, err)
			}
			if err := addedBy(result, b.table, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// statement returns the INSERT of n rows.
func statement(ctx context.Context, conn driver.ConnPrepareContext, prepared prepared, b *bulk, n int) (driver.Stmt, error) {
	key := fmt.Sprint(b.table, n)
	if stmt, ok := prepared[key]; ok {
		return stmt, nil
	}
	one := "(" + strings.Repeat(",?", len(b.columns))[1:] + ")"
	stmt, err := conn.PrepareContext(ctx, "INSERT INTO "+b.table+" ("+strings.Join(b.columns, ",")+") VALUES "+strings.Repeat(one+",", n-1)+one)
	if err == nil {
		prepared[key] = stmt
	}
	return stmt, err
}

func (s *sqliteFile) read(ctx context.Context, conn *sql.Conn, query string, args []any, each func(row) error) error {
	return conn.Raw(func(raw any) error {
		named := make([]driver.NamedValue, len(args))
		for i, a := range args {
			named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
		}
		rows, err := raw.(driver.QueryerContext).QueryContext(ctx, query, named)
		if err != nil {
			return err
		}
		values := make(sqliteRow, len(rows.Columns()))
		for {
			err := rows.Next(values)
			if err == nil {
				err = each(values)
			}
			if err != nil {
				if err == io.EOF {
					err = nil
				}
				return errors.Join(err, rows.Close())
			}
		}
	})
}

// sqliteRow has null for an empty blob.
type sqliteRow []driver.Value

func (r sqliteRow) integer(column int) int64 {
	v, _ := r[column].(int64)
	return v
}

func (r sqliteRow) blob(column int) []byte {
	v, _ := r[column].([]byte)
	return v
}

func (r sqliteRow) text(column int) string {
	v, _ := r[column].(string)
	return v
}

func (r sqliteRow) id(column int) (audit.ID, error) { return audit.ParseID(r.text(column)) }

// Codes of SQLite, without their extensions.
const (
	codeBusy       = 5
	codeReadOnly   = 8
	codeIO         = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeCantOpen   = 14
	codeTooBig     = 18
	codeConstraint = 19
	codeNotADB     = 26

	codeForeignKey = codeConstraint | 3<<8
	codeTrigger    = codeConstraint | 7<<8
)

func (s *sqliteFile) kind(err error) (Kind, error) {
	e, ok := errors.AsType[*sqlite.Error](err)
	switch {
	case ok:
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ErrReadOnly, err
	case errors.Is(err, syscall.ENOSPC):
		return ErrFull, err
	default:
		return "", err
	}
	switch e.Code() {
	case codeForeignKey:
		return ErrChain, err
	case codeTrigger:
		for code, kind := range codes {
			if strings.Contains(e.Error(), code+" ") {
				return kind, err
			}
		}
	}
	kinds := map[int]Kind{codeBusy: ErrLocked, codeReadOnly: ErrReadOnly, codeCantOpen: ErrReadOnly, codeCorrupt: ErrDamaged, codeFull: ErrFull,
		codeConstraint: ErrInvalid, codeTooBig: ErrInvalid, codeNotADB: ErrForeign}
	return kinds[e.Code()&0xff], err
}
