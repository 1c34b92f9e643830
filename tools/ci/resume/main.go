// Command resume saves scenarios at every tick, restores each state in a process of its
// own, runs all ticks that are left there, and compares all their hashes and the state at
// the end with those of the run that was not interrupted. A restored state must also be
// encoded as it was.
//
// It is called by tools/ci/verify_determinism.sh --resume. Exit status: 0 all equal, 1
// something differs, 2 usage.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

func main() {
	ticks := flag.Uint64("ticks", 200, "how many ticks")
	every := flag.Uint64("every", 1, "restore every so many ticks, from 0 on")
	only := flag.String("restored", "", "be the process that restores: the scenario, its state on standard input")
	hidden := flag.Bool("self-test", false, "plant a memory that is no state, and check that it is caught")
	flag.Parse()
	if *ticks < 1 || *every < 1 {
		fmt.Fprintln(os.Stderr, "--ticks and --every are 1 or more")
		os.Exit(2)
	}
	var err error
	switch {
	case *only != "":
		err = restored(*only, *ticks, *hidden)
	default:
		err = all(flag.Args(), *ticks, *every, *hidden)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		os.Exit(1)
	}
}

// all checks scenarios, those that come with murksim if none are named.
func all(names []string, ticks, every uint64, hidden bool) error {
	if hidden {
		names = []string{"heat"}
	} else if len(names) == 0 {
		for _, info := range worlds.Embedded() {
			names = append(names, info.Name)
		}
	}
	fmt.Printf("%-15s %9s  %9s  %9s  %12s  %s\n", "scenario", "ticks", "restored", "compared", "field hashes", "result")
	bad := 0
	for _, name := range names {
		r, err := check(name, ticks, every, hidden)
		result := "equal"
		if err != nil {
			result = err.Error()
			bad++
		}
		fmt.Printf("%-15s %9d  %9d  %9d  %12d  %s\n", name, ticks, r.restored, r.ticks, r.hashes, result)
	}
	switch {
	case hidden && bad == 0:
		return errors.New("the hidden memory was not caught")
	case hidden:
		fmt.Println("self-test: the hidden memory was caught")
	case bad > 0:
		return fmt.Errorf("%d of %d scenarios differ", bad, len(names))
	default:
		fmt.Printf("%d of %d scenarios go on as if they had not been saved\n", len(names), len(names))
	}
	return nil
}

// A report is how much was compared.
type report struct{ restored, ticks, hashes uint64 }

// check runs a scenario, and once more from each of its states.
func check(name string, ticks, every uint64, hidden bool) (r report, err error) {
	s, err := open(name, ticks)
	if err != nil {
		return r, err
	}
	c, err := config(s, 1, hidden)
	if err != nil {
		return r, err
	}
	w, err := engine.New(c)
	if err != nil {
		return r, err
	}
	var table bytes.Buffer
	rows := replay.NewTableWriter(&table, w.Defs())
	w.Record(rows)
	run := runner.Run{Scenario: s, World: w}
	var states [][]byte
	for tick := uint64(0); ; tick = min(tick+every, ticks) {
		if err := run.To(context.Background(), tick); err != nil {
			return r, err
		}
		state, err := w.Save(s.Descriptor())
		if err != nil {
			return r, err
		}
		if states = append(states, state); tick == ticks {
			break
		}
	}
	if err := rows.Flush(); err != nil {
		return r, err
	}
	lines := strings.SplitAfter(table.String(), "\n")[1:]
	last := states[len(states)-1]
	for i, state := range states[:len(states)-1] {
		want := strings.Join(lines[uint64(i)*every:], "")
		r.restored++
		if err := inProcess(name, ticks, state, want, last, hidden); err != nil {
			return r, fmt.Errorf("restored at tick %d: %w", uint64(i)*every, err)
		}
		n := ticks - uint64(i)*every
		r.ticks, r.hashes = r.ticks+n, r.hashes+n*uint64(len(w.Defs()))
	}
	return r, nil
}

func open(name string, ticks uint64) (*scenarios.Scenario, error) {
	return worlds.Open(worlds.Registry(), name, "ticks="+strconv.FormatUint(ticks, 10))
}

// config returns the scenario's, with a hidden memory or without.
func config(s *scenarios.Scenario, workers int, hidden bool) (engine.Config, error) {
	c, err := s.Config(workers)
	if hidden {
		c.Propagators = append(c.Propagators, &memory{})
	}
	return c, err
}

// A memory writes how often it was called, which no state holds, into the first field.
type memory struct{ calls float32 }

func (m *memory) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "memory", Incremental: engine.Fields(0)}
}

func (m *memory) Step(c *engine.Context) error {
	m.calls++
	c.Next(0)[0] = m.calls / 1024 // within the scenario's bounds
	return nil
}

// inProcess lets a new process go on from a state, and compares the hashes of its ticks,
// which it prints with the state at the end behind them.
func inProcess(name string, ticks uint64, state []byte, want string, last []byte, hidden bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, "-restored", name, "-ticks", strconv.FormatUint(ticks, 10), fmt.Sprintf("-self-test=%v", hidden))
	var errs strings.Builder
	c.Stdin, c.Stderr = bytes.NewReader(state), &errs
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(errs.String()))
	}
	_, got, _ := bytes.Cut(out, []byte("\n")) // the head names the columns
	if end, ok := bytes.CutPrefix(got, []byte(want)); ok && bytes.Equal(end, last) {
		return nil
	} else if ok {
		return errors.New("the hashes are equal, but the state at the end is not")
	}
	wanted := strings.SplitAfter(want, "\n")
	for i, line := range strings.SplitAfter(string(got), "\n") {
		if i >= len(wanted) || line != wanted[i] {
			return fmt.Errorf("%.200q, want %.200q", line, wanted[min(i, len(wanted)-1)])
		}
	}
	return errors.New("ticks are missing")
}

// restored is the other process: it goes on from the state on standard input.
func restored(name string, ticks uint64, hidden bool) error {
	s, err := open(name, ticks)
	if err != nil {
		return err
	}
	state, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	c, err := config(s, runtime.NumCPU(), hidden)
	if err != nil {
		return err
	}
	w, err := engine.Restore(c, s.Descriptor(), state)
	if err != nil {
		return err
	}
	if again, err := w.Save(s.Descriptor()); err != nil || !bytes.Equal(again, state) {
		return fmt.Errorf("what was restored is encoded otherwise (%v)", err)
	}
	rows := replay.NewTableWriter(os.Stdout, w.Defs())
	w.Record(rows)
	if err := (&runner.Run{Scenario: s, World: w}).To(context.Background(), ticks); err != nil {
		return err
	}
	end, err := w.Save(s.Descriptor())
	if err != nil {
		return err
	}
	if err := rows.Flush(); err != nil {
		return err
	}
	_, err = os.Stdout.Write(end)
	return err
}
