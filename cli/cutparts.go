package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// holding returns the recording in which the first tick of the part is, and keeps those behind it. Before anything is computed
// it compares all headers: each recording must be one of the same world and seed, and begin after the one before it.
func (j *cutJob) holding(names []string) (string, error) {
	if len(names) == 1 {
		return names[0], nil
	}
	var first *replay.Header
	before, holds := uint64(0), 0
	for i, name := range names {
		h, err := headOf(name)
		if err != nil {
			return "", j.About(name, err)
		}
		begin, err := h.Begin()
		switch {
		case err != nil:
			return "", words.About(name, err)
		case i == 0:
			if first = h; begin != nil {
				before = begin.Tick
			}
			continue
		case begin == nil:
			return "", fmt.Errorf("%s begins at the first tick; it goes on from no other recording", document.FileName(name))
		case h.Seed != first.Seed || !bytes.Equal(h.World(), first.World()):
			return "", otherRun(name)
		case begin.Tick <= before:
			return "", report.Usage("%s begins at the state of tick %s, and %s before it at that of tick %s; name the parts in order",
				document.FileName(name), words.Number(begin.Tick), document.FileName(names[i-1]), words.Number(before))
		}
		if before = begin.Tick; j.from > before {
			holds = i
		}
	}
	j.parts = names[holds+1:]
	return names[holds], nil
}

// otherRun is the error of a recording that is no part of the run.
func otherRun(name string) error {
	err := &partError{document.FileName(name) + " is no part of the same run: it has another scenario or seed, or begins at the first tick"}
	return report.Exit(report.StatusDiverged, err)
}

// goOn goes on in the next recording, which must begin at the state in which the world is.
func (j *cutJob) goOn(ctx context.Context, v *session.Visit) error {
	name := j.parts[0]
	rec, err := j.OpenRecording(ctx, name)
	if err != nil {
		return j.About(name, err)
	}
	if j.source != nil {
		j.source.Close()
	}
	j.parts, j.source, j.reading = j.parts[1:], closing(rec.Close), name
	is, was := rec.Frames.Head(), v.Source.Head()
	begin, err := is.Begin()
	if err != nil {
		return words.About(name, err)
	}
	if begin == nil || is.Seed != was.Seed || !bytes.Equal(is.World(), was.World()) {
		return otherRun(name)
	}
	state, err := v.World.Save(is.World())
	if err != nil {
		return words.About(name, err)
	}
	if sum := sha256.Sum256(state); begin.Tick != v.World.Tick() || begin.SHA256 != sum {
		return &partError{fmt.Sprintf("%s does not go on from what is before it: it begins at the state of tick %s with the SHA-256 %x; that of tick %s is %x",
			document.FileName(name), words.Number(begin.Tick), begin.SHA256, words.Number(v.World.Tick()), sum)}
	}
	v.Player.Source = rec.Frames
	return nil
}

// A partError reports a recording that does not go on from the one before it.
type partError struct{ text string }

// Error implements error.
func (e *partError) Error() string { return e.text }

// closing is an [io.Closer].
type closing func() error

// Close implements [io.Closer].
func (c closing) Close() error { return c() }
