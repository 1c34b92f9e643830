package serve

import (
	"cmp"
	"time"
)

// Limits bound what clients can ask of a server. A field that is zero takes its default.
type Limits struct {
	Clients    int // connections with a token at a time, default 4096
	Newcomers  int // connections without one yet, beside that; if there are more, the oldest gives way; default 1024
	PerAddress int // connections of one address, default 256; the first 64 bits of one of IPv6 count
	PerPlayer  int // connections with one player's token, default 16

	Queue   int           // bytes that may wait for a client, default 1 MiB
	Buffer  int           // likewise in the system, which may take twice that, default 32 KiB
	Stall   time.Duration // how long a client may read nothing while bytes wait for it, default 10 s
	Idle    time.Duration // how long a WebSocket may send nothing, not even the answer to a ping, default 90 s
	Hello   time.Duration // from the connection to a valid token, default 5 s
	Message int           // bytes of a message or line of a client, default 4096
	Input   int           // bytes a second of a client; four seconds' worth may come at once; default 16384
	Orders  int           // orders a second of a player; two seconds' worth may come at once; default 20
	Refusal time.Duration // before a wrong token is refused, default 200 ms
}

// orDefault returns the limits with the defaults filled in.
func (l Limits) orDefault() Limits {
	return Limits{
		Clients: cmp.Or(l.Clients, 4096), Newcomers: cmp.Or(l.Newcomers, 1024), PerAddress: cmp.Or(l.PerAddress, 256), PerPlayer: cmp.Or(l.PerPlayer, 16),
		Queue: cmp.Or(l.Queue, 1<<20), Buffer: cmp.Or(l.Buffer, 1<<15), Stall: cmp.Or(l.Stall, 10*time.Second), Idle: cmp.Or(l.Idle, 90*time.Second),
		Hello: cmp.Or(l.Hello, 5*time.Second), Message: cmp.Or(l.Message, 4096), Input: cmp.Or(l.Input, 1<<14),
		Orders: cmp.Or(l.Orders, 20), Refusal: cmp.Or(l.Refusal, 200*time.Millisecond),
	}
}

// A bucket lets so much through in a second, and what it has saved up at once. One goroutine at a
// time may use it.
type bucket struct {
	rate, most float64
	left       float64 // below 0: what was taken beyond the rate
	at         time.Time
}

// newBucket returns a full bucket.
func newBucket(rate, most float64) bucket { return bucket{rate, most, most, time.Now()} }

// take takes n and returns what is left. What is taken beyond the rate must be waited for, too.
func (b *bucket) take(n float64) (left float64) {
	now := time.Now()
	b.left = min(b.most, b.left+float64(b.rate*now.Sub(b.at).Seconds())) - n
	b.at = now
	return b.left
}

// spend takes n if so much is left, and reports whether it was.
func (b *bucket) spend(n float64) bool {
	if b.take(n) >= 0 {
		return true
	}
	b.left += n
	return false
}
