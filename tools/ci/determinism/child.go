package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
)

// childArgument makes this program a child: see [serve].
const childArgument = "child"

// A request asks a child for one run of a scenario. One without a scenario asks whether the
// child is there.
type request struct {
	Scenario string
	Ticks    uint64
	Workers  int
	From     string   // the file of a saved state to go on from; "": genesis
	SaveAt   []uint64 // ticks at which the state is saved, in rising order
	SaveIn   string   // the folder of these states
	Sweeps   bool     // without a table, so that World.Run may compute several ticks at once
	Fault    string   // one of faults; "": none
}

// An answer is what came of a request.
type answer struct {
	Table string // the hashes of all ticks
	Hash  string // of the last state
	State string // SHA-256 of the state at the end
	Error string // why there is nothing else
}

// serve answers requests, a line of JSON each, until there are no more. What crashes a run
// ends the process.
func serve(in io.Reader, out io.Writer) error {
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var a answer
		if r.Scenario != "" {
			var err error
			if a, err = r.run(); err != nil {
				a = answer{Error: err.Error()}
			}
		}
		debug.FreeOSMemory() // it may wait for long, beside others
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

// statePath names the file of a state that was saved.
func statePath(dir string, tick uint64) string {
	return filepath.Join(dir, strconv.FormatUint(tick, 10)+".state")
}

func (r *request) run() (a answer, err error) {
	run, err := r.begin()
	if err != nil {
		return a, err
	}
	w, ctx := run.World, context.Background()
	if r.Sweeps {
		err := run.To(ctx, r.Ticks)
		return answer{Hash: fmt.Sprintf("%016x", w.Hash())}, err
	}
	var table bytes.Buffer
	rows := replay.NewTableWriter(&table, w.Defs())
	w.Record(rows)
	for _, tick := range r.SaveAt {
		if err := run.To(ctx, tick); err != nil {
			return a, err
		}
		state, err := w.Save(run.Scenario.Descriptor())
		if err != nil {
			return a, err
		}
		if err := os.WriteFile(statePath(r.SaveIn, tick), engine.Seal(state), 0o666); err != nil {
			return a, err
		}
	}
	if err := run.To(ctx, r.Ticks); err != nil {
		return a, err
	}
	end, err := w.Save(run.Scenario.Descriptor())
	if err != nil {
		return a, err
	}
	err = rows.Flush()
	return answer{Table: table.String(), Hash: fmt.Sprintf("%016x", w.Hash()), State: fmt.Sprintf("%x", sha256.Sum256(end))}, err
}

// begin makes the world, at genesis or in a saved state, which must be encoded again as it was.
func (r *request) begin() (*runner.Run, error) {
	s, err := open(r.Scenario, "ticks="+strconv.FormatUint(r.Ticks, 10))
	if err != nil {
		return nil, err
	}
	var state []byte
	if r.From != "" {
		sealed, err := os.ReadFile(r.From)
		if err != nil {
			return nil, err
		}
		if state, err = engine.Unseal(sealed); err != nil {
			return nil, err
		}
	}
	run, err := r.begun(s, state)
	if err != nil || state == nil {
		return run, err
	}
	if again, err := run.World.Save(s.Descriptor()); err != nil || !bytes.Equal(again, state) {
		return nil, fmt.Errorf("what was restored is encoded otherwise (%v)", err)
	}
	return run, nil
}

// begun is [runner.New], with a fault if one is to be planted.
func (r *request) begun(s *scenarios.Scenario, state []byte) (*runner.Run, error) {
	if r.Fault == "" {
		return runner.New(runner.Config{Scenario: s, Workers: r.Workers, MaxMemory: maxMemory, State: state})
	}
	c, err := s.Config(r.Workers)
	if err != nil {
		return nil, err
	}
	c.Propagators = append(c.Propagators, faults[r.Fault]())
	var w *engine.World
	if state == nil {
		w, err = engine.New(c)
	} else {
		w, err = engine.Restore(c, s.Descriptor(), state)
	}
	return &runner.Run{Scenario: s, World: w}, err
}
