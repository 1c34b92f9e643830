package refworld

import (
	"sort"

	"github.com/murksim/murksim/rng"
)

// A Stream is a sequential random stream that counts its draws itself. Its bounded
// and fractional draws are made from whole ones here.
type Stream struct {
	name   string
	number uint64
	seed   rng.StreamSeed
	from   rng.Stream
	draws  uint64
	last   uint64
}

// Uint64 returns the next draw.
func (s *Stream) Uint64() uint64 {
	s.draws++
	s.last = s.from.Uint64()
	return s.last
}

// Below returns a number in [0, n), each equally likely.
func (s *Stream) Below(n uint64) uint64 {
	least := -n % n // 2^64 mod n
	for {
		if r := s.Uint64(); r >= least {
			return r % n
		}
	}
}

// Float32 returns a multiple of 2^-24 in [0, 1).
func (s *Stream) Float32() float32 { return float32(s.Uint64()>>40) / (1 << 24) }

// Bulk gives draws by index; it counts as one draw, of the number of indices.
func (s *Stream) Bulk(count int) rng.Bulk {
	s.draws++
	s.last = uint64(count)
	return s.seed.Bulk()
}

// stream finds a stream of this tick, or opens it.
func (t *Tick) stream(name string, number uint64) *Stream {
	for _, s := range t.streams {
		if s.name == name && s.number == number {
			return s
		}
	}
	s := &Stream{name: name, number: number}
	s.seed = rng.Seed(t.w.config.Seed).Tick(t.Number).Stream(name, number)
	s.from.Open(t.w.config.Generator, s.seed)
	t.streams = append(t.streams, s)
	return s
}

// appendDraws appends what was drawn in a tick, by name and number.
func appendDraws(b []byte, streams []*Stream) []byte {
	var used []*Stream
	for _, s := range streams {
		if s.draws > 0 {
			used = append(used, s)
		}
	}
	//detcheck:allow sort no two streams have the same name and number
	sort.Slice(used, func(i, j int) bool {
		if used[i].name != used[j].name {
			return used[i].name < used[j].name
		}
		return used[i].number < used[j].number
	})
	b = le32(b, uint32(len(used)))
	for _, s := range used {
		b = le32(b, uint32(len(s.name)))
		b = append(b, s.name...)
		b = le64(le64(le64(b, s.number), s.draws), s.last)
	}
	return b
}
