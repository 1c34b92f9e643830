// Command planted runs a scenario with a fault in it, on purpose: a propagator whose
// result depends on the order in which Go walks a map, or on whether the processor
// fuses a product and a sum. The determinism script must notice. It exists for that
// script's self-tests and for nothing else.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

// fromTick is the first tick at which the fault shows.
const fromTick = 20

// mapOrder adds up numbers in the order of a map, which differs from run to run.
type mapOrder struct{ field fields.ID }

func (m mapOrder) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "planted", Incremental: engine.Fields(m.field)}
}

func (m mapOrder) Step(c *engine.Context) error {
	if c.Tick() < fromTick {
		return nil
	}
	terms := map[int]float32{}
	for i := range 64 {
		terms[i] = 1 / float32(1+i*i*i)
	}
	var sum float32
	for _, v := range terms {
		sum += v
	}
	c.Next(m.field)[0] = sum / 4 // within every scenario's bounds
	return nil
}

// fused adds products that are not rounded first, which some processors do in one
// operation.
type fused struct{ field fields.ID }

func (f fused) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "planted", Incremental: engine.Fields(f.field)}
}

func (f fused) Step(c *engine.Context) error {
	if c.Tick() < fromTick {
		return nil
	}
	var sum float32
	for i := range uint64(64) {
		sum += 1 / float32(1+i*i) * (1 / float32(c.Tick()+i)) // sic: the product is not rounded
	}
	c.Next(f.field)[0] = sum // within every scenario's bounds
	return nil
}

func main() {
	fault := flag.String("fault", "order", "order, of a map; or fused, a product")
	name := flag.String("scenario", "heat", "which scenario")
	ticks := flag.Uint64("ticks", 100, "how many ticks")
	workers := flag.Int("workers", 1, "goroutines")
	hashes := flag.String("hashes", "", "the table of hashes to write")
	flag.Parse()
	if err := run(*name, *ticks, *workers, *hashes, *fault); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string, ticks uint64, workers int, path, fault string) error {
	s, err := worlds.Open(worlds.Registry(), name)
	if err != nil {
		return err
	}
	c, err := s.Config(workers)
	if err != nil {
		return err
	}
	planted := engine.Propagator(mapOrder{0})
	if fault == "fused" {
		planted = fused{0}
	}
	c.Propagators = append(c.Propagators, planted)
	w, err := engine.New(c)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	table := replay.NewTableWriter(f, w.Defs())
	w.Record(table)
	if err := (&runner.Run{Scenario: s, World: w}).To(context.Background(), ticks); err != nil {
		return err
	}
	return table.Flush()
}
