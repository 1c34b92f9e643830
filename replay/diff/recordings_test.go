package diff_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/space"
)

// recording has these hashes, and at some ticks commands.
func recording(t testing.TB, hashes []uint64, inputs map[int][]commands.Command) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := replay.NewWriter(&b, replay.Header{})
	if err != nil {
		t.Fatal(err)
	}
	for i, hash := range hashes {
		if err := w.WriteFrame(uint64(i+1), inputs[i+1], hash); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func set(arrival uint64, v float32) commands.Command {
	c := commands.SetField(space.At(1), 0, v)
	c.Arrival = arrival
	return c
}

func TestRecordings(t *testing.T) {
	same := []uint64{11, 12, 13, 14, 15}
	other := func(tick int) []uint64 {
		h := slices.Clone(same)
		h[tick-1] = 99
		return h
	}
	inputs := map[int][]commands.Command{3: {set(1, 5)}}
	whole := recording(t, same, inputs)
	for _, tt := range []struct {
		name string
		b    []byte
		want string
	}{
		{"equal", whole, "5/5 ticks, 0 differ"},
		{"a hash", recording(t, other(2), inputs), "5/5 ticks, 1 differ, the first 2: 12/99"},
		{"the last hash", recording(t, other(5), inputs), "5/5 ticks, 1 differ, the first 5: 15/99"},
		{"an input", recording(t, same, map[int][]commands.Command{3: {set(1, 6)}}), "5/5 ticks, 1 differ, the first 3: 13/13; commands from 3: 1-1"},
		{"its number", recording(t, same, map[int][]commands.Command{3: {set(2, 5)}}), "5/5 ticks, 1 differ, the first 3: 13/13; commands from 3: 1-2"},
		{"no input", recording(t, other(3), nil), "5/5 ticks, 1 differ, the first 3: 13/99; commands from 3: 1-"},
		{"more inputs", recording(t, same, map[int][]commands.Command{2: {set(1, 5)}, 3: {set(1, 5), set(2, 5)}}), "5/5 ticks, 2 differ, the first 2: 12/12; commands from 2: -1"},
		{"fewer ticks", recording(t, same[:3], inputs), "5/3 ticks, 0 differ"},
		{"fewer ticks and a hash", recording(t, other(1)[:3], inputs), "5/3 ticks, 1 differ, the first 1: 11/99"},
		{"no ticks", recording(t, nil, nil), "5/0 ticks, 0 differ"},
		{"cut", whole[:len(whole)-3], "5/4 ticks, 0 differ; input ends early at byte"},
	} {
		for _, swap := range []bool{false, true} {
			a, b := whole, tt.b
			if swap {
				a, b = b, a
			}
			f, err := diff.Recordings(open(t, a), open(t, b), nil)
			if err != nil {
				t.Fatal(err)
			}
			if swap {
				f.A, f.B = f.B, f.A
			}
			if got := framesText(f, swap); !strings.HasPrefix(got, tt.want) || (f.A.Err == nil && f.B.Err == nil && got != tt.want) {
				t.Errorf("%s, swapped %v: %s, want %s", tt.name, swap, got, tt.want)
			}
		}
	}
}

func open(t testing.TB, b []byte) replay.Source {
	t.Helper()
	s, err := replay.Open(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func framesText(f *diff.Frames, swapped bool) string {
	text := fmt.Sprintf("%d/%d ticks, %d differ", f.A.Ticks, f.B.Ticks, f.Differing)
	if f.First != 0 {
		text += fmt.Sprintf(", the first %d: %d/%d", f.First, f.A.Hash, f.B.Hash)
	}
	if f.Commands != 0 {
		text += fmt.Sprintf("; commands from %d:", f.Commands)
	}
	diff.Records(f.A.Records, f.B.Records, func(x, y *replay.Record) {
		arrival := func(r *replay.Record) string {
			if r == nil {
				return ""
			}
			return fmt.Sprint(r.Arrival)
		}
		text += " " + arrival(x) + "-" + arrival(y)
	})
	for _, err := range []error{f.A.Err, f.B.Err} {
		if err != nil {
			text += "; " + strings.TrimPrefix(err.Error(), "replay: ")
		}
	}
	return text
}

// TestRecordingsOrder holds that a frame of another tick than the one that is due ends a recording,
// also if it is the first.
func TestRecordingsOrder(t *testing.T) {
	for _, tt := range []struct {
		ticks []uint64
		whole uint64
	}{
		{[]uint64{1, 3, 4}, 1}, {[]uint64{1, 2, 2}, 2}, {[]uint64{2, 3, 4}, 0}, {[]uint64{0, 1, 2}, 0},
	} {
		var b bytes.Buffer
		w, err := replay.NewWriter(&b, replay.Header{})
		for _, tick := range tt.ticks {
			err = errors.Join(err, w.WriteFrame(tick, nil, tick))
		}
		if err = errors.Join(err, w.Flush()); err != nil {
			t.Fatal(err)
		}
		f, err := diff.Recordings(open(t, b.Bytes()), open(t, recording(t, []uint64{1, 2, 3, 4}, nil)), nil)
		if err != nil || f.A.Ticks != tt.whole || f.B.Ticks != 4 || !errors.Is(f.A.Err, replay.ErrMalformed) || f.Differing != 0 {
			t.Errorf("ticks %d: %+v, %v; want %d of them and an error of the first", tt.ticks, f, err, tt.whole)
		}
	}
}

// TestRecordingsBegin holds that recordings which begin at other ticks are compared in those
// that both have.
func TestRecordingsBegin(t *testing.T) {
	from := func(first uint64, hashes ...uint64) []byte {
		var b bytes.Buffer
		var h replay.Header
		if first > 1 {
			begin := replay.Begin{Tick: first - 1}
			d, err := begin.Describe([]byte(`{"a":1}`))
			if err != nil {
				t.Fatal(err)
			}
			h.Descriptor = d
		}
		w, err := replay.NewWriter(&b, h)
		for i, hash := range hashes {
			err = errors.Join(err, w.WriteFrame(first+uint64(i), nil, hash))
		}
		if err = errors.Join(err, w.Flush()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, tt := range []struct {
		a, b []byte
		want string // begins, common, equal, first, differing
	}{
		{from(1, 1, 2, 3, 4, 5), from(3, 3, 4, 5), "1/3, 3 common, 3 equal, 0 first, 0 differ, hashes 5/5"},
		{from(1, 1, 2, 3, 4, 5), from(3, 3, 9, 5, 6), "1/3, 3 common, 1 equal, 4 first, 1 differ, hashes 4/9"},
		{from(2, 2, 3), from(1, 7, 8, 9), "2/1, 2 common, 0 equal, 2 first, 2 differ, hashes 2/8"},
		{from(1, 1, 2), from(3, 3, 4), "1/3, 0 common, 0 equal, 0 first, 0 differ, hashes 2/4"},
		{from(1), from(3, 3, 4), "0/3, 0 common, 0 equal, 0 first, 0 differ, hashes 0/4"},
	} {
		f, err := diff.Recordings(open(t, tt.a), open(t, tt.b), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d/%d, %d common, %d equal, %d first, %d differ, hashes %d/%d",
			f.A.Begin, f.B.Begin, f.Common, f.Equal, f.First, f.Differing, f.A.Hash, f.B.Hash)
		if got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

func TestRecordingsStop(t *testing.T) {
	hashes := make([]uint64, 10_000)
	stop := errors.New("enough")
	b := recording(t, hashes, nil)
	if _, err := diff.Recordings(open(t, b), open(t, b), func(uint64) error { return stop }); err != stop {
		t.Errorf("%v, want %v", err, stop)
	}
}

// BenchmarkRecordings compares two recordings of 200,000 ticks that differ in the last.
func BenchmarkRecordings(b *testing.B) {
	const ticks = 200_000
	hashes := make([]uint64, ticks)
	first := recording(b, hashes, nil)
	hashes[ticks-1] = 1
	second := recording(b, hashes, nil)
	for b.Loop() {
		f, err := diff.Recordings(open(b, first), open(b, second), nil)
		if err != nil || f.First != ticks {
			b.Fatalf("%+v, %v", f, err)
		}
	}
	b.ReportMetric(ticks*float64(b.N)/b.Elapsed().Seconds(), "ticks/s")
}

// TestRecordsMoved: commands that are left out, put in or changed are told, and not those whose numbers moved with them.
func TestRecordsMoved(t *testing.T) {
	list := func(values string) (records []replay.Record) {
		for i, v := range []byte(values) {
			r := replay.Record{Tag: 1, Payload: []byte{v}}
			r.Arrival = uint64(i) + 1
			records = append(records, r)
		}
		return records
	}
	for _, tt := range []struct{ a, b, want string }{
		{"abcdefgh", "abcdefgh", ""},
		{"abcdefgh", "abdefgh", " c-"},
		{"abdefgh", "abcdefgh", " -c"},
		{"abcdefgh", "abXdefgh", " c-X"},
		{"abcdefgh", "acdefghX", " b- -X"},
		{"abcdefgh", "bcdXefg", " a- -X h-"},
		{"abc", "", " a- b- c-"},
		{"aab", "ab", " a-"},
		{"abcd", "XbYd", " a-X c-Y"},
	} {
		got := ""
		diff.Records(list(tt.a), list(tt.b), func(x, y *replay.Record) {
			got += " "
			if x != nil {
				got += string(x.Payload)
			}
			got += "-"
			if y != nil {
				got += string(y.Payload)
			}
		})
		if got != tt.want {
			t.Errorf("%s and %s: %s, want %s", tt.a, tt.b, got, tt.want)
		}
	}
	moved := list("ab")
	moved[0].Arrival, moved[1].Arrival = 5, 6
	n := 0
	diff.Records(list("ab"), moved, func(x, y *replay.Record) { n++ })
	if n != 2 {
		t.Errorf("%d commands have other numbers; want 2", n)
	}
}
