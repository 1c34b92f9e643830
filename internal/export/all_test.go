package export_test

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

// Every scenario that comes with murksim can be written as every kind of file.
func TestEveryScenario(t *testing.T) {
	for _, e := range worlds.Embedded() {
		t.Run(e.Name, func(t *testing.T) {
			s, err := worlds.Open(worlds.Registry(), e.Name)
			if err != nil {
				t.Fatal(err)
			}
			w, err := s.World(1)
			if err != nil {
				t.Fatal(err)
			}
			if err := (&runner.Run{Scenario: s, World: w}).To(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			for _, f := range export.Formats() {
				for _, entities := range []bool{false, true} {
					if entities && (s.Entities == nil || !f.Entities) || f.Ending == "mp4" || f.Ending == "yrep" && s.Entities == nil || f.Ending == "rle" && e.Name != "life" {
						continue // of films, the script exports.sh makes some
					}
					if err := addAll(s, w, f, entities); err != nil {
						t.Errorf(".%s, entities %v: %v", f.Ending, entities, err)
					}
				}
			}
		})
	}
}

// addAll writes a tick to a file that keeps nothing.
func addAll(s *scenarios.Scenario, w *engine.World, f export.Format, entities bool) error {
	p, err := export.NewPlan(s, export.Selection{Entities: entities})
	if err != nil {
		return err
	}
	look := export.Look{}
	if f.Picture {
		m, err := p.NewMeasure(look)
		if err != nil {
			return err
		}
		if m != nil {
			if err := m.Add(w); err != nil {
				return err
			}
			look.Range = m.Range()
		}
	}
	sink, err := f.Open(discard{io.Discard}, p, export.Ticks{From: w.Tick(), Every: 1, Count: 1}, look)
	if err != nil {
		return err
	}
	return errors.Join(sink.Add(w), sink.Close())
}

// No sink keeps what it has written: after 4,000 ticks it holds as much memory as after 1,000.
func TestMemory(t *testing.T) {
	const text = "murksim: 1\nname: x\nspace: {kind: square4, rows: 64, cols: 64}\nfields: [{name: a, initial: {noise: {from: 0, to: 1}}}]\nentities: {capacity: 2, kinds: [bee]}\n"
	s := parse(t, text)
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range export.Formats() {
		if f.Last || f.Ending == "mp4" {
			continue // the ones hold a single tick, the other is held by ffmpeg
		}
		p, err := export.NewPlan(s, export.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		sink, err := f.Open(discard{io.Discard}, p, export.Ticks{Every: 1, Count: 4000}, export.Look{Range: [2]float64{0, 1}, Cell: 1})
		if err != nil {
			t.Fatal(err)
		}
		var heap [2]uint64
		for tick := range 4000 {
			if err := sink.Add(w); err != nil {
				t.Fatal(err)
			}
			if tick == 999 || tick == 3999 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				heap[tick/3000] = m.HeapAlloc
			}
		}
		if err := sink.Close(); err != nil {
			t.Errorf(".%s: %v", f.Ending, err)
		}
		const slack = 2 << 20 // bytes; the ticks in between have 49 MB
		if heap[1] > heap[0]+slack {
			t.Errorf(".%s holds %d bytes after 1,000 ticks and %d after 4,000", f.Ending, heap[0], heap[1])
		}
	}
}
