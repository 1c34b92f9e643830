package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
)

// terminal opens a terminal of a size. What is written to the one file can be read from the other.
func terminal(t *testing.T, columns, rows uint16) (inside, outside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	control := func(request uintptr, arg unsafe.Pointer) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, outside.Fd(), request, uintptr(arg)); errno != 0 {
			t.Fatal(errno)
		}
	}
	var unlocked, number int32
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{rows, columns, 0, 0}
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	inside, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return inside, outside
}

const terminalRows = 20

// inTerminal runs a command whose standard error is a terminal, and returns what appears there.
func (p program) inTerminal(t *testing.T, c *exec.Cmd, env ...string) (shown string) {
	t.Helper()
	inside, outside := terminal(t, 60, terminalRows)
	defer outside.Close()
	c.Stderr = inside
	c.Env = append(append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=", "WT_SESSION="), env...)
	var all bytes.Buffer
	read := make(chan struct{})
	go func() {
		io.Copy(&all, outside) // ends with EIO when the other side is closed
		close(read)
	}()
	err := c.Run()
	inside.Close()
	<-read
	if err != nil {
		t.Errorf("%v: %v\n%s", c.Args, err, all.String())
	}
	return all.String()
}

// watched: --watch draws the field and the last tick, in the colours that there are, and changes
// no byte of the recording.
func (p program) watched(t *testing.T) {
	p.run(t, p.command("run", "heat", "-q", "--until", "400", "-o", "unwatched.murk"))
	for _, tt := range []struct {
		env      string
		with, of string
	}{{"A=", "\x1b[48;2;", "▀"}, {"COLORTERM=", "\x1b[48;5;", "▀"}, {"NO_COLOR=1", "░", "▒"}} {
		c := p.command("run", "heat", "--watch", "--until", "400", "-o", "watched.murk")
		shown := p.inTerminal(t, c, tt.env)
		for _, want := range []string{"heat [°C]  tick 400 of 400  ", tt.with, tt.of, "total ", " 482,929\x1b[K"} {
			if !strings.Contains(shown, want) {
				t.Errorf("with %s the terminal does not show %q:\n%q", tt.env, want, shown[max(0, len(shown)-4000):])
			}
		}
		if tt.with == "░" && strings.Contains(shown, "\x1b[48") {
			t.Errorf("with %s there are colours", tt.env)
		}
		if !bytes.Equal(p.read(t, "watched.murk"), p.read(t, "unwatched.murk")) {
			t.Error("a run that is watched has another recording")
		}
	}
	inside, outside := terminal(t, 60, 20)
	defer outside.Close()
	defer inside.Close()
	dumb := p.command("run", "heat", "--watch", "--until", "3", "-o", "dumb.murk")
	dumb.Stderr, dumb.Env = inside, append(os.Environ(), "TERM=dumb")
	said := make([]byte, 200)
	if err := dumb.Run(); dumb.ProcessState.ExitCode() != report.StatusUsage {
		t.Errorf("in a terminal that cannot draw: %v, want status %d", err, report.StatusUsage)
	}
	if n, _ := outside.Read(said); !strings.HasPrefix(string(said[:n]), `--watch cannot draw in this terminal (TERM is "dumb")`) {
		t.Errorf("in a terminal that cannot draw it says %q", said[:n])
	}
	seek := p.command("seek", "watched.murk", "--tick", "300", "--watch=wall")
	var below bytes.Buffer
	seek.Stdout = &below
	shown := p.inTerminal(t, seek)
	if lines := strings.Count(shown, "\n") + bytes.Count(below.Bytes(), []byte("\n")); lines >= terminalRows {
		t.Errorf("seek --watch writes %d lines into a terminal of %d rows", lines, terminalRows)
	}
	if !strings.Contains(shown, "wall  tick 300 of 1,000") || !strings.Contains(shown, "brick") || !strings.Contains(shown, "not open ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁") {
		t.Errorf("seek --watch shows\n%q", shown)
	}
	if frames := strings.Count(shown, "\x1b[?2026h"); frames != 1 {
		t.Errorf("seek draws %d pictures, want 1", frames)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	build(t).watched(t)
}

// TestJoinWatch: join draws a map of the game in the terminal, and prints no messages.
func TestJoinWatch(t *testing.T) {
	t.Parallel()
	p := build(t)
	_, address, tokens := p.serve(t, "serve", "minewars", "--no-record", "--linger", "1m")
	join := p.command("join", "--watch", "--until", "10", "ws://"+address+"/stream?token="+tokens[2])
	var below bytes.Buffer
	join.Stdout = &below
	shown := p.inTerminal(t, join)
	for _, want := range []string{"\x1b[2J", "\x1b7\x1b[Htick ", "  player 2  green 0  orange ", "\x1b[48;2;", " navy  \x1b[K\r\n\x1b8"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the terminal does not show %q:\n%q", want, shown[max(0, len(shown)-4000):])
		}
	}
	if said := below.String(); !strings.HasPrefix(said, "joined    as player 2, ") || strings.Contains(said, "OWN") {
		t.Errorf("join --watch says\n%s", said)
	}
}

// TestInterruptedWhereNothingShows: one signal ends a program whose terminal takes nothing. What a
// run writes is whole before the terminal is given up.
func TestInterruptedWhereNothingShows(t *testing.T) {
	t.Parallel()
	p := build(t)
	p.must(t, "run", "heat", "-q", "--ticks", "20000", "--no-index", "-o", "long.murk")
	for range 20 { // a busy machine may write so slowly that the order is not known
		if p.writesFirst(t) {
			break
		}
	}
	for _, args := range []string{
		"run heat --ticks 2000000 --watch -o nw.murk",
		"run heat --ticks 2000000 -o nx.murk",
		"verify long.murk --each --workers 1",
	} {
		c, close := p.whereNothingShows(t, true, strings.Fields(args)...)
		if name := args[len(args)-7:]; strings.HasSuffix(name, ".murk") {
			p.grows(t, name, header)
		} else {
			rests(t, c)
		}
		c.Process.Signal(syscall.SIGTERM)
		ends(t, c)
		close()
	}
	for _, name := range []string{"nv.murk", "nw.murk", "nx.murk"} {
		p.must(t, "verify", name)
		if status, out, errs := p.run(t, p.command("seek", name, "--tick", "1")); status != 0 || errs != "" {
			t.Errorf("seek %s: %s", name, out+errs)
		}
	}
}

// whereNothingShows starts a command whose standard error, and output if that is wanted, is a
// terminal that takes nothing any more.
func (p program) whereNothingShows(t *testing.T, stdout bool, args ...string) (c *exec.Cmd, close func()) {
	t.Helper()
	inside, outside := terminal(t, 200, 60)
	const most = 4095 // bytes that a terminal of Linux keeps
	if n, err := inside.WriteString(strings.Repeat("x", most)); n < most {
		t.Fatalf("a terminal takes %d bytes, %v", n, err)
	}
	c = p.command(args...)
	c.Stderr = inside
	if c.Env = append(os.Environ(), "TERM=xterm-256color"); stdout {
		c.Stdout = inside
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	return c, func() {
		inside.Close()
		outside.Close()
	}
}

// writesFirst interrupts a run that draws on a terminal that takes nothing, and holds that its
// files are whole long before the terminal is given up. It reports whether they were written soon
// enough for that to be known.
func (p program) writesFirst(t *testing.T) bool {
	t.Helper()
	c, close := p.whereNothingShows(t, false, "run", "heat", "--ticks", "2000000", "--watch", "-o", "nv.murk", "--stats", "nv.parquet")
	defer close()
	p.grows(t, "nv.murk", header)
	sent := time.Now()
	c.Process.Signal(syscall.SIGTERM)
	if err := ends(t, c); err != nil {
		t.Error(err)
	}
	ended := time.Now()
	info, err := os.Stat(filepath.Join(p.dir, "nv.parquet"))
	if err != nil || info.Size() == 0 {
		t.Fatalf("the table is not there: %v", err)
	}
	wrote := info.ModTime()
	if wrote.Sub(sent) > files.ReaderPatience/2 {
		return false
	}
	if ended.Sub(wrote) < files.ReaderPatience/4 {
		t.Errorf("the files were whole %v after the signal, %v before the end; want them first", wrote.Sub(sent), ended.Sub(wrote))
	}
	return true
}

// TestPipeWaits: on a terminal a command says that it waits for a reader of its output.
func TestPipeWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	inside, outside := terminal(t, 60, terminalRows)
	defer outside.Close()
	status := make(chan int)
	go func() {
		status <- Program{}.run(t.Context(), []string{"run", "heat", "--until", "3", "-o", path}, strings.NewReader(""), io.Discard, inside)
		inside.Close()
	}()
	if line, err := bufio.NewReader(outside).ReadString('\n'); err != nil || !strings.HasSuffix(line, "pipe: it is a pipe, and waits for a reader\r\n") {
		t.Errorf("the terminal shows %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, outside) }()
	if b, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(b, []byte(session.RecordingMark)) {
		t.Errorf("the reader gets %d bytes, %v", len(b), err)
	}
	if got := <-status; got != report.StatusOK {
		t.Errorf("status %d", got)
	}
}
