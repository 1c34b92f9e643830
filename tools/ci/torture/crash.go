package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

var (
	errFull    = errors.New("no space left on device")
	errIO      = errors.New("input/output error")
	errCrashed = errors.New("the machine is off")
)

const sector = 512 // bytes, written whole or not at all

// A disk has files that fail, until it crashes.
type disk struct {
	rng   *rand.Rand
	left  int // calls before it crashes
	fault int // calls before one fails
	seen  bool
}

// call counts a call and says whether it fails.
func (d *disk) call() error {
	if d.left--; d.left < 0 {
		return errCrashed
	}
	if d.fault--; d.fault == 0 {
		d.seen = true
		return []error{errFull, errIO}[d.rng.IntN(2)]
	}
	return nil
}

// A file has what the system shows of it, and what of that is safe on the disk.
type file struct {
	disk *disk
	safe []byte
	now  []byte
	at   int  // where Write goes on
	lies bool // about what is safe
}

// Write implements [io.Writer]. One that fails writes a part.
func (f *file) Write(b []byte) (int, error) {
	err := f.disk.call()
	n := len(b)
	if err != nil {
		n = f.disk.rng.IntN(len(b) + 1)
	}
	if err != errCrashed {
		f.now = append(f.now[:f.at], b[:n]...)
		f.at += n
	}
	return n, err
}

// Seek implements [io.Seeker], as far as a recorder needs it.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekCurrent {
		offset += int64(f.at)
	}
	f.at = int(offset)
	return offset, f.disk.call()
}

// Truncate cuts the file. Like what is written, that is not safe yet.
func (f *file) Truncate(size int64) error {
	err := f.disk.call()
	if err == nil {
		f.now = f.now[:size]
	}
	return err
}

// Sync makes all of it safe. One that fails loses some of it.
func (f *file) Sync() error {
	err := f.disk.call()
	switch {
	case err == nil && !f.lies:
		f.safe = slices.Clone(f.now)
	case err != nil && err != errCrashed:
		f.safe = f.left()
		f.now = slices.Clone(f.safe)
		f.at = min(f.at, len(f.now))
	}
	return err
}

// left is what the disk holds after a crash: of the sectors that were written since they were
// safe some, in no order, and zeros where one is missing; and a length between the two.
func (f *file) left() []byte {
	b := slices.Clone(f.now)
	if whole := len(f.safe) - len(b); whole > 0 { // it has been cut
		b = append(b, f.safe[len(b):][:f.disk.rng.IntN(whole+1)]...)
	} else if f.disk.rng.IntN(2) == 0 {
		b = b[:len(b)-f.disk.rng.IntN(1-whole)]
	}
	odds := f.disk.rng.IntN(4)
	for lo := 0; lo < len(b); {
		hi := min(len(b), lo-lo%sector+sector)
		if old := min(len(f.safe), hi); old < hi || !bytes.Equal(f.safe[lo:hi], b[lo:hi]) {
			if f.disk.rng.IntN(4) < odds {
				clear(b[max(lo, old):hi])
				if old > lo {
					copy(b[lo:old], f.safe[lo:old])
				}
			}
		}
		lo = hi
	}
	return b
}

// A reference is a run that nothing disturbs.
type reference struct {
	scenario  *scenarios.Scenario
	state     []byte // at which it begins; nil: genesis
	recording []byte
	ends      []int64 // of the header, then of each frame
	hashes    []uint64
}

// meadow is a small world in which much happens.
const meadow = `murksim: 1
name: meadow
seed: 11
tick_rate: 20
ticks: 24
space: {kind: square8, rows: 8, cols: 8, edge: wrap}
fields:
  - {name: grass, min: 0, max: 1, initial: {noise: {from: 0.2, to: 1}}}
  - {name: energy, domain: entities, initial: 1}
entities:
  capacity: 24
  kinds: [hare, fox]
  spawn:
    - {kind: hare, count: 12, set: {energy: 1}}
    - {kind: fox, count: 3, set: {energy: 2}}
propagators:
  - resource: {field: grass, regrowth: 0.05, capacity: 1}
systems:
  - grazing: {kind: hare, energy: energy, food: grass, pace: 4, bite: 1, cost: 0.22, breed_at: 2}
  - hunting: {kind: fox, energy: energy, prey: hare, pace: 6, catch: 0.5, gain: 0.6, cost: 0.25, breed_at: 4}
commands:
  - {tick: 3, set: {field: grass, cell: [1, 2], value: 1}}
  - {every: 2, set: {field: grass, cell: [3, 3], value: 0.5}}
`

func newReference(sets ...string) (*reference, error) {
	s, err := yaml.Parse(worlds.Registry(), "meadow", nil, []byte(meadow), sets...)
	if err != nil {
		return nil, err
	}
	r := &reference{scenario: s}
	var b, idx bytes.Buffer
	if _, err := r.record(&b, &idx, nil); err != nil {
		return nil, err
	}
	r.recording = b.Bytes()
	frames, err := replay.NewReader(bytes.NewReader(r.recording))
	if err != nil {
		return nil, err
	}
	for {
		var f replay.Frame
		r.ends = append(r.ends, frames.Offset())
		if err := frames.Next(&f); err == io.EOF {
			return r, nil
		} else if err != nil {
			return nil, err
		}
		r.hashes = append(r.hashes, f.Hash)
	}
}

func (r *reference) build(*replay.Header) (*engine.World, error) {
	if r.state != nil {
		return r.scenario.Restore(1, r.state, nil)
	}
	return r.scenario.World(1)
}

// from returns a reference of the same run that begins at the state of a tick.
func (r *reference) from(tick uint64) (*reference, error) {
	w, err := r.scenario.World(1)
	for err == nil && w.Tick() < tick {
		if _, _, err = w.SubmitAll(r.scenario.CommandsAt(w.Tick() + 1)); err == nil {
			_, err = w.Step()
		}
	}
	if err != nil {
		return nil, err
	}
	state, err := w.Save(r.scenario.Descriptor())
	return &reference{scenario: r.scenario, state: state}, err
}

// descriptor returns that of the recording.
func (r *reference) descriptor() ([]byte, error) {
	d := r.scenario.Descriptor()
	if r.state == nil {
		return d, nil
	}
	begin, err := replay.NewBegin(r.state)
	if err != nil {
		return nil, err
	}
	return begin.Describe(d)
}

// record runs the scenario with an index, and syncs where it is asked to. It returns the last
// tick that is safe.
func (r *reference) record(to, idx io.Writer, sync func() bool) (safe uint64, err error) {
	w, err := r.build(nil)
	if err != nil {
		return 0, err
	}
	descriptor, err := r.descriptor()
	if err != nil {
		return 0, err
	}
	rec, err := replay.NewRecorder(to, w, descriptor)
	if err != nil {
		return 0, err
	}
	h := replay.HeaderOf(w, descriptor)
	x, err := index.NewRecorder(idx, w, &h, rec, index.Options{Now: clock(), Key: key})
	if err != nil {
		return 0, err
	}
	w.Record(engine.Recorders(rec, x))
	for w.Tick() < r.scenario.Ticks {
		if _, _, err := w.SubmitAll(r.scenario.CommandsAt(w.Tick() + 1)); err != nil {
			return safe, err
		}
		if _, err := w.Step(); err != nil {
			return safe, errors.Join(err, rec.Flush())
		}
		synced := sync != nil && sync()
		flush := rec.Flush // at every tick, so that a seed gives the same writes
		if synced {
			flush = rec.Sync
		}
		if err := flush(); err != nil {
			return safe, err
		}
		if synced {
			safe = w.Tick()
		}
		_ = x.Flush() // no error of an index ends a run
	}
	if err = rec.Sync(); err == nil {
		safe = w.Tick()
	}
	_ = x.Close()
	return safe, err
}

// clock is one by which a keyframe is due every few ticks.
func clock() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(5 * time.Millisecond)
		return now
	}
}

// crashes lets a file system under a recorder and an index fail and crash, at so many points,
// and looks at what is left.
func crashes(t *table, points int, seed uint64) error {
	r, err := newReference()
	if err != nil {
		return err
	}
	for i := range points {
		rng := rand.New(rand.NewPCG(seed, uint64(i)+2))
		if err := r.crash(t, rng); err != nil {
			return fmt.Errorf("point %d of seed %d: %w", i, seed, err)
		}
	}
	return nil
}

// crash records until the disk crashes.
func (r *reference) crash(t *table, rng *rand.Rand) error {
	part := func(calls int) *file { // or a few less, in a run to its end
		d := &disk{rng: rand.New(rand.NewPCG(rng.Uint64(), 0)), left: rng.IntN(calls), fault: -1}
		if rng.IntN(2) == 0 {
			d.fault = 1 + rng.IntN(calls)
		}
		return &file{disk: d}
	}
	often := 1 + rng.IntN(8)
	return r.look(t, part(60), part(200), func() bool { return rng.IntN(often) == 0 }, rng)
}

// look records to files that fail, and looks at what is left of them.
func (r *reference) look(t *table, to, idx *file, sync func() bool, rng *rand.Rand) error {
	safe, err := r.record(to, idx, sync)
	if to.disk.seen && err == nil {
		return errors.New("the recording's file failed, and no error was returned")
	}
	b, x := to.left(), idx.left()
	ticks, err := r.verified(b)
	if err != nil {
		return err
	}
	if ticks < safe {
		return fmt.Errorf("tick %d was safe on the disk; %d are left", safe, ticks)
	}
	used, err := r.sought(b, x, ticks, rng)
	if err != nil {
		return err
	}
	switch {
	case ticks == 0:
		t.count("nothing is left; nothing was safe")
	case ticks == safe:
		t.count("what was safe is left")
	default:
		t.count("what was safe is left, and more")
	}
	if used {
		t.of("of these sought from a keyframe")
	}
	return nil
}

// verified returns how many ticks of what is left of a recording verify accepts. They must be
// those of the reference.
func (r *reference) verified(b []byte) (ticks uint64, err error) {
	frames, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		return 0, nil // not even the header
	}
	p, err := replay.NewPlayer(frames, r.build)
	if err != nil {
		return 0, nil
	}
	ticks, _ = p.Verify()
	if int(ticks) >= len(r.ends) || !bytes.HasPrefix(b, r.recording[:r.ends[ticks]]) {
		return 0, fmt.Errorf("verify accepts %d ticks, which are not all those of the run", ticks)
	}
	return ticks, nil
}

// key seals the keyframes.
var key = make(index.Key, index.KeySize)

// sought goes to a tick with what is left of the index. It must be that tick's state.
func (r *reference) sought(b, idx []byte, ticks uint64, rng *rand.Rand) (used bool, err error) {
	x, err := index.Open(bytes.NewReader(idx), int64(len(idx)))
	if ticks == 0 || err != nil {
		return false, nil
	}
	x.Trust(key)
	tick := 1 + rng.Uint64N(ticks)
	p, from, err := index.Seek(bytes.NewReader(b), int64(len(b)), x, r.build, tick, false, nil)
	if err != nil {
		return false, fmt.Errorf("seek to tick %d of %d: %w", tick, ticks, err)
	}
	if got := p.World.Hash(); p.World.Tick() != tick || got != r.hashes[tick-1] {
		return false, fmt.Errorf("seek to tick %d gives tick %d with the hash %016x, not %016x", tick, p.World.Tick(), got, r.hashes[tick-1])
	}
	return from > 0, nil
}
