package store_test

import (
	"testing"

	"github.com/murksim/murksim/replay/audit"
)

// BenchmarkCommit commits links of ten sections, some at once, and one input for ten of them.
func BenchmarkCommit(b *testing.B) {
	for _, d := range append([]database{sqliteFile}, servers()...) {
		for _, size := range []struct {
			name  string
			links int
		}{{"one", 1}, {"hundred", 100}, {"thousand", 1000}} {
			b.Run(d.name+"/"+size.name, func(b *testing.B) {
				db := open(b, d.fresh(b))
				r := newRun(1)
				create(b, db, r)
				w := writer(b, db, r.ID)
				m := maker{sections: 10}
				b.ResetTimer()
				for n := 0; n < b.N; n += size.links {
					b.StopTimer()
					batch := m.batch(size.links, size.links/10)
					b.StartTimer()
					commit(b, w, batch)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "links/s")
			})
		}
	}
}

// BenchmarkLinks reads links of ten sections.
func BenchmarkLinks(b *testing.B) {
	for _, d := range append([]database{sqliteFile}, servers()...) {
		b.Run(d.name, func(b *testing.B) {
			db := open(b, d.fresh(b))
			r := newRun(1)
			create(b, db, r)
			w := writer(b, db, r.ID)
			m := maker{sections: 10}
			for left := b.N; left > 0; left -= 1000 {
				commit(b, w, m.batch(min(left, 1000), 0))
			}
			e := evidence(b, db, r.ID)
			b.ReportAllocs()
			b.ResetTimer()
			n := 0
			var last audit.Hash
			for l, err := range e.Links(ctx, 0) {
				if err != nil || l.Prev != last || len(l.Digests) != 10 {
					b.Fatal(l, err)
				}
				last = l.Hash
				n++
			}
			if n != b.N {
				b.Fatalf("%d links, want %d", n, b.N)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "links/s")
		})
	}
}
