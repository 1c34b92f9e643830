package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A builder compiles commands of the repository into a folder.
type builder struct{ root, dir string }

// build returns the program that it compiles from a package, unless it has one of that name.
func (b builder) build(name, pack string, env []string, flags ...string) (program string, err error) {
	program = filepath.Join(b.dir, name)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	args := slices.Concat([]string{"build", "-buildvcs=false", "-o", program}, flags, []string{pack})
	c := exec.Command("go", args...)
	c.Dir, c.Env = b.root, slices.Concat(os.Environ(), env)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return program, nil
}

// commandLine is what users run.
const commandLine = "./cmd/murksim"
