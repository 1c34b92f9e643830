package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// A child is a process that answers requests: see [serve].
type child struct {
	command *exec.Cmd
	in      io.WriteCloser
	answers *json.Decoder
	errs    bytes.Buffer // standard error; to be read after the process has ended
}

// begin starts a child.
func begin(command *exec.Cmd) (*child, error) {
	c := &child{command: command}
	var err error
	if c.in, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.answers = json.NewDecoder(out)
	command.Stderr = &c.errs
	return c, command.Start()
}

// ask waits for the answer to a request. If the process ends instead, it returns what the
// process said, as a *crash: the child has ended.
func (c *child) ask(r request) (a answer, err error) {
	json.NewEncoder(c.in).Encode(r) // if it cannot be written, there is no answer
	if err := c.answers.Decode(&a); err != nil {
		if err != io.EOF {
			c.command.Process.Kill() // it says something else
		}
		return a, &crash{fmt.Errorf("it ended without an answer: %w", cmp.Or(c.end(), err))}
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// A crash reports that a process ended without an answer.
type crash struct{ error }

// end waits until the process has ended; it does so without further requests.
func (c *child) end() error {
	c.in.Close()
	err := c.command.Wait()
	if said := strings.TrimSpace(c.errs.String()); err != nil && said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// seconds returns the processor time of a child that has ended.
func (c *child) seconds() time.Duration {
	return c.command.ProcessState.UserTime() + c.command.ProcessState.SystemTime()
}

// askOnce starts a child for a single request.
func askOnce(command *exec.Cmd, r request) (answer, error) {
	c, err := begin(command)
	if err != nil {
		return answer{}, err
	}
	a, err := c.ask(r)
	if _, ended := errors.AsType[*crash](err); ended {
		return a, err
	}
	return a, errors.Join(err, c.end())
}

// askSelf runs a request in a process of its own of this program, with more variables in its environment.
func askSelf(r request, env ...string) (answer, error) {
	self, err := os.Executable()
	if err != nil {
		return answer{}, err
	}
	c := exec.Command(self, childArgument)
	c.Env = append(os.Environ(), env...)
	return askOnce(c, r)
}

// inOrder computes n rows, as many at a time as there are processors, and shows each as soon
// as it and those before it are there.
func inOrder(n int, compute, show func(i int)) {
	done := make([]chan struct{}, n)
	for i := range done {
		done[i] = make(chan struct{})
	}
	var started atomic.Int64
	for range runtime.NumCPU() {
		go func() {
			for i := int(started.Add(1)) - 1; i < n; i = int(started.Add(1)) - 1 {
				compute(i)
				close(done[i])
			}
		}()
	}
	for i := range done {
		<-done[i]
		show(i)
	}
}
