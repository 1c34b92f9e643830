package enginetest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
)

// Golden replays a recording that a program keeps in its repository, and fails the test at the first tick whose hash is another than was
// recorded: some rule, value or number came to something else. The error names the fields that this build changes in that tick, what
// changes them, and the commands that it refuses. With update, which a test takes from a flag of its own, the recording's commands are recorded anew instead, so that the
// change can be seen in a review:
//
//	var update = flag.Bool("update", false, "record golden runs anew")
//
//	func TestGolden(t *testing.T) { enginetest.Golden(t, build, "testdata/run.murk", *update) }
//
// The builder is the one with which the program replays its recordings.
func Golden(t T, build replay.Builder, path string, update bool) {
	t.Helper()
	recording, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; record a run there once, as replay.NewRecorder does, and commit it", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ticks, err := verified(recording, build)
	switch {
	case err == nil && ticks == 0:
		t.Error(path + ": it has no tick")
	case err == nil:
	case update && errors.Is(err, replay.ErrMismatch):
		now, err := recordedAnew(recording, build)
		if err == nil {
			err = os.WriteFile(path, now, 0o666)
		}
		if err != nil {
			t.Fatal(path+":", err)
		}
	case errors.Is(err, replay.ErrMismatch):
		t.Error(fmt.Sprintf("%s: %v; ticks before it that match: %d%s\n"+
			"If the change is meant, run the test with -update, and commit the recording.", path, err, ticks, changesOf(recording, build, err)))
	default:
		t.Error(path+":", err)
	}
}

func verified(recording []byte, build replay.Builder) (ticks uint64, err error) {
	frames, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		return 0, err
	}
	p, err := replay.NewPlayer(frames, build)
	if err != nil {
		return 0, err
	}
	return p.Verify()
}

// changesOf says which part of the tick that differs changes which fields in this build; nothing if that cannot be found.
func changesOf(recording []byte, build replay.Builder, mismatch error) string {
	at, ok := errors.AsType[*replay.MismatchError](mismatch)
	if !ok || at.Tick == 0 {
		return ""
	}
	frames, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		return ""
	}
	p, err := replay.NewPlayer(frames, build)
	for err == nil && p.World.Tick() < at.Tick-1 {
		err = p.Replay()
	}
	if err != nil {
		return ""
	}
	defs := p.World.Defs()
	defs = defs[:len(defs)-1] // the last is no field of anybody's: draws, parameters and events
	before := make([]uint64, len(defs))
	for i := range defs {
		before[i] = p.World.FieldHash(fields.ID(i))
	}
	said := ""
	p.World.WatchParts(func(part *engine.Part) {
		var changed []string
		for i := range defs {
			if h := part.FieldHash(fields.ID(i)); h != before[i] {
				before[i], changed = h, append(changed, defs[i].Name)
			}
		}
		if changed != nil {
			said += fmt.Sprintf("\n  in that tick %s changes %s", part.Name, strings.Join(changed, ", "))
		}
	})
	if err := p.Replay(); err != nil {
		return ""
	}
	said = cmp.Or(said, "\n  in that tick this build changes no field")
	for _, r := range p.Receipts() {
		if r.Reason != commands.Applied && !r.Event {
			said += fmt.Sprintf("\n  in that tick this build refuses a %v command of source %d: %s", r.Kind, r.Source, r.Why())
		}
	}
	return said
}

// recordedAnew records the commands of a recording in a world of this build. It begins where the recording does.
func recordedAnew(recording []byte, build replay.Builder) ([]byte, error) {
	frames, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		return nil, err
	}
	h := frames.Head()
	w, err := build(h)
	if err != nil {
		return nil, err
	}
	var now bytes.Buffer
	r, err := replay.NewRecorder(&now, w, h.Descriptor)
	if err != nil {
		return nil, err
	}
	w.Record(r)
	var f replay.Frame
	for {
		if err := frames.Next(&f); err == io.EOF {
			err = r.Flush()
			return now.Bytes(), err
		} else if err != nil {
			return nil, err
		}
		inputs, err := f.Commands(nil)
		if err != nil {
			return nil, err
		}
		if _, err := w.Replay(inputs); err != nil {
			return nil, err
		}
	}
}
