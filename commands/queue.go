package commands

import (
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
type Queue struct {
	//detcheck:allow goroutine inputs come from any goroutine; Take puts them into canonical order
	mu      sync.Mutex
	cap     int
	stopped bool
	order   *btree.BTreeG[slotKey]
	slots   []Command // in the order submitted; their data lies in arena
	arena   []byte
	spare   []byte // the arena of the commands taken last
}

// A slotKey sorts a command kept elsewhere.
type slotKey struct {
	key
	slot uint32
}

func slotLess(a, b slotKey) bool { return a.compare(b.key) < 0 }

// NewQueue returns an empty queue for at most capacity commands, itself at most [MaxQueue].
func NewQueue(capacity int) *Queue {
	return &Queue{
		cap:   min(capacity, MaxQueue),
		order: btree.NewWithFreeListG(treeDegree, slotLess, btree.NewFreeListG[slotKey](freeTreeList)),
	}
}

// Push submits a command for the next tick and copies its data. It returns nil,
// QueueFull or Stopped.
func (q *Queue) Push(c Command) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return Stopped
	}
	if len(q.slots) >= q.cap || len(q.arena)+len(c.Data) > maxQueuedBytes {
		return QueueFull
	}
	if len(c.Data) > 0 {
		start := len(q.arena)
		q.arena = append(q.arena, c.Data...)
		c.Data = q.arena[start:len(q.arena):len(q.arena)]
	}
	c.Arrival = uint64(len(q.slots)) // relative until taken
	q.order.ReplaceOrInsert(slotKey{c.Meta.key(), uint32(len(q.slots))})
	q.slots = append(q.slots, c)
	return nil
}

// Take empties the queue and appends its commands to dst in canonical order,
// numbering their arrivals from first in the order submitted. Their data stays
// valid until the next Take.
func (q *Queue) Take(dst []Command, first uint64) []Command {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.slots) == 0 {
		return dst
	}
	q.order.Ascend(func(k slotKey) bool {
		c := q.slots[k.slot]
		c.Arrival += first
		dst = append(dst, c)
		return true
	})
	q.order.Clear(true)
	q.slots = q.slots[:0]
	q.arena, q.spare = q.spare[:0], q.arena
	return dst
}

// Len is the number of commands waiting.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.slots)
}

// Stop makes every later Push fail with Stopped.
func (q *Queue) Stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
}
