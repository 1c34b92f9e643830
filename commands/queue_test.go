package commands_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/space"
)

// metas are commands whose order is that of their Entity, from 0.
func metas() (inOrder []commands.Command) {
	type m = commands.Meta
	const most = math.MaxUint64
	for i, meta := range []m{
		{Priority: 0, Arrival: 9},
		{Priority: 1, HasSource: true, Source: 1, HasSeq: true, SourceSeq: 0, Arrival: 8},
		{Priority: 1, HasSource: true, Source: 1, HasSeq: true, SourceSeq: 5, Arrival: 3},
		{Priority: 1, HasSource: true, Source: 1, HasSeq: true, SourceSeq: 5, Arrival: 4},
		{Priority: 1, HasSource: true, Source: 1, Arrival: 1},                                   // without a sequence: last of its source
		{Priority: 1, HasSource: true, Source: 1, HasSeq: true, SourceSeq: most, Arrival: 2},    // equal to none
		{Priority: 1, HasSource: true, Source: 2, HasSeq: true, SourceSeq: 1, Arrival: 0},       //
		{Priority: 1, HasSource: true, Source: most, HasSeq: true, SourceSeq: 1, Arrival: 20},   // as if anonymous, but with a sequence
		{Priority: 1, HasSeq: true, SourceSeq: 0, Arrival: 5},                                   // a sequence without a source
		{Priority: 1, Source: 1, SourceSeq: 1, Arrival: 6},                                      // absent, whatever stands there
		{Priority: 1, HasSource: true, Source: most, HasSeq: true, SourceSeq: most, Arrival: 7}, // as if anonymous
		{Priority: 2, HasSource: true, Source: 0, HasSeq: true, SourceSeq: 0, Arrival: 0},
		{Priority: 255, Arrival: 0},
	} {
		c := commands.Despawn(uint64(i))
		c.Meta = meta
		inOrder = append(inOrder, c)
	}
	return inOrder
}

func TestCompare(t *testing.T) {
	inOrder := metas()
	for i := range inOrder {
		for j := range inOrder {
			if got, want := commands.Compare(&inOrder[i], &inOrder[j]), cmp.Compare(i, j); got != want {
				t.Errorf("Compare(%+v, %+v) = %d, want %d", inOrder[i].Meta, inOrder[j].Meta, got, want)
			}
		}
	}
}

// TestQueueOrder: what is taken stands in canonical order, numbered as submitted.
func TestQueueOrder(t *testing.T) {
	q := commands.NewQueue(commands.MaxQueue)
	random := rand.New(rand.NewPCG(1, 1))
	for round := range 50 {
		pushed := metas()
		random.Shuffle(len(pushed), func(i, j int) { pushed[i], pushed[j] = pushed[j], pushed[i] })
		first := uint64(1 + 1000*round)
		for i := range pushed {
			pushed[i].Arrival = random.Uint64() // whatever the caller says does not count
			if _, err := q.Push(&pushed[i]); err != nil {
				t.Fatal(err)
			}
			pushed[i].Arrival = first + uint64(i)
		}
		slices.SortFunc(pushed, func(a, b commands.Command) int { return commands.Compare(&a, &b) })
		got := q.Take([]commands.Command{commands.Custom(1, nil)}, first)
		if len(got) != 1+len(pushed) || got[0].Kind != commands.KindCustom {
			t.Fatalf("Take = %d commands, want %d after the one that was there", len(got), len(pushed))
		}
		for i := range pushed {
			if !equal(got[1+i], pushed[i]) {
				t.Fatalf("round %d, command %d = %+v, want %+v", round, i, got[1+i], pushed[i])
			}
		}
		if q.Len() != 0 || len(q.Take(nil, 1)) != 0 {
			t.Errorf("after Take %d commands wait, want 0", q.Len())
		}
	}
}

// TestPushAll holds that many commands at once are queued as one after another is.
func TestPushAll(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	for round := range 200 {
		var list []commands.Command
		for _, s := range samples {
			list = append(list, s.command, commands.SetField(space.At(1, 2), 3, 4))
		}
		strange := list[1]
		strange.Data = []byte("not of its kind")
		list = append(list, strange)
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for i := random.IntN(2 * len(list)); i < len(list); i++ {
			list[i].Meta = metas()[random.IntN(len(metas()))].Meta
		}
		if round%5 == 0 {
			list[random.IntN(len(list))].Kind = 7
		}
		one, many := commands.NewQueue(len(list)-round%3), commands.NewQueue(len(list)-round%3)
		for tick := range uint64(3) {
			want := 0
			push := func(c *commands.Command) error {
				_, err := one.Push(c)
				return err
			}
			for want < len(list) && list[want].Check() == commands.Applied && push(&list[want]) == nil {
				want++
			}
			half := random.IntN(len(list))
			_, got, err := many.PushAll(list[:half])
			if err == nil {
				var more int
				_, more, err = many.PushAll(list[half:])
				got += more
			}
			if got != want || (err == nil) != (want == len(list)) {
				t.Fatalf("round %d: PushAll took %d of %d, %v; want %d", round, got, len(list), err, want)
			}
			taken, also := many.Take(nil, 1+100*tick), one.Take(nil, 1+100*tick)
			if !slices.EqualFunc(taken, also, equal) {
				t.Fatalf("round %d: PushAll queued %+v, want %+v", round, taken, also)
			}
			for i := range taken {
				if d := taken[i].Data; len(d) > 0 && cap(d) != len(d) {
					t.Fatalf("round %d: the data of command %d are the caller's", round, i)
				}
			}
		}
	}
}

func TestQueueRefuses(t *testing.T) {
	q := commands.NewQueue(2)
	for i, want := range []error{nil, nil, commands.QueueFull} {
		if _, err := q.Push(new(commands.Despawn(uint64(i)))); err != want {
			t.Errorf("Push %d = %v, want %v", i, err, want)
		}
	}
	q.Stop()
	if _, err := q.Push(new(commands.Despawn(9))); !errors.Is(err, commands.Stopped) {
		t.Errorf("Push after Stop = %v, want %v", err, commands.Stopped)
	}
	if got := q.Take(nil, 1); len(got) != 2 || got[0].Entity != 0 || got[1].Entity != 1 || got[1].Arrival != 2 {
		t.Errorf("Take = %+v, want the two that were accepted", got)
	}
	if _, err := q.Push(new(commands.Despawn(9))); !errors.Is(err, commands.Stopped) || q.Len() != 0 {
		t.Errorf("Push after Stop and Take = %v, %d wait, want %v, 0", err, q.Len(), commands.Stopped)
	}
}

func TestQueueBytes(t *testing.T) {
	q := commands.NewQueue(100)
	half := make([]byte, commands.MaxPayload/2)
	for i, want := range []error{nil, nil, commands.QueueFull} {
		if _, err := q.Push(new(commands.Custom(1, half))); err != want {
			t.Errorf("Push %d of half the bytes = %v, want %v", i, err, want)
		}
	}
	if _, err := q.Push(new(commands.Despawn(1))); err != nil {
		t.Errorf("Push without data = %v, want none", err)
	}
	if _, err := q.Push(new(commands.Custom(1, half[:1]))); err != commands.QueueFull {
		t.Errorf("Push of one byte more = %v, want %v", err, commands.QueueFull)
	}
	q.Take(nil, 1)
	if _, err := q.Push(new(commands.Custom(1, half))); err != nil {
		t.Errorf("Push after Take = %v, want none", err)
	}
}

// TestQueueData: data is copied when it is pushed and stays until the next Take.
func TestQueueData(t *testing.T) {
	q := commands.NewQueue(100)
	data := []byte("first")
	if _, err := q.PushTogether([]commands.Command{commands.Custom(1, data), commands.Custom(2, []byte("x"))}); err != nil {
		t.Fatal(err)
	}
	copy(data, "spoil")
	taken := q.Take(nil, 1)
	if _, err := q.Push(new(commands.Custom(3, []byte("later, and longer")))); err != nil {
		t.Fatal(err)
	}
	_ = append(taken[0].Data, "over"...)
	if got := string(taken[0].Data) + " " + string(taken[1].Data); got != "first x" {
		t.Errorf("data = %q, want %q", got, "first x")
	}
	if got := q.Take(nil, 3); string(got[0].Data) != "later, and longer" {
		t.Errorf("data taken next = %q", got[0].Data)
	}
}

// TestQueueConcurrent pushes from many goroutines while another takes: every
// command arrives once, and each source's in its order. Run it with -race.
func TestQueueConcurrent(t *testing.T) {
	const sources, each = 8, 500
	q := commands.NewQueue(64)
	var pushers sync.WaitGroup
	for source := range uint64(sources) {
		pushers.Go(func() {
			for seq := uint64(0); seq < each; {
				c := commands.Custom(uint32(seq), binary.LittleEndian.AppendUint64(nil, seq)).From(source, seq)
				switch _, err := q.Push(&c); err {
				case nil:
					seq++
				case commands.QueueFull: // again
				default:
					t.Errorf("Push = %v", err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { pushers.Wait(); close(done) }()
	var next [sources]uint64
	first := uint64(1)
	for running := true; running; {
		select {
		case <-done:
			running = false // and take what is left
		default:
		}
		taken := q.Take(nil, first)
		for i := range taken {
			c := &taken[i]
			if c.SourceSeq != next[c.Source] || binary.LittleEndian.Uint64(c.Data) != c.SourceSeq {
				t.Fatalf("source %d: command %d with data %x, want number %d", c.Source, c.SourceSeq, c.Data, next[c.Source])
			}
			next[c.Source]++
		}
		first += uint64(len(taken))
	}
	if first != 1+sources*each {
		t.Errorf("%d commands were taken, want %d", first-1, sources*each)
	}
}

func TestQueueAllocations(t *testing.T) {
	q := commands.NewQueue(commands.MaxQueue)
	data := []byte(strings.Repeat("data", 8))
	var taken []commands.Command
	got := testing.AllocsPerRun(100, func() {
		for i := range 500 {
			c := commands.SetField(space.At(1, 2), 3, 4).From(uint64(i*7%50), uint64(i))
			if i%5 == 0 {
				c = commands.Custom(1, data)
			}
			if _, err := q.Push(&c); err != nil {
				t.Fatal(err)
			}
		}
		taken = q.Take(taken[:0], 1)
	})
	if got != 0 || len(taken) != 500 {
		t.Errorf("%v allocations to push and take %d commands, want 0 for 500", got, len(taken))
	}
}

func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for r := commands.Applied; r <= commands.Refused; r++ {
		if s := r.String(); seen[s] || s == "unknown reason" || r.Error() != s {
			t.Errorf("reason %d reads %q, error %q; want a text of its own", r, s, r.Error())
		}
		seen[r.String()] = true
	}
	if got := (commands.Refused + 1).String(); got != "unknown reason" {
		t.Errorf("the reason after the last reads %q", got)
	}
	if commands.Kind(7).String() != "unknown" || commands.KindMove.String() != "move" {
		t.Errorf("kinds 0 and 7 read %s, %s, want move, unknown", commands.KindMove, commands.Kind(7))
	}
}

// TestWhy holds that each reason of a receipt is explained, and that what its own rules refuse says so.
func TestWhy(t *testing.T) {
	seen := map[string]commands.Reason{}
	despawn := commands.Despawn(1)
	for r := commands.Expired; r <= commands.Refused; r++ {
		why := (&commands.Receipt{Command: &despawn, Reason: r}).Why()
		if other, ok := seen[why]; ok || why == "" {
			t.Errorf("%v is explained by %q, as is %v", r, why, other)
		}
		seen[why] = r
	}
	own, later := commands.Custom(5, nil), commands.Later(1, despawn)
	for _, tt := range []struct {
		of     *commands.Command
		reason commands.Reason
		want   string
	}{
		{&own, commands.Occupied, "its rules do not allow it (occupied)"},
		{&own, commands.Unsupported, "this program has no handler for it"},
		{&own, commands.Expired, "it had expired"},
		{&later, commands.CapacityFull, "there is no room for another entity or event"},
	} {
		if got := (&commands.Receipt{Command: tt.of, Reason: tt.reason}).Why(); got != tt.want {
			t.Errorf("%v of a custom command of type %d: %q, want %q", tt.reason, tt.of.ID, got, tt.want)
		}
	}
}

func BenchmarkQueue(b *testing.B) {
	q := commands.NewQueue(commands.MaxQueue)
	c := commands.SetField(space.At(1, 2), 3, 4)
	var taken []commands.Command
	for b.Loop() {
		for i := range 50 {
			if _, err := q.Push(new(c.From(uint64(i%5), uint64(i)))); err != nil {
				b.Fatal(err)
			}
		}
		taken = q.Take(taken[:0], 1)
	}
	b.ReportMetric(float64(50*b.N)/b.Elapsed().Seconds(), "commands/s")
	if !bytes.Equal(nil, taken[0].Data) {
		b.Fatal("a command without data has some")
	}
}

// BenchmarkQueueInOrder is BenchmarkQueue for one source, whose commands need no sorting.
func BenchmarkQueueInOrder(b *testing.B) {
	q := commands.NewQueue(commands.MaxQueue)
	list := slices.Repeat([]commands.Command{commands.SetField(space.At(1, 2), 3, 4)}, 50)
	var taken []commands.Command
	for b.Loop() {
		if _, _, err := q.PushAll(list); err != nil {
			b.Fatal(err)
		}
		taken = q.Take(taken[:0], 1)
	}
	b.ReportMetric(float64(50*b.N)/b.Elapsed().Seconds(), "commands/s")
	if len(taken) != len(list) {
		b.Fatalf("%d commands were taken, want %d", len(taken), len(list))
	}
}

// TestPushTogether holds that commands are pushed all or not at all.
func TestPushTogether(t *testing.T) {
	q := commands.NewQueue(10)
	list := []commands.Command{commands.SetField(space.At(1), 0, 1), commands.SetField(space.At(2), 0, 1), commands.Custom(3, []byte{4})}
	for range 3 {
		if _, err := q.PushTogether(list); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := q.PushTogether(list); err != commands.QueueFull {
		t.Errorf("the queue has 9 of 10, and takes 3 more: %v", err)
	}
	if _, err := q.PushTogether(append(list[:0:0], commands.Command{Kind: 99})); err == nil {
		t.Error("it takes what is no command")
	}
	if n := len(q.Take(nil, 1)); n != 9 {
		t.Errorf("%d commands are there, want 9", n)
	}
	q.Stop()
	if _, err := q.PushTogether(list); err != commands.Stopped {
		t.Errorf("stopped: %v", err)
	}
}
