package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/murksim/murksim/replay/audit"
)

// A DB is a database of audits. It may be used by several goroutines at once.
type DB struct {
	sql     *sql.DB
	backend backend
	dsn     string
	name    string // for people: a DSN without its password
	reader  bool
	written bool // by a connection that [DB.Writable] has opened

	frozen func() error // where reads take no locks: an error unless the file is as it was when it was opened; else nil

	// MostState, unless nil, returns the most bytes that a state can have, by the genesis document. A larger snapshot is refused, and takes no
	// memory. Set it before [DB.Evidence].
	MostState func(genesis []byte) int64

	// Patience is how long one statement may take before it ends with [ErrSlow]; 0: five minutes. Statements that commit ticks have no limit. So no
	// database can make a program wait forever.
	Patience time.Duration
}

// A backend is what differs between SQLite and Postgres.
type backend interface {
	dialect() goose.Dialect
	id(id audit.ID) any
	time(t time.Time) any
	lockMigrations(ctx context.Context, db *sql.DB) (making *sql.DB, locker lock.SessionLocker, unlock func(), err error) // making is for statements that make tables
	table(name string) string                                                                                             // of ours, as statements name it

	// tables reports whether there is a table of versions, and if not, whether other tables stand where ours would be.
	tables(ctx context.Context, db *sql.DB) (versions, others bool, err error)

	// untrue returns the name of one of our tables that is not a real table but a view, a virtual, a foreign or a partitioned table; "" if there is
	// none. The rows of such a table may change between reads, or never end.
	untrue(ctx context.Context, db *sql.DB) (name string, err error)

	// unmade returns the name of something, such as a trigger, that runs when one of our rows is read or added but was not made by one of
	// our migrations. It may never end.
	unmade(ctx context.Context, db *sql.DB) (name string, err error)

	// unguarded returns the name of a trigger of the migrations that is missing or disabled; "" if there is none.
	unguarded(ctx context.Context, conn *sql.Conn) (name string, err error)

	// lockRun takes the lock of a run's writer, which ends with the process at the latest.
	lockRun(ctx context.Context, conn *sql.Conn, id audit.ID) (unlock func(), err error)
	lockedRun(ctx context.Context, db *sql.DB, id audit.ID) (bool, error)

	// opened is called once, when the database is open. Afterwards, there returns an error unless what was opened is still there under
	// its name. The other function does the same for what a writer has written.
	opened() error
	there() error
	written(ctx context.Context, conn *sql.Conn) (func() error, error)
	place() string
	same(other backend) bool // both have opened the same
	merge()                  // leaves nothing beside the database that a reader, which closed last, could not merge

	begin(ctx context.Context, conn *sql.Conn) error // a transaction that writes
	beginRead() string                               // of one that sees a moment
	insert(ctx context.Context, conn *sql.Conn, prepared prepared, rows *bulk) error
	read(ctx context.Context, conn *sql.Conn, query string, args []any, each func(row) error) error
	joined(bytes string) string // an expression for concatenated bytes

	// Two ways to select a column: plain, for small values, gives what this package writes there and leaves out anything else; bounded is null above so many bytes. What
	// is left out takes no memory. A column of JSON is a text.
	plain(column string) string
	bounded(column string, bytes int64) string
	text(column string) string

	insertAlert() string // that numbers it
	kind(err error) (Kind, error)
}

// A bulk is rows to insert.
type bulk struct {
	table   string
	columns []string
	rows    int
	fill    func(i int, row []driver.Value) // the values of row i; the slice is zeroed
}

// prepared holds the prepared statements of one connection, by their text.
type prepared map[string]driver.Stmt

// A row gives the values that were read, by column. They are valid until the next row.
type row interface {
	integer(column int) int64
	blob(column int) []byte
	id(column int) (audit.ID, error)
	text(column int) string
}

//go:embed migrations
var migrations embed.FS

// oldest is the oldest version of the schema that this program reads and adds to like its own.
const oldest = 1

const versionTable = "audit_migrations"

// ourTables is a list of our tables, as SQL.
const ourTables = "('runs', 'run_halts', 'input_events', 'chain_hashes', 'snapshots', 'audits', 'alerts', '" + versionTable + "')"

// example is what a DSN looks like.
const example = "write the name of a file, such as run.db, or postgres://USER:PASSWORD@HOST:5432/DATABASE; what is special in a password is written in percent, @ as %40"

// Open opens a database to write and read. The DSN is an URL of Postgres (postgres:// or postgresql://) or the name of a file; a file that
// does not exist is made. Open makes the tables or brings them up to date; one process at a time does so. No error shows a password.
func Open(ctx context.Context, dsn string) (*DB, error) { return open(ctx, dsn, writing) }

// OpenReader opens a database to read. It makes no file and changes nothing.
func OpenReader(ctx context.Context, dsn string) (*DB, error) { return open(ctx, dsn, reading) }

// Writable opens the database a second time, to write. It makes no file and no table: one that was removed or replaced meanwhile is
// [ErrGone].
func (d *DB) Writable(ctx context.Context) (*DB, error) {
	other := &Error{"opening " + d.name + " to write", ErrGone, errors.New("nothing is written to another one")}
	if err := d.backend.there(); errors.Is(err, ErrGone) {
		return nil, other
	} else if err != nil {
		return nil, err
	}
	w, err := open(ctx, d.dsn, adding)
	if err != nil {
		return nil, err
	}
	w.Patience, d.written = d.Patience, true
	if !w.backend.same(d.backend) {
		w.Close()
		return nil, other
	}
	return w, nil
}

// An opening says what a database is opened for.
type opening int

const (
	writing opening = iota // makes what is not there
	reading
	adding // writes, and makes nothing
)

func open(ctx context.Context, dsn string, how opening) (*DB, error) {
	var d *DB
	var err error
	scheme, _, found := strings.Cut(dsn, "://")
	switch {
	case found && (scheme == "postgres" || scheme == "postgresql"):
		d, err = openPostgres(dsn, how)
	case found:
		return nil, &Error{fmt.Sprintf("%.20q", scheme+"://…"), ErrDSN, hint("there are postgres:// and files")}
	case dsn == "", dsn == ":memory:", strings.HasPrefix(dsn, "file:"), strings.HasPrefix(dsn, "sqlite:"):
		return nil, &Error{fmt.Sprintf("%.20q", dsn), ErrDSN, hint("a file is given by its name alone")}
	case IsServer(dsn):
		return nil, &Error{"this", ErrDSN, hint("one of Postgres begins with postgres://")}
	default:
		d, err = openSQLite(ctx, dsn, how)
	}
	if err != nil {
		return nil, err
	}
	d.dsn, d.reader = dsn, how == reading
	err = d.prepare(ctx, how != writing)
	if err == nil {
		err = d.backend.opened()
	}
	d.unwritten(&err)
	if err != nil {
		d.Close()
		if _, told := errors.AsType[*Error](err); told {
			return nil, err
		}
		kind, err := d.kind(err)
		if kind == ErrReadOnly && how == reading {
			kind = ErrUnreadable
		}
		return nil, &Error{"opening " + d.name, kind, err}
	}
	return d, nil
}

// server matches names that are probably meant as a DSN of Postgres: postgres with a slash or a colon missing, a user with a password, or options.
var server = regexp.MustCompile(`^postgres(ql)?(:|/+[^/]*@)|^[^/\\]*:[^/\\]*@|(^|\s)(host|hostaddr|port|user|pass|passwd|password|dbname|sslmode)\s*=`)

// IsServer reports whether a name is a DSN of Postgres, or is probably meant as one and is not a file: then it may hold a password, which no error
// may show.
func IsServer(dsn string) bool {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		return true
	}
	if !server.MatchString(dsn) {
		return false
	}
	_, err := os.Stat(dsn)
	return err != nil
}

// hint adds to an error what a DSN looks like.
func hint(reason string) error { return fmt.Errorf("%s: %s", reason, example) }

// Close closes the database. Writers and evidence are closed first.
func (d *DB) Close() error {
	err := d.sql.Close()
	if d.written {
		d.backend.merge()
	}
	return err
}

// prepare makes sure that the tables are there, in this program's version. It makes none in a database that is opened only to read or add.
func (d *DB) prepare(ctx context.Context, found bool) error {
	within, done := d.limit(ctx)
	defer done()
	current, err := d.version(within)
	if err != nil {
		return err
	}
	latest, err := d.latest()
	doing := "opening " + d.name
	switch {
	case err != nil:
		return err
	case current > latest:
		return &Error{doing, ErrNewer, fmt.Errorf("its schema has version %d, this program knows %d", current, latest)}
	case current == latest:
		return nil
	case found && current == 0:
		return &Error{doing, ErrForeign, fmt.Errorf("it has no such tables")}
	case found && current >= oldest:
		return nil
	case found:
		return &Error{doing, ErrOlder, fmt.Errorf("its schema has version %d, this program's is %d; opening it to write brings it up to date", current, latest)}
	}
	if err := d.migrate(ctx, latest); err != nil {
		return err
	}
	_, err = d.version(within) // a schema in which anybody may make operators could have had one for a check of ours
	return err
}

func (d *DB) folder() fs.FS {
	sub, err := fs.Sub(migrations, "migrations/"+map[goose.Dialect]string{goose.DialectSQLite3: "sqlite", goose.DialectPostgres: "postgres"}[d.backend.dialect()])
	if err != nil {
		panic(err) // the folders are embedded
	}
	return sub
}

// latest returns the version of this program's schema.
func (d *DB) latest() (int64, error) {
	names, err := fs.Glob(d.folder(), "*.sql")
	if err != nil {
		return 0, err
	}
	var latest int64
	for _, name := range names {
		v, err := goose.NumericComponent(name)
		if err != nil {
			return 0, err
		}
		latest = max(latest, v)
	}
	return latest, nil
}

// version returns the version of the database's schema, 0 if it has none yet. It refuses a database with another program's tables.
func (d *DB) version(ctx context.Context) (version int64, err error) {
	versions, others, err := d.backend.tables(ctx, d.sql)
	switch {
	case err != nil:
		return 0, err
	case !versions && others:
		return 0, &Error{"opening " + d.name, ErrForeign, fmt.Errorf("it has other tables")}
	case !versions:
		return 0, nil
	}
	name, err := d.backend.untrue(ctx, d.sql)
	if err == nil && name != "" {
		err = &Error{"opening " + d.name, ErrForeign, fmt.Errorf("%s is no table of its own, but a view, partitioned or the like, or takes values of any type; what it answers proves nothing", name)}
	}
	if err == nil && name == "" {
		if name, err = d.backend.unmade(ctx, d.sql); err == nil && name != "" {
			err = &Error{"opening " + d.name, ErrForeign, fmt.Errorf("%q would run with it, or changes what a table of its takes or answers, and no version of murksim has made that; what it does is not known, and it may never end: "+
				"drop it, or copy the runs to a database of their own (audit export, audit import)", name)}
		}
	}
	if err != nil {
		return 0, err
	}
	// As in goose, the last row of a version counts.
	err = d.sql.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+d.backend.table(versionTable)).Scan(&version)
	return version, err
}

func (d *DB) migrate(ctx context.Context, latest int64) error {
	making, locker, unlock, err := d.backend.lockMigrations(ctx, d.sql)
	if err != nil {
		return err
	}
	defer unlock()
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true), goose.WithTableName(versionTable)}
	if locker != nil {
		options = append(options, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(d.backend.dialect(), making, d.folder(), options...)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	if err == nil { // else a copy made before could take what goose has written for its own
		err = d.change(ctx, func(*sql.Conn) error { return nil })
	}
	if err != nil {
		return d.wrap(err, "making the tables of version %d", latest)
	}
	return nil
}

// Unwritten returns an error, [ErrWritten], if the database is a file that is read without locks, and was written since it was opened.
// Every read asks for it at its end. So all that is read is of one moment.
func (d *DB) Unwritten() error {
	if d.frozen == nil {
		return nil
	}
	return d.frozen()
}

// unwritten replaces the error of a read by that of [DB.Unwritten], if there is one: what was read then means nothing.
func (d *DB) unwritten(err *error) {
	if written := d.Unwritten(); written != nil {
		*err = written
	}
}

// Name returns the name of the database for people: its DSN without the password.
func (d *DB) Name() string { return d.name }

// Place returns a name that no other database has: the whole path of a file, or the server, the database and the schema that were found, however
// the DSN names them.
func (d *DB) Place() string { return d.backend.place() }
