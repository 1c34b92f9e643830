package audit_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/audit"
)

// TestEventsInOrder holds what may follow what, and that a refused event leaves the
// chain as it was.
func TestEventsInOrder(t *testing.T) {
	var c audit.Events
	for _, tick := range []uint64{3, 3, 5} {
		if err := c.Add(&audit.Event{Seq: c.Seq + 1, Tick: tick, Payload: []byte{1}}); err != nil {
			t.Fatal(err)
		}
	}
	before := c.Hash
	for _, tt := range []struct {
		seq, tick uint64
		want      string
	}{
		{3, 5, "event 4 is next"},
		{5, 5, "event 4 is next"},
		{4, 4, "the event before it is of tick 5"},
		{4, 0, "1 to 2^63-1"},
		{4, math.MaxInt64 + 1, "1 to 2^63-1"},
	} {
		err := c.Add(&audit.Event{Seq: tt.seq, Tick: tt.tick})
		var order *audit.OrderError
		if !errors.As(err, &order) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("event %d of tick %d: %v, want %q", tt.seq, tt.tick, err, tt.want)
		}
	}
	if c.Hash != before || c.Seq != 3 || c.Tick != 5 {
		t.Errorf("refused events left %s, event %d, tick %d; want %s, 3, 5", c.Hash, c.Seq, c.Tick, before)
	}
}

// TestEventsTellApart holds that no two parts of an event can be shifted into another.
func TestEventsTellApart(t *testing.T) {
	events := []audit.Event{
		{Seq: 1, Tick: 1},
		{Seq: 1, Tick: 2},
		{Seq: 1, Tick: 1, Source: [16]byte{1}},
		{Seq: 1, Tick: 1, Kind: 1},
		{Seq: 1, Tick: 1, Kind: 256},
		{Seq: 1, Tick: 1, Payload: []byte{0}},
		{Seq: 1, Tick: 1, Payload: []byte{0, 0}},
	}
	seen := map[audit.Hash]int{}
	for i := range events {
		var c audit.Events
		if err := c.Add(&events[i]); err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[c.Hash]; ok {
			t.Errorf("events %d and %d have the same hash", other, i)
		}
		seen[c.Hash] = i
	}
}
