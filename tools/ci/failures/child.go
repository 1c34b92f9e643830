package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/murksim/murksim/tools/ci/failures/colony"
)

// command starts the program, this one or another build of it, with an order.
func command(program string, o colony.Order, state []byte, env ...string) ([]byte, error) {
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

// build makes another build of the other process in a folder.
func build(dir, name string, env []string, flags ...string) (string, error) {
	path := filepath.Join(dir, name)
	c := exec.Command("go", append(append([]string{"build", "-o", path}, flags...), "./tools/ci/failures/child")...)
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
