package serve

import (
	"cmp"
	"time"

	"github.com/murksim/murksim/replay/minewars"
)

// A seat is a player's place in the game. People have it while there are clients, and for the time of grace
// after that. What the world has refused, or had no room for, is asked for again after a pause that doubles each
// time.
type seat struct {
	seq     uint64 // of the player's last command
	clients int
	orders  bucket        // of all of them
	pending int           // orders that wait for a tick, likewise
	early   []earlyOrder  // of them, those that wait for the seat
	taken   bool          // by people, as far as the world has said
	asked   bool          // a command of Host.Seat waits for a tick
	pause   time.Duration // before the next try; 0: the last one has not failed
	later   *time.Timer   // settles the seat; nil: none runs
	over    bool          // the player is out, or has won: the seat is not requested any more
}

// seatOver is why a seat is not taken any more.
const seatOver = "the player is out of the game, or it has ended"

// minPause is the first pause after a failure.
const minPause = time.Second

// stop stops the timer.
func (s *seat) stop() {
	if s.later != nil {
		s.later.Stop()
		s.later = nil
	}
}

// refuse refuses the orders that wait for the seat, and returns how many there were.
func (s *seat) refuse(why string) (n int) {
	for i := range s.early {
		s.early[i].refuse(why)
	}
	n = len(s.early)
	s.early, s.pending = nil, s.pending-n
	return n
}

// fail notes a failure.
func (s *seat) fail() { s.pause = max(minPause, 2*s.pause) }

// sit takes a player's seat for a client, with the server's lock held.
func (d *desk) sit(c *client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &d.seats[c.view]
	s.stop()
	s.clients++
	s.pause = 0
	switch {
	case s.over:
		c.push(jsonPacket(SeatObject{"seat", c.view, d.server.tick, false, seatOver}))
	case s.taken:
		c.push(jsonPacket(SeatObject{"seat", c.view, d.server.tick, true, ""}))
	}
	if err := d.settle(c.view); err != nil {
		c.push(jsonPacket(SeatObject{Event: "seat", Player: c.view, Reason: err.Error()}))
	}
}

// rise notes that a client left. The last one's seat is given back after the time of grace.
func (d *desk) rise(c *client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &d.seats[c.view]
	if s.clients--; s.clients == 0 {
		d.settleAfter(c.view, d.grace)
	}
}

// settle asks the world to take a seat or to give it back, if that is not so yet. The lock is held.
func (d *desk) settle(player minewars.View) error {
	s := &d.seats[player]
	want := s.clients > 0
	if d.closed || s.asked || s.over || s.taken == want {
		return nil
	}
	if err := d.send(player, d.host.Seat(player, want), pendingOrder{taken: want}); err != nil {
		s.fail()
		d.settleAfter(player, s.pause)
		return err
	}
	s.asked = true
	return nil
}

// settleAfter settles a seat after a while, and not before. The lock is held.
func (d *desk) settleAfter(player minewars.View, pause time.Duration) {
	s := &d.seats[player]
	s.stop()
	if d.closed || s.over {
		return
	}
	var this *time.Timer
	this = time.AfterFunc(pause, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if s.later == this { // it was not stopped too late
			s.later = nil
			_ = d.settle(player) // tries again
		}
	})
	s.later = this
}

// retire notes whose game is over.
func (d *desk) retire(over []bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p := range d.seats {
		if s := &d.seats[p]; over[p] && !s.over {
			s.over = true
			s.stop()
		}
	}
}

// seated notes what became of a command of Host.Seat, and tells the player's clients; of failures in a row only
// the first.
func (d *desk) seated(player minewars.View, tick uint64, asked, applied bool, why string) {
	d.mu.Lock()
	s := &d.seats[player]
	news := applied || s.pause == 0
	s.asked = false
	if applied {
		s.taken, s.pause = asked, 0
	} else {
		s.fail()
	}
	if s.later == nil && s.taken != (s.clients > 0) {
		if applied {
			_ = d.settle(player) // tries again
		} else {
			d.settleAfter(player, s.pause)
		}
	}
	o := SeatObject{"seat", player, tick, s.taken, why}
	d.mu.Unlock()
	if news {
		d.server.tell(player, o)
	}
	d.sendEarly(player, why)
}

// sendEarly sends the orders that waited for a seat, if it is settled, unless the world has refused it.
func (d *desk) sendEarly(player minewars.View, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &d.seats[player]
	if s.asked { // once more
		return
	}
	for s.taken && len(s.early) > 0 {
		o := &s.early[0]
		if err := d.send(player, o.command, o.pendingOrder); err != nil {
			why = err.Error()
			break
		}
		s.early = s.early[1:]
	}
	d.refused.Add(uint64(s.refuse(cmp.Or(why, "the seat is not taken"))))
}
