package session

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKeyOfSomebodyElse: a key seals for root only what root has made: who owns it knows it.
func TestKeyOfSomebodyElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "murksim", "index.key")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	key, err := makeIndexKey(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := readIndexKey(path)
	if err != nil || string(again) != string(key) {
		t.Fatalf("the key that was made: %v", err)
	}
	const nobody = 65534
	if os.Chown(path, nobody, nobody) != nil {
		return // only root may
	}
	if _, err := readIndexKey(path); err != errNoKey {
		t.Errorf("the key of somebody else: %v, want %v", err, errNoKey)
	}
}
