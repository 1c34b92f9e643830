package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// asLines makes JSON lines of a recording.
func asLines(t *testing.T, b []byte) string {
	t.Helper()
	var lines bytes.Buffer
	if _, err := replay.Convert(&lines, bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	return lines.String()
}

// play opens a recording, bytes or JSON lines, and plays it.
func play(recording string, play func(*replay.Player) (uint64, error)) (ticks uint64, err error) {
	r, err := replay.Open(strings.NewReader(recording))
	if err != nil {
		return 0, err
	}
	p, err := replay.NewPlayer(r, pond)
	if err != nil {
		return 0, err
	}
	return play(p)
}

// TestPlayLines holds that JSON lines are played without a recording made of them, and
// that what is wrong is found in its line.
func TestPlayLines(t *testing.T) {
	b, _ := pondRecording(t)
	lines := asLines(t, b)
	for _, tt := range []struct {
		old, new string
		ticks    uint64
		want     string
	}{
		{``, ``, pondTicks, ""},
		{`"seed":11`, `"seed":12`, 0, "replay: header mismatch at line 1: seed is 12, the descriptor makes it 11"},
		{`{"tick":3,`, `{"tick":4,`, 2, "replay: malformed input at line 4 (frame 3): tick 4 stands where tick 3 is due"},
		{`{"tick":3,`, "\n\n" + `{"tick":4,`, 2, "replay: malformed input at line 6 (frame 3): tick 4 stands where tick 3 is due"},
		{`"coord":[3],"field":0,"value":7.5`, `"coord":[3],"field":0,"value":7.25`, 1, "replay: state hash mismatch at line 3 (tick 2): recorded "},
		{`{"kind":"custom","type":8,"data":""`, `{"payload_type":9,"payload":""`, 3, "replay: unknown payload type 9 at line 5 (tick 4, command 2 of 2)"},
		{`{"kind":"custom","type":8,"data":""`, `{"payload_type":4,"payload":"00"`, 3,
			"replay: malformed input at line 5 (tick 4, command 2 of 2): custom payload: type id is cut short: 1 of 4 bytes"},
		{`{"tick":6,"hash"`, `{"tick":6,"hush"`, 5, `replay: malformed input at line 7, column 11: unknown key "hush"; did you mean "hash"?`},
	} {
		if !strings.Contains(lines, tt.old) {
			t.Fatalf("the lines do not hold %s:\n%s", tt.old, lines)
		}
		edited := strings.Replace(lines, tt.old, tt.new, 1)
		for how, f := range map[string]func(*replay.Player) (uint64, error){"Verify": (*replay.Player).Verify, "Step": verifyPlain} {
			ticks, err := play(edited, f)
			if ticks != tt.ticks || (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%s with %s: %d, %v; want %d, %s", how, tt.new, ticks, err, tt.ticks, tt.want)
			}
		}
	}
}

// A queue of frames is a source that is neither bytes nor lines.
type frameQueue struct {
	head   replay.Header
	frames []replay.Frame
}

func (q *frameQueue) Head() *replay.Header { return &q.head }

func (q *frameQueue) Next(f *replay.Frame) error {
	if len(q.frames) == 0 {
		return io.EOF
	}
	*f, q.frames = q.frames[0], q.frames[1:]
	return nil
}

// TestPlaySource holds that a program's own source of frames is played, from any tick on
// to which the world has been brought.
func TestPlaySource(t *testing.T) {
	b, _ := pondRecording(t)
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	q := &frameQueue{head: r.Header}
	for {
		var f replay.Frame
		if err := r.Next(&f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		q.frames = append(q.frames, f)
	}
	frames := slices.Clone(q.frames)
	p, err := replay.NewPlayer(q, pond)
	if err != nil {
		t.Fatal(err)
	}
	for done := range uint64(pondTicks) {
		fork, err := p.World.Fork()
		if err != nil {
			t.Fatal(err)
		}
		later := &replay.Player{World: fork, Source: &frameQueue{r.Header, slices.Clone(frames[done:])}}
		if n, err := later.Verify(); n != pondTicks-done || err != nil {
			t.Errorf("from tick %d on: %d ticks, %v; want %d", done, n, err, pondTicks-done)
		}
		if err := p.Step(); err != nil {
			t.Fatal(err)
		}
	}
	wrong := &replay.Player{World: p.World, Source: &frameQueue{r.Header, slices.Clone(frames[1:])}}
	if err := wrong.Step(); !errors.Is(err, replay.ErrMalformed) {
		t.Errorf("frames of other ticks: %v, want %v", err, replay.ErrMalformed)
	}
}

// TestResumeReader holds that a reader that begins at any frame reads the same frames, at
// the same places, and finds the same faults as one that begins with the header.
func TestResumeReader(t *testing.T) {
	b, _ := pondRecording(t)
	broken := bytes.Clone(b)
	broken = broken[:len(broken)-3]
	for name, b := range map[string][]byte{"whole": b, "cut": broken} {
		r, err := replay.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		want := dump(r)
		positions := []replay.Position{}
		again, err := replay.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			positions = append(positions, again.Position())
			err = again.Next(new(replay.Frame))
		}
		for i, at := range positions {
			if at.Frame != i || int64(len(b)) < at.Offset {
				t.Errorf("%s: position %d is %+v", name, i, at)
			}
			got := dump(replay.ResumeReader(bytes.NewReader(b[at.Offset:]), r.Header, at))
			if !slices.Equal(got, want[i:]) {
				t.Errorf("%s: from frame %d on:\n%s, want\n%s", name, i, strings.Join(got, "\n"), strings.Join(want[i:], "\n"))
			}
		}
		if len(positions) != len(want) || len(want) < pondTicks {
			t.Errorf("%s: %d positions, %d frames and an end", name, len(positions), len(want))
		}
	}
}

// dump tells all frames and how they end, with all places.
func dump(r *replay.Reader) (list []string) {
	var f replay.Frame
	for {
		if err := r.Next(&f); err != nil {
			return append(list, err.Error())
		}
		text := fmt.Sprintf("%d %x %+v", f.Tick, f.Hash, f.Position)
		for i := range f.Records {
			f.Records[i].Tag += 9 // so that most are unknown, and say where
			_, err := f.Records[i].Command()
			text += fmt.Sprint("; ", err)
		}
		list = append(list, text)
	}
}

// TestResumeRecorder cuts a recording at every byte after its header, between frames and
// in the middle of them, brings a world to the last whole frame by replay or from a saved
// state, and goes on: the result is the uninterrupted recording, byte for byte.
func TestResumeRecorder(t *testing.T) {
	whole, _ := pondRecording(t)
	r, err := replay.NewReader(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	for cut := int(r.Offset()); cut <= len(whole); cut++ {
		r, err := replay.NewReader(bytes.NewReader(whole[:cut]))
		if err != nil {
			t.Fatal(err)
		}
		p, err := replay.NewPlayer(r, pond)
		if err != nil {
			t.Fatal(err)
		}
		ticks, err := p.Verify()
		at := r.Position()
		if err != nil && !errors.Is(err, replay.ErrTruncated) || uint64(at.Frame) != ticks || int(at.Offset) > cut || at.Offset != r.Offset() {
			t.Fatalf("cut at byte %d: %d ticks, at %+v, %v", cut, ticks, at, err)
		}
		w := p.World
		if cut%2 == 0 {
			state, err := w.Save(pondDescriptor)
			if err != nil {
				t.Fatal(err)
			}
			if w, err = engine.Restore(pondConfig(wind), pondDescriptor, state); err != nil {
				t.Fatal(err)
			}
		}
		sink := bytes.NewBuffer(bytes.Clone(whole[:at.Offset]))
		rec, err := replay.ResumeRecorder(sink, w, r.Header, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if w.Record(rec); rec.Offset() != at.Offset {
			t.Errorf("cut at byte %d: the recorder goes on at byte %d, want %d", cut, rec.Offset(), at.Offset)
		}
		for tick := w.Tick() + 1; tick <= pondTicks; tick++ {
			for _, c := range pondInputs(tick) {
				if _, err := w.Submit(c); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := rec.Flush(); err != nil || !bytes.Equal(sink.Bytes(), whole) || rec.Offset() != int64(len(whole)) {
			t.Fatalf("cut at byte %d: %v; %d bytes, or others, want the %d of the whole recording", cut, err, sink.Len(), len(whole))
		}
	}
}

// TestResumeRecorderRefuses holds that a recording goes on in its world at its tick only,
// and that a write that fails names the tick that is lost and its place in the whole.
func TestResumeRecorderRefuses(t *testing.T) {
	whole, _ := pondRecording(t)
	r, err := replay.NewReader(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(r, pond)
	if err != nil {
		t.Fatal(err)
	}
	first := r.Position()
	if _, err := p.Verify(); err != nil {
		t.Fatal(err)
	}
	const late = "replay: the world is at tick 7; the recording goes on after tick 0"
	if _, err := replay.ResumeRecorder(io.Discard, p.World, r.Header, first, nil); err == nil || err.Error() != late {
		t.Errorf("at another tick: %v, want %s", err, late)
	}
	h := r.Header
	h.Seed++
	if e, ok := errors.AsType[*replay.MismatchError](mustFail(replay.ResumeRecorder(io.Discard, p.World, h, r.Position(), nil))); !ok || e.What != "seed" {
		t.Errorf("of another seed: %v, want a MismatchError of the seed", e)
	}
	end := r.Position()
	rec, err := replay.ResumeRecorder(&full{w: io.Discard, limit: 5, cause: io.ErrShortWrite}, p.World, r.Header, end, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.World.Record(rec)
	if _, err := p.World.Step(); err != nil {
		t.Fatal(err)
	}
	if e, ok := errors.AsType[*replay.WriteError](rec.Flush()); !ok || e.Tick != pondTicks+1 || e.Offset != end.Offset {
		t.Errorf("Flush = %v, want a WriteError of tick %d at byte %d", e, pondTicks+1, end.Offset)
	}
}

func mustFail[T any](_ T, err error) error { return err }

// TestResumeFile goes on with the file of a run that was killed inside a frame.
func TestResumeFile(t *testing.T) {
	whole, _ := pondRecording(t)
	path := filepath.Join(t.TempDir(), "run.murk")
	if err := os.WriteFile(path, whole[:len(whole)-30], 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := replay.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(r, pond)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := p.Verify(); n == 0 || n == pondTicks || !errors.Is(err, replay.ErrTruncated) {
		t.Fatalf("Verify = %d, %v, want some ticks and %v", n, err, replay.ErrTruncated)
	}
	end := r.Position()
	if err := f.Truncate(end.Offset); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(end.Offset, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	rec, err := replay.ResumeRecorder(f, p.World, r.Header, end, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.World.Record(rec)
	for tick := p.World.Tick() + 1; tick <= pondTicks; tick++ {
		for _, c := range pondInputs(tick) {
			if _, err := p.World.Submit(c); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.World.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := rec.Sync(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("the file has %d bytes, or others, %v; want the %d of an uninterrupted run", len(got), err, len(whole))
	}
}
