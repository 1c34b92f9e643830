package runner_test

import (
	"bytes"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

// A recordedPart is a recording of a part of a run, and the state with which it ends.
type recordedPart struct {
	recording, state []byte
	hash             uint64
	pending          int // events that wait
}

// recordPart records a scenario from a state, or from genesis, to a tick.
func recordPart(t *testing.T, s *scenarios.Scenario, state []byte, to uint64) (p recordedPart) {
	t.Helper()
	r, err := runner.New(runner.Config{Scenario: s, Workers: 1, State: state})
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	descriptor := s.Descriptor()
	if state != nil {
		begin, err := replay.NewBegin(state)
		if err != nil {
			t.Fatal(err)
		}
		if descriptor, err = begin.Describe(descriptor); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	rec, err := replay.NewRecorder(&b, r.World, descriptor)
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	r.World.Record(rec)
	if err := r.To(t.Context(), to); err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	if err := rec.Flush(); err != nil {
		t.Fatal(err)
	}
	p = recordedPart{recording: b.Bytes(), hash: r.World.Hash(), pending: r.World.Pending()}
	if p.state, err = r.World.Save(s.Descriptor()); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRecordedChain holds, for every scenario, that a recording, a second one from its last
// state, and a third from that of the second have the frames, hashes and last state of one
// recording, and can be verified.
func TestRecordedChain(t *testing.T) {
	for i, info := range worlds.Embedded() {
		if testing.Short() && i%5 != 0 {
			continue
		}
		s, cuts := open(t, info.Name), []uint64{5, 6, 14}
		if s.Name == "colony" {
			cuts = []uint64{60, 75, 100} // where events wait
		}
		last := cuts[len(cuts)-1]
		whole := recordPart(t, s, nil, last)
		var frames []byte
		var part recordedPart
		begin := uint64(0)
		for _, to := range cuts {
			from := part.state
			part = recordPart(t, s, from, to)
			r, err := replay.NewReader(bytes.NewReader(part.recording))
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Header.World()) != string(s.Descriptor()) {
				t.Fatalf("%s: the recording is of the world %s, want %s", s.Name, r.Header.World(), s.Descriptor())
			}
			frames = append(frames, part.recording[r.Offset():]...)
			p, err := replay.NewPlayer(r, func(h *replay.Header) (*engine.World, error) {
				again, err := worlds.Registry().FromDescriptor(h.World())
				if err != nil || from == nil {
					return s.World(2)
				}
				return again.Restore(2, from, nil) // it may be too large for the recording
			})
			if err != nil {
				t.Fatalf("%s from tick %d: %v", s.Name, begin, err)
			}
			if n, err := p.Verify(); n != to-begin || err != nil {
				t.Errorf("%s from tick %d: %d ticks match, %v; want %d", s.Name, begin, n, err, to-begin)
			}
			if begin = to; s.Name == "colony" && part.pending < 100 && to < last {
				t.Errorf("%s is cut at tick %d, where %d events wait; want 100 or more", s.Name, to, part.pending)
			}
		}
		if part.hash != whole.hash || !bytes.Equal(part.state, whole.state) {
			t.Errorf("%s: the chain ends with the hash %016x, want %016x, and with the same state: %v", s.Name, part.hash, whole.hash, bytes.Equal(part.state, whole.state))
		}
		if want := whole.recording[len(whole.recording)-len(frames):]; !bytes.Equal(frames, want) {
			t.Errorf("%s: the frames of the chain are others", s.Name)
		}
	}
}
