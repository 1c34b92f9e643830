package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/serve"
)

// A background server in a script.
type scriptServer struct {
	command *exec.Cmd
	out     string // what it says, with the line that is read
	whole   chan struct{}
	errs    strings.Builder
}

var scriptServers sync.Map // *testscript.TestScript to *scriptServer

// serveScript starts serve on any port. When it listens, $URL0 is the spectator's URL, $URL1 that of
// player 1 and so on, and $ADDRESS that without a token.
func serveScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: serve PROGRAM SCENARIO [FLAG]…")
	}
	path, err := exec.LookPath(filepath.Join(filepath.Dir(ts.Getenv("MURKSIM")), args[0]))
	ts.Check(err)
	s := &scriptServer{command: exec.Command(path, append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args[1:]...)...), whole: make(chan struct{})}
	s.command.Dir, s.command.Stderr = ts.MkAbs("."), &s.errs
	s.command.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "HOME="+ts.Getenv("HOME"))
	out, err := s.command.StdoutPipe()
	ts.Check(err)
	ts.Check(s.command.Start())
	ts.Defer(func() { s.command.Process.Kill() })
	scriptServers.Store(ts, s)
	lines, served := bufio.NewReader(out), false
	for !served {
		line, err := lines.ReadString('\n')
		if err != nil {
			s.command.Wait()
			ts.Fatalf("serve says %s%s", s.out, s.errs.String())
		}
		s.out += line
		var o servingObject
		ts.Check(json.Unmarshal([]byte(line), &o))
		if served = o.Event == "serving"; served {
			for i, v := range o.Views {
				ts.Setenv(fmt.Sprintf("URL%d", i), v.URL)
			}
			ts.Setenv("ADDRESS", "ws://"+o.Address+"/stream")
		}
	}
	go func() {
		defer close(s.whole)
		rest, _ := io.ReadAll(lines)
		s.out += string(rest)
	}()
}

// served waits until the server has ended, with status 0, and writes what it said to a file. With
// a signal it is sent that first.
func served(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: served FILE [interrupt]")
	}
	any, ok := scriptServers.Load(ts)
	if !ok {
		ts.Fatalf("nothing is served")
	}
	s := any.(*scriptServer)
	if len(args) == 2 {
		ts.Check(s.command.Process.Signal(os.Interrupt))
	}
	timer := time.AfterFunc(waiting.Hang, func() { s.command.Process.Kill() })
	defer timer.Stop()
	<-s.whole
	if err := s.command.Wait(); err != nil {
		ts.Fatalf("serve ended with %v: %s", err, s.errs.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(s.out+s.errs.String()), 0o666))
}

// serve starts a command of serve on any port, and returns where it listens, and the tokens.
func (p program) serve(t *testing.T, args ...string) (c *exec.Cmd, address string, tokens []string) {
	t.Helper()
	c = p.command(append(args, "--listen", "127.0.0.1:0", "--json")...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var o servingObject
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		if o.Event == "serving" {
			go io.Copy(io.Discard, out)
			for _, v := range o.Views {
				tokens = append(tokens, v.Token)
			}
			return c, o.Address, tokens
		}
	}
	t.Fatalf("%v does not serve: %v", args, c.Wait())
	return nil, "", nil
}

// served: the commands that the README tells to watch and to play with do so. SIGTERM ends the
// serving well: clients are told, and what is recorded verifies.
func (p program) served(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it cannot send SIGTERM
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Play and watch live\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var commands [][]string
	for _, m := range regexp.MustCompile(`(?m)^    murksim (.*)$`).FindAllStringSubmatch(section, -1) {
		commands = append(commands, strings.Fields(m[1]))
	}
	orders := strings.Join(regexp.MustCompile(`(?m)^    \{.*\}$`).FindAllString(section, -1), "\n") + "\n"
	if len(commands) != 5 || commands[0][0] != "serve" || commands[1][0] != "join" || commands[2][0] != "join" {
		t.Fatalf("the README has %q", commands)
	}
	c, address, _ := p.serve(t, commands[0]...)
	type reader struct {
		command *exec.Cmd
		said    chan string
		errs    strings.Builder
	}
	var readers []*reader
	for _, args := range commands[1:3] {
		r := &reader{command: p.command(append(args, "ws://"+address+"/stream")...), said: make(chan string, 1000)}
		r.command.Stderr, r.command.Stdin = &r.errs, strings.NewReader(orders)
		out, err := r.command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.command.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				r.said <- lines.Text()
			}
			close(r.said)
		}()
		readers = append(readers, r)
	}
	wait := func(r *reader, for_ string) {
		t.Helper()
		for {
			select {
			case line, ok := <-r.said:
				if !ok {
					t.Fatalf("a client ended without %q: %s", for_, r.errs.String())
				}
				if matched, _ := regexp.MatchString(for_, line); matched {
					return
				}
			case <-time.After(waiting.Hang):
				t.Fatalf("a client does not say %q", for_)
			}
		}
	}
	wait(readers[0], "^joined    as spectator")
	wait(readers[0], "^[0-9]+ +OWN ")
	wait(readers[1], "^receipt   order 1, tick [1-9]")
	wait(readers[1], "^receipt   order 2, tick [0-9]+: applied$")
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
	for _, r := range readers {
		for range r.said {
		}
		if r.command.Wait(); r.command.ProcessState.ExitCode() != report.StatusError || r.errs.String() != "the connection ended: the server ends\n" {
			t.Errorf("a client ended with %v: %s", r.command.ProcessState, r.errs.String())
		}
	}
	for _, args := range commands[3:] {
		if status, out, errs := p.run(t, p.command(args...)); status != 0 {
			t.Errorf("%v = %d\n%s", args, status, out+errs)
		}
	}
}

// servedTwice: a second signal ends a server at once that waits for a client to go. The client has
// a second for that; on a busy machine it may take some times until the second signal comes within it.
func (p program) servedTwice(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it cannot send SIGTERM
	}
	for range 50 {
		if p.endsByTheSecond(t) {
			return
		}
	}
	t.Error("no second signal ended the server")
}

func (p program) endsByTheSecond(t *testing.T) bool {
	t.Helper()
	c, address, tokens := p.serve(t, "serve", "minewars", "--no-record")
	client, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	fmt.Fprintf(client, "{\"token\":%q}\n", tokens[0])
	if _, err := client.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	go func() { // the client stays for the second that it has, so the first signal does not end it
		for c.Process.Signal(syscall.SIGTERM) == nil {
			time.Sleep(250 * time.Millisecond)
		}
	}()
	ends(t, c)
	return c.ProcessState.ExitCode() == -1
}

// TestTokensAreWhole: a client that waits for the file of tokens finds it whole, and one that is there
// is not replaced.
func TestTokensAreWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	for range 200 {
		found := make(chan error)
		go func() {
			_, err := readTokens(path)
			for errors.Is(err, fs.ErrNotExist) {
				_, err = readTokens(path)
			}
			found <- err
		}()
		if err := writeTokens(path, serve.NewTokens(6)); err != nil {
			t.Fatal(err)
		}
		if err := <-found; err != nil {
			t.Fatal(err)
		}
		if err := writeTokens(path, serve.NewTokens(6)); !errors.Is(err, fs.ErrExist) {
			t.Fatalf("writing over tokens: %v, want %v", err, fs.ErrExist)
		}
		if list, err := os.ReadDir(filepath.Dir(path)); len(list) != 1 || err != nil {
			t.Fatalf("beside the tokens there is %v, %v", list, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatus: the line for people says what counts, and how late ticks are: the last ones, or all.
func TestStatus(t *testing.T) {
	var l lateness
	if got := l.of(0); got != (lateObject{}) {
		t.Errorf("without a tick they are late by %+v", got)
	}
	for i := range keptLateness + 100 { // the first ones are forgotten
		late := time.Duration(i%100) * time.Millisecond
		if i < 100 {
			late = time.Hour
		}
		l.add(late)
	}
	if got, want := l.of(0), (lateObject{49, 98, 99}); got != want {
		t.Errorf("ticks are late by %+v, want %+v", got, want)
	}
	if got, want := l.of(10), (lateObject{30, 34, 35}); got != want { // 65,636 ticks were
		t.Errorf("the last ten of many ticks are late by %+v, want %+v", got, want)
	}
	var few lateness
	for i := range 30 {
		few.add(time.Duration(i) * time.Millisecond)
	}
	if got, want := few.of(10), (lateObject{24, 28, 29}); got != want {
		t.Errorf("the last ten ticks are late by %+v, want %+v", got, want)
	}
	o := statusObject{Tick: 1234, Clients: 3, Ended: map[string]uint64{"the client left": 2, "too far behind": 1, "too much was sent": 1}, Orders: 1, Refused: 4, Bytes: 5e6, Late: few.of(0)}
	if got, want := o.String(), "tick 1,234  3 clients, 2 dropped  1 order, 4 refused  5 MB sent  ticks late by 14.0 ms, 1 in 100 by 28.0"; got != want {
		t.Errorf("the line is\n%s\nwant\n%s", got, want)
	}
}
