package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
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
	if noTicks != nil {
		n = 0 // it is the greatest, if the text is more than that
	}
	if n == 0 && d <= 0 {
		return cmp.Or(noTicks, noTime, strconv.ErrRange)
	}
	*s = syncFlag{every: d, ticks: n, text: text}
	return nil
}

// Type implements [pflag.Value].
func (s *syncFlag) Type() string { return "period" }

// due reports whether it is time to write through, so long and so many ticks after the last
// time.
func (s *syncFlag) due(since time.Duration, ticks uint64) bool {
	return s.ticks > 0 && ticks >= s.ticks || s.every > 0 && since >= s.every
}

// syncable refuses --sync for a recording that no disk keeps: standard output, also one that
// goes to a file, a pipe or a device.
func (j *runJob) syncable() error {
	if j.sync.text == "" || j.output != "-" && !files.IsPipe(j.output) {
		return nil
	}
	return report.Usage("--sync needs a recording in a regular file, which %s is not", outputName(j.output))
}

// A durableObject says with --json that a recording is safe on the disk.
type durableObject struct {
	Event string `json:"event"` // "durable"
	Tick  uint64 `json:"tick"`  // the last one that is
}

// flush hands the recording on to the system once a second, so that a killed run loses
// little, and with --sync to the disk, as often as asked for. The first time, the outputs take
// the place of older files: now they hold ticks.
func (j *runJob) flush(last *flushed) error {
	if len(j.outputs) == 0 {
		return nil
	}
	now, tick := time.Now(), j.World.Tick()
	syncs := j.sync.due(now.Sub(last.synced), tick-last.tick)
	if !syncs && now.Sub(last.flushed) < time.Second {
		return nil
	}
	last.flushed = now
	if syncs {
		last.synced, last.tick = now, tick
	}
	if err := cmp.Or(j.flushRecording(syncs), j.flushTable(), j.stats.flush()); err != nil {
		return err
	}
	var unpublished error
	for _, out := range j.outputs {
		if out.whole || !j.begun(out) {
			continue
		}
		unpublished = cmp.Or(unpublished, out.publish()) // the next time tries again, and the last one says why it fails
	}
	j.flushIndex()
	if !syncs || j.recorder == nil || unpublished != nil {
		return nil
	}
	return j.Emit(durableObject{"durable", tick})
}

// A flushed says when a run was last flushed, and when it was last written through to the disk.
type flushed struct {
	flushed, synced time.Time
	tick            uint64 // of the latter
}

// stateName is the file of a state that --save-every writes.
func (j *runJob) stateName(tick uint64) string {
	return fmt.Sprintf("%s-%d.state", j.stateBase(), tick)
}

// stateBase returns how the names of such files begin: with the recording's name or, if that is not a
// regular file, the one that it would have without --output.
func (j *runJob) stateBase() string {
	if j.output == "" || j.output == "-" || files.IsPipe(j.output) {
		return strings.TrimSuffix(j.defaultName(), session.RecordingEnding)
	}
	return strings.TrimSuffix(j.output, filepath.Ext(j.output))
}

// savedTo returns the tick whose state --save-every would write to a path, or 0.
func (j *runJob) savedTo(path string) uint64 {
	name := filepath.Base(path)
	digits := strings.TrimSuffix(name[strings.LastIndexByte(name, '-')+1:], ".state")
	tick, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || j.saveEvery == 0 || tick%j.saveEvery != 0 || tick <= j.start || tick > j.last() {
		return 0
	}
	if !samePlace(path, j.stateName(tick)) {
		return 0
	}
	return tick
}

// claimStates locks the names of the states that --save-every writes until the run ends, so that
// two runs do not write the same set. One file stands for all of them; it is never written.
func (j *runJob) claimStates(ctx context.Context) (err error) {
	if j.saveEvery > 0 {
		j.claim, err = j.draft(ctx, j.stateBase()+"-N.state")
	}
	return err
}

// unclaimStates gives up the lock.
func (j *runJob) unclaimStates() {
	if j.claim != nil {
		j.claim.Close()
	}
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
func (s stateSaver) Next(after uint64) uint64 { return nextMultiple(after, s.saveEvery) }

// Observe implements [runner.Watcher].
func (s stateSaver) Observe(w *engine.World) error {
	path := s.stateName(w.Tick())
	if s.state != "" && files.Same(path, s.state) { // by a link; by its name it was refused before
		return fmt.Errorf("%s is the file of --state; give that another name", document.FileName(path))
	}
	if err := replaceable(path, session.StateMark, "saved state"); err != nil {
		return err
	}
	b, err := w.Save(s.Scenario.Descriptor())
	if err != nil {
		return err
	}
	b = engine.Seal(b)
	if path, err = s.spareState(path, b); err != nil || path == "" {
		return err
	}
	if err = s.writeFile(path, b, true); full(err) && s.dropIndex(path) {
		err = s.writeFile(path, b, true)
	}
	return err
}
