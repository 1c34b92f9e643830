// Command load serves a game to thousands of clients, of which some do all that clients should not
// do, and checks what the others get, byte by byte. See load.sh.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/murksim/murksim/serve"
)

// A load is one run of the test.
type load struct {
	murksim, dir, scenario string
	ticks                  uint64
	spectators, late       int
	each                   int // of every kind of bad clients
	strict                 bool

	server   *exec.Cmd
	idle     *exec.Cmd           // a process that only waits
	idleIn   io.Closer           // ends it
	idleEnds func() idleLateness // likewise, and says how late it was
	lines    *bufio.Reader       // of the server
	address  string
	tokens   serve.Tokens
	memory   int64 // the most that the server had, in bytes
	begin    sync.Once
	begun    chan struct{} // closed at the first tick, by begin
	done     chan struct{} // closed when the server has ended
	deadline time.Time     // of all connections

	mu      sync.Mutex
	failed  []string
	results []*result
	seen    []seen // by those who look at the time
}

// served is the last line but one of the server.
type served struct {
	Event  string            `json:"event"`
	Tick   uint64            `json:"tick"`
	Joined uint64            `json:"joined"`
	Ended  map[string]uint64 `json:"ended"`
	Orders uint64            `json:"orders"`
	Bytes  uint64            `json:"bytes"`
	Late   struct {
		P50, P99, Max float64
	} `json:"late_ms"`
}

const limit = 20 * time.Minute // for all that the server does; only a hang takes so long

const (
	limitMS = 5.0  // of the 99th percentile, with -strict
	tickMS  = 50.0 // without, if an idle process is late by less than quietMS and the machine is not busy; else there is no limit
	quietMS = 1.0  // likewise
)

func main() {
	l := &load{begun: make(chan struct{}), done: make(chan struct{})}
	flag.StringVar(&l.murksim, "murksim", "", "the program")
	flag.StringVar(&l.scenario, "scenario", "minewars", "a game that is served at 20 ticks a second")
	flag.Uint64Var(&l.ticks, "ticks", 1600, "how many")
	flag.IntVar(&l.spectators, "spectators", 2000, "how many")
	flag.IntVar(&l.late, "late", 20, "how many more come later")
	flag.IntVar(&l.each, "bad", 20, "clients of every bad kind")
	flag.BoolVar(&l.strict, "strict", false, "fail if 1 tick in 100 is late by 5 ms or more")
	idle := flag.Bool("idle", false, "only look at how late an idle process is, until standard input ends")
	flag.Parse()
	if *idle {
		lookOn(os.Stdin)
		return
	}
	if err := l.run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func (l *load) run() (err error) {
	if l.dir, err = os.MkdirTemp("", "load"); err != nil {
		return err
	}
	defer os.RemoveAll(l.dir)
	began := time.Now()
	l.deadline = began.Add(limit + 10*time.Second)
	if err := l.start(); err != nil {
		return err
	}
	defer l.server.Process.Kill()
	if err := l.compare(); err != nil {
		return err
	}
	defer time.AfterFunc(limit, func() {
		l.fail("it took longer than %v", limit)
		l.server.Process.Kill()
	}).Stop()
	var clients sync.WaitGroup
	l.spectate(&clients)
	players := l.play(&clients)
	misbehaving := make(chan struct{})
	go func() { defer close(misbehaving); l.misbehave(&clients) }()
	end, err := l.follow()
	if err != nil {
		return err
	}
	if err := l.server.Wait(); err != nil {
		l.fail("the server ended with %v", err)
	}
	idle := l.idleEnds()
	close(l.done)
	<-misbehaving
	clients.Wait()
	fmt.Printf("%d ticks, %d clients, %.0f s\n", end.Tick, end.Joined, time.Since(began).Seconds())
	l.judge(end, players, idle)
	l.verify()
	if len(l.failed) > 0 {
		return fmt.Errorf("FAILED\n  %s", strings.Join(l.failed, "\n  "))
	}
	fmt.Println("all as it should be")
	return nil
}

func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const most = 20
	if len(l.failed) < most {
		l.failed = append(l.failed, fmt.Sprintf(format, args...))
	}
}

// good is how many clients there are before the first tick.
func (l *load) good() int { return l.spectators + 2*len(l.tokens.Players) }

// start starts the server.
func (l *load) start() error {
	keys := filepath.Join(l.dir, "keys.json")
	l.tokens = serve.NewTokens(6)
	b, err := json.Marshal(l.tokens)
	if err != nil {
		return err
	}
	if err := os.WriteFile(keys, b, 0o600); err != nil {
		return err
	}
	l.server = exec.Command(l.murksim, "serve", l.scenario, "--listen", "127.0.0.1:0", "--json", "--tokens", keys, "--ticks", strconv.FormatUint(l.ticks, 10),
		"-o", filepath.Join(l.dir, "game.murk"), "--wait", strconv.Itoa(l.good()), "--max-clients", "8192", "--max-per-address", "8192", "--max-stall", "2s")
	l.server.Stderr = os.Stderr
	out, err := l.server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := l.server.Start(); err != nil {
		return err
	}
	l.lines = bufio.NewReader(out)
	for {
		line, err := l.lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("the server does not begin: %w", errors.Join(err, l.server.Wait()))
		}
		var o struct{ Event, Address string }
		if err := json.Unmarshal(line, &o); err == nil && o.Event == "serving" {
			l.address = o.Address
			return nil
		}
	}
}

// follow reads what the server says to its end.
func (l *load) follow() (end served, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var sampler sync.WaitGroup
	sampler.Go(func() {
		for ctx.Err() == nil {
			l.memory = max(l.memory, peak(l.server.Process.Pid))
			time.Sleep(200 * time.Millisecond)
		}
	})
	defer func() { cancel(); sampler.Wait() }()
	for {
		line, err := l.lines.ReadBytes('\n')
		if err == io.EOF && end.Event == "" {
			return end, fmt.Errorf("the server ended early: %v", l.server.Wait())
		}
		if err != nil {
			return end, nil
		}
		var o served
		if json.Unmarshal(line, &o) == nil && o.Event == "served" {
			end = o
		}
	}
}

// peak returns the most memory that a process had, if the system says so.
func peak(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// verify verifies the recording.
func (l *load) verify() {
	out, err := exec.Command(l.murksim, "verify", "--complete", filepath.Join(l.dir, "game.murk")).CombinedOutput()
	if err != nil {
		l.fail("the recording does not verify: %v: %s", err, out)
		return
	}
	fmt.Printf("recording  %s", strings.ReplaceAll(string(out), l.dir+string(filepath.Separator), ""))
}
