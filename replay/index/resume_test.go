package index_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// TestResumeKeepsKeyframes holds that an index that is continued keeps the keyframes that
// stand behind the last digests, as a recorder writes those of its last ticks, but none of a
// later tick.
func TestResumeKeepsKeyframes(t *testing.T) {
	const ticks = 120
	r := record(t, "heat", ticks, index.Options{Now: ticking()}, false)
	header, chunks := chunksOf(r.index.Bytes())
	late := slices.Clone(header) // with the keyframes behind the digests
	for _, kinds := range []string{"FDT", "K", "E"} {
		for _, c := range chunks {
			if bytes.IndexByte([]byte(kinds), c[0]) >= 0 {
				late = append(late, c...)
			}
		}
	}
	x, err := index.Open(bytes.NewReader(late), int64(len(late)))
	if err != nil || x.Cut != nil {
		t.Fatal(err, x.Cut)
	}
	keys := x.Keyframes()
	if len(keys) == 0 {
		t.Fatal("no keyframes")
	}
	end := len(late) - len(chunks[len(chunks)-1])
	if last, length := x.Prefix(ticks); last != ticks || length != int64(end) {
		t.Fatalf("Prefix = %d, %d; want %d and %d, all but the end", last, length, ticks, end)
	}
	if last, length := x.Prefix(ticks - 1); last != 0 || length != int64(len(header)) {
		t.Errorf("Prefix without a chunk = %d, %d; want 0 and %d, the header", last, length, len(header))
	}
	p, err := r.seek(x, ticks)
	if err != nil {
		t.Fatal(err)
	}
	h := replay.HeaderOf(p.World, r.scenario.Descriptor())
	sink := bytes.NewBuffer(slices.Clone(late[:end]))
	offset := int64(r.recording.Len())
	rec, err := index.ResumeRecorder(sink, p.World, &h, x, &frames{world: p.World, end: func() int64 { offset++; return offset }}, index.Options{Now: ticking()})
	if err != nil {
		t.Fatal(err)
	}
	p.World.Record(rec)
	for range ticks {
		if _, err := p.World.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	b := sink.Bytes()
	if x, err = index.Open(bytes.NewReader(b), int64(len(b))); err != nil || x.Cut != nil || x.Last != 2*ticks {
		t.Fatalf("the index goes on to tick %d, and breaks off with %v; %v", x.Last, x.Cut, err)
	}
	if got := x.Keyframes(); len(got) <= len(keys) || !slices.Equal(got[:len(keys)], keys) {
		t.Errorf("keyframes of the ticks %d; want %d and more", got, keys)
	}
	if _, length := x.Prefix(ticks); length != int64(end) {
		t.Errorf("Prefix of the first ticks has %d bytes, want %d without a later keyframe", length, end)
	}
}
