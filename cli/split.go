package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// A splitting is what --split asks for: another recording every so many ticks, which begins at the state after the last tick of the one before.
type splitting struct {
	every uint64
	parts []string // the recordings, the one that is being written last; none before the first split
	at    uint64   // the tick after which that one begins; 0: it is the first
}

// checkSplit looks at the flags that do not go with --split.
func (j *runJob) checkSplit() error {
	switch {
	case j.split.every == 0:
		return nil
	case j.noRecord || j.output == "-":
		return report.Usage("--split needs a recording in a file")
	case j.resume != "":
		return report.Usage("--split and --resume cannot be used together: the last recording of a run is gone on with as it is")
	}
	j.noIndex = true // each part is one at whose first tick to begin
	return nil
}

// A splitter is the watcher of --split.
type splitter struct {
	*runJob
	ctx context.Context
}

// Next implements [runner.Watcher].
func (s splitter) Next(after uint64) uint64 { return nextMultiple(after, s.split.every) }

// Observe implements [runner.Watcher]: it ends the recording and begins the next one.
func (s splitter) Observe(w *engine.World) error {
	if w.Tick() >= s.last() { // the next one would have no tick
		return nil
	}
	state, err := w.Save(s.Scenario.Descriptor())
	if err != nil {
		return err
	}
	begin, err := replay.NewBegin(state)
	if err != nil {
		return err
	}
	descriptor, err := begin.Describe(s.Scenario.Descriptor())
	if err != nil {
		return err
	}
	n := max(2, len(s.split.parts)+1)
	if err := s.checkPart(n); err != nil {
		return err
	}
	path := s.partName(n)
	if begin.State == nil {
		if err := s.writeFrom(s.ctx, stateBeside(path), bytes.NewReader(engine.Seal(state)), s.force); err != nil {
			return err
		}
	}
	next, err := s.open(s.ctx, path)
	if err != nil {
		return err
	}
	done := s.murk
	if err := s.recorder.Next(next, w, descriptor); err != nil {
		abandon([]*output{next})
		return err
	}
	if len(s.split.parts) == 0 {
		s.split.parts = []string{s.output}
	}
	s.murk, s.split.at, s.split.parts = next, w.Tick(), append(s.split.parts, path)
	s.outputs = append(slices.DeleteFunc(s.outputs, func(o *output) bool { return o == done }), next)
	_, err = done.end(true, false)
	return err
}

// partName is the name of a recording: heat.2.murk behind heat.murk.
func (j *runJob) partName(n int) string {
	ending := filepath.Ext(j.output)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(j.output, ending), n, ending)
}

// checkPart refuses a name of a part, or of the state at which it begins, that is taken.
func (j *runJob) checkPart(n int) error {
	part := j.partName(n)
	for _, path := range []string{part, stateBeside(part)} {
		if _, err := os.Lstat(path); err == nil && !j.force {
			return fmt.Errorf("%s exists, maybe of an earlier run; choose another name with --output, or replace it with --force", document.FileName(path))
		}
	}
	return cmp.Or(replaceable(part, session.RecordingMark, "recording"), replaceable(stateBeside(part), session.StateMark, "saved state"))
}

// stateBeside is the file of the state at which a recording begins that does not hold it.
func stateBeside(recording string) string {
	return strings.TrimSuffix(recording, filepath.Ext(recording)) + ".state"
}

// written is the file that is written, or was last.
func (j *runJob) written() string {
	if n := len(j.split.parts); n > 0 {
		return j.split.parts[n-1]
	}
	return j.output
}

// splittable refuses what --split cannot do, once the name of the recording is known.
func (j *runJob) splittable() error {
	switch {
	case j.split.every == 0:
		return nil
	case files.IsPipe(j.output):
		return report.Usage("--split needs a recording in a file")
	}
	return j.checkPart(2)
}

// splits begins with --split.
func (j *runJob) splits(ctx context.Context) {
	if j.split.every > 0 {
		j.Watchers = append(j.Watchers, splitter{j, ctx})
	}
}
