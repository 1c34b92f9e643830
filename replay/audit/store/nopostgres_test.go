//go:build !postgres

package store_test

// servers are the databases beside SQLite: with the tag postgres there is one, which tools/ci/postgres.sh sets up.
func servers() []database { return nil }
