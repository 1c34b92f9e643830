package replay_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// inFile writes a recording to a file that is open to read and write.
func inFile(t *testing.T, recording []byte) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "pond.murk"), os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		_, err = f.Write(recording)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// content is what stands in a file.
func content(t *testing.T, f *os.File) []byte {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestLock: one process writes a recording, until it closes the file.
func TestLock(t *testing.T) {
	one := inFile(t, nil)
	two, err := os.OpenFile(one.Name(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	if err := replay.Lock(one); err != nil {
		t.Fatal(err)
	}
	if err := replay.Lock(two); err != replay.ErrBusy {
		t.Errorf("a second lock: %v, want %v", err, replay.ErrBusy)
	}
	one.Close()
	if err := replay.Lock(two); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
	if runtime.GOOS == "windows" {
		return // which keeps open files in their place
	}
	three, err := os.Open(two.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer three.Close()
	two.Close()
	if err := os.Rename(inFile(t, nil).Name(), three.Name()); err != nil {
		t.Fatal(err)
	}
	if err := replay.Lock(three); err != replay.ErrReplaced {
		t.Errorf("after another file has taken its place: %v, want %v", err, replay.ErrReplaced)
	}
}

// TestResume: wherever a process was killed, the recording that goes on is, byte for byte, that of one which was not. So it is for one
// that begins at a state, of which the builder knows nothing.
func TestResume(t *testing.T) {
	fromGenesis, _ := pondRecording(t)
	_, state := pondPart(t, nil, 3)
	fromState, _ := pondPart(t, state, pondTicks)
	for name, want := range map[string][]byte{"from genesis": fromGenesis, "from a state": fromState} {
		begins := int(head(t, want))
		for cut := begins; cut <= len(want); cut++ {
			f := inFile(t, want[:cut])
			w, r, left, err := replay.Resume(f, pond, replay.Header{})
			if err != nil {
				t.Fatalf("%s, cut at byte %d of %d: %v", name, cut, len(want), err)
			}
			if whole := content(t, f); len(whole)+len(left) != cut || !bytes.Equal(left, want[len(whole):cut]) {
				t.Fatalf("%s, cut at byte %d: %d bytes are kept, %d are returned", name, cut, len(whole), len(left))
			}
			w.Record(r)
			for w.Tick() < pondTicks {
				if _, _, err := w.SubmitAll(pondInputs(w.Tick() + 1)); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Step(); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Flush(); err != nil {
				t.Fatal(err)
			}
			if got := content(t, f); !bytes.Equal(got, want) {
				t.Fatalf("%s, cut at byte %d: another recording, %d bytes instead of %d", name, cut, len(got), len(want))
			}
		}
		if _, _, _, err := replay.Resume(inFile(t, want[:begins-1]), pond, replay.Header{}); !errors.Is(err, replay.ErrTruncated) {
			t.Errorf("%s, cut in its header: %v", name, err)
		}
	}
}

// TestResumeRefuses: a recording that is not as it was computed, or that is changed meanwhile, is left as it is.
func TestResumeRefuses(t *testing.T) {
	good, _ := pondRecording(t)
	wrong := bytes.Clone(good)
	wrong[len(wrong)-1] ^= 1
	var long bytes.Buffer
	w, err := pond(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewRecorder(&long, w, pondDescriptor)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	for range 20 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	hidden := bytes.Clone(long.Bytes())
	hidden[head(t, hidden)+8] = 200 // so many commands are said to be in the first frame
	var changed *os.File
	changes := func(h *replay.Header) (*engine.World, error) {
		if _, err := changed.WriteAt([]byte{good[len(good)-1] ^ 1}, int64(len(good)-1)); err != nil {
			t.Fatal(err)
		}
		return pond(h)
	}
	grows := func(h *replay.Header) (*engine.World, error) {
		if _, err := changed.WriteAt([]byte{0}, int64(len(good))); err != nil {
			t.Fatal(err)
		}
		return pond(h)
	}
	late := errors.New("no such pond")
	for name, tt := range map[string]struct {
		recording []byte
		build     replay.Builder
		want      error
		changes   bool
	}{
		"a wrong hash":           {wrong, pond, replay.ErrMismatch, false},
		"ticks behind a damage":  {hidden, pond, replay.ErrMalformed, false},
		"no recording":           {[]byte("MURKY"), pond, replay.ErrVersion, false},
		"a builder that refuses": {good, func(*replay.Header) (*engine.World, error) { return nil, late }, late, false},
		"a file that changes":    {good, changes, nil, true},
		"a file that grows":      {good, grows, replay.ErrChanged, true},
	} {
		f := inFile(t, tt.recording)
		changed = f
		_, _, _, err := replay.Resume(f, tt.build, replay.Header{})
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if !tt.changes && !bytes.Equal(content(t, f), tt.recording) {
			t.Errorf("%s: the file is another one", name)
		}
	}
}

// TestCursor: a cursor goes to any tick, back too, and each is as recorded.
func TestCursor(t *testing.T) {
	for _, rules := range []engine.Rules{engine.Murksim, engine.Murk019} {
		build := func(h *replay.Header) (*engine.World, error) {
			return engine.New(engine.Config{Space: pondConfig(wind).Space, Fields: pondConfig(wind).Fields[:1], Rules: rules, Seed: h.Seed})
		}
		w, err := build(&replay.Header{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		f := inFile(t, nil)
		r, err := replay.NewRecorder(f, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		hashes := []uint64{w.Hash()}
		w.Record(r)
		for range 300 {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, w.Hash())
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
		c, err := replay.OpenFile(f.Name(), build)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if first, last := c.Ticks(); first != 0 || last != 300 {
			t.Fatalf("ticks %d to %d", first, last)
		}
		draws := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			tick := draws.Uint64N(301)
			if err := c.Seek(tick); err != nil {
				t.Fatalf("%v: tick %d: %v", rules, tick, err)
			}
			if c.World().Tick() != tick || tick > 0 && c.World().Hash() != hashes[tick] {
				t.Fatalf("%v: tick %d: the world is at %d with another hash", rules, tick, c.World().Tick())
			}
		}
		if err := c.Seek(301); err == nil {
			t.Error("there is a tick 301")
		}
	}
	good, _ := pondRecording(t)
	good[len(good)-1] ^= 1
	c, err := replay.OpenFile(inFile(t, good[:len(good):len(good)]).Name(), pond)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, last := c.Ticks()
	if err := errors.Join(c.Seek(last-1), c.Seek(1)); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := c.Seek(last); !errors.Is(err, replay.ErrMismatch) {
			t.Errorf("the last tick has another hash: %v", err)
		}
	}
	if err := c.Seek(2); err != nil || c.World().Tick() != 2 {
		t.Errorf("back from there: tick %d, %v", c.World().Tick(), err)
	}
}

// A counter counts its ticks outside of the state. Where that is not the tick it fails now and then, or else gives another result.
type counter struct{ ticks, every uint64 }

func (c *counter) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "counter", Incremental: engine.Fields(0)}
}

func (c *counter) Step(x *engine.Context) error {
	c.ticks++
	if c.every > 0 && c.ticks != x.Tick() && x.Tick()%c.every == 0 {
		return x.Fail(0, "out of step")
	}
	if c.every == 0 {
		x.Next(0)[0] += float32(c.ticks)
	}
	return nil
}

// TestCursorOfAMemory: what a fork comes to of a world that remembers something outside its state does not count, be it another hash or a tick that fails.
func TestCursorOfAMemory(t *testing.T) {
	for _, every := range []uint64{0, 7} {
		build := func(*replay.Header) (*engine.World, error) {
			return engine.New(engine.Config{Space: space.Ring{Length: 4}, Fields: []fields.Def{{Name: "depth"}}, Propagators: []engine.Propagator{&counter{every: every}}})
		}
		w, err := build(nil)
		if err != nil {
			t.Fatal(err)
		}
		f := inFile(t, nil)
		r, err := replay.NewRecorder(f, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		for range 100 {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
		c, err := replay.OpenFile(f.Name(), build)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, tick := range []uint64{99, 21, 50, 49, 98} {
			if err := c.Seek(tick); err != nil || c.World().Tick() != tick {
				t.Errorf("every %d: tick %d: the world is at %d, %v", every, tick, c.World().Tick(), err)
			}
		}
		other, err := replay.OpenFile(f.Name(), build) // whose world at the first tick lends its parts to a fork
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		fork, err := other.World().Fork()
		for range 3 {
			if err == nil {
				_, err = fork.Step()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, tick := range []uint64{30, 0, 60} {
			if err := other.Seek(tick); err != nil {
				t.Errorf("every %d: tick %d after a fork of the first state has stepped: %v", every, tick, err)
			}
		}
	}
}
