package enginetest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// A T is what [Test] needs of a *testing.T. It is an interface so that programs with [Sync] do not
// link package testing.
type T interface {
	Helper()
	Name() string
	Context() context.Context
	TempDir() string
	Error(args ...any)
	Fatal(args ...any)
	FailNow()
}

// Test is [Sync] in a test: it fails the test with the error. Another process is this test
// binary, started once more with the test alone, unless the Subject has an Elsewhere of its own:
// it runs the test up to this call, and computes the tick there. Where a program cannot start
// others, as with GOOS=js, there is none.
func Test(t T, s Subject, ticks uint64) {
	t.Helper()
	dir := t.TempDir()
	call := t.Name() + " " + filepath.Base(dir) // the folders of a test are numbered, so those of its calls differ
	if asker, ok := os.LookupEnv(folderVariable); ok {
		if os.Getenv(callVariable) == call {
			s.answer(t, asker)
		}
		return
	}
	if s.Elsewhere == nil && runtime.GOOS != "js" && runtime.GOOS != "wasip1" {
		s.Elsewhere = func(state []byte) ([]byte, error) { return ask(t, dir, call, state) }
	}
	if err := Sync(s, ticks); err != nil {
		t.Error(err)
	}
}

// What another process is told: which call of Test it is to answer, and a folder with the state,
// in which it puts what Again returns.
const (
	callVariable   = "MURKSIM_ENGINETEST_CALL"
	folderVariable = "MURKSIM_ENGINETEST_FOLDER"
	question       = "before"
	answered       = "after"
)

// ask lets another process compute the tick after a state.
func ask(t T, dir, call string, state []byte) ([]byte, error) {
	if err := os.WriteFile(filepath.Join(dir, question), state, 0o600); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(t.Context(), self, arguments(t.Name())...)
	c.Env = append(os.Environ(), folderVariable+"="+dir, callVariable+"="+call)
	said, failed := c.CombinedOutput()
	whole := filepath.Join(dir, answered)
	defer os.Remove(whole) // the next tick has another one
	result, err := os.ReadFile(whole)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("enginetest: in another process the test ended before it came to Test (%v):\n%s", failed, bytes.TrimSpace(said))
	}
	return result, err
}

// arguments start a test alone, with the flags that may change what it does.
func arguments(name string) []string {
	elements := strings.Split(name, "/")
	for i, e := range elements {
		elements[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	list := []string{"-test.run=" + strings.Join(elements, "/")}
	flag.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "test.short", "test.timeout":
		default:
			if strings.HasPrefix(f.Name, "test.") {
				return // such as the file of a profile
			}
		}
		list = append(list, "-"+f.Name+"="+f.Value.String())
	})
	return append(append(list, "--"), flag.Args()...)
}

// answer computes the tick that another process has asked for, and ends the test: nothing
// after it is of use.
func (s *Subject) answer(t T, dir string) {
	t.Helper()
	state, err := os.ReadFile(filepath.Join(dir, question))
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Again(state)
	if err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(dir, answered)
	if err := os.WriteFile(whole+".part", result, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(whole+".part", whole); err != nil {
		t.Fatal(err)
	}
	t.FailNow()
}
