package draft_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/internal/draft"
)

func open(t *testing.T, path string) *draft.File {
	t.Helper()
	f, err := draft.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, f *draft.File, text string) {
	t.Helper()
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// holds checks what a folder holds: names and contents in turn.
func holds(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Name(), string(b))
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// TestFile: the older file stays until the new one is published, which can then be written
// on; what is not published leaves nothing, or is kept under the name that Keep returns.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	f := open(t, path)
	write(t, f, "first")
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is there before it is published")
	}
	for range 2 {
		if err := f.Publish(); err != nil {
			t.Fatal(err)
		}
		write(t, f, ".")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, "a", "first..")

	f = open(t, path)
	if err := f.Publish(); err != nil { // of nothing
		t.Fatal(err)
	}
	write(t, f, "second")
	if !f.Older() {
		t.Error("Older = false beside an older file")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, "a", "first..")
	if _, err := f.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Write after Close = %v, want %v", err, os.ErrClosed)
	}

	f = open(t, path)
	write(t, f, "third")
	kept, err := f.Keep()
	if want := filepath.Join(dir, ".a.new-"+strconv.Itoa(os.Getpid())); kept != want || err != nil {
		t.Errorf("Keep = %s, %v, want %s", kept, err, want)
	}
	holds(t, dir, filepath.Base(kept), "third", "a", "first..")
}

// TestTaken: Publish replaces no file that appeared, or took the place of the older one, after
// Open, until that is gone; what was written can be kept.
func TestTaken(t *testing.T) {
	for name, older := range map[string]bool{"appeared": false, "exchanged": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, other := filepath.Join(dir, "a"), filepath.Join(dir, "other")
			if older {
				if err := os.WriteFile(path, []byte("older"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for _, gone := range []bool{true, false} {
				f := open(t, path)
				write(t, f, "new")
				err := errors.Join(os.WriteFile(other, []byte("notes"), 0o666), os.Rename(other, path))
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if err := f.Publish(); !errors.Is(err, draft.ErrTaken) || f.Older() {
						t.Errorf("Publish = %v, Older = %v; want %v, false", err, f.Older(), draft.ErrTaken)
					}
				}
				if gone {
					os.Remove(path)
					if err := errors.Join(f.Publish(), f.Close()); err != nil {
						t.Error(err)
					}
					holds(t, dir, "a", "new")
					if !older {
						os.Remove(path)
					}
					continue
				}
				kept, err := f.Keep()
				if err != nil {
					t.Error(err)
				}
				holds(t, dir, filepath.Base(kept), "new", "a", "notes")
			}
		})
	}
}

// TestBusy: a file that is being written cannot be opened, by another name neither, and the
// error says by which process. The locks of a hundred writers leave nothing behind.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	f := open(t, path)
	for _, name := range []string{path, filepath.Join(dir, "..", filepath.Base(dir), "a")} {
		_, err := draft.Open(name)
		busy, ok := errors.AsType[*draft.BusyError](err)
		if !ok || !busy.Holder.Self() || busy.Path != name || !strings.HasPrefix(err.Error(), name+": process "+strconv.Itoa(os.Getpid())+" on ") {
			t.Errorf("Open of a file that is being written = %v", err)
		}
	}
	f.Close()
	if err := os.WriteFile(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	const writers, turns = 4, 25
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for done := 0; done < turns; {
				f, err := draft.Open(path)
				if _, busy := errors.AsType[*draft.BusyError](err); busy {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				b, err := os.ReadFile(path)
				n, bad := strconv.Atoi(string(b))
				_, failed := f.Write(strconv.AppendInt(nil, int64(n+1), 10))
				if err := errors.Join(err, bad, failed, f.Publish(), f.Close()); err != nil {
					t.Error(err)
					return
				}
				done++
			}
		})
	}
	all.Wait()
	holds(t, dir, "a", strconv.Itoa(writers*turns))
}

// TestLeftBehind: neither the lock's file of a process that was killed nor anything else that
// lies under its name stops a writer, and a link that lies there is not followed.
func TestLeftBehind(t *testing.T) {
	for name, lay := range map[string]func(path string) error{
		"a lock": func(path string) error { return os.WriteFile(path, []byte(`{"process":1,"host":"gone"}`), 0o666) },
		"a link": func(path string) error { return os.Symlink("victim", path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a")
			if err := lay(filepath.Join(dir, ".a.lock")); err != nil {
				if runtime.GOOS == "windows" {
					return // not everybody may make a link
				}
				t.Fatal(err)
			}
			f := open(t, path)
			write(t, f, "new")
			if err := errors.Join(f.Publish(), f.Close()); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(path); string(b) != "new" {
				t.Errorf("the file holds %q, %v", b, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "victim")); err == nil {
				t.Error("the link was followed")
			}
		})
	}
}

// TestUnseenLock: a file is busy even for those who can neither see nor make the lock's own
// file, such as other users, before and after it is published.
func TestUnseenLock(t *testing.T) {
	for name, unseen := range map[string]func(lock string) error{
		"of the first":  func(lock string) error { return os.Remove(lock) },
		"of the second": func(lock string) error { return errors.Join(os.Remove(lock), os.Mkdir(lock, 0o777)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a")
			if err := os.WriteFile(path, []byte("older"), 0o666); err != nil {
				t.Fatal(err)
			}
			f := open(t, path)
			if err := unseen(filepath.Join(dir, ".a.lock")); err != nil && runtime.GOOS != "windows" {
				t.Fatal(err)
			}
			write(t, f, "new")
			for range 2 {
				if _, err := draft.Open(path); !busy(err) {
					t.Errorf("a file that is being written can be opened: %v", err)
				}
				if err := f.Publish(); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			os.Remove(filepath.Join(dir, ".a.lock"))
			holds(t, dir, "a", "new")
		})
	}
}

func busy(err error) bool {
	_, ok := errors.AsType[*draft.BusyError](err)
	return ok
}

// TestNotOurs: a user's own file that has the name of a lock stays as it is, and an older
// file beside it is locked all the same.
func TestNotOurs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(filepath.Join(dir, ".a.lock"), []byte("notes\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first", "second"} {
		f := open(t, path)
		if (f.Unlocked == nil) != (want == "second") {
			t.Errorf("%s: Unlocked = %v", want, f.Unlocked)
		}
		write(t, f, want)
		if err := errors.Join(f.Publish(), f.Close()); err != nil {
			t.Fatal(err)
		}
		holds(t, dir, ".a.lock", "notes\n", "a", want)
	}
}

// TestWritten: what another program writes into the older file is not replaced.
func TestWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("older"), 0o666); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	write(t, f, "new")
	if err := os.WriteFile(path, []byte("edited"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.Publish(); !errors.Is(err, draft.ErrTaken) {
		t.Errorf("Publish = %v, want %v", err, draft.ErrTaken)
	}
	kept, err := f.Keep()
	if err != nil {
		t.Fatal(err)
	}
	holds(t, dir, filepath.Base(kept), "new", "a", "edited")
}

// TestWrittenOver: an older file that cannot be exchanged takes the new contents, and writing
// goes on in it.
func TestWrittenOver(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("an older and longer text"), 0o666); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	write(t, f, "new")
	if err := f.WriteOver(); err != nil {
		t.Fatal(err)
	}
	write(t, f, "er")
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	holds(t, dir, "a", "newer")
}

// TestManyKept: new versions can be kept as often as it takes.
func TestManyKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		f := open(t, path)
		write(t, f, strconv.Itoa(i))
		kept, err := f.Keep()
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(kept); string(b) != strconv.Itoa(i) {
			t.Fatalf("%s holds %q, %v", kept, b, err)
		}
	}
}

// TestOtherContainer: another process with this one's id and host name is not taken for it.
func TestOtherContainer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	f := open(t, path)
	defer f.Close()
	_, err := draft.Open(path)
	holder, ok := errors.AsType[*draft.BusyError](err)
	if !ok || !holder.Holder.Self() {
		t.Fatalf("Open of a file that is being written = %v, want its own process's", err)
	}
	other := holder.Holder
	other.Mark = "another"
	if other.Self() {
		t.Error("another process with the same id and host is taken for this one")
	}
}

// TestLongNames: a name as long as a folder takes can be written and is locked.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{strings.Repeat("x", 255), strings.Repeat("é", 120)} {
		path := filepath.Join(dir, name)
		f := open(t, path)
		if _, err := draft.Open(path); err == nil || f.Unlocked != nil {
			t.Errorf("a file with a name of %d bytes is not locked: %v, %v", len(name), err, f.Unlocked)
		}
		write(t, f, "new")
		if err := errors.Join(f.Publish(), f.Close()); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(path); string(b) != "new" {
			t.Errorf("the file holds %q, %v", b, err)
		}
	}
}
