package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/rng"
)

// IndexKey returns the key of this user and program, under which the keyframes of indexes are sealed, or nil where there is none: what
// another program has computed, this one does not believe. It is derived from the user's key, which
// stands in the folder of the user's configuration, where only they can read it. With made, one is made if it is missing.
func IndexKey(made bool) index.Key {
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil
	}
	path := filepath.Join(folder, "murksim", "index.key")
	key, err := readIndexKey(path)
	if errors.Is(err, fs.ErrNotExist) && made {
		if key, err = makeIndexKey(path); errors.Is(err, fs.ErrExist) { // by another process, meanwhile
			key, err = readIndexKey(path)
		}
	}
	if err != nil {
		return nil
	}
	id, of := ProgramID(), hmac.New(sha256.New, key)
	of.Write(id[:])
	return of.Sum(nil)
}

var errNoKey = errors.New("it is no key, or others can read it")

func readIndexKey(path string) (index.Key, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe waits
		return nil, errNoKey
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() != index.KeySize || files.OpenToOthers(info) || !draft.Ours(info) {
		return nil, errNoKey
	}
	key := make(index.Key, index.KeySize)
	_, err = f.ReadAt(key, 0)
	return key, err
}

// makeIndexKey makes a key that no program had before, and gives it its name once it is whole.
func makeIndexKey(path string) (index.Key, error) {
	folder := filepath.Dir(path)
	if _, err := os.Stat(filepath.Dir(filepath.Dir(folder))); err != nil { // there is no home, which is not for us to make
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	fresh := rng.FreshKey()
	key := index.Key(fresh[:])
	return key, draft.WriteSecret(path, key, false)
}
