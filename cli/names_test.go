package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay"
)

// TestNamesInStates: a state, and a recording that begins at one, in which an entity of another kind has the id of one with a name. Murksim makes none, but
// others can.
func TestNamesInStates(t *testing.T) {
	t.Chdir(t.TempDir())
	const hares = `murksim: 1
name: hares
ticks: 9
space: {kind: square4, rows: 3, cols: 3}
fields: [{name: mood, domain: entities}]
entities: {capacity: 3, kinds: [bird, hare]}
commands:
  - {tick: 1, spawn: {kind: bird, cell: [1, 1], name: anna}}
  - {tick: 1, spawn: {kind: hare, cell: [0, 0]}}
  - {tick: 8, despawn: {entity: anna}}
`
	if err := os.WriteFile("hares.yaml", []byte(hares), 0o666); err != nil {
		t.Fatal(err)
	}
	ok(t, "run", "hares.yaml", "-q", "-o", "hares.murk")
	ok(t, "fork", "hares.murk", "--without", "1", "--to", "5", "-o", "nobird.murk")
	makePart(t, "nobird.murk", 3)
	for _, args := range [][]string{
		{"run", "hares.yaml", "--state", "part.state", "-o", "x.murk"},
		{"run", "--resume", "part.murk"},
		{"find", "part.murk", "alive(anna)"},
		{"shrink", "part.murk", "alive(anna)", "-o", "x.murk"},
		{"why", "part.murk", "--tick", "5", "--field", "mood", "--entity", "anna"},
		{"fork", "part.murk", "--command", "tick: 5, despawn: {entity: anna}", "-o", "x.murk"},
	} {
		status, out, errs := murksim(t, nil, args...)
		if status != report.StatusError || out != "" || !strings.Contains(errs, `the entity that the scenario calls "anna" is of the kind hare, not bird`) {
			t.Errorf("%q: status %d, %s%s", args, status, out, errs)
		}
	}
	ok(t, "verify", "part.murk")
	ok(t, "find", "part.murk", "count(hare) == 1")
}

// makePart writes what cut would write of a recording from a tick on, if it did not look at names.
func makePart(t *testing.T, name string, tick uint64) {
	t.Helper()
	a, err := Program{}.app(strings.NewReader(""), report.NewOutput(io.Discard), report.NewOutput(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	rec := &session.Recording{Session: a.Session, Name: name}
	c, err := replay.OpenFile(name, rec.Builder(t.Context(), 1, session.DefaultMaxMemory))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Seek(tick); err != nil {
		t.Fatal(err)
	}
	state, err := c.World().Save(c.Head().World())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("part.state", engine.Seal(state), 0o666); err != nil {
		t.Fatal(err)
	}
	w, descriptor, _, err := startAt(c.World(), c.Head(), rec.Scenario, 1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create("part.murk")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recorder, err := replay.NewRecorder(f, w, descriptor)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(recorder)
	for range 2 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := recorder.Flush(); err != nil {
		t.Fatal(err)
	}
}
