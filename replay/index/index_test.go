package index_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

// A recorded is a run with its recording and index.
type recorded struct {
	scenario         *scenarios.Scenario
	state            []byte // at which it begins; nil: genesis
	recording, index bytes.Buffer
	hashes           []uint64   // by tick
	fields           [][]uint64 // hashes of the fields, by tick
	last             []byte     // state
}

// Frames stands in for the recorder of a recording.
type frames struct {
	world  *engine.World
	end    func() int64  // of the frame that a tick makes
	hash   func() uint64 // which it records; nil: 0
	hashed func(tick, hash uint64, sum func() [sha256.Size]byte)
}

func (f *frames) Offset() int64 {
	hash := uint64(0)
	if f.hash != nil {
		hash = f.hash()
	}
	f.hashed(f.world.Tick()+1, hash, nil)
	return f.end()
}

func (f *frames) OnHash(hashed func(tick, hash uint64, sum func() [sha256.Size]byte)) {
	f.hashed = hashed
}

// The key of who makes the indexes of these tests.
var key = index.Key(bytes.Repeat([]byte{7}, index.KeySize))

func load(t testing.TB, name string) *scenarios.Scenario {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A refusing recorder refuses ticks now and then, after it has looked at the others.
type refusing struct {
	now  bool
	look func()
}

var errRefused = errors.New("refused")

func (r *refusing) Record(*engine.Tick) error {
	if r.now {
		r.look()
		return errRefused
	}
	return nil
}
func (r *refusing) Settle(bool) {}

// ticking returns a clock that advances by 25 ms each time it is looked at.
func ticking() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(25 * time.Millisecond)
		return now
	}
}

// record runs a scenario. Some ticks are refused once, after both have seen them.
func record(t testing.TB, name string, ticks uint64, o index.Options, refuse bool) *recorded {
	t.Helper()
	r := &recorded{scenario: load(t, name)}
	r.run(t, ticks, o, refuse)
	return r
}

// run runs the scenario from where the recording begins.
func (r *recorded) run(t testing.TB, ticks uint64, o index.Options, refuse bool) {
	t.Helper()
	w, err := r.build(nil)
	if err != nil {
		t.Fatal(err)
	}
	descriptor := r.scenario.Descriptor()
	if r.state != nil {
		b, err := replay.NewBegin(r.state)
		if err != nil {
			t.Fatal(err)
		}
		if descriptor, err = b.Describe(descriptor); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := replay.NewRecorder(&r.recording, w, descriptor)
	if err != nil {
		t.Fatal(err)
	}
	h := replay.HeaderOf(w, descriptor)
	o.Key = key
	idx, err := index.NewRecorder(&r.index, w, &h, rec, o)
	if err != nil {
		t.Fatal(err)
	}
	last := &refusing{look: func() {
		if err := idx.Flush(); !errors.Is(err, engine.ErrUnderWay) {
			t.Errorf("Flush within a tick = %v, want %v", err, engine.ErrUnderWay)
		}
	}}
	w.Record(engine.Recorders(rec, idx, last))
	note := func() {
		r.hashes = append(r.hashes, w.Hash())
		var sums []uint64
		for id := range w.Defs() {
			sums = append(sums, w.FieldHash(fields.ID(id)))
		}
		r.fields = append(r.fields, sums)
	}
	note()
	random := rand.New(rand.NewPCG(1, 2))
	for w.Tick() < ticks {
		list := r.scenario.CommandsAt(w.Tick() + 1)
		for i := 0; i < 2 && refuse && random.IntN(3) == 0; i++ {
			last.now = true
			_, _, _ = w.SubmitAll(list)
			if _, err := w.Step(); !errors.Is(err, errRefused) {
				t.Fatalf("Step = %v, want %v", err, errRefused)
			}
			last.now = false
		}
		if _, _, err := w.SubmitAll(list); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		note()
	}
	if err := errors.Join(rec.Flush(), idx.Close()); err != nil {
		t.Fatal(err)
	}
	if r.last, err = w.Save(r.scenario.Descriptor()); err != nil {
		t.Fatal(err)
	}
}

func (r *recorded) open(t testing.TB) *index.Index {
	t.Helper()
	return opened(t, r.index.Bytes())
}

// opened opens an index, and trusts what is sealed under the key.
func opened(t testing.TB, b []byte) *index.Index {
	t.Helper()
	x, err := index.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	x.Trust(key)
	return x
}

func (r *recorded) build(*replay.Header) (*engine.World, error) {
	if r.state != nil {
		return r.scenario.Restore(1, r.state, nil)
	}
	return r.scenario.World(1)
}

func (r *recorded) seek(x *index.Index, tick uint64) (*replay.Player, error) {
	p, _, err := index.Seek(bytes.NewReader(r.recording.Bytes()), int64(r.recording.Len()), x, r.build, tick, false, nil)
	return p, err
}

// TestSeek holds that every tick is reached from a keyframe with the hash that it had, and
// that the recording goes on from there.
func TestSeek(t *testing.T) {
	for _, name := range []string{"heat", "life", "predators", "colony", "bodies"} {
		t.Run(name, func(t *testing.T) {
			const ticks = 120
			r := record(t, name, ticks, index.Options{Now: ticking()}, true)
			x := r.open(t)
			if x.Last != ticks || !x.Complete || x.Cut != nil {
				t.Errorf("the index has %d ticks, complete: %v, cut: %v; want %d", x.Last, x.Complete, x.Cut, ticks)
			}
			if len(x.Keyframes()) == 0 { // how many there are depends on how fast they are packed
				t.Error("no keyframes")
			}
			for tick := uint64(0); tick <= ticks; tick += 6 {
				p, err := r.seek(x, tick)
				if err != nil {
					t.Fatalf("tick %d: %v", tick, err)
				}
				if p.World.Tick() != tick || p.World.Hash() != r.hashes[tick] {
					t.Fatalf("at tick %d with hash %016x, want %d, %016x", p.World.Tick(), p.World.Hash(), tick, r.hashes[tick])
				}
				if tick%20 != 14 && tick < 110 {
					continue
				}
				if n, err := p.Verify(); n != ticks-tick || err != nil {
					t.Fatalf("from tick %d: %d ticks match, %v; want %d", tick, n, err, ticks-tick)
				}
			}
			if _, err := r.seek(x, ticks+1); !errors.Is(err, index.ErrNoTick) {
				t.Errorf("Seek beyond the end = %v, want %v", err, index.ErrNoTick)
			}
		})
	}
}

// TestFrames holds that the index knows where each frame lies.
func TestFrames(t *testing.T) {
	r := record(t, "predators", 1200, index.Options{}, false)
	x := r.open(t)
	rd, err := replay.NewReader(bytes.NewReader(r.recording.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for tick := uint64(1); tick <= 1200; tick++ {
		var f replay.Frame
		if err := rd.Next(&f); err != nil {
			t.Fatal(err)
		}
		if got, err := x.Frame(tick); err != nil || got != f.Position {
			t.Fatalf("Frame(%d) = %+v, %v; want %+v", tick, got, err, f.Position)
		}
		if got, err := x.Hash(tick); err != nil || got != f.Hash {
			t.Fatalf("Hash(%d) = %016x, %v; want %016x", tick, got, err, f.Hash)
		}
	}
	if _, err := x.Hash(1201); !errors.Is(err, index.ErrNoTick) {
		t.Errorf("Hash(1201) = %v, want %v", err, index.ErrNoTick)
	}
}

// TestLateHashes holds that an index has no tick whose recorded hash it does not know yet, and has
// all of them once it does, and that wherever it can be cut there is no later keyframe.
func TestLateHashes(t *testing.T) {
	const ticks, late = 2500, 7
	s := load(t, "life")
	w := mustWorld(t, s)
	h := replay.HeaderOf(w, s.Descriptor())
	offset := int64(len(h.AppendBytes(nil)))
	var tell func(tick, hash uint64, sum func() [sha256.Size]byte)
	told := uint64(0) // the last tick
	f := &frames{world: w, end: func() int64 { offset += 24; return offset }}
	var file bytes.Buffer
	rec, err := index.NewRecorder(&file, w, &h, f, index.Options{Now: ticking()})
	if err != nil {
		t.Fatal(err)
	}
	tell, f.hashed = f.hashed, func(uint64, uint64, func() [sha256.Size]byte) {}
	open := func() *index.Index {
		x, err := index.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil || x.Cut != nil {
			t.Fatal(err, x.Cut)
		}
		return x
	}
	w.Record(rec)
	for w.Tick() < ticks {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched() // on one processor keyframes would be ready at a Flush only, which may not write them
		if w.Tick() > late && w.Tick() < ticks-900 {
			told++
			tell(told, told*told, nil)
		}
		if w.Tick()%500 != 0 {
			continue
		}
		if err := rec.Flush(); err == nil {
			t.Fatalf("Flush writes tick %d, whose hash is not known", w.Tick())
		}
		if x := open(); x.Last > told || x.Last+1024 < told {
			t.Fatalf("at tick %d the index has %d ticks, the hashes of %d are known", w.Tick(), x.Last, told)
		}
	}
	if err := rec.Close(); err == nil || open().Complete {
		t.Error("Close ends an index whose last ticks are not written")
	}
	for told < ticks {
		told++
		tell(told, told*told, nil)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	x := open()
	if x.Last != ticks || !x.Complete || len(x.Keyframes()) == 0 {
		t.Errorf("the index has %d ticks and %d keyframes, complete: %v; want %d", x.Last, len(x.Keyframes()), x.Complete, ticks)
	}
	for tick := uint64(1); tick <= x.Last; tick++ {
		last, length := x.Prefix(tick)
		y, err := index.Open(bytes.NewReader(file.Bytes()), length)
		if err != nil || y.Cut != nil || y.Last != last {
			t.Fatalf("Prefix(%d) = %d; the index cut there has %d ticks, %v, %v", tick, last, y.Last, err, y.Cut)
		}
		if keys := y.Keyframes(); len(keys) > 0 && keys[len(keys)-1] > last {
			t.Fatalf("Prefix(%d) = %d, with the keyframe of tick %d", tick, last, keys[len(keys)-1])
		}
		if got, err := x.Hash(tick); err != nil || got != tick*tick {
			t.Fatalf("Hash(%d) = %d, %v; want %d", tick, got, err, tick*tick)
		}
	}
}

// TestDigests holds that two ticks have the same digest of a field exactly if they have the
// same values, tile by tile, also after ticks that were refused.
func TestDigests(t *testing.T) {
	const ticks = 200
	for _, name := range []string{"life", "predators", "fire"} {
		r := record(t, name, ticks, index.Options{}, true)
		x := r.open(t)
		for id := range x.Fields {
			byHash, byDigest := map[uint64]uint64{}, map[uint64]uint64{}
			for tick := uint64(1); tick <= ticks; tick++ {
				sums := make([]uint64, len(x.Fields))
				if err := x.Digests(tick, sums); err != nil {
					t.Fatal(err)
				}
				tiles, err := x.Tiles(tick)
				if err != nil || len(tiles[id]) != x.Fields[id].Tiles() {
					t.Fatalf("tick %d: %d tiles of field %d, %v; want %d", tick, len(tiles[id]), id, err, x.Fields[id].Tiles())
				}
				if got := index.Digest(tiles[id]); got != sums[id] {
					t.Fatalf("tick %d: field %d has the digest %016x, its tiles %016x", tick, id, sums[id], got)
				}
				hash := r.fields[tick][id]
				if d, known := byHash[hash]; known && d != sums[id] {
					t.Fatalf("tick %d: field %d has the same hash as before and another digest", tick, id)
				}
				if h, known := byDigest[sums[id]]; known && h != hash {
					t.Fatalf("tick %d: field %d has the same digest as before and another hash", tick, id)
				}
				byHash[hash], byDigest[sums[id]] = sums[id], hash
			}
		}
	}
}

// TestRebuild holds that the index of a replay knows what that of the run knew.
func TestRebuild(t *testing.T) {
	const ticks = 300
	r := record(t, "predators", ticks, index.Options{}, false)
	rd, err := replay.NewReader(bytes.NewReader(r.recording.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(rd, r.build)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if n, err := index.Rebuild(&file, p, 0, key); n != ticks || err != nil {
		t.Fatalf("Rebuild = %d, %v; want %d ticks", n, err, ticks)
	}
	got, err := index.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want := r.open(t)
	if !got.Rebuilt || want.Rebuilt || !got.Complete || got.Recording != want.Recording || !slices.Equal(got.Fields, want.Fields) {
		t.Errorf("the header is %+v, want %+v and rebuilt", got.Header, want.Header)
	}
	a, b := make([]uint64, len(want.Fields)), make([]uint64, len(want.Fields))
	for tick := uint64(1); tick <= ticks; tick++ {
		if err := errors.Join(got.Digests(tick, a), want.Digests(tick, b)); err != nil || !slices.Equal(a, b) {
			t.Fatalf("tick %d: other digests, %v", tick, err)
		}
		x, errX := got.Frame(tick)
		y, errY := want.Frame(tick)
		if x != y || errX != nil || errY != nil {
			t.Fatalf("tick %d: its frame is at %+v, %v; want %+v, %v", tick, x, errX, y, errY)
		}
	}
}

// FuzzOpen holds that no index makes a read panic or take much memory.
func FuzzOpen(f *testing.F) {
	r := record(f, "life", 40, index.Options{Now: ticking(), Budget: 40_000}, false)
	f.Add(r.index.Bytes())
	f.Add(r.index.Bytes()[:200])
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := index.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		sums := make([]uint64, len(x.Fields))
		for _, tick := range []uint64{0, 1, 7, x.Last, x.Last + 1} {
			_ = x.Digests(tick, sums)
			_, _ = x.Tiles(tick)
			_, _ = x.Frame(tick)
			_, _ = x.Hash(tick)
			_, _ = x.Keyframe(tick)
		}
	})
}

// TestBudget holds that keyframes and tiles stay within it.
func TestBudget(t *testing.T) {
	for _, budget := range []int64{-1, 10_000, 200_000} {
		with := record(t, "life", 1500, index.Options{Budget: budget, Now: ticking()}, false)
		without := record(t, "life", 1500, index.Options{Budget: -1}, false)
		if got := int64(with.index.Len() - without.index.Len()); got > max(0, budget)+1<<13 {
			t.Errorf("a budget of %d: %d bytes", budget, got)
		}
		if n := len(with.open(t).Keyframes()); (n > 0) != (budget > 0) {
			t.Errorf("a budget of %d: %d keyframes", budget, n)
		}
	}
}

// TestDamage flips bits and cuts the index everywhere: a seek arrives at the right state
// or from genesis, and no read gives another value.
func TestDamage(t *testing.T) {
	const ticks = 60
	r := record(t, "life", ticks, index.Options{Now: ticking(), Budget: 60_000}, false)
	good := r.open(t)
	sums := make([]uint64, len(good.Fields))
	whole := bytes.Clone(r.index.Bytes())
	random := rand.New(rand.NewPCG(4, 4))
	found := 0
	check := func(b []byte, what string, at int) {
		x, err := index.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			found++
			return
		}
		if x.Cut != nil {
			found++
		}
		tick := 1 + random.Uint64N(ticks)
		got, want := make([]uint64, len(good.Fields)), sums
		if err := good.Digests(tick, want); err != nil {
			t.Fatal(err)
		}
		if err := x.Digests(tick, got[:min(len(got), len(x.Fields))]); err == nil {
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s %d: another digest of tick %d", what, at, tick)
				}
			}
		}
		if p, err := x.Frame(tick); err == nil {
			if q, _ := good.Frame(tick); p != q {
				t.Fatalf("%s %d: Frame(%d) = %+v, want %+v", what, at, tick, p, q)
			}
		}
		if h, err := x.Hash(tick); err == nil && h != r.hashes[tick] {
			t.Fatalf("%s %d: Hash(%d) = %016x, want %016x", what, at, tick, h, r.hashes[tick])
		}
		if random.IntN(10) == 0 {
			p, err := r.seek(x, tick)
			if err != nil || p.World.Hash() != r.hashes[tick] {
				t.Fatalf("%s %d: Seek(%d) = %v", what, at, tick, err)
			}
		}
	}
	step := max(1, len(whole)/1500)
	if testing.Short() {
		step *= 10
	}
	for i := 0; i < len(whole); i += step {
		check(whole[:i], "cut at byte", i)
		b := bytes.Clone(whole)
		b[i] ^= 1 << random.IntN(8)
		check(b, "a flipped bit in byte", i)
	}
	if found < len(whole)/step {
		t.Errorf("%d of %d were noticed when the index was opened, want all cuts at least", found, 2*len(whole)/step)
	}
}

// TestForeignIndex holds that the index of another run does not lead astray.
func TestForeignIndex(t *testing.T) {
	r := record(t, "life", 50, index.Options{Now: ticking()}, false)
	other := record(t, "heat", 50, index.Options{Now: ticking()}, false)
	x := other.open(t)
	h := replay.HeaderOf(mustWorld(t, r.scenario), r.scenario.Descriptor())
	if err := x.Belongs(&h); !errors.Is(err, index.ErrOther) {
		t.Errorf("Belongs = %v, want %v", err, index.ErrOther)
	}
	p, err := r.seek(x, 40)
	if err != nil || p.World.Hash() != r.hashes[40] {
		t.Errorf("Seek = %v", err)
	}
}

func mustWorld(t testing.TB, s *scenarios.Scenario) *engine.World {
	t.Helper()
	r, err := runner.New(runner.Config{Scenario: s, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r.World
}
