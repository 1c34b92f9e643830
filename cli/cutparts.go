package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// holding returns the recording in which the first tick of the part is, and keeps those behind it.
func (j *cutJob) holding(names []string) (string, error) {
	for i := len(names) - 1; i > 0; i-- {
		h, err := j.head(names[i])
		if err != nil {
			return "", err
		}
		begin, err := h.Begin()
		switch {
		case err != nil:
			return "", words.About(names[i], err)
		case begin == nil:
			return "", fmt.Errorf("%s begins at the first tick; it goes on from no other recording", document.FileName(names[i]))
		case j.from > begin.Tick:
			j.parts = names[i+1:]
			return names[i], nil
		}
	}
	j.parts = names[1:]
	return names[0], nil
}

// head reads the header of a recording.
func (j *cutJob) head(name string) (*replay.Header, error) {
	f, size, err := files.OpenSeekable(name)
	if err != nil {
		return nil, j.About(name, err)
	}
	defer f.Close()
	frames, err := replay.NewReader(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, j.About(name, err)
	}
	return frames.Head(), nil
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
	j.parts, j.source = j.parts[1:], closing(rec.Close)
	is, was := rec.Frames.Head(), v.Source.Head()
	begin, err := is.Begin()
	if err != nil {
		return words.About(name, err)
	}
	if begin == nil || is.Seed != was.Seed || !bytes.Equal(is.World(), was.World()) {
		return &partError{document.FileName(name) + " is no part of the same run: it has another scenario or seed, or begins at the first tick"}
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
