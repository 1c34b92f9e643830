package replay_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// TestRunDigests holds the digest of a run, where it is recorded, continued, read, stepped through and verified,
// against its definition.
func TestRunDigests(t *testing.T) {
	const ticks, part = 40, 17
	var b bytes.Buffer
	w, err := pond(nil)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.NewRecorder(&b, w, pondDescriptor)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(rec)
	step := func(w *engine.World, rec *replay.Recorder, to uint64) [sha256.Size]byte {
		t.Helper()
		for w.Tick() < to {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := rec.Flush(); err != nil {
			t.Fatal(err)
		}
		sum, known := rec.RunDigest()
		if !known {
			t.Error("the digest of a recorder is not known")
		}
		return sum
	}
	first := step(w, rec, part)
	half := bytes.Clone(b.Bytes())
	whole := step(w, rec, ticks)

	frames, err := replay.NewReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	var hashes []byte
	var f replay.Frame
	for range ticks {
		if err := frames.Next(&f); err != nil {
			t.Fatal(err)
		}
		hashes = binary.LittleEndian.AppendUint64(hashes, f.Hash)
	}
	if first != sha256.Sum256(hashes[:8*part]) || whole != sha256.Sum256(hashes) {
		t.Errorf("recorded: %x after %d ticks and %x at the end", first, part, whole)
	}

	sum, err := replay.ReadSum(bytes.NewReader(b.Bytes()))
	if err != nil || sum.SHA256() != sha256.Sum256(b.Bytes()) || sum.RunDigest().Sum() != whole || sum.RunDigest().Ticks() != ticks {
		t.Errorf("read: %v, %v", sum, err)
	}
	if _, err := replay.ReadSum(bytes.NewReader(half[:len(half)-1])); err == nil {
		t.Error("what is cut short has a sum")
	}

	player := func(recording []byte) *replay.Player {
		r, err := replay.NewReader(bytes.NewReader(recording))
		if err != nil {
			t.Fatal(err)
		}
		p, err := replay.NewPlayer(r, pond)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := player(half)
	for range part {
		if err := p.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if got, known := p.RunDigest(); !known || got != first {
		t.Errorf("stepped through: %x, %v", got, known)
	}
	sum, err = replay.ReadSum(bytes.NewReader(half))
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []*replay.Sum{sum, nil} {
		on := bytes.NewBuffer(bytes.Clone(half))
		at := p.Frame().Position
		p := player(half)
		if _, err := p.Verify(); err != nil {
			t.Fatal(err)
		}
		if got, known := p.RunDigest(); !known || got != first {
			t.Errorf("verified: %x, %v", got, known)
		}
		rec, err := replay.ResumeRecorder(on, p.World, *p.Source.Head(), replay.Position{Frame: part, Offset: at.Offset + at.Size}, known)
		if err != nil {
			t.Fatal(err)
		}
		p.World.Record(rec)
		if known != nil {
			if got := step(p.World, rec, ticks); got != whole || !bytes.Equal(on.Bytes(), b.Bytes()) {
				t.Errorf("gone on with: %x, want %x", got, whole)
			}
		} else if _, known := rec.RunDigest(); known {
			t.Error("a recorder that goes on without a sum has a digest")
		}
	}

	p = player(b.Bytes())
	if err := p.Replay(); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Verify(); n != ticks-1 || err != nil {
		t.Fatal(n, err)
	}
	if _, known := p.RunDigest(); known {
		t.Error("a player that did not compare a tick has a digest")
	}
}
