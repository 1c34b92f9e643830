package replay_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// TestNewRecorderAtGenesis holds that a recording can only begin where its replay
// will: a world that has gone on is refused, and nothing is written.
func TestNewRecorderAtGenesis(t *testing.T) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replay.NewRecorder(io.Discard, w, nil); err != nil {
		t.Errorf("NewRecorder at genesis = %v, want none", err)
	}
	if _, err := w.Step(); err != nil {
		t.Fatal(err)
	}
	var sink bytes.Buffer
	if _, err := replay.NewRecorder(&sink, w, nil); err == nil || sink.Len() != 0 {
		t.Errorf("NewRecorder after tick 1 = %v with %d bytes written, want an error and none", err, sink.Len())
	}
}

// TestRecorderReset holds that a recording ends where its world is reset.
func TestRecorderReset(t *testing.T) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}})
	if err != nil {
		t.Fatal(err)
	}
	var sink bytes.Buffer
	r, err := replay.NewRecorder(&sink, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	for range 2 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	w.Reset(1)
	const want = "engine: tick 1: recorder: replay: tick 1 after tick 2: the world was reset; begin another recording"
	if _, err := w.Step(); err == nil || err.Error() != want {
		t.Errorf("Step = %v, want %s", err, want)
	}
}

// A deaf sink takes nothing.
type deaf struct{}

var errDeaf = errors.New("deaf")

func (deaf) Write([]byte) (int, error) { return 0, errDeaf }

// TestTableWriterKeepsItsError holds that no tick is recorded twice: once the table
// cannot be written, ticks fail before they reach the recording.
func TestTableWriterKeepsItsError(t *testing.T) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}, MaxFailures: -1})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r, err := replay.NewRecorder(&b, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(replay.NewTableWriter(deaf{}, w.Defs(), r))
	failed := 0
	for range 1000 {
		if _, err := w.Step(); errors.Is(err, errDeaf) {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if failed == 0 {
		t.Fatal("no tick failed, want some: the table takes nothing")
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	rd, err := replay.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	for want := uint64(1); ; want++ {
		if err := rd.Next(&f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if f.Tick != want {
			t.Fatalf("frame %d is of tick %d, want %d", want-1, f.Tick, want)
		}
	}
}
