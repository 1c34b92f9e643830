package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve/live"
)

// A desk takes the orders of players to the world, and its receipts back. Commands have the
// player as their source, and are numbered.
type desk struct {
	server         *Server
	host           live.Host
	world          *engine.World
	grace          time.Duration
	taken, refused atomic.Uint64 // orders

	mu      sync.Mutex
	seats   []seat // by player
	pending map[ticket]pendingOrder
	closed  bool
}

// A ticket is by what a receipt is known.
type ticket struct{ player, seq uint64 }

// A pendingOrder waits for a tick.
type pendingOrder struct {
	client *client // nil: it is a command of Host.Seat
	id     *uint64
	taken  bool // as that command asks for
}

// refuse says why an order came to no tick.
func (p *pendingOrder) refuse(why string) {
	p.client.push(jsonPacket(ReceiptObject{Event: "receipt", ID: p.id, Reason: why}))
}

// An earlyOrder waits for the player's seat.
type earlyOrder struct {
	command commands.Command
	pendingOrder
}

func newDesk(s *Server, h live.Host, w *engine.World, grace time.Duration, players int) *desk {
	d := &desk{server: s, host: h, world: w, grace: grace, seats: make([]seat, players+1), pending: map[ticket]pendingOrder{}}
	for i := range d.seats {
		d.seats[i].orders = newBucket(float64(s.limits.Orders), 2*float64(s.limits.Orders))
	}
	return d
}

// order does what a client's message asks for. It returns why the client must go, or "". An empty message is
// none.
func (c *client) order(message []byte) End {
	switch {
	case len(bytes.TrimSpace(message)) == 0:
		return ""
	case !json.Valid(message):
		return EndGarbage
	}
	var m request
	d := c.server.desk
	why := ""
	switch err := jsonlines.Decode(message, &m); {
	case err != nil:
		m.ID, why = idOf(message), fmt.Sprintf("not an order: %v", err)
	case len(m.Order) == 0 || m.Order[0] != '{':
		why = `not an order: it must be like {"id":1,"order":{…}}`
	case c.view == minewars.Spectator:
		why = "spectators give no orders"
	case d == nil:
		why = "this world takes no orders"
	case !d.mayOrder(c.view):
		why = fmt.Sprintf("more than %d orders a second", c.server.limits.Orders)
	default:
		command, err := d.host.Order(c.view, m.Order)
		if err == nil {
			err = d.submit(c, m.ID, command)
		}
		if err == nil {
			return ""
		}
		why = err.Error()
	}
	if d != nil {
		d.refused.Add(1)
	}
	c.push(jsonPacket(ReceiptObject{Event: "receipt", ID: m.ID, Reason: why}))
	return ""
}

// idOf returns the number of a message that is not an order, if it has a good one.
func idOf(message []byte) *uint64 {
	var m struct {
		ID *uint64 `json:"id"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	return m.ID
}

// mayOrder takes an order of a player into account, unless it is one too many for the moment.
func (d *desk) mayOrder(v minewars.View) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seats[v].orders.spend(1)
}

// maxPending is how many orders of a player may wait for a tick, as they do before the first one.
const maxPending = 64

// submit sends an order to the world, for its next tick, or for the one after that in which the seat is taken.
func (d *desk) submit(c *client, id *uint64, command commands.Command) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &d.seats[c.view]
	if s.pending >= maxPending {
		return fmt.Errorf("%d orders wait for the next tick already", maxPending)
	}
	p := pendingOrder{client: c, id: id}
	if s.asked || len(s.early) > 0 { // no order counts before the seat is taken
		s.early = append(s.early, earlyOrder{command, p})
	} else if err := d.send(c.view, command, p); err != nil {
		return err
	}
	s.pending++
	d.taken.Add(1)
	return nil
}

// send submits a command, with the lock held.
func (d *desk) send(player minewars.View, command commands.Command, p pendingOrder) error {
	if d.closed {
		return commands.Stopped
	}
	t := ticket{uint64(player), d.seats[player].seq + 1}
	if _, err := d.world.Submit(command.From(t.player, t.seq)); err != nil {
		return err
	}
	d.seats[player].seq++
	d.pending[t] = p
	return nil
}

// Receipts tells players what became of their orders in a tick. It is the Receipts of a runner.Run.
func (s *Server) Receipts(tick uint64, list []commands.Receipt) {
	if s.desk != nil {
		s.desk.receipts(tick, list)
	}
}

func (d *desk) receipts(tick uint64, list []commands.Receipt) {
	for i := range list {
		r := &list[i]
		if r.Event || !r.HasSource || !r.HasSeq {
			continue
		}
		p, ok := d.redeem(ticket{r.Source, r.SourceSeq})
		if !ok {
			continue // of the scenario
		}
		applied, why := r.Reason == commands.Applied, ""
		if !applied {
			why = cmp.Or(d.host.Explain(d.world, r), r.Reason.String())
		}
		if p.client == nil {
			d.seated(minewars.View(r.Source), tick, p.taken, applied, why)
			continue
		}
		if !applied {
			d.refused.Add(1)
		}
		p.client.push(jsonPacket(ReceiptObject{"receipt", p.id, tick, applied, why}))
	}
}

// redeem returns the order of a ticket, which waits no longer, if there is one.
func (d *desk) redeem(t ticket) (p pendingOrder, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p, ok = d.pending[t]; ok && p.client != nil {
		d.seats[t.player].pending--
	}
	delete(d.pending, t)
	return p, ok
}

// close refuses the orders that wait, and takes no more.
func (d *desk) close(why End) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for i := range d.seats {
		d.seats[i].stop()
		d.seats[i].refuse(string(why))
	}
	for _, p := range d.pending {
		if p.client != nil {
			p.refuse(string(why))
		}
	}
	clear(d.pending)
}
