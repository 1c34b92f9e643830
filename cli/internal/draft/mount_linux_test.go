package draft_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/cli/internal/draft"
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
