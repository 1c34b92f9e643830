package audit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/runner"
)

// dropped commits to nothing.
type dropped struct{}

func (dropped) Commit(context.Context, *audit.Batch) error { return nil }

// BenchmarkRecorder says what the chain costs a run: colony as it is, and the same with its chain, but for the store.
func BenchmarkRecorder(b *testing.B) {
	for _, audited := range []bool{false, true} {
		name := "plain"
		if audited {
			name = "audited"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, w := world(b, "colony")
				run := runner.Run{Scenario: s, World: w}
				end := func() error { return nil }
				if audited {
					r, err := audit.NewRecorder(dropped{}, w, s.Descriptor(), audit.DefaultEvery)
					if err != nil {
						b.Fatal(err)
					}
					w.Record(r)
					end = r.Close
				}
				if err := errors.Join(run.To(b.Context(), s.Ticks), end()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRerun computes a chain again.
func BenchmarkRerun(b *testing.B) {
	k := record(b, "colony", 0)
	for b.Loop() {
		if err := rerun(b, k, "colony", 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheck follows a long chain.
func BenchmarkCheck(b *testing.B) {
	k := record(b, "heat", 0, "ticks=20000", "expect=[]")
	for b.Loop() {
		if _, err := audit.Check(b.Context(), k); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(k.links))*float64(b.N)/b.Elapsed().Seconds(), "links/s")
}
