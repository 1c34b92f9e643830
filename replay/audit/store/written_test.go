package store_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/murksim/murksim/replay/audit/store"
)

// TestWrittenWhileRead: a file in a folder where this user can make no file is read without locks. Once its owner has written to it, or
// has a log beside it, every read says so and gives no row. The test runs itself as another user if it is root.
func TestWrittenWhileRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no folder like that
	}
	if path := os.Getenv("MURKSIM_TEST_WRITTEN"); path != "" {
		readWritten(t, path)
		return
	}
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for what, write := range map[string]func(t *testing.T, path string){
		"another run": func(t *testing.T, path string) {
			d := open(t, path)
			create(t, d, newRun(2))
			d.Close() // which merges the log
		},
		"a log":        func(t *testing.T, path string) { create(t, open(t, path), newRun(2)) },
		"another file": func(t *testing.T, path string) { filesOf(t, path, path+"2", ""); os.Rename(path+"2", path) },
	} {
		t.Run(what, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "murksim-store") // which another user can reach
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				os.Chmod(dir, 0o777)
				os.RemoveAll(dir)
			})
			path := filepath.Join(dir, "run.db")
			d := open(t, path)
			create(t, d, newRun(1))
			w := writer(t, d, newRun(1).ID)
			commit(t, w, new(maker).batch(5, 3))
			err = errors.Join(w.Close(), d.Close(), os.WriteFile(filepath.Join(dir, "test"), program, 0o755))
			if err = errors.Join(err, os.Chmod(path, 0o644), os.Chmod(dir, 0o555)); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(filepath.Join(dir, "test"), "-test.run", "^TestWrittenWhileRead$", "-test.v")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "MURKSIM_TEST_WRITTEN="+path)
			if os.Getuid() == 0 {
				asNobody(cmd)
			}
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for lines.Scan() && lines.Text() != "opened" {
				t.Log(lines.Text())
			}
			os.Chmod(dir, 0o755)
			write(t, path)
			in.Close()
			for lines.Scan() {
				t.Log(lines.Text())
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// readWritten reads a database before and after another process has written to it.
func readWritten(t *testing.T, path string) {
	d, err := store.OpenReader(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	id := newRun(1).ID
	e := evidence(t, d, id)
	if n, m := len(links(t, e)), len(inputs(t, e)); n != 5 || m == 0 || d.Unwritten() != nil {
		t.Fatalf("%d links, %d inputs, %v", n, m, d.Unwritten())
	}
	fmt.Println("opened")
	bufio.NewReader(os.Stdin).ReadString('\n')
	wrong := func(what string, rows int, err error) {
		if rows != 0 || !errors.Is(err, store.ErrWritten) {
			t.Errorf("%s: %d rows, %v; want %q", what, rows, err, store.ErrWritten)
		}
	}
	rows := 0
	for l, err := range e.Links(ctx, 0) {
		if l != nil {
			rows++
			continue
		}
		wrong("links", rows, err)
	}
	rows = 0
	for in, err := range e.Inputs(ctx, 0) {
		if in != nil {
			rows++
			continue
		}
		wrong("inputs", rows, err)
	}
	_, err = e.Snapshots(ctx)
	wrong("snapshots", 0, err)
	_, err = d.Runs(ctx)
	wrong("runs", 0, err)
	_, err = d.Halted(ctx, id)
	wrong("halts", 0, err)
	_, err = d.Audits(ctx, id)
	wrong("audits", 0, err)
	_, err = d.Doubted(ctx, id)
	wrong("doubts", 0, err)
	_, _, err = d.Evidence(ctx, id)
	wrong("evidence", 0, err)
}
