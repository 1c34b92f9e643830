package rng_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/rng"
)

// A record is an entry of the section "random".
type record struct {
	name                string
	number, draws, last uint64
}

// encode is the section's layout, written out a second time.
func encode(records ...record) []byte {
	slices.SortFunc(records, func(a, b record) int {
		return cmp.Or(bytes.Compare([]byte(a.name), []byte(b.name)), cmp.Compare(a.number, b.number))
	})
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, uint32(len(records)))
	for _, r := range records {
		binary.Write(&b, binary.LittleEndian, uint32(len(r.name)))
		b.WriteString(r.name)
		binary.Write(&b, binary.LittleEndian, []uint64{r.number, r.draws, r.last})
	}
	return b.Bytes()
}

func TestSetAppend(t *testing.T) {
	var s rng.Set
	if got, want := s.Append(nil), encode(); !bytes.Equal(got, want) {
		t.Errorf("before Begin %x, want %x", got, want)
	}
	for tick := range uint64(3) {
		s.Begin(rng.ChaCha8, 42, tick)
		s.Stream("b", 1).Uint64()
		s.Stream("unused", 0)
		last := s.Stream("b", 1).Uint64()
		s.Bulk("b", 0, 1000)
		s.Bulk("b", 0, 77)
		s.Stream("mixed", 1<<63).Uint64()
		s.Bulk("mixed", 1<<63, 5)
		s.Bulk("mixed too", 0, 5)
		mixed := s.Stream("mixed too", 0).Uint64()
		s.Bulk("Z", 9, 0)
		want := append([]byte("before"), encode(
			record{"Z", 9, 1, 0}, record{"b", 0, 2, 77}, record{"b", 1, 2, last},
			record{"mixed", 1 << 63, 2, 5}, record{"mixed too", 0, 2, mixed})...)
		if got := s.Append([]byte("before")); !bytes.Equal(got, want) {
			t.Errorf("tick %d: %x, want %x", tick, got, want)
		}
	}
	s.Begin(rng.ChaCha8, 42, 3)
	if got, want := s.Append(nil), encode(); !bytes.Equal(got, want) {
		t.Errorf("a tick without draws: %x, want %x", got, want)
	}
}

// TestSetAgainstNaive plays random ticks and compares with streams kept in a map.
func TestSetAgainstNaive(t *testing.T) {
	type key struct {
		name   string
		number uint64
	}
	choice := rand.New(rand.NewPCG(1, 2))
	names := []string{"ai", "a", "physics", "bio", "terrain"}
	var s rng.Set
	for tick := range uint64(60) {
		g := generators[tick%2]
		s.Begin(g, 7, tick)
		naive, records := map[key]*rng.Stream{}, map[key]*record{}
		for range choice.IntN(1500) {
			k := key{names[choice.IntN(len(names))], choice.Uint64N(200) << (8 * choice.Uint64N(8))}
			seed := rng.Seed(7).Tick(tick).Stream(k.name, k.number)
			if records[k] == nil {
				records[k] = &record{name: k.name, number: k.number}
			}
			r := records[k]
			r.draws++
			if choice.IntN(4) == 0 {
				r.last = choice.Uint64N(1 << 30)
				if got, want := s.Bulk(k.name, k.number, int(r.last)), seed.Bulk(); got != want {
					t.Fatalf("tick %d %v: bulk %v, want %v", tick, k, got, want)
				}
				continue
			}
			if naive[k] == nil {
				naive[k] = new(rng.Stream)
				naive[k].Open(g, seed)
			}
			r.last = naive[k].Uint64()
			if got := s.Stream(k.name, k.number).Uint64(); got != r.last {
				t.Fatalf("tick %d %v: draw %d, want %d", tick, k, got, r.last)
			}
		}
		var all []record
		for _, r := range records {
			all = append(all, *r)
		}
		if got, want := s.Append(nil), encode(all...); !bytes.Equal(got, want) {
			t.Fatalf("tick %d: the section of %d streams differs", tick, len(all))
		}
	}
}

// TestSetStreamStays: a stream taken early is still the same after thousands more.
func TestSetStreamStays(t *testing.T) {
	var s rng.Set
	s.Begin(rng.ChaCha8, 1, 1)
	early := s.Stream("early", 0)
	for i := range uint64(5000) {
		s.Stream("late", i).Uint64()
	}
	early.Uint64()
	if got := s.Stream("early", 0); got != early || got.Draws() != 1 {
		t.Errorf("the stream moved, or has %d draws, want 1", got.Draws())
	}
}

// TestIsolation: one more draw in a stream changes its own record and no value of another.
func TestIsolation(t *testing.T) {
	for _, g := range generators {
		tick := func(extra bool) (values []uint64, section []byte) {
			var s rng.Set
			s.Begin(g, 3, 9)
			for i := range uint64(50) {
				s.Stream("physics", 0).Uint64()
				if extra && i == 20 {
					s.Stream("physics", 0).Uint64()
				}
				values = append(values, s.Stream("ai", 0).Uint64(), s.Stream("ai", i).Below(10), uint64(s.Bulk("noise", 0, 8).Uint32(i)))
			}
			return values, s.Append(nil)
		}
		values, section := tick(false)
		others, otherSection := tick(true)
		if !slices.Equal(values, others) {
			t.Errorf("%v: a draw in physics changes other streams", g)
		}
		if bytes.Equal(section, otherSection) {
			t.Errorf("%v: a draw in physics does not show in the section", g)
		}
		at := bytes.Index(section, []byte("physics")) // the last record by name
		if !bytes.Equal(section[:at], otherSection[:at]) {
			t.Errorf("%v: a draw in physics changes other records", g)
		}
	}
}

// playTick draws from streams of every kind.
func playTick(s *rng.Set, g rng.Generator, tick uint64, dst []byte) []byte {
	s.Begin(g, 42, tick)
	for i := range uint64(100) {
		s.Stream("predators", tick+i).Normal()
		s.Stream("main", 0).Below(10)
	}
	s.Bulk("noise", 0, 64)
	return s.Append(dst[:0])
}

func TestSetAllocations(t *testing.T) {
	for _, tt := range []struct {
		g    rng.Generator
		want float64
	}{{rng.ChaCha8, 0}, {rng.ChaCha20, 101}} { // one a stream opened
		var s rng.Set
		b, tick := playTick(&s, tt.g, 0, nil), uint64(0)
		b = playTick(&s, tt.g, 1<<40, b)
		if got := testing.AllocsPerRun(50, func() {
			tick++
			b = playTick(&s, tt.g, tick, b)
		}); got > tt.want {
			t.Errorf("%v: %v allocations a tick, want %v", tt.g, got, tt.want)
		}
	}
}

func ExampleSet() {
	var s rng.Set
	s.Begin(rng.ChaCha8, 42, 1)
	weather := s.Stream("weather", 0)
	fmt.Println(weather.Below(6), weather.Below(6), weather.Draws())
	noise := s.Bulk("noise", 0, 100)
	fmt.Println(noise.Float32(99) == noise.Float32(99))
	// Output:
	// 3 3 2
	// true
}

// BenchmarkSet begins a tick, draws once from each of so many streams and appends the section.
func BenchmarkSet(b *testing.B) {
	for _, g := range generators {
		for _, streams := range []uint64{0, 1, 100, 10_000} {
			b.Run(fmt.Sprintf("%v/%d", g, streams), func(b *testing.B) {
				var s rng.Set
				section := make([]byte, 0, 64*(streams+1))
				b.ReportAllocs()
				for tick := uint64(0); b.Loop(); tick++ {
					s.Begin(g, 42, tick)
					for i := range streams {
						s.Stream("predators", i).Uint64()
					}
					section = s.Append(section[:0])
				}
				b.SetBytes(int64(len(section)))
				if streams > 0 {
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(streams), "ns/stream")
				}
			})
		}
	}
}

// BenchmarkSetLookup finds an open stream among 1000 and draws.
func BenchmarkSetLookup(b *testing.B) {
	var s rng.Set
	s.Begin(rng.ChaCha8, 42, 1)
	b.SetBytes(8)
	for i := uint64(0); b.Loop(); i++ {
		s.Stream("predators", i%1000).Uint64()
	}
}
