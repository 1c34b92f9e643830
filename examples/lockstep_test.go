// Package examples tests the examples that are modules of their own.
package examples

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// built builds an example, as it is or with pieces of a file replaced, and returns the program.
func built(t *testing.T, name, file string, oldNew ...string) string {
	t.Helper()
	source := name
	if file != "" {
		source = copied(t, name, file, oldNew...)
	}
	program := filepath.Join(t.TempDir(), name)
	if out, err := inFolder(source, "go", "build", "-o", program, "."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// copied copies an example, replaces pieces of a file, and returns the folder.
func copied(t *testing.T, name, file string, oldNew ...string) (folder string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(name)); err != nil {
		t.Fatal(err)
	}
	replace(t, filepath.Join(folder, "go.mod"), "../..", filepath.ToSlash(root))
	for i := 0; i < len(oldNew); i += 2 {
		replace(t, filepath.Join(folder, file), oldNew[i], oldNew[i+1])
	}
	return folder
}

// inFolder runs a program in a folder, and returns what it said.
func inFolder(folder, program string, args ...string) (text string, err error) {
	c := exec.Command(program, args...)
	c.Dir = folder
	out, err := c.CombinedOutput()
	return string(out), err
}

func replace(t *testing.T, file, old, changed string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil || strings.Count(string(b), old) != 1 {
		t.Fatalf("%s has %q %d times; %v", file, old, strings.Count(string(b), old), err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(b), old, changed, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// said runs a program and returns its status and what it said.
func said(t *testing.T, program string, args ...string) (status int, text string) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = filepath.Dir(program)
	out, err := c.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// A host is one that runs, and where.
type host struct {
	*exec.Cmd
	address string
}

// begun starts a host, and returns when it listens.
func begun(t *testing.T, program, file string) *host {
	t.Helper()
	c := exec.Command(program, "host", file, "127.0.0.1:0")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		c.Process.Kill()
		t.Fatalf("%q, %v", line, err)
	}
	go io.Copy(io.Discard, out)
	return &host{c, address}
}

// TestLockstep: two players who compute the world by themselves agree on every tick. The host is killed twenty times, goes on each time, and the
// recording verifies from its first tick; one who comes late catches up.
func TestLockstep(t *testing.T) {
	program := built(t, "lockstep", "")
	file := filepath.Join(filepath.Dir(program), "game.murk")
	ticks := 0
	for round := range 20 {
		h := begun(t, program, file)
		var players []*exec.Cmd
		for player := range 2 {
			c := exec.Command(program, "join", h.address, fmt.Sprint(player))
			c.Stderr = os.Stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			players = append(players, c)
		}
		if status, text := said(t, program, "host", file, "127.0.0.1:0"); status != 1 || !strings.Contains(text, "another process is writing the recording") {
			t.Errorf("a second host: %d, %s", status, text)
		}
		before := size(t, file)
		for until := time.Now().Add(time.Minute); size(t, file) < before+400; {
			if time.Now().After(until) {
				t.Fatalf("round %d: nobody plays", round)
			}
			time.Sleep(20 * time.Millisecond)
		}
		h.Process.Kill()
		h.Wait()
		for _, c := range players {
			c.Wait() // the connection ends, perhaps by a reset
		}
	}
	status, text := said(t, program, "verify", file)
	if m := regexp.MustCompile(`^ok .* ([0-9]+) ticks`).FindStringSubmatch(text); status != 0 || m == nil {
		t.Fatalf("%d: %s", status, text)
	} else if fmt.Sscan(m[1], &ticks); ticks < 40 {
		t.Errorf("only %d ticks", ticks)
	}
	for _, args := range [][]string{
		{"inspect", file, "--tick", "5"}, {"seek", file, "--tick", "9"}, {"export", file, "-o", "game.csv"}, {"export", file, "-o", "game.gif", "--fields", "owner"},
		{"synctest", file}, {"diff", file, file}, {"index", file}, {"verify", "--workers", "2", file},
	} {
		if status, text := said(t, program, args...); status != 0 {
			t.Errorf("%q: %d: %s", args, status, text)
		}
	}

	if !testing.Short() { // Go builds the engine for browsers
		page := filepath.Join(filepath.Dir(program), "game.html") // made where the module is, for a build with -trimpath
		if out, err := inFolder("lockstep", program, "export", file, "-o", page); err != nil {
			t.Errorf("a page: %v: %s", err, out)
		}
	}

	// A fault that is hidden in a build: it remembers something outside of the state.
	faulty := built(t, "lockstep", "arena/arena.go", "type paint struct{}\n", "type paint struct{}\n\nvar breaths float32\n", "stamina[slot] += 0.75\n", "breaths++\n\t\tstamina[slot] += 0.75 + breaths/1e5\n")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"verify", file}, "DIVERGED"}, {[]string{"diff", file}, "DIFFER at tick"}, {[]string{"bisect", file}, "DIFFER at tick"}, {[]string{"synctest", file}, "paint"},
	} {
		if status, text := said(t, faulty, tt.args...); status != 3 || !strings.Contains(text, tt.want) {
			t.Errorf("with a fault: %q: %d: %s", tt.args, status, text)
		}
	}
}

func size(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
