package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
)

// An order says what another process must run.
type order struct {
	Setup     setup
	Restore   bool // go on from the state on standard input
	Unrelated bool // run another world of the setup's first
}

// obey is that process. It prints a line for every tick.
func obey(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	if o.Unrelated {
		other := o.Setup
		other.Sets = append(slices.Clone(other.Sets), "seed=1234")
		if _, err := record(other); err != nil {
			return err
		}
	}
	s, c, err := o.Setup.open()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	var w *engine.World
	if o.Restore {
		state, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		w, err = engine.Restore(c, s.Descriptor(), state)
		if err != nil {
			return err
		}
	} else if w, err = engine.New(c); err != nil {
		return err
	}
	for w.Tick() < ticks {
		if err := step(s, w); err != nil {
			return err
		}
		state, err := w.Save(s.Descriptor())
		if err != nil {
			return err
		}
		if err := writeLine(out, w.Tick(), w.Hash(), state); err != nil {
			return err
		}
	}
	return out.Flush()
}

// command starts the program, this one or another build of it, with an order.
func command(program string, o order, state []byte, env ...string) ([]byte, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	c := exec.Command(program, "-child", string(text))
	var errs strings.Builder
	c.Stdin, c.Stderr, c.Env = bytes.NewReader(state), &errs, append(os.Environ(), env...)
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(program), err, strings.TrimSpace(errs.String()))
	}
	return out, nil
}

// build makes another build of this program in a folder.
func build(dir, name string, env []string, flags ...string) (string, error) {
	path := filepath.Join(dir, name)
	c := exec.Command("go", append(append([]string{"build", "-o", path}, flags...), "./tools/ci/failures")...)
	c.Env = append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the %s build: %w: %.300s", name, err, out)
	}
	return path, nil
}

// firstLine finds the first tick whose lines differ; 0 if all are equal.
func (l *lab) firstLine(want, got []byte) (tick uint64, err error) {
	if l.same(want, got) {
		return 0, nil
	}
	a, b := strings.SplitAfter(string(want), "\n"), strings.SplitAfter(string(got), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			text, _, _ := strings.Cut(a[i], "\t")
			return strconv.ParseUint(text, 10, 64)
		}
	}
	return 0, fmt.Errorf("%d lines instead of %d", len(b), len(a))
}
