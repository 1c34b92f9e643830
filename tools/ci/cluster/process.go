package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A process is a program that may be killed.
type process struct {
	name, kind string // kind: server, worker or coordinator
	cmd        *exec.Cmd
	began      time.Time
	exited     chan struct{} // closed when it has ended
	err        error         // of its end

	mu    sync.Mutex
	lines []string // that it said
	peak  uint64   // bytes of memory that it had at most
}

// launch starts a process on a host, in place of the one of that name before.
func (r *rig) launch(h int, name, kind string, args ...string) (*process, error) {
	return r.begin(name, kind, inHost(h, args[0], args[1:]...))
}

func (r *rig) begin(name, kind string, args []string) (*process, error) {
	p := &process{name: name, kind: kind, cmd: exec.Command(args[0], args[1:]...), exited: make(chan struct{}), began: time.Now()}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true} // Ctrl-C is for this process alone
	from, to := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = to, to
	log, err := os.OpenFile(filepath.Join(r.dir, strings.ReplaceAll(name, " ", "-")+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go p.listen(from, log)
	go func() {
		err := p.cmd.Wait()
		to.Close()
		p.err = err
		close(p.exited)
	}()
	go p.measure()
	r.mu.Lock()
	r.note(r.processes[name])
	r.processes[name] = p
	r.mu.Unlock()
	return p, nil
}

// note keeps how much memory a process had.
func (r *rig) note(p *process) {
	if p == nil {
		return
	}
	p.mu.Lock()
	r.peaks[p.kind] = max(r.peaks[p.kind], p.peak)
	p.mu.Unlock()
}

// listen keeps what a process says.
func (p *process) listen(from io.Reader, log *os.File) {
	defer log.Close()
	for lines := bufio.NewScanner(from); lines.Scan(); {
		fmt.Fprintf(log, "%s %s\n", time.Now().Format("15:04:05.000"), lines.Text())
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		p.mu.Unlock()
	}
	io.Copy(io.Discard, from)
}

// said returns the first line from a place on that has one of some texts; "": there is none.
func (p *process) said(from int, texts ...string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.lines[from:] {
		for _, text := range texts {
			if strings.Contains(line, text) {
				return line
			}
		}
	}
	return ""
}

// place is where the next line will stand.
func (p *process) place() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lines)
}

// measure follows the memory of a process.
func (p *process) measure() {
	for {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
		if _, rest, ok := strings.Cut(string(b), "VmHWM:"); ok {
			if n, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 64); err == nil {
				p.mu.Lock()
				p.peak = max(p.peak, n<<10)
				p.mu.Unlock()
			}
		}
		select {
		case <-p.exited:
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// busy reports whether a process has used the processor for a hundredth of a second of three tenths.
func (p *process) busy() bool {
	before := p.used()
	time.Sleep(300 * time.Millisecond)
	return p.running() && p.used() > before
}

// used is the time of processors that a process has used, in hundredths of a second.
func (p *process) used() uint64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(b), ") ")
	columns := strings.Fields(rest)
	if len(columns) < 13 {
		return 0
	}
	n, _ := strconv.ParseUint(columns[11], 10, 64)
	return n
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill kills a process at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// stop asks a process to end.
func (p *process) stop(ctx context.Context) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.wait(ctx, 5*time.Minute)
}

// wait waits for the end of a process.
func (p *process) wait(ctx context.Context, most time.Duration) error {
	select {
	case <-p.exited:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(most):
		return fmt.Errorf("%s has not ended after %v", p.name, most)
	}
}
