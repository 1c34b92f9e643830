package draft_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/murksim/murksim/internal/draft"
)

func TestWriteSecret(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	for i, tt := range []struct {
		text    string
		replace bool
		want    error
		holds   string
	}{{"one", false, nil, "one"}, {"two", false, fs.ErrExist, "one"}, {"three", true, nil, "three"}} {
		if err := draft.WriteSecret(path, []byte(tt.text), tt.replace); !errors.Is(err, tt.want) {
			t.Errorf("%d: %v, want %v", i, err, tt.want)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != tt.holds {
			t.Errorf("%d: it holds %q, %v; want %q", i, b, err, tt.holds)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%v, %v; want the file alone", list, err)
	}
}
