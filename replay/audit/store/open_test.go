package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// TestDSN: what is no name of a database is said to be none, with what one looks like, and no password is shown.
func TestDSN(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dsn := range []string{
		"", ":memory:", ".", "nowhere/run.db", "/dev/null", "file:run.db", "sqlite:run.db", "sqlite://run.db", "postgress://me:secret@host/db", "mysql://me:secret@host/db",
		"postgres:me:secret@host/db", "postgresql:/host/secret", "host=h dbname=d password=secret", "postgres://me:sec/ret@host/db", "postgres://me:1/secret@host/db",
		"postgres://me:1#secret@host/db", "postgres://me:1?secret@host/db", "postgres://me:secret@host:port/db", "postgres://me:secret@host:99999/db",
		"postgres://me:secret@host/db?sslmode=secret", "postgres://me:secret@host/db?connect_timeout=secret", "postgres://me:%zzsecret@host/db", "postgres://me:secret@[::1/db",
		"postgres://me:s@secret@host/db", "postgres://me:s@secret@127.0.0.1:1", "postgresql://me@secret@host?sslmode=disable", "me:secret@host/db", "postgres//me:secret@host/db", "postgres:/me:secret@host/db",
		"postgres/me:secret@host", "user=me host=h pass=secret", "host=h user=secret", "me:secret@host",
	} {
		for name, open := range openers {
			_, err := open(ctx, dsn)
			if name == "OpenReader" && errors.Is(err, store.ErrNoDatabase) {
				continue
			}
			if !errors.Is(err, store.ErrDSN) || strings.Contains(fmt.Sprintf("%v %+v", err, err), "secret") {
				t.Errorf("%s(%q): %v, want %q", name, dsn, err, store.ErrDSN)
			}
		}
	}
	if names, _ := filepath.Glob("*"); len(names) != 0 {
		t.Errorf("files were made: %q", names)
	}
}

var openers = map[string]func(ctx context.Context, dsn string) (*store.DB, error){"Open": store.Open, "OpenReader": store.OpenReader}

// TestOddFiles: a file is opened whatever its name looks like.
func TestOddFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if d, err := store.Open(ctx, "run.db"); err != nil || d.Close() != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a:b@c.db", "user=me.db", "postgres:x"} {
		if err := os.Rename("run.db", name); err != nil {
			t.Fatal(err)
		}
		if r, err := store.OpenReader(ctx, name); err != nil {
			t.Error(err)
		} else {
			r.Close()
		}
		if err := os.Rename(name, "run.db"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServerAway: a server that does not answer is said to be away, without the password.
func TestServerAway(t *testing.T) {
	for name, open := range openers {
		_, err := open(ctx, "postgres://me:secret@127.0.0.1:1/db")
		if !errors.Is(err, store.ErrUnreachable) || !strings.Contains(err.Error(), "127.0.0.1:1") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", name, err, store.ErrUnreachable)
		}
	}
}

// TestForeignFiles: a file that is no database of audits is refused and stays as it is.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.db")
	if _, err := (sqliteFile.direct(t, other)).Exec("CREATE TABLE notes (text TEXT)"); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(dir, "made.db")
	fill(t, open(t, made))
	if _, err := sqliteFile.direct(t, made).Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	head, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	broken := append([]byte(nil), head...)
	for i := 100; i < len(broken); i++ {
		broken[i] = 0xa5
	}
	for name, contents := range map[string][]byte{"text": []byte(strings.Repeat("no database\n", 1000)), "short": []byte("MURK"), "zeros": make([]byte, 8192),
		"cut": head[:5000], "overwritten": broken, "other.db": nil} {
		path := filepath.Join(dir, name)
		if contents != nil {
			if err := os.WriteFile(path, contents, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for opener, open := range openers {
			if _, err := open(ctx, path); !errors.Is(err, store.ErrForeign) && !errors.Is(err, store.ErrDamaged) {
				t.Errorf("%s(%s): %v, want %q", opener, name, err, store.ErrForeign)
			}
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s has changed: %v", name, err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "missing.db"), filepath.Join(dir, "missing", "run.db")} {
		if _, err := store.OpenReader(ctx, path); !errors.Is(err, store.ErrNoDatabase) {
			t.Errorf("OpenReader(%s): %v, want %q", path, err, store.ErrNoDatabase)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
	empty := filepath.Join(dir, "empty.db")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenReader(ctx, empty); !errors.Is(err, store.ErrForeign) {
		t.Errorf("OpenReader of an empty file: %v", err)
	}
	open(t, empty) // as mktemp makes them
}

// TestVersions: a database of a newer version is refused, and a reader makes no tables.
func TestVersions(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		if on.name == "postgres" {
			if _, err := store.OpenReader(ctx, dsn); !errors.Is(err, store.ErrForeign) {
				t.Errorf("a reader of an empty database: %v, want %q", err, store.ErrForeign)
			}
		}
		open(t, dsn)
		raw := on.direct(t, dsn)
		if _, err := raw.Exec("INSERT INTO audit_migrations (version_id, is_applied) SELECT 1000, is_applied FROM audit_migrations WHERE version_id = 1"); err != nil {
			t.Fatal(err)
		}
		for name, open := range openers {
			if _, err := open(ctx, dsn); !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "1000") {
				t.Errorf("%s: %v, want %q", name, err, store.ErrNewer)
			}
		}
		if _, err := raw.Exec("DELETE FROM audit_migrations WHERE version_id > 0"); err != nil {
			t.Fatal(err)
		}
		if _, err := store.OpenReader(ctx, dsn); !errors.Is(err, store.ErrForeign) {
			t.Errorf("a reader of version 0: %v, want %q", err, store.ErrForeign)
		}
	})
}

// TestOpenAtOnce: processes that open an empty database at the same time all succeed.
func TestOpenAtOnce(t *testing.T) {
	if dsn := os.Getenv("MURKSIM_TEST_OPEN"); dsn != "" {
		open(t, dsn)
		return
	}
	on(t, func(t *testing.T, _ database, dsn string) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				cmd := exec.Command(os.Args[0], "-test.run", "^TestOpenAtOnce$")
				cmd.Env = append(os.Environ(), "MURKSIM_TEST_OPEN="+dsn)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
			all.Go(func() {
				d, err := store.Open(ctx, dsn)
				if err != nil {
					t.Error(err)
					return
				}
				d.Close()
			})
		}
		all.Wait()
		create(t, open(t, dsn), newRun(1))
	})
}

// TestNames: what is special in a file's name is part of the name.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b", "q?mode=memory", "h#x", "p%41", "ü", "'quoted'", "a&b=c", "back\\slash"} {
		path := filepath.Join(dir, name)
		create(t, open(t, path), newRun(1))
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// TestLeavesOneFile: once all is closed, one file is left.
func TestLeavesOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.db")
	d := open(t, path)
	r := newRun(1)
	create(t, d, r)
	w := writer(t, d, r.ID)
	m := maker{}
	commit(t, w, m.batch(5, 0))
	if err := errors.Join(w.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	if names, err := filepath.Glob(path + "*"); err != nil || len(names) != 1 {
		t.Errorf("left: %q, %v", names, err)
	}
}

// TestFullFile: a full disk fails a commit, and nothing of its batch is there; with room again it goes on.
func TestFullFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.db")
	d := open(t, path)
	r := newRun(1)
	create(t, d, r)
	m := maker{sections: 10}
	w := writer(t, d, r.ID)
	commit(t, w, m.batch(10, 5))
	w.Limit(t, 60)
	next := m
	b := next.batch(1000, 5)
	err := w.Commit(ctx, b)
	if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "ticks 10 to 1009") {
		t.Errorf("on a full disk: %v", err)
	}
	if got := evidence(t, d, r.ID); len(links(t, got)) != 10 || len(inputs(t, got)) != 5 {
		t.Error("a part of the batch is there")
	}
	w.Limit(t, 1<<20)
	commit(t, w, b)
}

// TestFullDisk does the same on a disk that is really full, where users may mount one.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv("MURKSIM_TEST_FULL"); dir != "" {
		fillDisk(t, dir)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o size=1m murksim "$0" || exit 99; exec "$1" -test.run '^TestFullDisk$' -test.v`, dir, os.Args[0])
	cmd.Env = append(os.Environ(), "MURKSIM_TEST_FULL="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "--- FAIL") {
		t.Logf("this system lets no user mount: %v: %s", err, out)
		return
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func fillDisk(t *testing.T, dir string) {
	d := open(t, filepath.Join(dir, "run.db"))
	r := newRun(1)
	create(t, d, r)
	w := writer(t, d, r.ID)
	m := maker{sections: 10}
	committed := 0
	for {
		b := m.batch(100, 1)
		err := w.Commit(ctx, b)
		if err != nil {
			if !errors.Is(err, store.ErrFull) {
				t.Errorf("on a full disk: %v", err)
			}
			break
		}
		if committed += len(b.Links); committed > 100_000 {
			t.Fatal("the disk is never full")
		}
	}
	if got := links(t, evidence(t, d, r.ID)); len(got) != committed {
		t.Errorf("%d links are there, %d were committed", len(got), committed)
	}
}

// TestLocked: a file that another process does not let go is said to be locked.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.db")
	d := open(t, path)
	r := newRun(1)
	create(t, d, r)
	w := writer(t, d, r.ID)
	w.Patience(t, 100)
	conn, err := sqliteFile.direct(t, path).Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	m := maker{}
	b := m.batch(1, 0)
	if err := w.Commit(ctx, b); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a locked file: %v, want %q", err, store.ErrLocked)
	}
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	commit(t, w, b)
}

// TestReadOnly: who may not write is told so, and reads, on a read-only disk too. The test runs itself as another user if it is root.
func TestReadOnly(t *testing.T) {
	path := os.Getenv("MURKSIM_TEST_READONLY")
	if path != "" {
		readOnly(t, path)
		return
	}
	dir, err := os.MkdirTemp("", "murksim-store")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		os.Chmod(dir, 0o777)
		os.RemoveAll(dir)
	})
	path = filepath.Join(dir, "run.db")
	d := open(t, path)
	r := newRun(1)
	create(t, d, r)
	w := writer(t, d, r.ID)
	m := maker{}
	commit(t, w, m.batch(5, 0))
	secret := os.WriteFile(path+"-secret", []byte("SQLite format 3"), 0)
	if err := errors.Join(secret, w.Close(), d.Close(), os.Chmod(path, 0o444), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		readOnly(t, path)
		return
	}
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "test"), program, 0o755), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "test"), "-test.run", "^TestReadOnly$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "MURKSIM_TEST_READONLY="+path)
	asNobody(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func readOnly(t *testing.T, path string) {
	if _, err := store.OpenReader(ctx, path+"-secret"); !errors.Is(err, store.ErrUnreadable) {
		t.Errorf("OpenReader of a file that nobody may read: %v, want %q", err, store.ErrUnreadable)
	}
	d, err := store.OpenReader(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	id := newRun(1).ID
	if got := links(t, evidence(t, d, id)); len(got) != 5 {
		t.Errorf("%d links, want 5", len(got))
	}
	if d, err := store.Open(ctx, path); err == nil { // the tables are there, so there was nothing to write
		defer d.Close()
		if _, err := d.Writer(ctx, id); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("Writer: %v, want %q", err, store.ErrReadOnly)
		}
		if err := d.Create(ctx, newRun(2)); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("Create: %v, want %q", err, store.ErrReadOnly)
		}
	} else if !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Open: %v, want %q", err, store.ErrReadOnly)
	}
	if _, err := store.Open(ctx, filepath.Join(filepath.Dir(path), "new.db")); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Open of a new file: %v, want %q", err, store.ErrReadOnly)
	}
}

// TestReaderWritesNothing: a reader is refused to write, by both databases.
func TestReaderWritesNothing(t *testing.T) {
	on(t, func(t *testing.T, _ database, dsn string) {
		create(t, open(t, dsn), newRun(1))
		d, err := store.OpenReader(ctx, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if err := d.Create(ctx, newRun(2)); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("Create: %v, want %q", err, store.ErrReadOnly)
		}
		if err := d.Halt(ctx, newRun(1).ID, audit.Halt{Code: audit.Panic}); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("Halt: %v, want %q", err, store.ErrReadOnly)
		}
		if _, err := d.Writer(ctx, newRun(1).ID); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("Writer: %v, want %q", err, store.ErrReadOnly)
		}
	})
}
