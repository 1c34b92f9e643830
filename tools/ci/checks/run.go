package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// waiting is how many checks that mostly wait run at a time, beside those that compute.
const waiting = 2

// A result is how a check ended.
type result struct {
	check
	output    []byte
	wall, cpu time.Duration
	status    int  // of bash; -1: a signal ended it, or it never began
	stopped   bool // because the whole run was ended
}

// verdict returns the result in a word.
func (r *result) verdict() string {
	switch {
	case r.status == 0:
		return "passed"
	case r.status == skipped:
		return "skipped"
	case r.stopped:
		return "stopped"
	}
	return "FAILED"
}

// reason returns the last line that the check printed, in which one that is skipped says why.
func (r *result) reason() string {
	text := strings.TrimSpace(string(r.output))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// runAll runs checks in their order, prints each as it ends, and returns their results in that
// order. When the context is done it ends those that run, and begins no other.
func runAll(ctx context.Context, chosen []check, m mode, out io.Writer) []result {
	results := make([]result, len(chosen))
	begun, done := make([]bool, len(chosen)), make([]bool, len(chosen))
	ended := make(chan int)
	free := map[bool]int{false: runtime.NumCPU() + 1, true: waiting} // by check.waits; one more than cores, for each links and ends alone
	for left := len(chosen); left > 0; left-- {
		for i, c := range chosen {
			if !begun[i] && free[c.waits] > 0 {
				begun[i] = true
				free[c.waits]--
				go func() {
					results[i] = c.run(ctx, m)
					ended <- i
				}()
			}
			if c.first && !done[i] {
				break
			}
		}
		i := <-ended
		r := &results[i]
		done[i] = true
		free[r.waits]++
		if r.stopped = ctx.Err() != nil; r.stopped {
			continue
		}
		fmt.Fprintf(out, "\n== %s: %s (%.0f s, %d checks left)\n%s", r.name, r.verdict(), r.wall.Seconds(), left-1, r.output)
	}
	return results
}

// run runs the check to its end, in a process group of its own, so that all of it can be ended.
func (c *check) run(ctx context.Context, m mode) result {
	r := result{check: *c, status: -1}
	if ctx.Err() != nil {
		return r
	}
	var output bytes.Buffer
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", m.script(c))
	cmd.Stdout, cmd.Stderr = &output, &output
	// Without the folder's name in what is built, every clone of the project shares it. Without
	// what debuggers read, a sixth less is to compile. Go's limit for the tests of a package is ten
	// minutes, which a busy machine may take. Tests need no vet of their own, of every build: there
	// is a check for it.
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath -gcflags=all=-dwarf=false -timeout=1h -vet=off"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		r.output = []byte(err.Error() + "\n")
		return r
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) })
	defer stop()
	err := cmd.Wait()
	r.wall, r.cpu = time.Since(began), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	r.output, r.status = output.Bytes(), cmd.ProcessState.ExitCode()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		r.output = append(r.output, err.Error()+"\n"...)
	}
	return r
}
