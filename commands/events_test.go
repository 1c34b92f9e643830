package commands_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
)

func schedule(t *testing.T, e *commands.Events, due uint64, c commands.Command) {
	t.Helper()
	if _, err := e.Schedule(due, c); err != nil {
		t.Fatal(err)
	}
}

// event is a custom command that is known by its type id.
func event(id uint32) commands.Command { return commands.Custom(id, fmt.Append(nil, "event ", id)) }

func ids(cs []commands.Command) (ids []uint32) {
	for i := range cs {
		ids = append(ids, cs[i].ID)
	}
	return ids
}

// TestEventsDue: events come when due, late ones first, then in canonical order.
func TestEventsDue(t *testing.T) {
	e := commands.NewEvents()
	e.Begin(1)
	system := event(5)
	system.Priority = commands.PrioritySystem
	schedule(t, e, 4, event(1))
	schedule(t, e, 3, event(2))
	schedule(t, e, 4, event(3).From(7, 1))
	schedule(t, e, 2, event(4))
	schedule(t, e, 4, system)
	e.Begin(2)
	schedule(t, e, 4, event(6))
	schedule(t, e, 5, event(7))
	if due, ok := e.Due(); due != 2 || !ok {
		t.Errorf("the next is due in tick %d, %v; want 2", due, ok)
	}
	if got := ids(e.TakeDue(nil)); !slices.Equal(got, []uint32{4}) {
		t.Errorf("due in tick 2: %v, want [4]", got)
	}
	e.Begin(4) // 3 was skipped
	got := e.TakeDue([]commands.Command{event(0)})
	if !slices.Equal(ids(got), []uint32{0, 2, 5, 3, 1, 6}) {
		t.Errorf("due in tick 4: %v, want [0 2 5 3 1 6]", ids(got))
	}
	if want := uint64(1<<20 | 1); got[4].Arrival != want || got[5].Arrival != 2<<20|1 || string(got[4].Data) != "event 1" {
		t.Errorf("event 1 has arrival %x, data %q; want %x, event 1", got[4].Arrival, got[4].Data, want)
	}
	if due, ok := e.Due(); due != 5 || !ok {
		t.Errorf("the next is due in tick %d, %v; want 5", due, ok)
	}
	if e.Len() != 1 || len(e.TakeDue(nil)) != 0 {
		t.Errorf("%d events wait, want 1", e.Len())
	}
}

func TestEventsAppend(t *testing.T) {
	e := commands.NewEvents()
	if due, ok := e.Due(); ok {
		t.Errorf("without events one is due in tick %d", due)
	}
	if got := e.Append([]byte("x")); !bytes.Equal(got, []byte("x\x00\x00\x00\x00")) {
		t.Errorf("no events = %x, want a zero count", got)
	}
	e.Begin(3)
	late, early := event(1).From(2, 3), event(2)
	schedule(t, e, 9, late)
	schedule(t, e, 5, early)
	late.Arrival, early.Arrival = 3<<20|1, 3<<20|2
	want := binary.LittleEndian.AppendUint32(nil, 2)
	want = early.Append(binary.LittleEndian.AppendUint64(want, 5))
	want = late.Append(binary.LittleEndian.AppendUint64(want, 9))
	if got := e.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("Append = %x, want %x", got, want)
	}
}

// TestEventsUndo schedules, cancels, takes and undoes at random and compares the state
// with that of a tick that never was, and with what is decoded from it.
func TestEventsUndo(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	e := commands.NewEvents()
	for tick := uint64(1); tick < 500; tick++ {
		before := e.Append(nil)
		e.Begin(tick)
		if got := e.Append(nil); !bytes.Equal(got, before) {
			t.Fatalf("tick %d: Begin changes the events", tick)
		}
		taken := e.TakeDue(nil)
		for i := range random.IntN(6) {
			schedule(t, e, tick+1+random.Uint64N(4), event(uint32(i)))
		}
		cancel := func() {
			for range random.IntN(4) {
				before := e.Len()
				if e.Cancel((tick-random.Uint64N(min(tick, 4)))<<20|1+random.Uint64N(6)) != (e.Len() == before-1) {
					t.Fatalf("tick %d: %d events wait after Cancel, %d before", tick, e.Len(), before)
				}
			}
		}
		cancel()
		mark, half := e.Mark(), e.Append(nil)
		for i := range random.IntN(6) {
			schedule(t, e, tick+1, event(uint32(100+i)))
		}
		cancel()
		again := commands.NewEvents()
		if err := again.Restore(e.Append(nil), tick); err != nil {
			t.Fatalf("tick %d: Restore = %v", tick, err)
		}
		if got, want := again.Append(nil), e.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("tick %d: decoded as %x, want %x", tick, got, want)
		}
		e.UndoTo(mark)
		if got := e.Append(nil); !bytes.Equal(got, half) {
			t.Fatalf("tick %d: UndoTo leaves %x, want %x", tick, got, half)
		}
		for i := range taken {
			if want := event(taken[i].ID).Data; !bytes.Equal(taken[i].Data, want) {
				t.Fatalf("tick %d: an event taken has data %q, want %q", tick, taken[i].Data, want)
			}
		}
		if random.IntN(2) == 0 {
			e.Undo()
			if got := e.Append(nil); !bytes.Equal(got, before) {
				t.Fatalf("tick %d: Undo leaves %x, want %x", tick, got, before)
			}
		}
	}
	if e.Len() == 0 {
		t.Error("no event waits at the end: the test has tested nothing")
	}
}

// TestEventsData: data is copied when scheduled, and what was taken is not
// overwritten before the next Begin.
func TestEventsData(t *testing.T) {
	e := commands.NewEvents()
	e.Begin(1)
	data := []byte("first")
	schedule(t, e, 2, commands.Custom(1, data))
	copy(data, "spoil")
	e.Begin(2)
	taken := e.TakeDue(nil)
	for range 10 {
		schedule(t, e, 3, commands.Custom(2, []byte("other")))
	}
	e.Undo()
	schedule(t, e, 3, commands.Custom(2, []byte("again")))
	if got := string(taken[0].Data); got != "first" {
		t.Errorf("data = %q, want first", got)
	}
}

func TestEventsLimit(t *testing.T) {
	e := commands.NewEvents()
	e.Begin(1)
	c := commands.Despawn(1)
	for i := range commands.MaxEvents {
		if _, err := e.Schedule(2, c); err != nil {
			t.Fatalf("event %d: %v, want none", i, err)
		}
	}
	if _, err := e.Schedule(2, c); err != commands.CapacityFull {
		t.Errorf("one event too many in a tick: %v, want %v", err, commands.CapacityFull)
	}
	e.Begin(2)
	if _, err := e.Schedule(3, c); err != nil || e.Len() != commands.MaxEvents+1 {
		t.Errorf("an event in the next tick: %v, %d wait, want %d", err, e.Len(), commands.MaxEvents+1)
	}
}

func TestEventsAllocations(t *testing.T) {
	e := commands.NewEvents()
	tick := uint64(0)
	c := event(1)
	var taken []commands.Command
	var state []byte
	run := func() {
		tick++
		e.Begin(tick)
		taken = e.TakeDue(taken[:0])
		for i := range 50 {
			if _, err := e.Schedule(tick+1+uint64(i%7), c); err != nil {
				t.Fatal(err)
			}
		}
		state = e.Append(state[:0])
	}
	for range 100 {
		run()
	}
	if got := testing.AllocsPerRun(500, run); got != 0 || len(taken) == 0 {
		t.Errorf("%v allocations a tick with %d events due, want 0", got, len(taken))
	}
}

// TestEventsRestoreRefuses holds that only events that tick 5 or one before it can have
// left are read, each at its place.
func TestEventsRestoreRefuses(t *testing.T) {
	type pending struct{ due, id uint64 }
	early, late := pending{6, 5<<20 | 1}, pending{9, 1<<20 | commands.MaxEvents}
	for _, tt := range []struct {
		name  string
		list  []pending
		bytes func(b []byte) []byte // what is done to them
		want  string
	}{
		{name: "good", list: []pending{early, late}},
		{name: "none"},
		{"due now", []pending{{5, 1<<20 | 1}}, nil, "malformed input at byte 4: event 1 of 1: it is due at tick 5; the state is that of tick 5"},
		{"of a tick to come", []pending{{9, 6<<20 | 1}}, nil, "malformed input at byte 4: event 1 of 1: its id 6291457 is not one of tick 5 or before"},
		{"of genesis", []pending{{9, 1}}, nil, "malformed input at byte 4: event 1 of 1: its id 1 is not one of tick 5 or before"},
		{"of no ordinal", []pending{{9, 5 << 20}}, nil, "malformed input at byte 4: event 1 of 1: its id 5242880 is not one of tick 5 or before"},
		{"out of order", []pending{late, early}, nil, "malformed input at byte 44: event 2 of 2: it is out of order"},
		{"twice", []pending{early, {9, early.id}}, nil, "malformed input at byte 44: event 2 of 2: its id 5242881 occurs twice"},
		{"no count", nil, func(b []byte) []byte { return b[:3] }, "input ends early at byte 0: number of events is cut short: 3 of 4 bytes"},
		{"cut", []pending{early, late}, func(b []byte) []byte { return b[:76] }, "malformed input at byte 44: event 2 of 2: commands: despawn payload, byte 24: arrival is cut short: 0 of 8 bytes"},
		{"too long", []pending{early}, func(b []byte) []byte { return append(b, 0) }, "malformed input at byte 44: 1 bytes are left over"},
	} {
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(tt.list)))
		for _, p := range tt.list {
			c := commands.Despawn(7)
			c.Arrival = p.id
			b = c.Append(binary.LittleEndian.AppendUint64(b, p.due))
		}
		if tt.bytes != nil {
			b = tt.bytes(b)
		}
		e := commands.NewEvents()
		got := ""
		if err := e.Restore(b, 5); err != nil {
			got = err.Error()
		} else if again := e.Append(nil); !bytes.Equal(again, b) {
			t.Errorf("%s: %x is encoded as %x", tt.name, b, again)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestEventsRestoreRefusesWhatCannotBeScheduled holds that an event too large for a frame
// is an error of the state: neither it nor those after it are left out without a word.
func TestEventsRestoreRefusesWhatCannotBeScheduled(t *testing.T) {
	fits, large := event(1), commands.Custom(1, make([]byte, commands.MaxPayload))
	b := binary.LittleEndian.AppendUint32(nil, 3)
	for i, c := range []commands.Command{fits, large, fits} {
		c.Arrival = 5<<20 | uint64(i+1)
		b = c.Append(binary.LittleEndian.AppendUint64(b, uint64(6+i)))
	}
	e := commands.NewEvents()
	err := e.Restore(b, 5)
	want := fmt.Sprintf("malformed input at byte %d: event 2 of 3: its command cannot be scheduled", 4+8+len(fits.Append(nil)))
	if err == nil || err.Error() != want {
		t.Errorf("Restore = %v with %d events, want %s", err, e.Len(), want)
	}
}
