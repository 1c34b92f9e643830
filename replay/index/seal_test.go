package index_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// chunk makes a chunk whose checksums are right.
func chunk(kind byte, tick uint64, payload []byte) []byte {
	sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	b := binary.LittleEndian.AppendUint64([]byte{kind}, tick)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, sum(b))
	return binary.LittleEndian.AppendUint32(append(b, payload...), sum(payload))
}

// A late recorder tells the hash of each tick some ticks later.
type late struct {
	*replay.Recorder
	tell []func()
}

func (l *late) OnHash(f func(tick, hash uint64, sum func() [sha256.Size]byte)) {
	l.Recorder.OnHash(func(tick, hash uint64, sum func() [sha256.Size]byte) {
		s := sum()
		l.tell = append(l.tell, func() { f(tick, hash, func() [sha256.Size]byte { return s }) })
	})
}

// TestSealOfALateHash holds that each keyframe has its seal, also where it is compressed before
// the hash of its tick is known.
func TestSealOfALateHash(t *testing.T) {
	s := load(t, "heat")
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	var file, keys bytes.Buffer
	rec, err := replay.NewRecorder(&file, w, s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	h, frames := replay.HeaderOf(w, s.Descriptor()), &late{Recorder: rec}
	idx, err := index.NewRecorder(&keys, w, &h, frames, index.Options{Now: ticking(), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	w.Record(engine.Recorders(rec, idx))
	for w.Tick() < 60 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // to compress a state
		if w.Tick()%20 != 0 {
			continue
		}
		if err := rec.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, tell := range frames.tell {
			tell()
		}
		frames.tell = nil
	}
	if err := idx.Close(); err != nil {
		t.Fatal(err)
	}
	x := opened(t, keys.Bytes())
	if list, sealed := x.Keyframes(), x.SealedTicks(); len(list) < 2 || !slices.Equal(list, sealed) {
		t.Errorf("keyframes %v, of which %v have a seal", list, sealed)
	}
}

// forgeries are indexes of the recording that deceive, each in its way, with all checksums right.
func (r *recorded) forgeries(t *testing.T) map[string][]byte {
	t.Helper()
	true, other := r.index.Bytes(), record(t, "heat", 60, index.Options{Now: ticking()}, false).index.Bytes()
	header, chunks := chunksOf(true)
	rest := func(payload []byte) []byte {
		binary.LittleEndian.PutUint64(payload, 0xdeadbeefdeadbee2)
		return payload
	}
	resealed := bytes.Clone(header)
	shifted, swapped, last := bytes.Clone(header), bytes.Clone(header), bytes.Clone(header)
	var before []byte // payload of the keyframe before
	for _, c := range chunks {
		payload, tick := c[headSize:len(c)-crcSize], binary.LittleEndian.Uint64(c[1:])
		switch c[0] {
		case 'S':
			resealed = append(resealed, chunk('S', tick, bytes.Repeat([]byte{byte(tick)}, sha256.Size))...)
			shifted = append(shifted, chunk('S', tick+1, payload)...)
			swapped = append(swapped, c...)
			last = append(last, c...)
			continue
		case 'K':
			shifted = append(shifted, chunk('K', tick+1, payload)...)
			if before == nil {
				before = payload
			}
			swapped = append(swapped, chunk('K', tick, before)...)
			resealed = append(resealed, c...)
		default:
			shifted, swapped, resealed = append(shifted, c...), append(swapped, c...), append(resealed, c...)
		}
		if c[0] != 'E' {
			last = append(last, c...)
		}
	}
	all := map[string][]byte{
		"a state":       withOtherStates(t, true),
		"a rest":        withKeyframes(true, rest),
		"ticks":         shifted,
		"order":         swapped,
		"another run's": append(bytes.Clone(header), other[len(header):]...),
		"seals":         resealed,
		"cut":           true[:len(true)*2/3],
	}
	// Only the last tick has a keyframe: what verify would print, if it believed it.
	p, err := r.seek(nil, uint64(len(r.hashes)-1))
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.World.Save(p.Source.Head().World())
	if err != nil {
		t.Fatal(err)
	}
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer pack.Close()
	payload := binary.LittleEndian.AppendUint64(nil, 0xdeadbeefdeadbee2)
	payload = binary.LittleEndian.AppendUint64(payload, uint64(r.recording.Len()))
	payload = binary.LittleEndian.AppendUint64(payload, uint64(len(state)))
	payload = binary.LittleEndian.AppendUint64(payload, xxhash.Sum64(state))
	_, chunks = chunksOf(true)
	only := bytes.Clone(header)
	for _, c := range chunks {
		if c[0] != 'K' && c[0] != 'S' {
			only = append(only, c...)
		}
	}
	all["a rest of the last tick"] = append(only, chunk('K', p.World.Tick(), pack.EncodeAll(state, payload))...)
	return all
}

// savedAs returns the state at a tick as a keyframe has it.
func (r *recorded) savedAs(t *testing.T, tick uint64) []byte {
	t.Helper()
	p, err := r.seek(nil, tick)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.World.Save(p.Source.Head().World())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestForgedIndexes holds that an index changes neither what a verification finds nor what a seek gives.
func TestForgedIndexes(t *testing.T) {
	for _, name := range []string{"predators", "heat"} {
		if testing.Short() && name == "heat" {
			continue
		}
		const ticks = 60
		r := record(t, name, ticks, index.Options{Now: ticking()}, false)
		b := r.recording.Bytes()
		for what, idx := range r.forgeries(t) {
			r.agrees(t, name+" with forged "+what, b, idx)
			x, err := index.Open(bytes.NewReader(idx), int64(len(idx)))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			x.Trust(key)
			for tick := uint64(1); tick <= ticks; tick += 3 {
				p, from, err := index.Seek(bytes.NewReader(b), int64(len(b)), x, r.build, tick, false, nil)
				if err != nil || p.World.Hash() != r.hashes[tick] {
					t.Errorf("%s with forged %s: Seek(%d) from %d = %v", name, what, tick, from, err)
				}
				if from > 0 && what != "cut" {
					k, err := x.Keyframe(from)
					if err != nil || !bytes.Equal(k.State, r.savedAs(t, from)) {
						t.Errorf("%s with forged %s: Seek(%d) begins at a state of tick %d that is another, %v", name, what, tick, from, err)
					}
				}
			}
		}
	}
}

// TestSealsVouch holds for what a seal vouches: the keyframe, the recording up to it, and this user.
func TestSealsVouch(t *testing.T) {
	const ticks = 60
	r := record(t, "predators", ticks, index.Options{Now: ticking()}, false)
	b := r.recording.Bytes()
	from := func(recording []byte, key index.Key, tick uint64) uint64 {
		x := r.open(t)
		x.Trust(key)
		_, from, _ := index.Seek(bytes.NewReader(recording), int64(len(recording)), x, r.build, tick, false, nil)
		return from
	}
	used := from(b, key, ticks)
	if used == 0 {
		t.Fatal("no keyframe was used")
	}
	if got := from(b, bytes.Repeat([]byte{8}, index.KeySize), ticks); got != 0 {
		t.Errorf("with another key a seek begins at tick %d", got)
	}
	if got := from(b, nil, ticks); got != 0 {
		t.Errorf("without a key a seek begins at tick %d", got)
	}
	x := r.open(t)
	k, err := x.Keyframe(used)
	if err != nil {
		t.Fatal(err)
	}
	for at := x.Frames; at < int64(len(b)); at += 97 {
		changed := bytes.Clone(b)
		changed[at] ^= 1
		if got, want := from(changed, key, ticks) == used, at >= k.Next.Offset; got && !want {
			t.Errorf("with byte %d changed a seek begins at tick %d, whose recording ends at byte %d", at, used, k.Next.Offset)
		}
	}
}

// An exchanged index gives other bytes the second time that it is read.
type exchanged struct {
	first, then []byte
	opened      atomic.Bool
	reads       map[int64]bool
}

func (e *exchanged) ReadAt(b []byte, at int64) (int, error) {
	from := e.first
	if e.opened.Load() {
		if e.reads[at] {
			from = e.then
		}
		e.reads[at] = true
	}
	if at >= int64(len(from)) {
		return 0, io.EOF
	}
	n := copy(b, from[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// TestExchangedIndex holds that an index that is another one, or cut, while it is read changes nothing.
func TestExchangedIndex(t *testing.T) {
	r := record(t, "heat", 60, index.Options{Now: ticking()}, false)
	b, whole := r.recording.Bytes(), r.index.Bytes()
	wrong := bytes.Clone(b)
	at, err := r.open(t).Frame(41)
	if err != nil {
		t.Fatal(err)
	}
	wrong[at.Offset+at.Size-1] ^= 1
	for what, pair := range map[string][2][]byte{
		"wrong, then right": {withOtherStates(t, whole), whole}, "right, then wrong": {whole, withOtherStates(t, whole)},
		"right, then cut": {whole, whole[:len(whole)/2]},
	} {
		for _, recording := range [][]byte{b, wrong} {
			e := &exchanged{first: pair[0], then: pair[1], reads: map[int64]bool{}}
			x, err := index.Open(e, int64(len(pair[0])))
			if err != nil {
				t.Fatal(err)
			}
			e.opened.Store(true)
			of, err := index.Verify(bytes.NewReader(recording), int64(len(recording)), x, r.build, 2, nil)
			if want, _, _, wrong := r.serially(t, recording); of.Ticks != want || (err == nil) != (wrong == nil) {
				t.Errorf("%s: %d ticks match, %v; from genesis %d, %v", what, of.Ticks, err, want, wrong)
			}
		}
	}
}

// TestVerifySeals holds that the states a verification reached can be sealed, and that a seek goes on from them.
func TestVerifySeals(t *testing.T) {
	const ticks = 60
	r := record(t, "heat", ticks, index.Options{Now: ticking()}, false)
	b := r.recording.Bytes()
	_, chunks := chunksOf(r.index.Bytes())
	bare, _ := chunksOf(r.index.Bytes())
	bare = bytes.Clone(bare)
	for _, c := range chunks {
		if c[0] != 'S' {
			bare = append(bare, c...)
		}
	}
	x := opened(t, bare)
	if got := x.SealedTicks(); len(got) > 0 {
		t.Fatalf("without seals the ticks %d are trusted", got)
	}
	of, err := index.Verify(bytes.NewReader(b), int64(len(b)), x, r.build, 2, nil)
	reached := of.Reached
	if err != nil || len(reached) == 0 {
		t.Fatalf("%d states were reached: %v", len(reached), err)
	}
	if x.Sealed(reached, key) {
		t.Error("they are sealed already")
	}
	file := bytes.NewBuffer(bare)
	if err := index.AppendSeals(file, key, reached); err != nil {
		t.Fatal(err)
	}
	x = opened(t, file.Bytes())
	if !x.Sealed(reached, key) || x.Cut != nil || !x.Intact() {
		t.Errorf("the seals are not there; %v", x.Cut)
	}
	_, from, err := index.Seek(bytes.NewReader(b), int64(len(b)), x, r.build, ticks, false, nil)
	if err != nil || from == 0 || len(x.SealedTicks()) != len(reached) {
		t.Errorf("a seek begins at tick %d of the trusted %d: %v", from, x.SealedTicks(), err)
	}
}

// TestRebuildSeals holds that an index which is made by a replay seals the ticks that matched, and all before them.
func TestRebuildSeals(t *testing.T) {
	const ticks, wrong = 400, 200
	r := record(t, "heat", ticks, index.Options{Now: ticking()}, false)
	at, err := r.open(t).Frame(wrong)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(r.recording.Bytes())
	changed[at.Offset+at.Size-1] ^= 1
	for _, recording := range [][]byte{r.recording.Bytes(), changed} {
		frames, err := replay.NewReader(bytes.NewReader(recording))
		if err != nil {
			t.Fatal(err)
		}
		p, err := replay.NewPlayer(frames, r.build)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		n, err := index.Rebuild(&file, p, 0, key)
		if want := bytes.Equal(recording, changed); want != (err != nil) || n != wrong-1 && n != ticks {
			t.Fatalf("Rebuild = %d, %v", n, err)
		}
		x := opened(t, file.Bytes())
		trusted := x.SealedTicks()
		for _, tick := range trusted {
			if _, ok := x.Vouched(p, bytes.NewReader(recording), tick); !ok || tick > n {
				t.Errorf("of %d ticks that match, that of tick %d is sealed, and vouched: %v", n, tick, ok)
			}
		}
		if err == nil && len(trusted) != len(x.Keyframes()) {
			t.Errorf("%d of %d keyframes are sealed", len(trusted), len(x.Keyframes()))
		}
	}
}

// TestSums holds that the sum of the frames that are read or written is that of the bytes.
func TestSums(t *testing.T) {
	for _, name := range []string{"heat", "predators", "minewars"} {
		r := record(t, name, 60, index.Options{}, false)
		b := r.recording.Bytes()
		p, _, err := index.Seek(bytes.NewReader(b), int64(len(b)), nil, r.build, 60, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Sum.SHA256(); got != sha256.Sum256(b) {
			t.Errorf("%s: the sum of what was read is %x", name, got)
		}
		w, err := r.build(nil)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		rec, err := replay.NewRecorder(&file, w, r.scenario.Descriptor())
		if err != nil {
			t.Fatal(err)
		}
		sums := map[uint64][sha256.Size]byte{}
		rec.OnHash(func(tick, _ uint64, sum func() [sha256.Size]byte) { sums[tick] = sum() })
		w.Record(rec)
		for range 60 {
			if _, _, err := w.SubmitAll(r.scenario.CommandsAt(w.Tick() + 1)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := rec.Flush(); err != nil {
			t.Fatal(err)
		}
		x := r.open(t)
		for _, tick := range []uint64{1, 33, 60} {
			at, err := x.Frame(tick)
			if err != nil || sums[tick] != sha256.Sum256(file.Bytes()[:at.Offset+at.Size]) {
				t.Errorf("%s: the sum of tick %d is %x, %v", name, tick, sums[tick], err)
			}
		}
	}
}

// TestVouched holds what the index vouches for: a keyframe with its seal; none with another value of world.rest, state or tick;
// without seals all of them if this program made them, and none else.
func TestVouched(t *testing.T) {
	r := record(t, "heat", 60, index.Options{Now: ticking()}, false)
	recording := bytes.NewReader(r.recording.Bytes())
	x := r.open(t)
	tick := x.SealedTicks()[0]
	of, err := r.seek(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if k, ok := x.Vouched(of, recording, tick); !ok || k.Tick != tick || len(k.State) == 0 {
		t.Errorf("the sealed keyframe of tick %d: %t", tick, ok)
	}
	if k, ok := x.Vouched(of, recording, tick+1); ok || k != nil {
		t.Errorf("tick %d, which has no keyframe: %v, %t", tick+1, k, ok)
	}
	for what, b := range r.forgeries(t) {
		forged := opened(t, b)
		for _, tick := range forged.Keyframes() {
			k, ok := forged.Vouched(of, recording, tick)
			if !ok {
				continue
			}
			p, err := r.seek(nil, tick)
			if err != nil {
				t.Fatal(err)
			}
			state, err := p.World.Save(r.scenario.Descriptor())
			if rest := p.World.Column(fields.ID(len(p.World.Defs()) - 1)).Uint64[0]; err != nil || !bytes.Equal(k.State, state) || k.Rest != rest {
				t.Errorf("%s: another keyframe of tick %d is vouched for, %v", what, tick, err)
			}
		}
	}
	header, chunks := chunksOf(r.index.Bytes())
	unsealed := bytes.Clone(header)
	for _, c := range chunks {
		if c[0] != 'S' {
			unsealed = append(unsealed, c...)
		}
	}
	y := opened(t, unsealed)
	if list := y.SealedTicks(); len(list) > 0 {
		t.Errorf("without seals the ticks %v are trusted", list)
	}
	y.TrustAll()
	if list := y.SealedTicks(); !slices.Equal(list, y.Keyframes()) || len(list) == 0 {
		t.Errorf("of our own keyframes %v the ticks %v are trusted", y.Keyframes(), list)
	}
	if _, ok := y.Vouched(of, recording, tick); !ok {
		t.Error("a keyframe of our own is not vouched for")
	}
	other := record(t, "fire", 60, index.Options{Now: ticking()}, false)
	another, err := other.seek(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := y.Vouched(another, recording, tick); ok { // nor is it unpacked: its size is what the index claims
		t.Error("a keyframe of another world is vouched for")
	}
}
