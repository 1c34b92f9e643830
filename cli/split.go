package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// A splitting is what --split asks for: another recording every so many ticks, which begins at the state after the last tick of the one before.
type splitting struct {
	every  uint64
	parts  []part // the recordings, the one that is being written last; none before the first split
	beside string // where the state of that one is after a failure that left an older one its name
}

// A part is one of the recordings of run --split.
type part struct {
	path     string
	after    uint64  // the tick after which it begins
	bytes    int64   // of one that has ended
	out      *output // the recording
	stateOut *output // the state at which it begins; nil: it holds that, or begins where the run does
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
	if len(s.split.parts) == 0 {
		s.split.parts = []part{{path: s.output, after: s.start, out: s.murk}}
	}
	n := len(s.split.parts) + 1
	if err := s.checkPart(n); err != nil {
		return err
	}
	if begin.State != nil {
		state = nil
	}
	if err := s.flushRecording(s.sync.text != ""); err != nil { // what is durable may be this part
		return err
	}
	next, err := s.beginPart(s.partName(n), w.Tick(), state)
	if err != nil {
		return err
	}
	s.split.last().bytes = s.recorder.Offset()
	if err := s.recorder.Next(next.out, w, descriptor); err != nil {
		abandon(next.outputs())
		return err
	}
	done := *s.split.last()
	s.murk, s.split.parts = next.out, append(s.split.parts, *next)
	s.outputs = append(slices.DeleteFunc(s.outputs, func(o *output) bool { return slices.Contains(done.outputs(), o) }), next.outputs()...)
	beside, _, err := done.end(true, false)
	if beside != "" {
		err = fmt.Errorf("%w; the recording lies in %s", err, document.FileName(beside))
	}
	return err
}

// beginPart begins a recording, and the file of the state at which it begins unless that is nil. Neither has its
// name before there is a tick.
func (s splitter) beginPart(path string, after uint64, state []byte) (p *part, err error) {
	p = &part{path: path, after: after}
	if p.out, err = s.open(s.ctx, path); err != nil || state == nil {
		return p, err
	}
	beside := stateBeside(path)
	if p.stateOut, err = s.open(s.ctx, beside); err == nil {
		if _, err = p.stateOut.Write(engine.Seal(state)); err == nil && s.sync.text != "" {
			err = p.stateOut.Sync()
		}
	}
	if err != nil {
		abandon(p.outputs())
		return nil, words.About(beside, err)
	}
	return p, nil
}

// outputs lists the files of a part, in the order in which they get their names.
func (p *part) outputs() []*output {
	return slices.DeleteFunc([]*output{p.stateOut, p.out}, func(o *output) bool { return o == nil })
}

// end ends a part, see [output.end]: a state that would replace an older one stays beside it if the recording does, and the
// other way round.
func (p *part) end(keep, failed bool) (beside, besideState string, err error) {
	if o := p.stateOut; o != nil && keep && failed && p.out.older() {
		besideState, err = o.file.Keep()
	} else if o != nil {
		besideState, err = o.end(keep, false)
	}
	beside, late := p.out.end(keep, failed || err != nil)
	return beside, besideState, cmp.Or(err, late)
}

// last is the part that is being written, or nil.
func (s *splitting) last() *part {
	if n := len(s.parts); n > 0 {
		return &s.parts[n-1]
	}
	return nil
}

// begun reports whether an output may have its name: a part, and its state, from its first tick on.
func (j *runJob) begun(o *output) bool {
	p := j.split.last()
	return p == nil || o != p.out && o != p.stateOut || j.World.Tick() > p.after
}

// ticking lists the parts that have a tick, if there are several.
func (j *runJob) ticking() []part {
	n := len(j.split.parts)
	if n > 0 && j.World.Tick() <= j.split.parts[n-1].after {
		n--
	}
	if n < 2 {
		return nil
	}
	return j.split.parts[:n]
}

// recordings tells the result which files the run has recorded.
func (j *runJob) recordings(r *runResult) {
	r.Recording, r.Bytes = j.output, j.recorder.Offset()
	for _, p := range j.ticking() {
		r.Recording, r.Parts = p.path, append(r.Parts, p.path)
		if p.stateOut != nil {
			r.States = append(r.States, p.stateOut.path)
		}
	}
	if n := max(1, len(r.Parts)); n < len(j.split.parts) {
		r.Bytes = j.split.parts[n-1].bytes
	}
}

// endRecording ends the recording, after an error of flushing it, see [output.end]. It adds the errors to the list.
func (j *runJob) endRecording(errs *[]error, failed error) (beside string) {
	p := j.split.last()
	if p == nil {
		p = &part{out: j.murk}
	}
	beside, state, err := p.end(j.recorded(failed), failed != nil)
	j.split.beside = state
	*errs = append(*errs, failed, err)
	return beside
}

// besideState says where the state is of a recording that did not get its name.
func (s *splitting) besideState() string {
	if s.beside == "" {
		return ""
	}
	return ", from the state in " + document.FileName(s.beside)
}

// leftBefore says what the part before the last holds, which has no tick.
func (j *runJob) leftBefore(older bool) string {
	n := len(j.split.parts)
	was, last := j.split.parts[n-2], j.split.parts[n-1]
	text := document.FileName(was.path) + " holds " + ticksText(was.after+1, last.after)
	if !was.out.file.Placed() {
		text = document.FileName(was.path) + " does not hold its ticks"
	}
	if older {
		text += "; " + document.FileName(last.path) + " is still the older recording"
	}
	return text
}

// lastState lists the flags that the last part needs to verify.
func (j *runJob) lastState() string {
	parts := j.ticking()
	switch n := len(parts); {
	case n == 0:
		return j.apart()
	case parts[n-1].stateOut != nil:
		return session.StateArguments(parts[n-1].stateOut.path)
	}
	return ""
}

// splits begins with --split.
func (j *runJob) splits(ctx context.Context) {
	if j.split.every > 0 {
		j.Watchers = append(j.Watchers, splitter{j, ctx})
	}
}
