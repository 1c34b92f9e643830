package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// counted is a propagator that does nothing and notes when its scenario is read.
type counted struct{ read func() }

// Check implements [scenarios.ParamsChecker].
func (p *counted) Check(*scenarios.Builder) error { p.read(); return nil }

// Propagator implements [scenarios.PropagatorMaker].
func (p *counted) Propagator(_ *scenarios.Builder, name string) (engine.Propagator, error) {
	return idle(name), nil
}

type idle string

// Spec implements [engine.Propagator].
func (p idle) Spec(*space.Lattice) engine.Spec { return engine.Spec{Name: string(p)} }

// Step implements [engine.Propagator].
func (p idle) Step(*engine.Context) error { return nil }

// TestInterruptedExplanation: Ctrl-C ends a run whose state is of another scenario while the
// scenario is read again and again to find out what differs.
func TestInterruptedExplanation(t *testing.T) {
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	var reads atomic.Int64
	last := int64(1000)
	program := Program{Components: []scenarios.Component{{
		Name: "counted", Version: 1, About: "counts.", Params: func() any {
			return &counted{func() {
				if reads.Add(1) == last {
					interrupt()
				}
			}}
		},
	}}}
	run := func(args ...string) (status int, errs string) {
		reads.Store(0)
		var e bytes.Buffer
		status = program.run(ctx, append([]string{"run", "--no-record", "-q"}, args...), nil, new(bytes.Buffer), &e)
		return status, e.String()
	}
	file := func(name string) string {
		path := filepath.Join(dir, name+".yaml")
		text := fmt.Sprintf("murksim: 1\nname: %s\nticks: 3\nspace: {kind: ring, length: 4}\nfields: [{name: a}]\npropagators: [{counted: {}}]\n", name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	state := filepath.Join(dir, "a.state")
	if status, errs := run(file("one"), "--until", "1", "--save-state", state); status != report.StatusOK {
		t.Fatal(errs)
	}
	args := []string{file("two"), "--state", state}
	for seed := range 16 {
		args = append(args, "--set", fmt.Sprintf("seed=%d", seed+1))
	}
	if status, errs := run(args...); status != report.StatusError || reads.Load() < 10 {
		t.Fatalf("it is read %d times, want many: status %d, %s", reads.Load(), status, errs)
	}
	last = 3
	status, errs := run(args...)
	if want := "two: interrupted before the first tick\n"; status != report.StatusError || errs != want || reads.Load() > last+1 { // with values to set, one reading is two
		t.Errorf("interrupted in the second reading: status %d, %q after %d times; want %q at once", status, errs, reads.Load(), want)
	}
}
