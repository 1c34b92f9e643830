//go:build browser

package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPageOfAProgram: a program whose worlds are built in Go writes pages that replay its recordings by its own rules, with its own names.
func TestPageOfAProgram(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "lockstep")
	c := exec.Command("go", "build", "-o", program, ".")
	c.Dir = "../../examples/lockstep"
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	game := filepath.Join(folder, "game.murk")
	host := exec.Command(program, "host", game, "127.0.0.1:0")
	out, err := host.StdoutPipe()
	if err == nil {
		err = host.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_, address, _ := strings.Cut(strings.TrimSpace(line), "listening on ")
	var players []*exec.Cmd
	for _, player := range []string{"0", "1"} {
		p := exec.Command(program, "join", address, player)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		players = append(players, p)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if info, err := os.Stat(game); err == nil && info.Size() > 4000 {
			break
		} else if time.Now().After(until) {
			t.Fatal("nobody plays")
		}
	}
	host.Process.Kill()
	for _, p := range append(players, host) {
		p.Wait()
	}
	c = exec.Command(program, "export", game, "-q", "-o", filepath.Join(folder, "game.html"))
	c.Dir = "../../examples/lockstep"
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := browse(t, plain("file://"+filepath.Join(folder, "game.html")), 1280, 720)
	p.until(verdict, "verified")
	p.until(`String(["lockstep", "nobody", "ada", "by stamina"].every(name => document.body.innerText.includes(name)))`, "true")
	p.picture("program")
	p.quiet()
}
