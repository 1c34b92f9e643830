package environment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
)

// An Episode describes an episode that has ended.
type Episode struct {
	World   uint64    // its index, from Config.First on
	Number  uint64    // of the world's episodes, from 0
	Seed    uint64    // of the run that the episode was
	Steps   uint64    // that are whole; the one in which a tick fails is not
	Returns []float64 // sums of rewards, by agent; valid during the call
	Failure error     // with which the world halted in this episode; nil if it did not
}

// A script is what is needed to play an episode again.
type script struct {
	master  uint64 // seed of all episodes of the world
	seed    uint64
	number  uint64 // of the episode
	steps   uint64
	choices []int32   // step by step, agent by agent
	numbers []float32 // step by step, agent by agent, control by control

	ticks   uint64 // at the end
	rest    uint64 // the column world.rest there
	hash    uint64 // of the state there
	returns []float64
	noted   bool // the four are those of the episode

	failure error // with which it ended
	ended   bool  // in this call
}

// end ends the episode.
func (l *lane) end() {
	l.finish()
	l.over, l.log.failure, l.log.ended = true, l.failure, true
}

// finish notes how far the episode has come.
func (l *lane) finish() {
	x := &l.log
	x.ticks, x.rest, x.hash = l.w.Tick(), l.rest(), l.w.Hash()
	x.returns, x.noted = append(x.returns[:0], l.returns...), true
}

// rest returns the hash of all state outside of the fields, and of the last tick's inputs.
func (l *lane) rest() uint64 {
	defs := l.w.Defs()
	last := len(defs) - 1
	if defs[last].Name != engine.WorldRest {
		return 0
	}
	return l.w.Borrow(fields.ID(last)).Uint64[0]
}

// turn makes the episode that has ended, or is given up after a step, the last one, and begins the script of another.
func (l *lane) turn(seed uint64) {
	if l.over || l.log.steps > 0 {
		if !l.over {
			l.finish()
		}
		l.log, l.last = l.last, l.log
	}
	x := &l.log
	*x = script{master: l.master, seed: seed, number: l.episode, choices: x.choices[:0], numbers: x.numbers[:0], returns: x.returns[:0]}
}

// latest returns the episode that the world is in, or the one before if it is under way and has taken no step yet.
func (l *lane) latest() *script {
	if !l.over && l.log.steps == 0 && l.last.noted { // there is one
		return &l.last
	}
	if l.began {
		l.finish()
	}
	return &l.log
}

// record plays an episode again, and writes it as a recording. It fails if it ends in another
// state than it did.
func (m *model) record(x *script, to io.Writer) error {
	l, err := m.lane(0, nil)
	if err != nil {
		return err
	}
	l.s.Expect = nil // what the scenario expects holds of its own run
	l.s.Ticks = max(x.ticks, 1)
	if err := l.genesis(x.seed); err != nil {
		return err
	}
	r, err := replay.NewRecorder(to, l.w, l.s.Descriptor())
	if err != nil {
		return err
	}
	l.w.Record(r)
	if err := l.play(x); err != nil {
		return err
	}
	if err := r.Flush(); err != nil {
		return err
	}
	if l.w.Tick() != x.ticks || l.rest() != x.rest || x.hash != l.w.Hash() {
		return fmt.Errorf("environment: episode %d is not the same when it is played again; it ended at tick %d", x.number, x.ticks)
	}
	return nil
}

// play plays what the agents did in another lane. What ended with a tick that failed ends there.
func (l *lane) play(x *script) error {
	crowded, err := l.warm()
	if crowded && x.ticks > l.w.Tick() {
		return fmt.Errorf("environment: episode %d finds no room for its first population, so it ends at tick %d; it has %d", x.number, l.w.Tick(), x.ticks)
	}
	for step := 0; err == nil && l.w.Tick() < x.ticks; step++ {
		if step > 0 { // not after the last: a task that ended the episode with a panic does so again
			if l.judge(nil, nil, nil); l.failure != nil {
				return l.failure
			}
		}
		if !l.repeat(x, step) {
			return fmt.Errorf("environment: the actions of episode %d end at tick %d; it has %d", x.number, l.w.Tick(), x.ticks)
		}
		err = l.failure
	}
	if l.w.Tick() == x.ticks {
		return nil
	}
	return err
}

// repeat computes a step of an episode again, and leaves to the caller to judge it; false: it has no actions for it.
func (l *lane) repeat(x *script, step int) bool {
	agents, controls := len(l.agents), len(l.agents)*len(l.m.controls)
	switch {
	case controls > 0 && (step+1)*controls <= len(x.numbers):
		l.control(x.numbers[step*controls:][:controls])
	case controls == 0 && (step+1)*agents <= len(x.choices):
		l.choose(x.choices[step*agents:][:agents])
	default:
		return false
	}
	l.advance()
	return true
}

// Record writes the episode that is under way in a world, as far as it has come, as a recording
// that can be verified; before its first step, the episode before it. An episode that has failed is written up to
// the tick before, also if that is one of its warmup or of its first step.
func (b *Batch) Record(world int, to io.Writer) error {
	l := b.lanes[world]
	if !l.began {
		return fmt.Errorf("environment: world %d was never reset", world)
	}
	return b.m.record(l.latest(), to)
}

// Save records to a new file. It refuses a path that exists: an older file may have the only copy of its
// content.
func (b *Batch) Save(world int, path string) error {
	//detcheck:allow environment where a recording is kept decides no bit of it
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) // no other program takes the name meanwhile
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("environment: %s exists; choose another name: %w", path, fs.ErrExist)
	}
	if err != nil {
		return err
	}
	if err = f.Close(); err == nil {
		err = save(path, func(f *os.File) error { return b.Record(world, f) })
	}
	if err != nil {
		//detcheck:allow environment where a recording is kept decides no bit of it
		os.Remove(path)
	}
	return err
}

// RecordWhen has a function called with each episode that ends in a step, world by world, and
// records those for which it returns the path of a file. An episode that fails in its warmup ends there, in a
// step or in Reset; with SameStep, a world may so end two episodes in one step.
func (b *Batch) RecordWhen(path func(*Episode) string) { b.recordWhen = path }

// RecordEvery records each world's episodes whose number is a multiple of every, to files in
// a folder, such as heat_seeker-0-100.murk: world 0, episode 100. A file that is there, as of an earlier
// training, stays; the next free name, such as heat_seeker-0-100-2.murk, is taken.
func (b *Batch) RecordEvery(every uint64, folder string) {
	b.RecordWhen(func(e *Episode) string {
		if every == 0 || e.Number%every != 0 {
			return ""
		}
		return free(filepath.Join(folder, fmt.Sprintf("%s-%d-%d", b.m.s.Name, e.World, e.Number)), ".murk")
	})
}

// free takes the first name that no file has: a base with an ending, or with a number from 2 on between them. An empty file stands there
// then, so that no other program takes it.
func free(base, ending string) string {
	path := base + ending
	for i := 2; ; i++ {
		//detcheck:allow environment where a recording is kept decides no bit of it
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			f.Close()
		}
		if !errors.Is(err, fs.ErrExist) { // what else is wrong the recording tells
			return path
		}
		path = fmt.Sprintf("%s-%d%s", base, i, ending)
	}
}

// recordEnded records what RecordWhen wants of the episodes that have ended in a call. It returns the error of the call, joined
// by the first of a recording, after all of them.
func (b *Batch) recordEnded(err error) error {
	if b.recordWhen == nil {
		return err
	}
	var first error
	for _, l := range b.lanes {
		for _, x := range [...]*script{&l.last, &l.log} {
			if !x.ended {
				continue
			}
			if e := b.recordWanted(l, x); e != nil && first == nil {
				first = fmt.Errorf("environment: recording of episode %d of world %d: %w", x.number, l.index, e)
			}
		}
	}
	switch {
	case first == nil:
		return err
	case err == nil:
		return first
	}
	return fmt.Errorf("%w; %w", err, first)
}

// recordWanted records an episode if RecordWhen wants it.
func (b *Batch) recordWanted(l *lane, x *script) error {
	path := b.recordWhen(&Episode{World: l.index, Number: x.number, Seed: x.seed, Steps: x.steps, Returns: x.returns, Failure: x.failure})
	if path == "" {
		return nil
	}
	err := save(path, func(f *os.File) error { return b.m.record(x, f) })
	//detcheck:allow environment where a recording is kept decides no bit of it
	if info, wrong := os.Stat(path); err != nil && wrong == nil && info.Mode().IsRegular() && info.Size() == 0 { // that of free
		//detcheck:allow environment where a recording is kept decides no bit of it
		os.Remove(path)
	}
	return err
}

// save writes a file beside its name, and gives it the name when it is complete. It replaces regular files only.
func save(path string, write func(*os.File) error) error {
	//detcheck:allow environment where a recording is kept decides no bit of it
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a folder, or a device, whose place a file must not take
		return fmt.Errorf("environment: %s is no regular file", path)
	}
	//detcheck:allow environment where a recording is kept decides no bit of it
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	err = write(f)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		//detcheck:allow environment where a recording is kept decides no bit of it
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		//detcheck:allow environment where a recording is kept decides no bit of it
		os.Remove(f.Name())
	}
	return err
}
