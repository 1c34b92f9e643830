package index_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// TestPrefixOfADamagedIndex holds that a prefix ends before the first chunk whose payload is
// damaged, also one that is a keyframe or tiles, and that no recorder goes on after one.
func TestPrefixOfADamagedIndex(t *testing.T) {
	const ticks = 2200 // three times frames, digests and tiles
	r := record(t, "life", ticks, index.Options{Now: ticking(), Budget: 400_000}, false)
	header, chunks := chunksOf(r.index.Bytes())
	if !r.open(t).Intact() {
		t.Error("Intact = false of an index without damage")
	}
	at, groups := len(header), 0
	var ends []int // of the groups
	for _, c := range chunks {
		if at += len(c); c[0] == 'D' {
			ends = append(ends, at)
			groups++
		}
		if c[0] == 'T' {
			ends[len(ends)-1] = at
		}
	}
	p, err := r.seek(nil, ticks)
	if err != nil {
		t.Fatal(err)
	}
	h := replay.HeaderOf(p.World, r.scenario.Descriptor())
	kinds := map[byte]int{}
	for i, c := range slices.Backward(chunks) {
		at -= len(c)
		if kinds[c[0]]++; c[0] == 'E' || kinds[c[0]] > 4 && i > 4 {
			continue
		}
		b := bytes.Clone(r.index.Bytes())
		b[at+headSize+(len(c)-headSize)/2] ^= 1
		x, err := index.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil || x.Cut != nil {
			t.Fatal(err, x.Cut)
		}
		for range 2 { // of what it has read before it says the same
			last, length := x.Prefix(ticks)
			want := len(header)
			for _, end := range ends {
				if end <= at {
					want = end
				}
			}
			if length > int64(at) || length < int64(want) || (last == 0) != (want == len(header)) {
				t.Errorf("damaged in chunk %d, a %c, at byte %d: Prefix = %d, %d; want %d bytes or a keyframe more", i, c[0], at, last, length, want)
			}
			if x.Intact() {
				t.Errorf("damaged in chunk %d, a %c: Intact = true", i, c[0])
			}
		}
		if last, _ := x.Prefix(ticks); last < ticks {
			if _, err := index.ResumeRecorder(&bytes.Buffer{}, p.World, &h, x, &frames{world: p.World, end: func() int64 { return 0 }}, index.Options{}); err == nil {
				t.Errorf("damaged in chunk %d, a %c: a recorder goes on after tick %d", i, c[0], ticks)
			}
		}
	}
	if groups < 3 || kinds['K'] == 0 || kinds['T'] < 2 {
		t.Errorf("%d groups, kinds %v; want several", groups, kinds)
	}
}
