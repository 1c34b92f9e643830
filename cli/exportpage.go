package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/site"
)

const pageEnding = ".html"

// mostPage is how large a recording may be in a page, in bytes.
const mostPage = 256 << 20

// isPage reports whether the output is a page that checks the recording itself.
func (j *exportJob) isPage() bool { return strings.EqualFold(filepath.Ext(j.output), pageEnding) }

// exportPage writes a page that holds the recording and the engine.
func (j *exportJob) exportPage(ctx context.Context, name string, given func(flag string) bool) error {
	for _, flag := range append(slices.Clone(notOfGames), "to", "parts", "state") {
		if given(flag) {
			return report.Usage("--%s is not for a %s, which holds the whole recording", flag, pageEnding)
		}
	}
	ctx, stop := j.untilSignal(ctx)
	defer stop()
	err := j.writePage(ctx, name)
	if err != nil && ctx.Err() != nil {
		return j.interrupted()
	}
	return err
}

func (j *exportJob) writePage(ctx context.Context, name string) error {
	t, err := j.survey(ctx, name)
	if err != nil {
		return err
	}
	recording, err := readPageRecording(name)
	if err == nil {
		err = j.fitsPage(recording)
	}
	if err != nil {
		return j.About(name, err)
	}
	f, err := j.draft(ctx, j.output)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Older() && !j.force {
		return j.exists(j.output)
	}
	if !j.Quiet {
		j.Warn("Go builds the engine for browsers; the first time takes a minute")
	}
	engine, err := j.pageEngine(ctx)
	if err != nil {
		return err
	}
	var n int64
	if err := site.WritePage(io.MultiWriter(f, (*counter)(&n)), filepath.Base(name), recording, engine); err != nil {
		return words.About(j.output, err)
	}
	if _, err := finish(f); err != nil {
		return words.About(j.output, err)
	}
	r := exportResult{"export", name, j.output, pageEnding[1:], t.From, t.Last(), 1, t.Count, "the recording and the engine", n, 0, nil}
	if err := j.Emit(r); err != nil {
		return err
	}
	return j.Say("wrote  %s  %s, %s", words.Argument(j.output), r.Holds, words.Size(n))
}

// fitsPage returns an error if the engine in a page, which has only the recording, could not build the world.
func (j *exportJob) fitsPage(recording []byte) error {
	r, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		return err
	}
	begin, err := r.Head().Begin()
	if err == nil && begin != nil && begin.State == nil {
		err = errors.New("it begins at a state that it does not hold, so a page could not replay it")
	}
	if err != nil {
		return err
	}
	if j.page != ourPage {
		s, err := j.ScenarioOf(r.Head())
		if err != nil {
			return err
		}
		return inPage(s)
	}
	s, err := worlds.Registry().FromDescriptor(r.Head().World())
	if err != nil {
		if _, placed := errors.AsType[*scenarios.IncompatibleError](err); !placed {
			err = errors.New("the recording is of another program's world")
		}
		return fmt.Errorf("a page of this program has the components that come with murksim alone: %w", err)
	}
	return inPage(s)
}

// inPage returns an error if the worlds of a page would take more memory than a page may.
func inPage(s *scenarios.Scenario) error {
	if err := view.CheckMemory(s, view.PageMemory); err != nil {
		return fmt.Errorf("it is too large for a page: %w", err)
	}
	return nil
}

func readPageRecording(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && info.Size() > mostPage {
		return nil, errors.New("it is too large for a page, which may hold 256 MiB of a recording")
	}
	return os.ReadFile(name)
}
