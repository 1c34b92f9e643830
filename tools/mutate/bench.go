package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A bench runs tests on changed programs.
type bench struct {
	module  string
	dir     string // for overlays
	also    []string
	workers int
	limits  map[string]time.Duration // by package to change: what the tests may take
}

// newBench runs the tests of the packages of all changes without any change: they must
// pass, and show how long they take.
func newBench(l *loaded, o options, changes []*change) (*bench, error) {
	limitMemory()
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	b := &bench{module: l.module, dir: dir, workers: o.workers, limits: map[string]time.Duration{}}
	if o.also != "" {
		b.also = strings.Split(o.also, ",")
	}
	for _, c := range changes {
		if _, known := b.limits[c.pkg.path]; known {
			continue
		}
		begun := time.Now()
		for _, group := range b.groups(c.pkg) {
			if out, err := b.test([]string{"-count=1"}, group); err != nil {
				b.close()
				return nil, fmt.Errorf("the tests of %s fail without any change:\n%s", strings.Join(group, " "), out)
			}
		}
		const times = 4
		b.limits[c.pkg.path] = o.timeout + times*time.Since(begun)
	}
	return b, nil
}

func (b *bench) close() { os.RemoveAll(b.dir) }

// groups returns the packages whose tests run on a change of p: its own, then those that
// guard it.
func (b *bench) groups(p *pkg) [][]string {
	others := slices.Clone(b.also)
	for _, g := range guards[p.below] {
		others = append(others, b.module+"/"+g)
	}
	if len(others) == 0 {
		return [][]string{{p.path}}
	}
	return [][]string{{p.path}, others}
}

// test runs the tests of packages and returns what they print.
func (b *bench) test(flags, packages []string) ([]byte, error) {
	args := slices.Concat([]string{"test", "-short", "-failfast", "-vet=off"}, flags, packages)
	return exec.Command("go", args...).CombinedOutput()
}

// tryAll tries the changes, several at a time, as long as more allows it, and hands each to
// done, one after another.
func (b *bench) tryAll(changes []*change, more func(*change) bool, done func(*change) error) error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var first error
	todo := make(chan *change)
	for i := range b.workers {
		wait.Go(func() {
			for c := range todo {
				err := b.try(c, filepath.Join(b.dir, fmt.Sprint(i)))
				mu.Lock()
				if err == nil {
					err = done(c)
				}
				if first == nil {
					first = err
				}
				mu.Unlock()
			}
		})
	}
	for _, c := range changes {
		mu.Lock()
		stop := first != nil || !more(c)
		mu.Unlock()
		if stop {
			break
		}
		todo <- c
	}
	close(todo)
	wait.Wait()
	return first
}

// try finds the outcome of a change. Files for the overlay are named from prefix on.
func (b *bench) try(c *change, prefix string) error {
	changed, overlay := prefix+".go", prefix+".json"
	if err := os.WriteFile(changed, c.source(), 0o600); err != nil {
		return err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {c.pkg.paths[c.index]: changed}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return err
	}
	flags := []string{"-overlay=" + overlay, "-timeout=" + b.limits[c.pkg.path].String()}
	c.Outcome = survived
	for _, group := range b.groups(c.pkg) {
		if out, err := b.test(flags, group); err != nil {
			c.Outcome = judge(out)
			break
		}
	}
	return nil
}

// judge says from the output of tests why they failed.
func judge(out []byte) outcome {
	switch {
	case bytes.Contains(out, []byte("[build failed]")):
		return notBuilt
	case bytes.Contains(out, []byte("panic: test timed out after ")):
		return timedOut
	}
	return caught
}
