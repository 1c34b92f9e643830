package index

import (
	"encoding/binary"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/engine"
)

// Keyframes decides when to keep the state of a tick, and compresses it on another
// goroutine, one at a time. The interval is simulated time as a clock measures it: a seek
// re-runs at most that much. It doubles each time when half of the budget that was left is
// used up, so that the budget is never exceeded and early ticks are no better off than late
// ones by more than a factor that grows slowly.
type keyframes struct {
	descriptor []byte
	now        func() time.Time
	left       int64         // of the budget
	half       int64         // when no more than this is left, the interval doubles
	least      time.Duration // of the interval
	cost       time.Duration // of the last keyframe, in the recorder
	since      time.Time     // of the last keyframe

	state   []byte // of the last tick, which may be taken back; empty: none
	frame   keyframe
	busy    chan []byte // gives the chunk of the keyframe that is being compressed; nil: none
	encoder *zstd.Encoder
	payload []byte
	disable bool
}

// A keyframe is all of a keyframe but the state.
type keyframe struct {
	tick uint64
	rest uint64 // the value of world.rest
	end  int64  // of the tick's frame
}

func (k *keyframes) begin(descriptor []byte, o Options) {
	k.descriptor, k.now = descriptor, o.Now
	k.left = o.Budget / 2
	k.half, k.least = k.left/2, minInterval
	k.disable = o.Budget <= 0
	k.since = k.now()
}

// interval is the simulated time between keyframes: short where they cost little, and never
// so short that they take more than a twelfth of the time.
func (k *keyframes) interval() time.Duration {
	return max(k.least, min(50*k.cost, maxInterval), 12*k.cost)
}

// take keeps the state of a tick, if it is time for it.
func (k *keyframes) take(t *engine.Tick, end int64) {
	if k.disable || k.busy != nil {
		return
	}
	begin := k.now()
	if begin.Sub(k.since) < k.interval() {
		return
	}
	state, rest, err := t.AppendState(k.state[:0], k.descriptor)
	if err != nil { // a world that cannot be saved
		k.disable = true
		return
	}
	k.state, k.frame = state, keyframe{t.Number, rest, end}
	k.since = k.now()
	k.cost = k.since.Sub(begin)
}

// drop forgets the state of a tick that did not happen.
func (k *keyframes) drop() { k.state = k.state[:0] }

// settle begins to compress a state that was taken, and writes one that is compressed.
func (k *keyframes) settle(w *writer) {
	if k.busy != nil {
		select {
		case payload := <-k.busy:
			k.write(w, payload)
		default:
		}
		return
	}
	if len(k.state) == 0 {
		return
	}
	if k.encoder == nil {
		k.encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	}
	k.busy = make(chan []byte, 1)
	go func() { k.busy <- k.compress() }()
}

func (k *keyframes) compress() []byte {
	b := binary.LittleEndian.AppendUint64(k.payload[:0], k.frame.rest)
	b = binary.LittleEndian.AppendUint64(b, uint64(k.frame.end))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(k.state)))
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(k.state))
	return k.encoder.EncodeAll(k.state, b)
}

// write writes the keyframe that has been compressed, unless it exceeds the budget.
func (k *keyframes) write(w *writer, payload []byte) {
	size := int64(headSize + len(payload) + crcSize)
	k.busy, k.state, k.payload = nil, k.state[:0], payload
	if size > k.left {
		k.disable = true
		return
	}
	w.chunk(chunkHead{kind: keyChunk, first: k.frame.tick, ticks: 1}, payload)
	for k.left -= size; k.left < k.half; k.half /= 2 {
		k.least *= 2
	}
}

// finish waits for the keyframe that is being compressed.
func (k *keyframes) finish(w *writer) {
	k.settle(w)
	if k.busy != nil {
		k.write(w, <-k.busy)
	}
}
