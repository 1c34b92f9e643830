package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A subject is a run that is killed again and again.
type subject struct {
	args  []string
	from  uint64        // the tick of the state at which it begins; 0: genesis
	whole []byte        // its recording
	takes time.Duration // in one go
}

func subjects() []*subject {
	return []*subject{
		{args: []string{"heat", "--ticks", "300"}},
		{args: []string{"life", "--ticks", "400"}},
		{args: []string{"predators", "--ticks", "60"}},
		{args: []string{"bodies", "--ticks", "120"}},
		{args: []string{"predators", "--ticks", "90"}, from: 40},
	}
}

// killer kills the processes of one program in one folder.
type killer struct {
	*table
	program, dir string
	rng          *rand.Rand
	left         int // processes that are still to be killed
}

// kill kills so many processes at random moments, and goes on with what they leave.
func kill(t *table, program string, n int, seed uint64) error {
	dir, err := os.MkdirTemp("", "torture")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	k := &killer{t, program, dir, rand.New(rand.NewPCG(seed, 1)), n}
	list := subjects()
	for _, s := range list {
		if err := k.measure(s); err != nil {
			return err
		}
	}
	for i := 0; k.left > 0; i++ {
		if err := k.torment(list[i%len(list)]); err != nil {
			return fmt.Errorf("murksim run %q, %d kills before the end of seed %d: %w", list[i%len(list)].args, k.left, seed, err)
		}
	}
	return nil
}

func (k *killer) file(name string) string { return filepath.Join(k.dir, name) }

// murksim runs a command to its end.
func (k *killer) murksim(args ...string) (status int, out string, err error) {
	c := exec.Command(k.program, args...)
	c.Dir = k.dir
	b, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return exit.ExitCode(), string(b), nil
	}
	return 0, string(b), err
}

// measure makes the recording of a run in one go.
func (k *killer) measure(s *subject) (err error) {
	if s.from > 0 {
		state := s.args[0] + ".state"
		args := append([]string{"run", "-q", "--no-record", "--until", fmt.Sprint(s.from), "--save-state", state}, s.args...)
		if status, out, err := k.murksim(args...); status != 0 || err != nil {
			return fmt.Errorf("murksim %q = %d, %w\n%s", args, status, err, out)
		}
		s.args = append(s.args, "--state", state)
	}
	began := time.Now()
	if status, out, err := k.murksim(append([]string{"run", "-q", "-o", "whole.murk"}, s.args...)...); status != 0 || err != nil {
		return fmt.Errorf("murksim run %q = %d, %w\n%s", s.args, status, err, out)
	}
	s.takes = time.Since(began)
	s.whole, err = os.ReadFile(k.file("whole.murk"))
	return err
}

// torment begins a run, kills it, and goes on with it until it is whole; some of those are
// killed, too.
func (k *killer) torment(s *subject) error {
	for _, name := range []string{"k.murk", "k.murk.idx"} {
		os.Remove(k.file(name))
	}
	sync := [][]string{nil, {"--sync=1"}, {"--sync=7"}, {"--no-index"}}[k.rng.IntN(4)]
	args := append(append([]string{"run", "--json", "-o", "k.murk"}, s.args...), sync...)
	safe := uint64(0)
	for {
		died, tick, err := k.murder(args, s.takes)
		if err != nil {
			return err
		}
		safe = max(safe, tick)
		b, err := os.ReadFile(k.file("k.murk"))
		if errors.Is(err, os.ErrNotExist) && safe == 0 {
			k.count("killed before there was a recording")
			return nil
		}
		if err != nil {
			return err
		}
		if !died {
			return k.whole(b, s)
		}
		if err := k.recovers(b, s, safe); err != nil {
			return err
		}
		args = append([]string{"run", "--json", "--resume", "k.murk"}, sync...)
		if k.left == 0 || k.rng.IntN(2) == 0 {
			if status, out, err := k.murksim(args...); status != 0 || err != nil {
				return fmt.Errorf("%q = %d, %w\n%s", args, status, err, out)
			}
			if b, err = os.ReadFile(k.file("k.murk")); err != nil {
				return err
			}
			return k.whole(b, s)
		}
	}
}

// murder starts a command and kills it at a moment within the time that a whole run takes.
// It returns whether that came before its end, and the last tick that was said to be safe.
func (k *killer) murder(args []string, takes time.Duration) (died bool, safe uint64, err error) {
	c := exec.Command(k.program, args...)
	c.Dir = k.dir
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err != nil {
		return false, 0, err
	}
	if err := c.Start(); err != nil {
		return false, 0, err
	}
	stop := time.AfterFunc(time.Duration(k.rng.Int64N(int64(takes)*5/4)), func() { c.Process.Kill() })
	defer stop.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var line struct {
			Event string
			Tick  uint64
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Event == "durable" {
			safe = line.Tick
		}
	}
	err = c.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return false, safe, nil
	case ok && !exit.Exited():
		k.left--
		return true, safe, nil
	}
	return false, safe, fmt.Errorf("%q: %w\n%s", args, err, errs.String())
}

// recovers checks that what is whole of a recording is a prefix of the whole one, with every
// tick that was safe.
func (k *killer) recovers(b []byte, s *subject, safe uint64) error {
	status, out, err := k.murksim("recover", "--json", "--force", "k.murk", "-o", "r.murk")
	if err != nil || status != 0 && status != 3 {
		return fmt.Errorf("recover = %d, %w\n%s", status, err, out)
	}
	var r struct{ Ticks uint64 }
	if err := json.NewDecoder(bytes.NewReader([]byte(out))).Decode(&r); err != nil {
		return err
	}
	left, err := os.ReadFile(k.file("r.murk"))
	switch {
	case err != nil:
		return err
	case !bytes.HasPrefix(s.whole, left) || !bytes.HasPrefix(b, left):
		return errors.New("what is recovered is no prefix of the whole recording")
	case s.from+r.Ticks < safe:
		return fmt.Errorf("tick %d was safe on the disk; the last one that is left is tick %d", safe, s.from+r.Ticks)
	}
	k.count(map[int]string{0: "killed between two frames: a prefix", 3: "killed within a frame: a prefix before it"}[status])
	if k.rng.IntN(8) > 0 || r.Ticks == 0 {
		return nil
	}
	if status, out, err := k.murksim("verify", "r.murk"); status != 0 || err != nil {
		return fmt.Errorf("verify = %d, %w\n%s", status, err, out)
	}
	tick := fmt.Sprint(s.from + k.rng.Uint64N(r.Ticks) + 1)
	if status, out, err := k.murksim("seek", "r.murk", "--tick", tick); status != 0 || err != nil {
		return fmt.Errorf("seek to tick %s = %d, %w\n%s", tick, status, err, out)
	}
	k.of("of these verified, and sought with the index")
	return nil
}

// whole checks that a recording is that of the run in one go.
func (k *killer) whole(b []byte, s *subject) error {
	if !bytes.Equal(b, s.whole) {
		return errors.New("the recording at the end is not that of a run in one go")
	}
	k.count("gone on with to the end: the same bytes as in one go")
	return nil
}
