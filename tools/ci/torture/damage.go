package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// damage cuts recordings with their indexes at every byte, and flips one in so many of their
// bits. Each must be noticed. One of them begins at genesis, the other at a state.
func damage(t *table, oneIn int, seed uint64) error {
	r, err := newReference("ticks=10")
	if err != nil {
		return err
	}
	later, err := r.from(7)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	return errors.Join(r.damage(t, "", oneIn, rng), later.damage(t, " from a state", oneIn, rng))
}

func (r *reference) damage(t *table, which string, oneIn int, rng *rand.Rand) error {
	var b, idx bytes.Buffer
	if _, err := r.record(&b, &idx, nil); err != nil {
		return err
	}
	for _, part := range []struct {
		name   string
		whole  []byte
		notice func(damaged []byte) (how string)
	}{
		{"recording" + which, b.Bytes(), func(damaged []byte) string { return r.notice(damaged, idx.Bytes()) }},
		{"index" + which, idx.Bytes(), noticeIndex},
	} {
		if how := part.notice(part.whole); how != "" {
			return fmt.Errorf("%s: nothing is damaged, but %s", part.name, how)
		}
		try := func(damaged []byte, what string, at int) error {
			how := part.notice(damaged)
			if how == "" {
				return fmt.Errorf("%s: %s at byte %d is not noticed", part.name, what, at)
			}
			t.count(fmt.Sprintf("%s, %s: %s", part.name, what, how))
			return nil
		}
		for at := range part.whole {
			err := try(part.whole[:at], "cut", at)
			for bit := range 8 {
				if rng.IntN(oneIn) == 0 && err == nil {
					damaged := bytes.Clone(part.whole)
					damaged[at] ^= 1 << bit
					err = try(damaged, "flip", at)
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// notice says how a damaged recording is noticed, "" if it is not.
func (r *reference) notice(b, idx []byte) string {
	frames, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		return "the header cannot be read"
	}
	p, err := replay.NewPlayer(frames, r.build)
	if err != nil {
		return "the header does not fit its world"
	}
	begin := p.World.Tick()
	ticks, err := p.Verify()
	switch {
	case errors.Is(err, replay.ErrMismatch):
		return "a tick differs"
	case err != nil:
		return "a frame is malformed or cut short"
	case begin+ticks < r.scenario.Ticks:
		return "fewer ticks than planned"
	}
	x, err := index.Open(bytes.NewReader(idx), int64(len(idx)))
	if err == nil && x.Belongs(&frames.Header) != nil {
		return "its header is not that of the index" // the build that wrote it, which nothing else covers
	}
	return ""
}

// noticeIndex says how a damaged index is noticed, "" if it is not.
func noticeIndex(b []byte) string {
	x, err := index.Open(bytes.NewReader(b), int64(len(b)))
	switch {
	case err != nil:
		return "the header cannot be read"
	case x.Cut != nil:
		return "it breaks off"
	case !x.Complete:
		return "the end is missing"
	}
	sums := make([]uint64, len(x.Fields))
	for tick := x.Begin + 1; tick <= x.Last; tick++ {
		_, noFrame := x.Frame(tick)
		_, noTiles := x.Tiles(tick)
		if errors.Join(noFrame, noTiles, x.Digests(tick, sums)) != nil {
			return "a chunk is damaged"
		}
	}
	for _, tick := range x.Keyframes() {
		if _, err := x.Keyframe(tick); err != nil {
			return "a chunk is damaged"
		}
	}
	if !x.Intact() {
		return "a chunk is damaged"
	}
	return ""
}
