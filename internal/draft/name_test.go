package draft_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/murksim/murksim/internal/draft"
)

// TestNameIsSafe holds that what Sync and Publish together say to be safe has its name on the
// disk, too, in whichever order they are called, and that an error of that stays.
func TestNameIsSafe(t *testing.T) {
	for name, tt := range map[string]struct {
		older string
		use   func(f *draft.File) error
	}{
		"synced, then published": {"", func(f *draft.File) error { return errors.Join(f.Sync(), f.Publish()) }},
		"published, then synced": {"", func(f *draft.File) error { return errors.Join(f.Publish(), f.Sync()) }},
		"in place of an older":   {"older", func(f *draft.File) error { return errors.Join(f.Publish(), f.Sync()) }},
		"synced again":           {"", func(f *draft.File) error { return errors.Join(f.Publish(), f.Sync(), f.Sync(), f.Publish()) }},
	} {
		for _, fails := range []error{nil, errors.New("no disk")} {
			dir := t.TempDir()
			path := filepath.Join(dir, "a")
			if tt.older != "" {
				if err := os.WriteFile(path, []byte(tt.older), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			synced := 0
			undo := draft.OnSyncFolder(func(of string) error {
				if _, err := os.Stat(path); err != nil || of != dir {
					t.Errorf("%s: folder %s is synced without the name: %v", name, of, err)
				}
				synced++
				return fails
			})
			f := open(t, path)
			write(t, f, "new")
			if err := tt.use(f); !errors.Is(err, fails) || synced == 0 || fails == nil && synced != 1 {
				t.Errorf("%s: %v, and the folder is synced %d times; want %v, and once", name, err, synced, fails)
			}
			if err := f.Sync(); !errors.Is(err, fails) {
				t.Errorf("%s: a later Sync = %v, want %v", name, err, fails)
			}
			f.Close()
			undo()
		}
	}
}

// TestExtendedNameIsSafe: nothing tells whether the name of a file that is gone on with has
// reached the disk.
func TestExtendedNameIsSafe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("older"), 0o666); err != nil {
		t.Fatal(err)
	}
	synced := 0
	defer draft.OnSyncFolder(func(string) error { synced++; return nil })()
	f := open(t, path)
	defer f.Close()
	if err := f.Extend(2, nil); err != nil {
		t.Fatal(err)
	}
	write(t, f, "new")
	if err := errors.Join(f.Sync(), f.Sync()); err != nil || synced != 1 {
		t.Errorf("Sync = %v, and the folder is synced %d times, want once", err, synced)
	}
}
