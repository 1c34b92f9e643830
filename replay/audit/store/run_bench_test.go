package store_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// small is a world whose ticks are so short that only their chain counts.
const small = `murksim: 1
name: small
ticks: 1000000
space: {kind: line, length: 8}
fields:
  - {name: heat, initial: 1}
propagators:
  - diffusion: {field: heat, rate: 0.1}
`

// rowOf is the row of a run of a scenario.
func rowOf(s *scenarios.Scenario, n byte) *audit.Run {
	return &audit.Run{
		ID: audit.ID{n}, Seed: s.Seed, Rate: audit.Rate{Num: 20, Den: 1}, Rules: engine.RulesVersion, Format: audit.StateFormat, Generator: s.Generator,
		Genesis: s.Descriptor(), Digest: sha256.Sum256(s.Descriptor()),
	}
}

// play runs a scenario to its end, with a chain if there is a writer, and returns how long that took.
func play(b *testing.B, s *scenarios.Scenario, w *store.Writer) time.Duration {
	b.Helper()
	world, err := s.World(0)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	end := func() error { return nil }
	if w != nil {
		r, err := audit.NewRecorder(w, world, s.Descriptor(), audit.DefaultEvery)
		if err != nil {
			b.Fatal(err)
		}
		world.Record(r)
		end = r.Close
	}
	if err := errors.Join((&runner.Run{Scenario: s, World: world}).To(ctx, s.Ticks), end()); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// BenchmarkRun says what a chain costs colony at its default size: the time of a run with it by that of one without, side by side. The aim is
// 1.15 with SQLite and 1.25 with Postgres.
func BenchmarkRun(b *testing.B) {
	s, err := worlds.Open(worlds.Registry(), "colony", "expect=[]")
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range append([]database{sqliteFile}, servers()...) {
		b.Run(d.name, func(b *testing.B) {
			db := open(b, d.fresh(b))
			var plain, audited time.Duration
			n := byte(0)
			for b.Loop() {
				n++
				r := rowOf(s, n)
				create(b, db, r)
				w := writer(b, db, r.ID)
				plain += play(b, s, nil)
				audited += play(b, s, w)
			}
			b.ReportMetric(float64(audited)/float64(plain), "ratio")
			b.ReportMetric(plain.Seconds()/float64(b.N)*1e3, "plain-ms")
		})
	}
}

// BenchmarkMillion checks the evidence of a million ticks of a small world, and computes them again, beside plain verify of its
// recording. The aim is less than 5 s for the one, and 0.9 or more of verify for the other.
func BenchmarkMillion(b *testing.B) {
	s, err := yaml.Parse(worlds.Registry(), "small", nil, []byte(small))
	if err != nil {
		b.Fatal(err)
	}
	db := open(b, sqliteFile.fresh(b))
	r := rowOf(s, 1)
	create(b, db, r)
	play(b, s, writer(b, db, r.ID))
	recording := recorded(b, s)
	var checking, again, verifying time.Duration
	for b.Loop() {
		e := evidence(b, db, r.ID)
		began := time.Now()
		found, err := audit.Check(ctx, e)
		if err != nil {
			b.Fatal(err)
		}
		checking += time.Since(began)
		world, err := s.World(1)
		if err != nil {
			b.Fatal(err)
		}
		began = time.Now()
		if err := (&audit.Rerun{Evidence: e, World: world, Descriptor: s.Descriptor(), Hashes: found.Hashes, To: found.Tick}).Run(ctx); err != nil {
			b.Fatal(err)
		}
		again += time.Since(began)
		began = time.Now()
		verify(b, s, recording)
		verifying += time.Since(began)
	}
	b.ReportMetric(checking.Seconds()/float64(b.N), "check-s")
	b.ReportMetric(float64(s.Ticks)*float64(b.N)/again.Seconds(), "rerun-ticks/s")
	b.ReportMetric(float64(verifying)/float64(again), "of-verify")
}

// recorded returns the recording of a scenario.
func recorded(b *testing.B, s *scenarios.Scenario) []byte {
	b.Helper()
	world, err := s.World(1)
	if err != nil {
		b.Fatal(err)
	}
	var file bytes.Buffer
	rec, err := replay.NewRecorder(&file, world, s.Descriptor())
	if err != nil {
		b.Fatal(err)
	}
	world.Record(rec)
	if err := errors.Join((&runner.Run{Scenario: s, World: world}).To(ctx, s.Ticks), rec.Flush()); err != nil {
		b.Fatal(err)
	}
	return file.Bytes()
}

func verify(b *testing.B, s *scenarios.Scenario, recording []byte) {
	b.Helper()
	r, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		b.Fatal(err)
	}
	p, err := replay.NewPlayer(r, func(*replay.Header) (*engine.World, error) { return s.World(1) })
	if err == nil {
		_, err = p.Verify()
	}
	if err != nil {
		b.Fatal(err)
	}
}
