package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/serve/live"
)

// A gameExport writes the game of a recording to a file, or to parts.
type gameExport struct {
	*exportJob
	ctx     context.Context
	files   []*draft.File // of the parts, or one
	names   []string
	updates uint64
	bytes   int64
}

// isGame reports whether the output is a game.
func (j *exportJob) isGame() bool {
	return strings.EqualFold(filepath.Ext(j.output), session.GameEnding)
}

// notOfGames are flags that choose something that is fixed for a game.
var notOfGames = []string{"tick", "from", "every", "fields", "region", "entities", "scale", "map", "mask", "component", "cell", "slice", "fps", "dialect", "protocol", "metadata"}

// gameFlags refuses flags that mean nothing for a game, which always has all its ticks.
func (j *exportJob) gameFlags(given func(flag string) bool) error {
	for _, flag := range notOfGames {
		if given(flag) {
			return report.Usage("--%s is not for a %s, which holds the game from its beginning; only --to ends it early", flag, session.GameEnding)
		}
	}
	return nil
}

// exportGame replays the recording and writes every tick as a game.
func (j *exportJob) exportGame(ctx context.Context, name string) error {
	ctx, stop := j.untilSignal(ctx)
	defer stop()
	g := &gameExport{exportJob: j, ctx: ctx}
	defer g.close()
	t, err := j.survey(ctx, name)
	if err == nil {
		err = g.free(name)
	}
	if err == nil {
		err = g.run(name, t)
	}
	if err != nil && ctx.Err() != nil {
		return j.interrupted()
	}
	return err
}

// free returns an error if the recording is of no game, or a file is in the way.
func (g *gameExport) free(name string) error {
	if err := isGameScenario(g.scenario); err != nil {
		return fmt.Errorf("%s: %w", words.Argument(name), err)
	}
	switch {
	case g.force:
	case g.parts:
		if older := g.olderParts(1); len(older) > 0 {
			return fmt.Errorf("%s exists; --force replaces the parts of an older export", document.FileName(older[0]))
		}
	case isRegular(g.output):
		return g.exists(g.output)
	}
	return nil
}

// isRegular reports whether there is a regular file.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// partName is the name of a part: game.1.mw1.
func (g *gameExport) partName(part int) string {
	ending := filepath.Ext(g.output)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(g.output, ending), part, ending)
}

// olderParts returns the files that have names of parts, from a number on, in their order.
func (g *gameExport) olderParts(from int) (names []string) {
	list, _ := os.ReadDir(filepath.Dir(g.output)) // where there is none, opening the first part says so
	var parts []int
	for _, entry := range list {
		number := strings.TrimPrefix(filepath.Ext(strings.TrimSuffix(entry.Name(), filepath.Ext(g.output))), ".")
		part, err := strconv.Atoi(number)
		if err == nil && part >= from && entry.Name() == filepath.Base(g.partName(part)) && isRegular(g.partName(part)) {
			parts = append(parts, part)
		}
	}
	slices.Sort(parts)
	for _, part := range parts {
		names = append(names, g.partName(part))
	}
	return names
}

// removeOlder removes the surplus parts of an older export, which would be taken for parts of this
// one. It removes only files of a game.
func (g *gameExport) removeOlder() (removed []string, err error) {
	for _, path := range g.olderParts(len(g.names) + 1) {
		if !holdsGame(path) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return removed, fmt.Errorf("%w\n  it is of an older export; remove it, or it is taken for a part of this one", words.About(path, err))
		}
		removed = append(removed, path)
	}
	return removed, nil
}

// holdsGame reports whether a file is a game.
func holdsGame(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, session.FormatHead))
	return minewars.IsFile(head)
}

func (g *gameExport) run(name string, t export.Ticks) error {
	v, err := g.Visit(g.ctx, name, t.From)
	if err != nil {
		return err
	}
	defer v.Close()
	tells, err := teller(v.Scenario, v.World)
	if err != nil {
		return fmt.Errorf("%s: %w", words.Argument(name), err)
	}
	w, err := g.writer(tells.Start())
	if err != nil {
		return err
	}
	if err := g.tell(name, v, tells, w, t.Last()); err != nil {
		return err
	}
	return g.publish(name, t)
}

// writer opens the file, or is ready to open parts.
func (g *gameExport) writer(s minewars.Start) (*minewars.Writer, error) {
	if g.parts {
		return minewars.NewParts(s, func(part int) (io.WriteCloser, error) { return g.open(g.partName(part)) })
	}
	f, err := g.open(g.output)
	if err != nil {
		return nil, err
	}
	return minewars.NewWriter(f, s)
}

// open begins a file, which appears with all others when the game is whole.
func (g *gameExport) open(path string) (io.WriteCloser, error) {
	f, err := g.draft(g.ctx, path)
	if err != nil {
		return nil, err
	}
	g.files, g.names = append(g.files, f), append(g.names, path)
	if f.Older() && !g.force { // it was not there before, or is a part after the first
		return nil, g.exists(path)
	}
	return countedFile{io.MultiWriter(f, (*counter)(&g.bytes))}, nil
}

// A countedFile is closed later.
type countedFile struct{ io.Writer }

func (countedFile) Close() error { return nil }

func (g *gameExport) close() {
	for _, f := range g.files {
		f.Close()
	}
}

// tell goes through the ticks up to the last, compares every hash, and writes what the views learn.
func (g *gameExport) tell(name string, v *session.Visit, tells live.Teller, w *minewars.Writer, last uint64) error {
	m := g.Meter(last)
	m.First = v.World.Tick()
	defer m.Clear()
	var u minewars.Update
	for v.World.Tick() < last {
		m.Show(v.World.Tick())
		if err := g.ctx.Err(); err != nil {
			return err
		}
		switch err := v.Advance(true); {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%s: it has no tick %s; it ends with tick %s", words.Argument(name), words.Number(last), words.Number(v.World.Tick()))
		case err != nil:
			return g.Diverged(name, err)
		}
		u.Reset(v.World.Tick())
		if err := tells.Tell(v.World, &u); err != nil {
			return fmt.Errorf("%s: tick %s: %w", words.Argument(name), words.Number(u.Tick), err)
		}
		if slices.ContainsFunc(u.Views[:], func(messages []minewars.Message) bool { return len(messages) > 0 }) {
			g.updates++
		}
		if err := w.Write(&u); err != nil {
			return g.tooLarge(err)
		}
	}
	if err := w.Idle(last); err != nil {
		return g.tooLarge(err)
	}
	return g.tooLarge(w.Close())
}

// tooLarge names the file that an error is about, and what can be done about a game that is too large.
func (g *gameExport) tooLarge(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, minewars.ErrTooLarge) {
		return fmt.Errorf("%w\n  write it in parts: --parts", words.About(g.output, err))
	}
	return words.About(g.output, err)
}

// publish gives the files their names and reports them.
func (g *gameExport) publish(name string, t export.Ticks) error {
	for i, f := range g.files {
		if _, err := finish(f); err != nil {
			return words.About(g.names[i], err)
		}
	}
	r := exportResult{
		Event: "export", File: name, Output: g.output, Format: session.GameEnding[1:], From: t.From, To: t.Last(), Every: 1, Ticks: t.Count, Bytes: g.bytes,
	}
	r.Holds = fmt.Sprintf("%s in %s", words.Count(g.updates, "update"), words.Count(t.Count-1, "tick"))
	wrote := words.Argument(g.output)
	if g.parts {
		r.Parts, wrote = len(g.names), words.Argument(g.names[0])
		if last := len(g.names) - 1; last > 0 {
			wrote += " to " + document.FileName(filepath.Base(g.names[last]))
		}
		var err error
		if r.Removed, err = g.removeOlder(); err != nil {
			return err
		}
	}
	if err := g.Emit(r); err != nil {
		return err
	}
	removed := ""
	for _, path := range r.Removed {
		removed += "\nremoved  " + document.FileName(path) + "  of an older export"
	}
	return g.Say("wrote  %s  %s, %s%s", wrote, r.Holds, words.Size(g.bytes), removed)
}

// isGameScenario returns an error if no component of a scenario tells its world as a game.
func isGameScenario(s *scenarios.Scenario) error {
	for range scenarios.Parts[gameMaker](s) {
		return nil
	}
	return notGame(s)
}
