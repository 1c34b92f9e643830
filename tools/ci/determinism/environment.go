package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// An environment is a column: how a program is built, and what runs it.
type environment struct {
	name     string
	arch     string   // empty: it always comes along, natively
	env      []string // of the build, beside GOOS and CGO_ENABLED
	race     bool
	workers  int
	emulator []string // in front of the program
	needs    []string // programs, instead of the emulator
	pack     string   // the Debian packages that have them
	optional bool     // if this processor lacks what it needs, it is left out
	fuses    bool     // the compiler may turn a product and a sum into one operation

	program       string // this one, built for the environment
	left          string // why it does not run, if it does not
	differed      bool
	ticks, hashes uint64 // compared

	mu      sync.Mutex
	free    []*child      // processes that have answered
	started int           // processes
	seconds time.Duration // processor time of those that have ended
}

const reference = "amd64"

// environments returns all columns, for a repository's root. A function, since runs count in them.
func environments(root string) []*environment {
	qemu := func(arch, name string) *environment {
		return &environment{name: arch, arch: arch, env: []string{"GOARCH=" + arch}, workers: 1, fuses: true,
			emulator: []string{"qemu-" + name + "-static"}, pack: "qemu-user-static"}
	}
	v1 := []string{"GOARCH=amd64", "GOAMD64=v1"}
	return []*environment{
		{name: reference, env: v1, workers: 1},
		{name: "2workers", env: v1, workers: 2},
		{name: "8workers", env: v1, workers: 8},
		{name: "v3", env: []string{"GOARCH=amd64", "GOAMD64=v3"}, workers: 1, optional: true, fuses: true},
		{name: "race", env: v1, workers: 4, race: true},
		{name: "386", arch: "386", env: []string{"GOARCH=386"}, workers: 1},
		qemu("arm64", "aarch64"),
		qemu("riscv64", "riscv64"),
		qemu("s390x", "s390x"),
		qemu("ppc64le", "ppc64le"),
		{name: "wasm", arch: "wasm", env: []string{"GOOS=wasip1", "GOARCH=wasm"}, workers: 1,
			emulator: []string{"node", "--no-warnings", filepath.Join(root, "tools/ci/wasi.mjs")}, pack: "nodejs"},
		{name: "windows", arch: "windows", env: []string{"GOOS=windows", "GOARCH=amd64", "GOAMD64=v1"}, workers: 2,
			emulator: []string{filepath.Join(root, "tools/ci/wine.sh")}, needs: []string{"wine", "x86_64-w64-mingw32-gcc"}, pack: "wine64 wine gcc-mingw-w64-x86-64-win32"},
	}
}

// choose picks the environments of a list of processors, or of all, and those that
// always come along.
func choose(root, list string) ([]*environment, error) {
	var names, known []string
	if list != "all" {
		names = strings.Split(list, ",")
	}
	var chosen []*environment
	for _, e := range environments(root) {
		if e.arch == "" || list == "all" || slices.Contains(names, e.arch) {
			chosen = append(chosen, e)
		}
		if e.arch != "" {
			known = append(known, e.arch)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--arch: %q is none of %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// missing names the packages to install.
func missing(list []*environment) error {
	var lines []string
	for _, e := range list {
		needs := e.needs
		if needs == nil && len(e.emulator) > 0 {
			needs = e.emulator[:1]
		}
		for _, program := range needs {
			if _, err := exec.LookPath(program); err != nil {
				lines = append(lines, fmt.Sprintf("%s needs %s: apt-get install %s", e.name, program, e.pack))
			}
		}
		if e.race {
			if _, err := exec.LookPath("gcc"); err != nil {
				lines = append(lines, fmt.Sprintf("%s needs gcc: apt-get install gcc", e.name))
			}
		}
	}
	if lines != nil {
		return fmt.Errorf("emulators or compilers are missing\n  %s", strings.Join(lines, "\n  "))
	}
	return nil
}

// variables of the build and of the start.
func (e *environment) variables() []string {
	cgo := "CGO_ENABLED=0"
	if e.race {
		cgo = "CGO_ENABLED=1"
	}
	return slices.Concat([]string{"GOOS=linux", cgo}, e.env)
}

// compile returns the program of a package for the environment. Environments that are built
// alike share it.
func (e *environment) compile(b builder, pack string) (string, error) {
	kind, flags := strings.Join(e.env, "."), []string(nil)
	if e.race {
		kind, flags = kind+".race", []string{"-race"}
	}
	program, err := b.build(filepath.Base(pack)+"."+kind, pack, e.variables(), flags...)
	if err != nil {
		return "", fmt.Errorf("%s: %w", e.name, err)
	}
	return program, nil
}

// command returns a program with arguments, behind the emulator. A race ends it at once.
func (e *environment) command(program string, args ...string) *exec.Cmd {
	all := slices.Concat(e.emulator, []string{program}, args)
	c := exec.Command(all[0], all[1:]...)
	c.Env = append(os.Environ(), "GORACE=halt_on_error=1 atexit_sleep_ms=0")
	return c
}

// take returns a child that is free, or a new one.
func (e *environment) take() (*child, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.free); n > 0 {
		c := e.free[n-1]
		e.free = e.free[:n-1]
		return c, nil
	}
	e.started++
	return begin(e.command(e.program, childArgument))
}

// ask runs a request in one of the environment's processes.
func (e *environment) ask(r request) (answer, error) {
	c, err := e.take()
	if err != nil {
		return answer{}, err
	}
	a, err := c.ask(r)
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ended := errors.AsType[*crash](err); ended {
		e.seconds += c.seconds()
	} else {
		e.free = append(e.free, c)
	}
	return a, err
}

// end ends the environment's processes.
func (e *environment) end() error {
	var all error
	for _, c := range e.free {
		all = errors.Join(all, c.end())
		e.seconds += c.seconds()
	}
	e.free = nil
	return all
}

// works tries whether programs of the environment run here at all.
func (e *environment) works() bool {
	if _, err := e.ask(request{}); err != nil {
		e.left = err.Error()
	}
	return e.left == ""
}

// processor says what the environment runs on.
func (e *environment) processor() string {
	if len(e.emulator) == 0 {
		return model()
	}
	out, err := exec.Command(e.emulator[0], "--version").Output()
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if _, version, ok := strings.Cut(line, " version "); ok {
		line, _, _ = strings.Cut(version, " ")
	}
	return fmt.Sprintf("%s, emulated by %s %s", e.arch, strings.TrimSuffix(e.emulator[0], "-static"), line)
}

// model returns the name of this computer's processor.
func model() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
