package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
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
	timer := time.AfterFunc(time.Minute, func() { s.command.Process.Kill() })
	defer timer.Stop()
	<-s.whole
	if err := s.command.Wait(); err != nil {
		ts.Fatalf("serve ended with %v: %s", err, s.errs.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(s.out+s.errs.String()), 0o666))
}
