//go:build !wasm

package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

func (s *sqliteFile) opened() (err error) {
	s.info, err = os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return gone("opening "+s.path, s.path)
	}
	return err
}

// merge opens the file once more, and closes it: the last connection that may write merges the log. Where another program has it open, that one will.
func (s *sqliteFile) merge() {
	if s.there() != nil || !filled(s.path+"-wal") {
		return
	}
	if db, err := dial(s.path, "rw"); err == nil {
		_ = db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(new(int))
		_ = db.Close()
	}
}

func (s *sqliteFile) there() error {
	now, err := os.Stat(s.path)
	if err == nil && os.SameFile(now, s.info) {
		return nil
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = gone("writing "+s.path, s.path)
	}
	return err
}

func (s *sqliteFile) same(other backend) bool {
	o, ok := other.(*sqliteFile)
	return ok && os.SameFile(s.info, o.info)
}

// written also checks the log beside the file, which has what is not merged into the file yet. The log stays the same file while a connection has it
// open, and begins with a number unless it is empty. Reading it drops no lock.
func (s *sqliteFile) written(ctx context.Context, conn *sql.Conn) (func() error, error) {
	var mode string
	err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
	if err == nil {
		err = conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(new(int)) // which opens the log
	}
	if err != nil || mode != "wal" {
		return s.there, err
	}
	log := s.path + "-wal"
	begun, err := os.Stat(log)
	if err != nil {
		return nil, err
	}
	return func() error {
		if err := s.there(); err != nil {
			return err
		}
		f, err := os.Open(log)
		if errors.Is(err, fs.ErrNotExist) {
			return gone("writing "+s.path, log)
		}
		if err != nil {
			return err
		}
		defer f.Close()
		now, err := f.Stat()
		if err != nil {
			return err
		}
		var magic [4]byte
		n, err := f.ReadAt(magic[:], 0)
		if err != nil && err != io.EOF {
			return err
		}
		if !os.SameFile(begun, now) || n > 0 && binary.BigEndian.Uint32(magic[:])&^1 != walMagic {
			return gone("writing "+s.path, log)
		}
		return nil
	}, nil
}

// A log of SQLite begins with walMagic; its last bit differs with the byte order of the checksums.
const walMagic = 0x377f0682
