package engine_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// picky refuses to accept a tick with a command that sets 13.
func picky(_ uint64, receipts []commands.Receipt) error {
	for i := range receipts {
		if receipts[i].Kind == commands.KindSetField && receipts[i].Bits == bits32(13) {
			return errors.New("thirteen")
		}
	}
	return nil
}

func bits32(v float32) uint64 { return commands.SetField(space.At(0), 0, v).Bits }

// TestTickets: a receipt has the ticket of its own command, whatever goroutine submitted it, in whatever order the tick applies commands, and after
// ticks that failed.
func TestTickets(t *testing.T) {
	w, err := engine.New(engine.Config{
		Space: space.Ring{Length: 64}, Fields: []fields.Def{{Name: "heat"}}, Accept: picky, MaxFailures: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	for tick := range 30 {
		var mu sync.Mutex
		var all sync.WaitGroup
		of := map[commands.Ticket]float32{}
		for source := range 4 {
			all.Go(func() {
				for i := range 20 {
					v := float32(1000*(tick+1) + 100*source + i)
					if tick%5 == 3 && source == 2 && i == 7 {
						v = 13
					}
					c := commands.SetField(space.At(int32(i)), 0, v)
					c.Priority = uint8((i * 7) % 5)
					ticket, err := w.Submit(c.From(uint64(source), uint64(i)))
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					of[ticket] = v
					mu.Unlock()
				}
			})
		}
		all.Wait()
		receipts, err := w.Step()
		if failed := err != nil; failed != (tick%5 == 3) {
			t.Fatalf("tick %d: %v", tick, err)
		}
		if len(of) != 80 || len(receipts) != 80 {
			t.Errorf("tick %d: %d tickets, %d receipts; want 80", tick, len(of), len(receipts))
		}
		for _, r := range receipts {
			v, submitted := of[r.Ticket]
			if delete(of, r.Ticket); !submitted || r.Bits != bits32(v) || (r.Reason == commands.RolledBack) != (err != nil) {
				t.Fatalf("tick %d: ticket %d, which sets %v, leads to %+v", tick, r.Ticket, v, r)
			}
		}
	}
}

// TestTicketsOfMany: the tickets of commands that are submitted at once follow that of the first. Recorded commands and events have none, whatever
// was submitted before.
func TestTicketsOfMany(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1), Accept: picky, MaxFailures: -1})
	want := func(receipts []commands.Receipt, tickets ...commands.Ticket) {
		t.Helper()
		var got []commands.Ticket
		for _, r := range receipts {
			got = append(got, r.Ticket)
		}
		if !slices.Equal(got, tickets) {
			t.Errorf("the receipts have tickets %d, want %d", got, tickets)
		}
	}
	set := func(v float32) commands.Command { return commands.SetField(space.At(0), 0, v) }
	first, _, err := w.SubmitAll([]commands.Command{set(1), commands.Later(9, set(5)), set(13)})
	other, failed := w.SubmitTogether([]commands.Command{set(3), set(4)})
	if first != 1 || other != 4 || err != nil || failed != nil {
		t.Fatalf("the first tickets are %d and %d, %v, %v; want 1 and 4", first, other, err, failed)
	}
	receipts, err := w.Step()
	if err == nil {
		t.Error("13 was accepted")
	}
	want(receipts, 1, 2, 3, 4, 5)
	recorded := set(2)
	recorded.Arrival = 1
	if receipts, err = w.Replay([]commands.Command{recorded}); err != nil {
		t.Fatal(err)
	}
	want(receipts, 0)
	if _, err := w.Submit(commands.Later(3, set(5))); err != nil {
		t.Fatal(err)
	}
	want(step(t, w), 6)
	if _, err := w.Submit(set(7)); err != nil {
		t.Fatal(err)
	}
	want(step(t, w), 0, 7) // the event, and the command
}

// TestDetailOfOneTick: what a handler says to a command is not said to another command in the next tick.
func TestDetailOfOneTick(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1), Handlers: []engine.Handler{gate{}}, Parameters: []engine.Parameter{{Key: 3, Name: "least", Value: 2}}})
	if _, _, err := w.SubmitAll(slices.Repeat([]commands.Command{commands.Custom(7, nil)}, 3)); err != nil {
		t.Fatal(err)
	}
	for _, r := range step(t, w) {
		if !strings.HasPrefix(r.Why(), "player") {
			t.Errorf("why: %q", r.Why())
		}
	}
	if _, _, err := w.SubmitAll(slices.Repeat([]commands.Command{commands.SetField(space.At(99), 0, 1)}, 3)); err != nil {
		t.Fatal(err)
	}
	for _, r := range step(t, w) {
		if r.Detail != "" {
			t.Errorf("a command outside the space was refused with the words of an earlier one: %q", r.Why())
		}
	}
}
