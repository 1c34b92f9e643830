package index_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// BenchmarkRecording records 2,000 ticks, with an index and without.
func BenchmarkRecording(b *testing.B) {
	for _, c := range []struct {
		name string
		sets []string
	}{
		{"life", nil}, {"heat", nil}, {"predators", nil},
		{"heat", []string{"space.rows=1024", "space.cols=1024", "ticks=100", "expect=[]"}},
	} {
		for _, how := range []string{"plain", "indexed"} {
			b.Run(c.name+"/"+how, func(b *testing.B) {
				s, err := worlds.Open(worlds.Registry(), c.name, c.sets...)
				if err != nil {
					b.Fatal(err)
				}
				ticks, bytes := uint64(0), int64(0)
				for b.Loop() {
					w, err := s.World(1)
					if err != nil {
						b.Fatal(err)
					}
					rec, err := replay.NewRecorder(io.Discard, w, s.Descriptor())
					if err != nil {
						b.Fatal(err)
					}
					h := replay.HeaderOf(w, s.Descriptor())
					list := []engine.Settler{rec}
					size := &counter{}
					if how == "indexed" {
						idx, err := index.NewRecorder(size, w, &h, rec, index.Options{Key: key})
						if err != nil {
							b.Fatal(err)
						}
						defer idx.Close()
						list = append(list, idx)
					}
					w.Record(engine.Recorders(list...))
					for w.Tick() < s.Ticks {
						for _, c := range s.CommandsAt(w.Tick() + 1) {
							_, _ = w.Submit(c)
						}
						if _, err := w.Step(); err != nil {
							b.Fatal(err)
						}
					}
					if err := rec.Flush(); err != nil {
						b.Fatal(err)
					}
					ticks += w.Tick()
					bytes = size.n
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ticks), "ns/tick")
				b.ReportMetric(float64(bytes)/float64(s.Ticks), "B/tick")
			})
		}
	}
}

type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) { c.n += int64(len(b)); return len(b), nil }

const life64 = `murksim: 1
name: life64
seed: 7
ticks: 1000000
tick_rate: 10
space: {kind: square8, rows: 64, cols: 64, edge: wrap}
fields:
  - name: cell
    type: categorical
    values: [dead, alive]
    initial:
      - {choice: {values: [dead, alive], weights: [5, 2]}}
propagators:
  - automaton: {field: cell, rule: B3/S23}
`

// BenchmarkSeek goes to ticks of a recording of life on 64×64 with a million ticks.
func BenchmarkSeek(b *testing.B) {
	const ticks = 1_000_000
	s, err := yaml.Parse(worlds.Registry(), "life64", nil, []byte(life64))
	if err != nil {
		b.Fatal(err)
	}
	var recording, file bytes.Buffer
	w, err := s.World(1)
	if err != nil {
		b.Fatal(err)
	}
	rec, err := replay.NewRecorder(&recording, w, s.Descriptor())
	h := replay.HeaderOf(w, s.Descriptor())
	idx, err2 := index.NewRecorder(&file, w, &h, rec, index.Options{Key: key})
	if err := errors.Join(err, err2); err != nil {
		b.Fatal(err)
	}
	w.Record(engine.Recorders(rec, idx))
	for w.Tick() < ticks {
		for _, c := range s.CommandsAt(w.Tick() + 1) {
			_, _ = w.Submit(c)
		}
		if _, err := w.Step(); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(rec.Flush(), idx.Close()); err != nil {
		b.Fatal(err)
	}
	tick := uint64(1)
	for b.Loop() {
		tick = (tick*6364136223846793005 + 1442695040888963407) % ticks
		x, err := index.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			b.Fatal(err)
		}
		x.Trust(key)
		p, _, err := index.Seek(bytes.NewReader(recording.Bytes()), int64(recording.Len()), x, func(*replay.Header) (*engine.World, error) { return s.World(1) }, tick, false, nil)
		if err != nil || p.World.Tick() != tick {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(file.Len())/ticks, "B/tick")
	x, _ := index.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	b.ReportMetric(float64(len(x.Keyframes())), "keyframes")
}
