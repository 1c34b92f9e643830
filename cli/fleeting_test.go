package cli

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"log"
	"os"
	"strings"
	"sync/atomic"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// fleetingMain is a program with a propagator and a handler whose faults, as the environment variable FLEETING says, leave a trace in tick 33
// alone, unless they stay. Called with play FILE it records a game of w.yaml, in which player 1 gives an order in that tick.
func fleetingMain() {
	p := Program{Name: "fleeting", Components: []scenarios.Component{{Name: "fleeting", Version: 1, About: "Does what FLEETING says.", Params: func() any { return new(fleetingParams) }}}}
	if len(os.Args) == 3 && os.Args[1] == "play" {
		if err := play(p, os.Args[2]); err != nil {
			log.Fatal(err)
		}
		return
	}
	Main(p)
}

// fleetingTick is the tick in which something fleeting shows.
const fleetingTick = 33

func play(p Program, to string) error {
	s, err := p.Scenario("w.yaml", nil, 0)
	if err != nil {
		return err
	}
	w, err := s.World(1)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	r, err := replay.NewRecorder(&b, w, s.Descriptor())
	if err != nil {
		return err
	}
	w.Record(r)
	run := &runner.Run{Scenario: s, World: w}
	err = run.To(context.Background(), fleetingTick-1)
	_, refused := w.Submit(commands.Custom(77, []byte("attack")).From(1, 1))
	if err = errors.Join(err, refused); err == nil {
		err = errors.Join(run.To(context.Background(), s.Ticks), r.Flush())
	}
	return errors.Join(err, os.WriteFile(to, b.Bytes(), 0o666))
}

type fleetingParams struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"What it changes."`
}

// Propagator implements [scenarios.PropagatorMaker].
func (p *fleetingParams) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return &fleeting{name: name, field: b.Field(p.Field), mode: os.Getenv("FLEETING")}, nil
}

// Handlers implements [scenarios.HandlerMaker].
func (p *fleetingParams) Handlers(b *scenarios.Builder) ([]engine.Handler, error) {
	return []engine.Handler{attack{b.Field(p.Field), os.Getenv("FLEETING")}}, nil
}

// seedOfProcess is another one in each process.
var seedOfProcess = maphash.MakeSeed()

func ofProcess() float32 { return float32(maphash.String(seedOfProcess, "lightning")%100_000 + 10) }

// rounds counts the ticks of all worlds of this process.
var rounds atomic.Int32

// A fleeting propagator makes its first three values anew in each tick.
type fleeting struct {
	name  string
	field fields.ID
	mode  string
	calls float32
}

// Spec implements [engine.Propagator].
func (p *fleeting) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: p.name, Incremental: engine.Fields(p.field)}
}

// Step implements [engine.Propagator].
func (p *fleeting) Step(c *engine.Context) error {
	p.calls++
	count, next := float32(rounds.Add(1)), c.Next(p.field)
	next[0]++ // which stays
	next[2] = 0
	if c.Tick() != fleetingTick {
		if !strings.HasSuffix(p.mode, "stays") { // the trace of an order
			next[5] = 0
		}
		return nil
	}
	switch p.mode {
	case "process":
		next[2] = ofProcess()
	case "old":
		next[2] = 1
	case "new":
		next[2] = 2
	case "memory":
		next[2] = p.calls
	case "memory of a second round":
		next[2] = p.calls + 100
	case "package":
		next[2] = count
	case "package in a second round":
		next[2] = count + 100
	}
	return nil
}

// An attack is the order of a player.
type attack struct {
	field fields.ID
	mode  string
}

// Type implements [engine.Handler].
func (attack) Type() uint32 { return 77 }

// Handle implements [engine.Handler].
func (a attack) Handle(c *engine.HandlerContext, _ []byte) commands.Reason {
	strength := 10.0
	switch a.mode {
	case "new order", "new order that stays":
		strength = 12
	case "order of the process", "order of the process that stays":
		strength = float64(ofProcess())
	}
	return c.Set(a.field, 5, strength)
}
