package store

import (
	"context"
	"fmt"
	"testing"
)

// Limit makes the file full at a number of pages.
func (w *Writer) Limit(t *testing.T, pages int) {
	t.Helper()
	w.pragma(t, "max_page_count", pages)
}

// Patience is how long a locked file is waited for.
func (w *Writer) Patience(t *testing.T, milliseconds int) {
	t.Helper()
	w.pragma(t, "busy_timeout", milliseconds)
}

func (w *Writer) pragma(t *testing.T, name string, value int) {
	t.Helper()
	if _, err := w.conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA %s = %d", name, value)); err != nil {
		t.Fatal(err)
	}
}

// SearchPath returns the schemas in which the statements of a database on a server look for what they name.
func (d *DB) SearchPath() (path string, err error) {
	err = d.sql.QueryRow("SELECT current_schemas(true)::text").Scan(&path)
	return path, err
}
