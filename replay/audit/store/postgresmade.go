package store

import (
	"context"
	"database/sql"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ourFunctions returns the texts of the functions that the migrations make, by name. The latest migration counts.
var ourFunctions = sync.OnceValue(func() map[string]string {
	made := regexp.MustCompile(`(?s)CREATE (?:OR REPLACE )?FUNCTION (\w+)\(.*?\$\$(.*?)\$\$`)
	all := map[string]string{}
	names, err := fs.Glob(migrations, "migrations/postgres/*.sql")
	for _, name := range names {
		var text []byte
		if text, err = fs.ReadFile(migrations, name); err != nil {
			break
		}
		for _, f := range made.FindAllSubmatch(text, -1) {
			all[string(f[1])] = string(f[2])
		}
	}
	if err != nil {
		panic(err) // the files are embedded
	}
	return all
})

// triggersOfOurs are the tables, triggers and functions that belong together; append_only belongs to each table.
var triggersOfOurs = []string{"chain_hashes a_link murksim_link", "input_events an_input murksim_input", "snapshots a_snapshot murksim_snapshot", "run_halts a_halt murksim_halt"}

// tablesOfOurs are those of ours that a schema has.
const tablesOfOurs = "(SELECT t.oid FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = $1 AND t.relname IN " + ourTables + ")"

// unmade looks at the triggers of our tables, at their functions, and at tables that inherit from ours, whose rows ours show, at what hides rows, at types of columns that do not come with the server, and at what else calls functions that do not come with the server: rules, policies,
// defaults, checks, generated columns and indexes. It cannot see what the server itself does; the time limit of a statement bounds that. Event triggers run when
// a table is made or changed, and not when a row is.
func (p *postgres) unmade(ctx context.Context, db *sql.DB) (name string, err error) {
	const tables = tablesOfOurs
	const query = `
		SELECT 'trigger ' || t.tgname || ' of ' || c.relname, CASE WHEN f.pronamespace = c.relnamespace AND t.tgqual IS NULL THEN c.relname || ' ' || t.tgname || ' ' || f.proname END, NULL
			FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc f ON f.oid = t.tgfoid WHERE NOT t.tgisinternal AND t.tgrelid IN ` + tables + `
		UNION ALL SELECT 'function ' || f.proname || '(' || pg_get_function_identity_arguments(f.oid) || ')', f.proname, CASE WHEN l.lanname = 'plpgsql' AND (NOT f.prosecdef OR f.proconfig = ARRAY['search_path=' || quote_ident(n.nspname) || ', pg_temp']) THEN f.prosrc END
			FROM pg_proc f JOIN pg_language l ON l.oid = f.prolang JOIN pg_namespace n ON n.oid = f.pronamespace WHERE n.nspname = $1 AND starts_with(f.proname, 'murksim_')
		UNION ALL SELECT 'table ' || c.relname, NULL, NULL FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent IN ` + tables + `
		UNION ALL SELECT 'row security of ' || relname, NULL, NULL FROM pg_class WHERE oid IN ` + tables + ` AND relrowsecurity
		UNION ALL SELECT 'rule ' || rulename || ' of ' || c.relname, NULL, NULL FROM pg_rewrite JOIN pg_class c ON c.oid = ev_class WHERE ev_class IN ` + tables + `
		UNION ALL SELECT 'policy ' || polname || ' of ' || c.relname, NULL, NULL FROM pg_policy JOIN pg_class c ON c.oid = polrelid WHERE polrelid IN ` + tables + `
		UNION ALL SELECT 'type of ' || a.attname || ' of ' || c.relname, NULL, NULL FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type y ON y.oid = a.atttypid JOIN pg_namespace n ON n.oid = y.typnamespace
			WHERE a.attrelid IN ` + tables + ` AND n.nspname <> 'pg_catalog' AND (n.nspname <> $1 OR y.typname <> 'murksim_hash' OR y.typbasetype <> 'bytea'::regtype)
		UNION ALL SELECT replace(pg_describe_object(d.classid, d.objid, d.objsubid), quote_ident($1) || '.', ''), NULL, NULL FROM pg_depend d
			WHERE (d.refclassid = 'pg_proc'::regclass OR d.refclassid = 'pg_operator'::regclass) AND (
				d.classid = 'pg_attrdef'::regclass AND d.objid IN (SELECT oid FROM pg_attrdef WHERE adrelid IN ` + tables + `) OR
				d.classid = 'pg_class'::regclass AND d.objid IN (SELECT indexrelid FROM pg_index WHERE indrelid IN ` + tables + `) OR
				d.classid = 'pg_constraint'::regclass AND d.objid IN (SELECT oid FROM pg_constraint WHERE conrelid IN ` + tables + ` OR contypid IN (SELECT atttypid FROM pg_attribute WHERE attrelid IN ` + tables + `)))`
	rows, err := db.QueryContext(ctx, query, p.schema)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var is, source sql.NullString
		if err := rows.Scan(&name, &is, &source); err != nil {
			return "", err
		}
		if !ours(is, source) {
			return name, nil
		}
	}
	return "", rows.Err()
}

// appendOnly matches the trigger that each of our tables has.
var appendOnly = regexp.MustCompile(`^\w+ append_only murksim_append_only$`)

// ours reports whether a trigger or a function is one of the migrations'.
func ours(is, source sql.NullString) bool {
	if !source.Valid { // or a function in another language, or that looks for our tables elsewhere
		return is.Valid && (slices.Contains(triggersOfOurs, is.String) || appendOnly.MatchString(is.String))
	}
	text, known := ourFunctions()[is.String]
	return known && text == source.String
}

// unguarded implements backend.
func (p *postgres) unguarded(ctx context.Context, conn *sql.Conn) (name string, err error) {
	var all []string
	for _, t := range triggersOfOurs {
		fields := strings.Fields(t)
		all = append(all, fields[0]+" "+fields[1])
	}
	for _, table := range []string{"runs", "run_halts", "input_events", "chain_hashes", "snapshots", "audits", "alerts"} {
		all = append(all, table+" append_only")
	}
	err = conn.QueryRowContext(ctx, `SELECT coalesce(min(is_ours), '') FROM unnest($2::text[]) AS o (is_ours) WHERE NOT EXISTS (SELECT FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
		WHERE t.tgrelid IN `+tablesOfOurs+` AND c.relname || ' ' || t.tgname = is_ours AND t.tgenabled IN ('O', 'A'))`, p.schema, all).Scan(&name)
	if table, trigger, ok := strings.Cut(name, " "); ok {
		name = trigger + " of " + table
	}
	return name, err
}
