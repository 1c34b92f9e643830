package replay_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// pondTable runs a pond for some ticks and returns its table of hashes.
func pondTable(t *testing.T, wind float64, ticks int, inputs ...commands.Command) string {
	t.Helper()
	w, err := engine.New(pondConfig(wind))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	table := replay.NewTableWriter(&text, w.Defs())
	w.Record(table)
	for range ticks {
		for _, c := range inputs {
			if _, err := w.Submit(c); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// against compares ticks of a pond with a table until they differ, and returns the
// tick and what was said.
func against(t *testing.T, table string, ticks uint64) (tick uint64, err error) {
	t.Helper()
	w, err := pond(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewTableReader("pond.tsv", strings.NewReader(table), w.Defs())
	for err == nil && w.Tick() < ticks {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		err = r.Compare(w)
	}
	if err == nil {
		err = r.End()
	}
	return w.Tick(), err
}

var bothHashes = regexp.MustCompile(` \(table [0-9a-f]{16}, replay [0-9a-f]{16}\)`)

func TestTable(t *testing.T) {
	good := pondTable(t, wind, 4)
	if want := "tick\tstate\theat\twall\tenergy\tentity.id\tentity.kind\tentity.cell\tworld.rest\n1\t"; !strings.HasPrefix(good, want) {
		t.Errorf("the table begins with %.80q, want %q", good, want)
	}
	if got := strings.Count(good, "\n"); got != 5 {
		t.Errorf("%d lines, want 5", got)
	}
	lines := strings.SplitAfter(good, "\n")
	row := strings.Split(lines[2], "\t")
	otherState := strings.Join(append([]string{row[0], "0123456789abcdef"}, row[2:]...), "\t")
	spawn := commands.Spawn(space.At(1))
	for _, tt := range []struct {
		name, table string
		tick        uint64
		want        string // "" if all ticks match
		differs     bool
	}{
		{"equal", good, 4, "", false},
		{"another wind", pondTable(t, 0.25, 4), 1, `pond.tsv:2: tick 1: hashes differ: fields "heat", "world.rest"`, true},
		{"an entity", pondTable(t, wind, 4, spawn), 1,
			`pond.tsv:2: tick 1: hashes differ: fields "entity.id", "entity.cell", "world.rest"`, true},
		{"another state only", lines[0] + lines[1] + otherState, 2, "pond.tsv:3: tick 2: hashes differ: state, though no field does", true},
		{"short", lines[0] + lines[1], 2, "pond.tsv:3: the table of hashes ends here", false},
		{"a line left over", pondTable(t, wind, 5), 4, "pond.tsv:6: the table of hashes goes on here; the recording has ended", false},
		{"the last line repeated", good + lines[4], 4, "pond.tsv:6: the table of hashes goes on here; the recording has ended", false},
		{"an empty line after the last", good + "\n", 4, "pond.tsv:6: the table of hashes goes on here; the recording has ended", false},
		{"a line missing", lines[0] + lines[2], 1, "pond.tsv:2: this is not the line of tick 1", false},
		{"cut in a hash", lines[0] + lines[1][:len(lines[1])-14] + "\n", 1, `pond.tsv:2: "` + lines[1][len(lines[1])-17:len(lines[1])-14] + `" is not a hash (16 hexadecimal digits)`, false},
		{"no hash", lines[0] + "1" + strings.Repeat("\t0123456789abcdeg", 8) + "\n", 1,
			`pond.tsv:2: "0123456789abcdeg" is not a hash (16 hexadecimal digits)`, false},
		{"a column missing", lines[0] + "1\t2\n", 1, "pond.tsv:2: this is not the line of tick 1", false},
		{"empty", "", 0, "pond.tsv:1: the table of hashes ends here", false},
		{"other columns", "tick\tstate\n", 0,
			`pond.tsv:1: not a table of this world's hashes: the columns are "tick\tstate", ` +
				`not "tick\tstate\theat\twall\tenergy\tentity.id\tentity.kind\tentity.cell\tworld.rest"`, false},
		{"an endless line", strings.Repeat("x\t", 1<<20), 0, "pond.tsv:1: the line is longer than 1048576 bytes", false},
		{"a long line", strings.Repeat("x\t", 1<<18), 0,
			`pond.tsv:1: not a table of this world's hashes: the columns are "` + strings.Repeat(`x\t`, 100) + `", ` +
				`not "tick\tstate\theat\twall\tenergy\tentity.id\tentity.kind\tentity.cell\tworld.rest"`, false},
	} {
		tick, err := against(t, tt.table, 4)
		said := ""
		if err != nil {
			said = err.Error()
		}
		hashes := bothHashes.FindAllString(said, -1)
		said = bothHashes.ReplaceAllString(said, "")
		if tick != tt.tick || said != tt.want || errors.Is(err, replay.ErrTable) != tt.differs || (len(hashes) == 1) != tt.differs {
			t.Errorf("%s: at tick %d: %v; want at %d: %s", tt.name, tick, err, tt.tick, tt.want)
		}
	}
}

// TestTableShowsBothHashes holds that the error shows the hashes of the first field that
// differs, the table's and the world's.
func TestTableShowsBothHashes(t *testing.T) {
	cell := func(table string) string { return strings.Split(strings.Split(table, "\n")[1], "\t")[2] }
	other := pondTable(t, 0.25, 1)
	_, err := against(t, other, 1)
	want := ` "heat" (table ` + cell(other) + `, replay ` + cell(pondTable(t, wind, 1)) + `)`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Compare = %v, want %s", err, want)
	}
}

// TestTableFails: a table that cannot be written fails the tick or the flush.
func TestTableFails(t *testing.T) {
	w, err := pond(nil)
	if err != nil {
		t.Fatal(err)
	}
	table := replay.NewTableWriter(&full{w: new(bytes.Buffer), limit: 10, cause: syscall.ENOSPC}, w.Defs())
	w.Record(table)
	for err == nil && w.Tick() < 100 {
		_, err = w.Step()
	}
	if e, ok := errors.AsType[*engine.TickError](err); !ok || e.Where != "recorder" || e.Tick != w.Tick()+1 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Step = %v at tick %d, want the sink's error", err, w.Tick())
	}
	for range 2 {
		if err := table.Flush(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Flush = %v, want %v", err, syscall.ENOSPC)
		}
	}
}
