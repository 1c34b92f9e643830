package replay_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// TestFork: a fork that changes nothing is the run; one without a command, or with one more, is the run that never had it, or always.
func TestFork(t *testing.T) {
	const ticks, from = 20, 7
	run := func(inputs func(tick uint64) []commands.Command) (recording []byte, hashes []uint64) {
		w, err := pond(nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		r, err := replay.NewRecorder(&b, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		for tick := uint64(1); tick <= ticks; tick++ {
			for _, c := range inputs(tick) {
				if _, err := w.Submit(c); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, w.Hash())
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes(), hashes
	}
	every := func(tick uint64) []commands.Command {
		return []commands.Command{commands.SetField(space.At(int32(tick%6)), pondHeat, 1), commands.SetField(space.At(2), pondHeat, float32(tick))}
	}
	first := func(tick uint64) []commands.Command {
		if tick == from {
			return every(tick)[:1]
		}
		return every(tick)
	}
	all, allHashes := run(every)
	some, someHashes := run(first)
	fork := func(recording []byte, change func(uint64, []commands.Command) ([]commands.Command, bool), before func() error) (hashes []uint64, err error) {
		frames, err := replay.Open(bytes.NewReader(recording))
		if err != nil {
			t.Fatal(err)
		}
		p, err := replay.NewPlayer(frames, pond)
		if err != nil {
			t.Fatal(err)
		}
		w := p.World
		err = p.Fork(change, func() error {
			if w.Tick() > 0 {
				hashes = append(hashes, w.Hash())
			}
			if before != nil {
				return before()
			}
			return nil
		})
		return hashes, err
	}
	unchanged := func(uint64, []commands.Command) ([]commands.Command, bool) { return nil, false }
	without := func(tick uint64, list []commands.Command) ([]commands.Command, bool) { return list[:1], tick == from }
	with := func(tick uint64, list []commands.Command) ([]commands.Command, bool) {
		return every(tick), tick == from
	}
	for _, tt := range []struct {
		name      string
		recording []byte
		change    func(uint64, []commands.Command) ([]commands.Command, bool)
		want      []uint64
	}{{"unchanged", all, unchanged, allHashes}, {"without", all, without, someHashes}, {"with", some, with, allHashes}} {
		if got, err := fork(tt.recording, tt.change, nil); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %x, %v; want %x", tt.name, got, err, tt.want)
		}
	}
	enough := errors.New("enough")
	if got, err := fork(all, unchanged, func() error { return enough }); err != enough || len(got) != 0 {
		t.Errorf("Fork = %v after %d ticks, want %v", err, len(got), enough)
	}
}
