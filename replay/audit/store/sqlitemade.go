//go:build !wasm

package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

// made returns the statements that make a database of ours, of any version, as sqlite_schema keeps them. Nothing else
// runs when a row of ours is read or added: no trigger, check, generated column or index of another program, whose statements
// might never end. What a connection has of its own, temporary tables and other files that it attached, is not kept in the file; ours have none.
var made = sync.OnceValues(func() (map[string]bool, error) {
	texts := map[string]bool{
		// The statements of goose.
		"CREATE TABLE " + versionTable + " (\n\t\tid INTEGER PRIMARY KEY AUTOINCREMENT,\n\t\tversion_id INTEGER NOT NULL,\n\t\tis_applied INTEGER NOT NULL,\n\t\ttstamp TIMESTAMP DEFAULT (datetime('now'))\n\t)": true,
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each has a memory of its own
	names, err := fs.Glob(migrations, "migrations/sqlite/*.sql")
	for _, name := range names { // in the order of their numbers
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return nil, err
		}
		if _, err := db.Exec(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := schemaTexts(db, texts); err != nil {
			return nil, err
		}
	}
	return texts, err
})

// schemaTexts adds the statements of a database to a set.
func schemaTexts(db *sql.DB, texts map[string]bool) error {
	rows, err := db.Query("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		texts[text] = true
	}
	return rows.Err()
}

// maxStatement is the most bytes of a schema's statement that unmade looks at.
const maxStatement = 1 << 16

// oursIn matches a name of one of our tables in a statement.
var oursIn = regexp.MustCompile(`(?i)\b(` + strings.NewReplacer("(", "", ")", "", "'", "", ", ", "|").Replace(ourTables) + `)\b`)

// unmade looks at the statements of the file's schema, which may also have tables and views of other programs. It trusts only the
// statement: that is what SQLite runs, whatever the other columns say.
func (s *sqliteFile) unmade(ctx context.Context, db *sql.DB) (name string, err error) {
	texts, err := made()
	if err != nil {
		return "", err
	}
	rows, err := db.QueryContext(ctx, fmt.Sprintf("SELECT type, name, coalesce(substr(sql, 1, %d), '') FROM sqlite_schema", maxStatement))
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var kind, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			return "", err
		}
		if texts[text] {
			continue
		}
		if len(text) >= maxStatement || strings.Contains(strings.ToLower(text), "trigger") || kind != "view" && oursIn.MatchString(text) {
			return name, nil
		}
	}
	return "", rows.Err()
}

// unguarded implements backend. All versions have the same triggers.
func (s *sqliteFile) unguarded(ctx context.Context, conn *sql.Conn) (name string, err error) {
	texts, err := made()
	if err != nil {
		return "", err
	}
	for text := range texts {
		of, is := strings.CutPrefix(text, "CREATE TRIGGER ")
		var there bool
		if is {
			err = conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND sql = $1)", text).Scan(&there)
		}
		if err != nil {
			return "", err
		}
		if of, _, _ = strings.Cut(of, " "); is && !there && (name == "" || of < name) {
			name = of
		}
	}
	return name, nil
}
