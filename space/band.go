package space

// A Band is several spans of one pattern, count and stride: the first cells of its
// rows are Pitch apart, and the embedded span is the first row. A kernel that takes
// a band at once is not called for each short span.
type Band struct {
	Span
	Rows, Pitch int
}

const (
	bandCells = 8192  // of a band of several rows, at most
	bandRanks = 65536 // that one reaches over, so that its neighbours stay in the cache
)

// Bands joins spans, in the order of [Lattice.SpansIn], to bands that cover the same cells.
func Bands(spans []Span) []Band {
	var all []Band
	var last []int // by pattern: the index of its latest band, plus one
	for _, s := range spans {
		for s.Pattern.ID >= len(last) {
			last = append(last, 0)
		}
		at := &last[s.Pattern.ID]
		if *at > 0 && all[*at-1].join(&s) {
			continue
		}
		all = append(all, Band{Span: s, Rows: 1, Pitch: 1})
		*at = len(all)
	}
	return all
}

// join adds a span to the band as its last row, if it can be that.
func (b *Band) join(s *Span) bool {
	pitch := b.Pitch
	if b.Rows == 1 {
		pitch = s.First - b.First
	}
	if pitch < 1 || s.Count != b.Count || s.Stride != b.Stride || s.First != b.First+b.Rows*pitch ||
		(b.Rows+1)*b.Count > bandCells || b.Rows*pitch+(b.Count-1)*b.Stride >= bandRanks {
		return false
	}
	b.Rows, b.Pitch = b.Rows+1, pitch
	return true
}
