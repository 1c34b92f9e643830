package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A piece is a recording that begins at a state, under way, with a file of that state beside it if the recording cannot hold it.
type piece struct {
	file      *draft.File
	output    string
	state     []byte // nil: the recording holds it
	beside    *draft.File
	stateName string
}

// startAt builds a world in the state of another one, and returns the descriptor of a recording that begins there, and the state unless the descriptor
// holds it.
func startAt(at *engine.World, h *replay.Header, s *scenarios.Scenario, workers int) (w *engine.World, descriptor, state []byte, err error) {
	if state, err = at.Save(h.World()); err != nil {
		return nil, nil, nil, err
	}
	begin, err := replay.NewBegin(state)
	if err != nil {
		return nil, nil, nil, err
	}
	if descriptor, err = begin.Describe(h.World()); err != nil {
		return nil, nil, nil, err
	}
	if w, err = s.Restore(workers, state, nil); err != nil {
		return nil, nil, nil, session.Unbuilt(err)
	}
	if begin.State != nil {
		state = nil
	}
	return w, descriptor, state, nil
}

// placePart begins the files of a piece; the state is nil if the recording holds it. They replace none of the files that are read.
func (a *app) placePart(ctx context.Context, output string, state []byte, force bool, read []string) (*piece, error) {
	f, err := a.place(ctx, output, force)
	if err != nil || state == nil {
		return &piece{file: f, output: output}, err
	}
	p := &piece{file: f, output: output, state: state, stateName: stateBeside(output)}
	if p.beside, err = a.placeState(ctx, p.stateName, force, read); err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}

// placeState begins the file of the state, whose name follows from that of the part: it replaces no other kind of file.
func (a *app) placeState(ctx context.Context, path string, force bool, read []string) (*draft.File, error) {
	if err := cmp.Or(spares(path, read...), replaceable(path, session.StateMark, "saved state")); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() { // such as a link
		return nil, fmt.Errorf("%s exists and is no regular file; choose another file", document.FileName(path))
	}
	return a.place(ctx, path, force)
}

// finish puts the files in their places. The recording is flushed.
func (p *piece) finish() error {
	if p.beside != nil {
		_, err := p.beside.Write(engine.Seal(p.state))
		if err == nil {
			_, err = finish(p.beside)
		}
		if err != nil {
			return words.About(p.stateName, err)
		}
	}
	if _, err := finish(p.file); err != nil {
		return words.About(p.output, err)
	}
	if !files.IsPipe(p.output) {
		removeIndex(p.output)
	}
	return nil
}

// Close gives up what is not finished.
func (p *piece) Close() {
	p.file.Close()
	if p.beside != nil {
		p.beside.Close()
	}
}
