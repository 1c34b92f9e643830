package store

import (
	"context"
	"errors"
)

// openSQLite refuses: there is no SQLite for WebAssembly here.
func openSQLite(_ context.Context, path string, _ opening) (*DB, error) {
	return nil, &Error{"opening " + path, ErrDSN, errors.New("this build has no SQLite")}
}
