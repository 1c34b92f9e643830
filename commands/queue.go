package commands

import (
	"slices"
	"sync"

	"github.com/google/btree"
)

// MaxQueue is the largest capacity of a queue: as many commands as one frame may hold.
const MaxQueue = 1_000_000

// maxQueuedBytes bounds the data that a queue holds on behalf of its commands.
const maxQueuedBytes = MaxPayload

const (
	treeDegree   = 32
	freeTreeList = 1024 // nodes kept for reuse, so that a steady state allocates nothing
)

// A Queue holds the inputs of the next tick, at most a fixed number of them. Push
// may be called from any goroutine; Take belongs to the world's.
//
// Inputs that arrive in canonical order, as those of one source do, form a run and
// are not sorted again. Those that come after one that belongs behind them are sorted
// into a tree, and the two are merged when they are taken.
type Queue struct {
	//detcheck:allow goroutine inputs come from any goroutine; Take puts them into canonical order
	mu      sync.Mutex
	cap     int
	stopped bool
	first   uint64                 // the arrival number that the first command will have, as a guess
	ticket  Ticket                 // of the first command
	taken   Ticket                 // of the first command that Take took last
	last    uint32                 // the run's last slot
	run     []uint32               // slots in canonical order; empty while all slots are, in their own
	late    *btree.BTreeG[slotKey] // what is not in the run
	slots   []Command              // in the order submitted; their data lies in arena
	arena   []byte
	spare   []byte // the arena of the commands taken last
}

// A Ticket is the number of a command that a queue took: 1, 2, 3, … in the order submitted. Arrival numbers are known later, and leave out the
// commands of ticks that failed.
type Ticket uint64

// A slotKey sorts a command kept elsewhere.
type slotKey struct {
	key
	slot uint32
}

func slotLess(a, b slotKey) bool { return a.before(&b.key) }

// NewQueue returns an empty queue for at most capacity commands, itself at most [MaxQueue].
func NewQueue(capacity int) *Queue {
	return &Queue{
		cap: min(capacity, MaxQueue), ticket: 1,
		late: btree.NewWithFreeListG(treeDegree, slotLess, btree.NewFreeListG[slotKey](freeTreeList)),
	}
}

// Push submits a command for the next tick and copies it with its data. The error is
// nil, QueueFull or Stopped.
func (q *Queue) Push(c *Command) (Ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ticket := q.next()
	if err := q.push(c); err != nil {
		return 0, err
	}
	return ticket, nil
}

// PushAll pushes commands in order, up to the first that is refused. It returns the ticket of the
// first, how many were taken, and why the next one was not: QueueFull, Stopped, or what
// [Command.Check] returns for it. The tickets of the others follow that of the first.
func (q *Queue) PushAll(list []Command) (first Ticket, taken int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first = q.next()
	for i := q.pushPlain(list); i < len(list); i++ {
		if reason := list[i].Check(); reason != Applied {
			return first, i, reason
		}
		if err := q.push(&list[i]); err != nil {
			return first, i, err
		}
	}
	return first, len(list), nil
}

// next returns the ticket of the next command.
func (q *Queue) next() Ticket { return q.ticket + Ticket(len(q.slots)) }

// PushTogether pushes all of some commands, or none: then it returns why. The tickets follow the first one.
func (q *Queue) PushTogether(list []Command) (first Ticket, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return 0, Stopped
	}
	first = q.next()
	bytes := len(q.arena)
	for i := range list {
		if reason := list[i].Check(); reason != Applied {
			return 0, reason
		}
		bytes += len(list[i].Data)
	}
	if len(list) > q.cap-len(q.slots) || bytes > maxQueuedBytes {
		return 0, QueueFull
	}
	for i := range list {
		if err := q.push(&list[i]); err != nil {
			panic("commands: " + err.Error()) // there is room
		}
	}
	return first, nil
}

// pushPlain pushes the plain commands at the start of a list, at a third of the cost of
// push, if nothing is queued. Plain commands have no source and no data, and all the same
// priority. It returns how many it pushed.
func (q *Queue) pushPlain(list []Command) int {
	n := len(q.slots)
	if q.stopped || n > 0 {
		return 0
	}
	list = list[:min(len(list), q.cap)]
	slots := slices.Grow(q.slots, len(list))[:len(list)]
	plain := 0
	for i := range list {
		c := &list[i]
		if c.HasSource || c.Priority != list[0].Priority || len(c.Data) > 0 || c.Kind > KindSetParameterBatch {
			break
		}
		slots[i] = *c
		slots[i].Arrival = q.first + uint64(i)
		plain++
	}
	q.slots, q.last = slots[:plain], uint32(max(plain-1, 0))
	return plain
}

func (q *Queue) push(c *Command) error {
	if q.stopped {
		return Stopped
	}
	n := len(q.slots)
	if n >= q.cap || len(q.arena)+len(c.Data) > maxQueuedBytes {
		return QueueFull
	}
	q.slots = slices.Grow(q.slots, 1)[:n+1]
	own := &q.slots[n]
	*own = *c
	if len(c.Data) > 0 {
		start := len(q.arena)
		q.arena = append(q.arena, c.Data...)
		own.Data = q.arena[start:len(q.arena):len(q.arena)]
	}
	own.Arrival = q.first + uint64(n)
	q.enter(&own.Meta, uint32(n))
	return nil
}

// enter adds a slot to the run if it belongs at its end, else to the tree.
func (q *Queue) enter(m *Meta, slot uint32) {
	inOrder := slot == 0 || q.slots[q.last].precedes(m)
	if inOrder {
		q.last = slot
	}
	switch {
	case inOrder && q.late.Len() == 0: // the slots themselves are the run
	case inOrder:
		q.run = append(q.run, slot)
	default:
		if q.late.Len() == 0 {
			for i := range slot {
				q.run = append(q.run, i)
			}
		}
		q.late.ReplaceOrInsert(slotKey{m.key(), slot})
	}
}

// Take empties the queue and appends its commands to dst in canonical order,
// numbering their arrivals from first in the order submitted. Their data stays
// valid until the next Take. If dst is empty its memory becomes the queue's.
func (q *Queue) Take(dst []Command, first uint64) []Command {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken = q.ticket
	if len(q.slots) == 0 {
		return dst
	}
	q.ticket += Ticket(len(q.slots))
	if off := first - q.first; off != 0 { // after a tick that failed, or the first of all
		for i := range q.slots {
			q.slots[i].Arrival += off
		}
	}
	q.first = first + uint64(len(q.slots))
	switch {
	case q.late.Len() > 0:
		dst = q.merge(dst)
	case len(dst) == 0:
		dst, q.slots = q.slots, dst
	default:
		dst = append(dst, q.slots...)
	}
	q.slots, q.run = q.slots[:0], q.run[:0]
	q.arena, q.spare = q.spare[:0], q.arena
	return dst
}

// Taken returns the ticket of the first command that the last Take took. Like Take it belongs to the world's goroutine.
func (q *Queue) Taken() Ticket { return q.taken }

// merge appends the commands of the run and of the tree, and empties the tree. The run does
// not end before the tree: its last command comes behind all of the tree.
func (q *Queue) merge(dst []Command) []Command {
	run := q.run
	q.late.Ascend(func(k slotKey) bool {
		for q.slots[run[0]].precedes(&q.slots[k.slot].Meta) {
			dst = append(dst, q.slots[run[0]])
			run = run[1:]
		}
		dst = append(dst, q.slots[k.slot])
		return true
	})
	for _, slot := range run {
		dst = append(dst, q.slots[slot])
	}
	q.late.Clear(true)
	return dst
}

// Len returns the number of commands waiting.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.slots)
}

// Open lets a queue take commands again after Stop.
func (q *Queue) Open() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = false
}

// Stop makes every later Push fail with Stopped.
func (q *Queue) Stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
}
