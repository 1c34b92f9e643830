package draft_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/murksim/murksim/internal/draft"
)

// TestMounted: a file that is mounted by itself, as containers do, cannot be exchanged and is
// written over; writing goes on there. The test runs itself where it may mount; where no user
// may, TestWrittenOver has to do.
func TestMounted(t *testing.T) {
	if dir := os.Getenv("MURKSIM_TEST_MOUNTED"); dir != "" {
		writeMounted(t, dir)
		return
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "nothing", "outside": "an older and longer text"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mount := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c", `mount --bind "$0/outside" "$0/a"`, dir)
	if out, err := mount.CombinedOutput(); err != nil {
		t.Logf("this system lets no user mount: %v: %s", err, out)
		return
	}
	again := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c",
		`mount --bind "$0/outside" "$0/a" && exec "$1" -test.run '^TestMounted$' -test.v`, dir, os.Args[0])
	again.Env = append(os.Environ(), "MURKSIM_TEST_MOUNTED="+dir)
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Fatalf("%v\n%s", err, out)
	}
	holds(t, dir, "a", "nothing", "outside", "first.second")
}

func writeMounted(t *testing.T, dir string) {
	f := open(t, filepath.Join(dir, "a"))
	write(t, f, "first")
	if err := f.Publish(); err != nil {
		t.Fatal(err)
	}
	write(t, f, ".second")
	if _, err := draft.Open(filepath.Join(dir, "a")); !busy(err) {
		t.Errorf("a file that is being written can be opened: %v", err)
	}
	if err := errors.Join(f.Publish(), f.Close()); err != nil {
		t.Error(err)
	}
}

// TestMountedOnFullDisk: a file that is mounted by itself on a disk without room for the new
// contents keeps the older ones, and the new ones can be kept. Where the older ones are lost,
// since they took less room than their length, the error says so.
func TestMountedOnFullDisk(t *testing.T) {
	if dir := os.Getenv("MURKSIM_TEST_FULL"); dir != "" {
		overfill(t, dir)
		return
	}
	dir := t.TempDir()
	small := `mkdir -p "$0/small" && mount -t tmpfs -o size=64k murksim "$0/small" && touch "$0/a" "$0/b" && ` +
		`truncate -s 1M "$0/small/b" && echo older >"$0/small/a" && for f in a b; do mount --bind "$0/small/$f" "$0/$f" || exit; done`
	if out, err := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c", small, dir).CombinedOutput(); err != nil {
		t.Logf("this system lets no user mount: %v: %s", err, out)
		return
	}
	again := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c",
		small+` && exec "$1" -test.run '^TestMountedOnFullDisk$' -test.v`, dir, os.Args[0])
	again.Env = append(os.Environ(), "MURKSIM_TEST_FULL="+dir)
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func overfill(t *testing.T, dir string) {
	contents := strings.Repeat("new contents ", 10_000)
	for name, older := range map[string]bool{"a": true, "b": false} {
		f := open(t, filepath.Join(dir, name))
		write(t, f, contents)
		for range 2 {
			err := f.Publish()
			if !errors.Is(err, syscall.ENOSPC) || f.Older() != older || strings.Contains(err.Error(), "is lost") == older {
				t.Errorf("%s: Publish = %v, Older = %v; want Older = %v", name, err, f.Older(), older)
			}
		}
		kept, err := f.Keep()
		if err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(kept); string(b) != contents {
			t.Errorf("%s: %d bytes are kept, %v; want %d", name, len(b), err, len(contents))
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a")); string(b) != "older\n" {
		t.Errorf("the file holds %d bytes, %v; want the older contents", len(b), err)
	}
}
