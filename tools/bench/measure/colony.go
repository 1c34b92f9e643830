package measure

import (
	"io"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

// recordColony measures what recording adds to the processor time of a whole run of the
// scenario colony, whose ticks change a little of many fields.
func recordColony(r *run) ([]reading, error) {
	s, err := worlds.Open(worlds.Registry(), "colony")
	if err != nil {
		return nil, err
	}
	genesis, err := s.World(1)
	if err != nil {
		return nil, err
	}
	recorded, err := genesis.Fork()
	if err != nil {
		return nil, err
	}
	plain, err := genesis.Fork()
	if err != nil {
		return nil, err
	}
	table, err := r.processorRounds(
		again(genesis, recorded, func(w *engine.World) error { return tapeOf(w, s) }),
		again(genesis, plain, func(w *engine.World) error { return w.Run(s.Ticks) }),
	)
	return readings(table, func(t []float64) reading { return reading{t[0] * 1e3, t[1] * 1e3, t[0] / t[1]} }), err
}

// again is a contender that runs a fork from its beginning.
func again(genesis, fork *engine.World, run func(*engine.World) error) contender {
	return timed(func(n int) error {
		for range n {
			if err := genesis.ForkInto(fork); err != nil {
				return err
			}
			if err := run(fork); err != nil {
				return err
			}
		}
		return nil
	})
}

// tapeOf runs a scenario's world to its end and records it to nowhere.
func tapeOf(w *engine.World, s *scenarios.Scenario) error {
	rec, err := replay.NewRecorder(io.Discard, w, s.Descriptor())
	if err != nil {
		return err
	}
	w.Record(rec)
	defer w.Record(nil)
	if err := w.Run(s.Ticks); err != nil {
		return err
	}
	return rec.Flush()
}
