package engine_test

import (
	"errors"
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

// TestTickets: a ticket leads to the receipt of its own command, whatever goroutine submitted it, in whatever order the tick applies commands, after
// ticks that failed, and only until the next tick.
func TestTickets(t *testing.T) {
	w, err := engine.New(engine.Config{
		Space: space.Ring{Length: 64}, Fields: []fields.Def{{Name: "heat"}}, Accept: picky, MaxFailures: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	earlier := commands.Ticket(0)
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
		if r := w.Receipt(earlier); tick > 0 && r == nil {
			t.Errorf("tick %d: the receipt is gone before the next tick", tick)
		}
		_, err := w.Step()
		if failed := err != nil; failed != (tick%5 == 3) {
			t.Fatalf("tick %d: %v", tick, err)
		}
		if len(of) != 80 || tick > 0 && w.Receipt(earlier) != nil {
			t.Errorf("tick %d: %d tickets; one of the tick before has a receipt: %v", tick, len(of), w.Receipt(earlier) != nil)
		}
		for ticket, v := range of {
			r := w.Receipt(ticket)
			if r == nil || r.Bits != bits32(v) || (r.Reason == commands.RolledBack) != (err != nil) {
				t.Fatalf("tick %d: ticket %d, which sets %v, leads to %+v", tick, ticket, v, r)
			}
			earlier = ticket
		}
		if w.Receipt(0) != nil || w.Receipt(earlier+1000) != nil {
			t.Errorf("tick %d: a ticket of no command has a receipt", tick)
		}
	}
}
