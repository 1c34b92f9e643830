package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios/document"
)

// A syncFlag says how often a recording is written through to the disk: each time so much
// time has passed, or so many ticks have.
type syncFlag struct {
	every time.Duration
	ticks uint64
	text  string // as it was given; "": never
}

func (s *syncFlag) String() string { return s.text }

// Set implements [pflag.Value].
func (s *syncFlag) Set(text string) error {
	n, noTicks := strconv.ParseUint(text, 10, 64)
	d, noTime := time.ParseDuration(text)
	if n == 0 && d <= 0 {
		return cmp.Or(noTicks, noTime, strconv.ErrRange)
	}
	*s = syncFlag{every: d, ticks: n, text: text}
	return nil
}

// Type implements [pflag.Value].
func (s *syncFlag) Type() string { return "often" }

// due reports whether it is time to write what is recorded: after a second, or as often as
// the flag asks for.
func (s *syncFlag) due(since time.Time, ticks uint64) bool {
	if s.ticks > 0 {
		return ticks >= s.ticks
	}
	return time.Since(since) >= cmp.Or(s.every, time.Second)
}

// A durableObject says with --json that a recording is safe on the disk.
type durableObject struct {
	Event string `json:"event"` // "durable"
	Tick  uint64 `json:"tick"`  // the last one that is
}

// flush hands what is recorded on to the system once a second, so that a killed run loses
// little; with --sync to the disk, as often as asked for. The first time, the outputs take
// the place of older files: now they hold ticks.
func (j *runJob) flush(last *flushed) error {
	tick := j.World.Tick()
	if len(j.outputs) == 0 || !j.sync.due(last.at, tick-last.tick) {
		return nil
	}
	*last = flushed{time.Now(), tick}
	if err := cmp.Or(j.flushRecording(), j.flushTable()); err != nil {
		return err
	}
	var unpublished error
	for _, out := range j.outputs {
		unpublished = cmp.Or(unpublished, out.publish()) // the next time tries again, and the last one says why it fails
	}
	j.flushIndex()
	if j.sync.text == "" || j.recorder == nil || unpublished != nil {
		return nil
	}
	return j.emit(durableObject{"durable", tick})
}

// A flushed is when a run was flushed last.
type flushed struct {
	at   time.Time
	tick uint64
}

// stateName is the file of a state that --save-every writes.
func (j *runJob) stateName(tick uint64) string {
	base := j.Scenario.Name
	if j.output != "" && j.output != "-" {
		base = strings.TrimSuffix(j.output, filepath.Ext(j.output))
	}
	return fmt.Sprintf("%s-%d.state", base, tick)
}

// saveEach makes the run write a state every so many ticks.
func (j *runJob) saveEach() {
	if j.saveEvery > 0 {
		j.Watchers = append(j.Watchers, stateSaver{j})
	}
}

// A stateSaver is the watcher of --save-every.
type stateSaver struct{ *runJob }

// Next implements [runner.Watcher].
func (s stateSaver) Next(after uint64) uint64 {
	if next := after - after%s.saveEvery + s.saveEvery; next > after {
		return next
	}
	return runner.Never
}

// Observe implements [runner.Watcher].
func (s stateSaver) Observe(w *engine.World) {
	if s.unsaved != nil {
		return
	}
	path := s.stateName(w.Tick())
	b, err := w.Save(s.Scenario.Descriptor())
	if err == nil {
		err = s.replaceableState(path)
	}
	if err == nil {
		err = s.writeFile(path, engine.Seal(b), true)
	}
	s.unsaved = err
}

// replaceableState refuses to replace a file that is no state.
func (s stateSaver) replaceableState(path string) error {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 && info.Mode().IsRegular() {
		return nil // writing tells what else is wrong
	}
	ours, err := begins(path, stateMark)
	if err != nil {
		return about(path, err)
	}
	if !ours {
		return fmt.Errorf("%s exists and is no saved state", document.FileName(path))
	}
	return nil
}
