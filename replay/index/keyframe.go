package index

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/engine"
)

// Keyframes keeps the state of some ticks, and compresses it on another goroutine, one at a time.
// A schedule says of which.
type keyframes struct {
	descriptor []byte
	now        func() time.Time
	key        Key // nil: no keyframe is sealed

	mu       sync.Mutex
	stage    stage
	schedule schedule
	disable  bool
	most     int64 // an eighth of the budget

	// These belong to the goroutine that the stage names.
	state   []byte
	frame   keyframe
	known   uint64             // the last tick whose hash is known
	sum     *[sha256.Size]byte // of the recording up to its end; nil: not known
	encoder *zstd.Encoder
	payload []byte

	// These belong to the worker.
	running bool              // the compressor
	done    chan []byte       // gives the chunk of the keyframe
	digest  [sha256.Size]byte // of the state; set before done
	pressed time.Duration     // how long that took; set before done
}

// A stage is who has the state.
type stage int

const (
	idle        stage = iota // the recorder, which may keep one
	taken                    // the recorder, or the worker once the tick has happened
	compressing              // the compressor
)

// fewBytes take no memory that matters, whatever the budget.
const fewBytes = 16 << 20

// A keyframe is all of a keyframe but the state.
type keyframe struct {
	tick uint64
	rest uint64 // the value of world.rest
	end  int64  // of the tick's frame
}

// begin makes ready for a world whose columns have so many bytes. A keyframe is made of a copy of
// the state, so one that is large for the budget has none: the index would take much memory.
func (k *keyframes) begin(descriptor []byte, begin, at uint64, columns int, o Options) {
	k.descriptor, k.now, k.key = descriptor, o.Now, o.Key
	k.schedule = schedule{begin: begin, at: at, opened: k.now(), key: begin, left: o.Budget / 2}
	k.most = o.Budget / 8
	k.disable = o.Budget <= 0 || int64(columns) > max(3*k.most, fewBytes)
	k.done = make(chan []byte, 1)
}

// due reports whether it is time for a keyframe, and nothing stands in its way.
func (k *keyframes) due(tick uint64, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.disable && k.stage == idle && k.schedule.due(tick, now)
}

// take keeps the state of a tick, if it is time for it, and reports whether it did.
func (k *keyframes) take(t *engine.Tick, end int64) bool {
	begin := k.now()
	if !k.due(t.Number, begin) {
		return false
	}
	state, rest, err := t.AppendState(k.state[:0], k.descriptor)
	now := k.now()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil { // a world that cannot be saved
		k.disable = true
		return false
	}
	k.state, k.frame, k.stage, k.sum = state, keyframe{t.Number, rest, end}, taken, nil
	k.schedule.take(t.Number, begin, now)
	return true
}

// hash notes that a tick's hash is known, and the SHA-256 of the recording up to it if there is a keyframe to be sealed.
func (k *keyframes) hash(tick uint64, sum func() [sha256.Size]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known = tick
	if k.key != nil && sum != nil && k.stage != idle && k.frame.tick == tick {
		s := sum()
		k.sum = &s
	}
}

// room is the most bytes that the next keyframe may have, with memory in proportion.
func (k *keyframes) room() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return min(k.schedule.left, max(k.most/2, fewBytes))
}

// drop forgets the state of a tick that did not happen.
func (k *keyframes) drop() { k.enter(idle) }

func (k *keyframes) enter(s stage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stage = s
}

// writable reports whether the keyframe may be written: not before its tick, whose hash may come late.
func (k *keyframes) writable() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known >= k.frame.tick
}

// settle is called after each tick that happened: it begins to compress the state, if it is
// that of this tick, and writes one that is compressed, if it may.
func (k *keyframes) settle(this bool, w *writer, mayWrite bool) {
	if this {
		if k.encoder == nil {
			k.encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
		}
		k.enter(compressing)
		k.running = true
		room := k.room()
		go func() {
			began := time.Now()
			payload := k.compress(room)
			k.pressed = time.Since(began)
			k.done <- payload
		}()
		return
	}
	if !k.running || !mayWrite || !k.writable() {
		return
	}
	select {
	case payload := <-k.done:
		k.write(w, payload, true)
	default:
	}
}

// compress returns the payload of the keyframe, or nil if that is larger than room.
func (k *keyframes) compress(room int64) []byte {
	if k.key != nil {
		k.digest = sha256.Sum256(k.state)
	}
	b := binary.LittleEndian.AppendUint64(k.payload[:0], k.frame.rest)
	b = binary.LittleEndian.AppendUint64(b, uint64(k.frame.end))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(k.state)))
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(k.state))
	const window = 4 << 20 // of the encoder: a state that is not larger is one segment, as its readers expect
	if len(k.state) <= window {
		return k.encoder.EncodeAll(k.state, b)
	}
	out := bounded{b, room}
	k.encoder.ResetContentSize(&out, int64(len(k.state)))
	_, err := k.encoder.Write(k.state)
	if err = errors.Join(err, k.encoder.Close()); err != nil {
		return nil
	}
	return out.bytes
}

// A bounded writer appends bytes up to a length.
type bounded struct {
	bytes []byte
	room  int64
}

var errNoRoom = errors.New("index: a keyframe is too large")

// Write implements [io.Writer].
func (w *bounded) Write(b []byte) (int, error) {
	if int64(len(w.bytes)+len(b)) > w.room {
		return 0, errNoRoom
	}
	w.bytes = append(w.bytes, b...)
	return len(b), nil
}

// write writes the keyframe that has been compressed, if it may and the budget allows it.
func (k *keyframes) write(w *writer, payload []byte, may bool) {
	k.running, k.payload = false, payload
	size := int64(headSize + len(payload) + crcSize)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.schedule.pressed = k.pressed
	if k.stage = idle; payload == nil || size > k.schedule.left {
		k.schedule.refused = true
		return
	}
	if may {
		w.chunk(chunkHead{kind: keyChunk, first: k.frame.tick, ticks: 1}, payload)
		k.schedule.spend(size)
		if k.sum != nil {
			w.seal(k.key, &sealed{*k.sum, k.frame.tick, k.digest, k.frame.rest})
		}
	}
}

// finish waits for the keyframe that is being compressed. One that may not be written is lost.
func (k *keyframes) finish(w *writer, mayWrite bool) {
	if k.running {
		k.write(w, <-k.done, mayWrite)
	}
}
