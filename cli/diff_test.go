package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

// recordAs records a scenario with an index beside it. If sets are given the world computes
// with other values than the recording says, as another build might.
func recordAs(t *testing.T, path, name string, ticks uint64, descriptor []byte, sets ...string) {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), name)
	if err != nil {
		t.Fatal(err)
	}
	if descriptor == nil {
		descriptor = s.Descriptor()
	}
	if s, err = worlds.Open(worlds.Registry(), name, sets...); err != nil {
		t.Fatal(err)
	}
	recordWith(t, path, s, ticks, descriptor)
}

// recordWith records a scenario, with an index whose keyframes do not depend on how fast this machine is.
func recordWith(t *testing.T, path string, s *scenarios.Scenario, ticks uint64, descriptor []byte) {
	t.Helper()
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	beside, err := os.Create(session.IndexName(path))
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	rec, err := replay.NewRecorder(file, w, descriptor)
	if err != nil {
		t.Fatal(err)
	}
	h := replay.HeaderOf(w, descriptor)
	now := time.Unix(0, 0)
	idx, err := index.NewRecorder(beside, w, &h, rec, index.Options{Key: session.IndexKey(true), Now: func() time.Time {
		now = now.Add(5 * time.Millisecond)
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.Record(engine.Recorders(rec, idx))
	for w.Tick() < ticks {
		if _, _, err := w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(rec.Flush(), idx.Close()); err != nil {
		t.Fatal(err)
	}
}

// differs runs diff --json, which must find a difference.
func differs(t *testing.T, args ...string) (r compare.Result) {
	t.Helper()
	status, out, errs := murksim(t, nil, slices.Concat([]string{"diff", "--json"}, args)...)
	if status != report.StatusDiverged {
		t.Fatalf("diff %v: status %d, want %d: %s%s", args, status, report.StatusDiverged, out, errs)
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// TestDiffByIndex holds what an index tells of a run that another build recorded: in which
// field and tile the first wrong tick differs, and the values in the next state that it has.
func TestDiffByIndex(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.murk"), filepath.Join(dir, "bad.murk")
	recordAs(t, good, "heat", 60, nil)
	recordAs(t, bad, "heat", 60, nil, "propagators.diffusion.rate=4.00001")

	r := differs(t, bad)
	if r.Tick != 2 || r.Equal != 1 || r.A.Hash == r.A.Replayed || r.B != nil {
		t.Errorf("tick %d after %d equal ones, %+v", r.Tick, r.Equal, r.A)
	}
	if len(r.Tiles) != 1 || r.Tiles[0].Field != "heat" || r.Tiles[0].Differ == 0 || r.Tiles[0].Differ != len(r.Tiles[0].Tiles) {
		t.Fatalf("tiles %+v, want some of heat", r.Tiles)
	}
	first := r.Tiles[0].Tiles[0]
	if first.FirstCell == nil || first.From != int(first.FirstCell[0])*128+int(first.FirstCell[1]) || first.To != int(first.LastCell[0])*128+int(first.LastCell[1]) {
		t.Errorf("tile %+v: its cells are not those of its coordinates", first)
	}
	if r.State == nil || r.State.Tick < 2 || len(r.State.Fields) != 1 || r.State.Fields[0].Name != "heat" || r.State.Fields[0].Most.Ulps == 0 {
		t.Fatalf("state %+v, want values of heat", r.State)
	}
	_, text, _ := murksim(t, nil, "diff", bad)
	for _, want := range []string{"DIFFER at tick 2   the tick before it is equal\n", "\n  hash      recorded ", " of 16 tiles in the index, unchecked\n", "the next of which the index has the state", " ulp"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not have %q:\n%s", want, text)
		}
	}

	two := differs(t, good, bad)
	if two.Tick != 2 || two.State == nil || len(two.State.Sections) != 0 || two.A.Hash != two.A.Replayed || two.B.Replayed != two.A.Hash || two.B.Hash == two.B.Replayed {
		t.Errorf("%+v, want the good one to be what this build computes, and the other not", two)
	}
	if len(two.Tiles) != 1 || two.Tiles[0].Differ != r.Tiles[0].Differ || len(two.Notes) != 1 || !strings.Contains(two.Notes[0], "bad.murk") {
		t.Errorf("tiles %+v, notes %q; want those of the bad one", two.Tiles, two.Notes)
	}
	if again := differs(t, "--no-index", bad); again.Tiles != nil || again.State != nil || again.Tick != 2 {
		t.Errorf("without its index: %+v", again)
	}
}

// TestDiffOfOtherPrograms holds that two recordings that this build cannot replay are
// compared by their files and indexes.
func TestDiffOfOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.murk"), filepath.Join(dir, "b.murk")
	recordAs(t, a, "heat", 40, []byte("a game"))
	recordAs(t, b, "heat", 40, []byte("a game"), "propagators.decay.rate=0.002")
	r := differs(t, a, b)
	if r.Tick != 1 || r.Differing != 40 || r.A.Error == "" || r.B.Error == "" || r.State != nil {
		t.Errorf("%+v, want 40 ticks that differ, and why neither is replayed", r)
	}
	if len(r.Tiles) != 1 || r.Tiles[0].Field != "heat" || r.Tiles[0].Differ == 0 || r.Tiles[0].Tiles[0].FirstCell != nil {
		t.Errorf("tiles %+v, want some of heat without coordinates", r.Tiles)
	}

	// The one can be replayed, the other was made by another program.
	recordAs(t, a, "heat", 40, nil)
	r = differs(t, a, b)
	if len(r.Tiles) != 1 || r.Tiles[0].Tiles[0].FirstCell == nil || r.A.Error != "" || len(r.Header) == 0 {
		t.Errorf("%+v, want the tiles of the one against the replay of the other", r)
	}
}

// TestDiffWitness holds that an index tells of a recorded run only if it was made beside it.
func TestDiffWitness(t *testing.T) {
	dir := t.TempDir()
	bad, other := filepath.Join(dir, "bad.murk"), filepath.Join(dir, "other.murk")
	recordAs(t, bad, "heat", 20, nil, "propagators.decay.rate=0.002")
	recordAs(t, other, "life", 20, nil)
	b, err := os.ReadFile(session.IndexName(bad))
	if err != nil {
		t.Fatal(err)
	}
	rebuilt := slices.Clone(b)
	rebuilt[5] |= 1 // see replay/INDEX.md
	head := len(rebuilt) - len(b) + bytes.Index(b, []byte("world.rest")) + len("world.rest") + 1 + 8 + 4
	binary.LittleEndian.PutUint32(rebuilt[head:], crc32.Checksum(rebuilt[:head], crc32.MakeTable(crc32.Castagnoli)))
	foreign, err := os.ReadFile(session.IndexName(other))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		index []byte
		want  string
	}{
		{rebuilt, "was made by a replay"},
		{foreign, "is that of another recording"},
		{nil, "there is no index of"},
	} {
		if err := os.Remove(session.IndexName(bad)); err != nil {
			t.Fatal(err)
		}
		if tt.index != nil {
			if err := os.WriteFile(session.IndexName(bad), tt.index, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r := differs(t, bad)
		if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], tt.want) || r.Tiles != nil || r.State != nil || r.Tick != 1 {
			t.Errorf("%+v, want the note %q and nothing of the recorded run", r, tt.want)
		}
	}
}

// TestDiffEveryScenario compares two seeds of every scenario, and one with its replay.
func TestDiffEveryScenario(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, s := range worlds.Embedded() {
		for _, seed := range []string{"1", "2"} {
			args := []string{"run", s.Name, "-q", "--ticks", "12", "--set", "expect=[]", "--seed", seed, "-o", seed + ".murk"}
			if status, _, errs := murksim(t, nil, args...); status != report.StatusOK {
				t.Fatalf("%v: status %d, %s", args, status, errs)
			}
		}
		status, out, errs := murksim(t, nil, "diff", "1.murk", "2.murk")
		if status != report.StatusDiverged || errs != "" || !strings.HasPrefix(out, "DIFFER ") {
			t.Errorf("%s: status %d, %s%s", s.Name, status, out, errs)
		}
		for i, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
			if n := utf8.RuneCountInString(line); n > 80 || i > mostLines {
				t.Errorf("%s: line %d has %d columns: %s", s.Name, i, n, line)
			}
		}
		if status, out, errs := murksim(t, nil, "diff", "1.murk"); status != report.StatusOK || errs != "" {
			t.Errorf("%s: status %d, %s%s", s.Name, status, out, errs)
		}
	}
}

// TestLayOut holds how a report fits into its lines: heads before details, details in turn.
func TestLayOut(t *testing.T) {
	var blocks []words.Block
	for i := range 6 {
		b := words.Block{Label: fmt.Sprint("field", i), Head: "differs"}
		for k := range 3 * i {
			b.Details = append(b.Details, []string{strings.Repeat("x", k+1), "y"})
		}
		blocks = append(blocks, b)
	}
	for _, tt := range []struct {
		room int
		want string // for each line the end of a label, a dot for a detail, + for what is left out
	}{
		{100, "01...2......3........4........5........"},
		{14, "01..2..3..4.5."},
		{6, "012345"},
		{4, "012+"},
	} {
		got := ""
		for _, line := range words.LayOut(blocks, tt.room) {
			switch label, _, _ := strings.Cut(strings.TrimPrefix(line, "  "), " "); {
			case label == "":
				got += "."
			case label == "and":
				got += "+"
			default:
				got += strings.TrimPrefix(label, "field")
			}
		}
		if got != tt.want {
			t.Errorf("room for %d: %s, want %s", tt.room, got, tt.want)
		}
	}
}

// TestStateText holds how every sort of difference is put into words.
func TestStateText(t *testing.T) {
	s, err := worlds.Open(worlds.Registry(), "colony")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	report := diff.Report{
		Tick: 4, Sections: []string{"parameters", "fields", "events", "random"},
		Fields: []diff.Field{
			{Name: "food", Domain: "cells", Differ: 2, Of: 4096, Most: diff.Difference{
				Path: "/cells/1,2/food", Field: "food", Cell: []int32{1, 2}, A: "1", B: "3", Delta: "+2"}},
			{Name: "velocity", Domain: "entities", Differ: 1, Of: 9, Most: diff.Difference{
				Path: "/entities/1048577/velocity/1", Field: "velocity", A: "1", B: "0.5", Delta: "-0.5"}},
		},
		Entities: diff.Entities{Added: 1, Changed: 1200}, Count: 9,
		Differences: []diff.Difference{
			{Path: "/arrival", Kind: diff.Changed, A: "7", B: "8"},
			{Path: "/cells/1,2/food", Kind: diff.Changed, Field: "food", Cell: []int32{1, 2}, A: "1", B: "3", Delta: "+2", Ulps: 1 << 20},
			{Path: "/cells/1,3/food", Kind: diff.Changed, Field: "food", Cell: []int32{1, 3}, A: "1", B: "1.1", Delta: "+0.1", Ulps: 1},
			{Path: "/entities/1048577/slot", Kind: diff.Changed, A: "0", B: "2"},
			{Path: "/entities/1048577/velocity/1", Kind: diff.Changed, Field: "velocity", A: "1", B: "0.5", Delta: "-0.5"},
			{Path: "/entities/1048590", Kind: diff.Added, B: "some-uuid"},
			{Path: "/events/9", Kind: diff.Removed, A: "due 9: despawn"},
			{Path: "/random/ai/0", Kind: diff.Changed, A: "draws 1, last 6", B: "draws 2, last 3"},
			{Path: "/random/bio/3", Kind: diff.Added, B: "draws 1, last 4"},
			{Path: "/slots/2/velocity/0", Kind: diff.Changed, Field: "velocity", A: "0", B: "1", Delta: "+1"},
		},
	}
	text := stateText{&report, 4, w, []*engine.World{w, w}, session.Names{Scenario: s}}
	got := words.LayOut(text.blocks(), 50)
	want := []string{
		"  food      2 of 4,096 cells, by up to 2 at [1, 2]",
		"              [1, 2]  1  3    +2",
		"              [1, 3]  1  1.1  +0.1  1 ulp",
		"  velocity  1 of 9 entities, by up to 0.5",
		"              entity 1048577 component 1  1  0.5  -0.5",
		"              free slot 2 component 0     0  1    +1",
		"  entities  1 only in b, 1,200 of both changed",
		"              only in b  entity 1048590  some-uuid",
		"  slots     entity 1048577: 0 and 2",
		"  arrivals  the next command gets the number 7 and 8",
		"  events    9: due 9: despawn and none",
		"  random    2 differ",
		"              ai/0   draws 1, last 6  draws 2, last 3",
		"              bio/3  none             draws 1, last 4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestHonestOrder: where the ticks after the one that differs match, nothing is accused, such as a command of that tick which people gave; bisect tells more.
func TestHonestOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := Program{}.Scenario("life", []string{"ticks=40"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	recording := recordedWith(t, s, s.Ticks, func(tick uint64, list []commands.Command) []commands.Command {
		if tick == 10 {
			list = append(list, commands.SetField(space.At(5, 5), 0, 1).From(7, 1))
		}
		return list
	})
	if err := os.WriteFile("people.murk", recording, 0o666); err != nil {
		t.Fatal(err)
	}
	done(t, "verify", "people.murk")
	done(t, "convert", "people.murk", "people.jsonl")
	text, err := os.ReadFile("people.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[10] = regexp.MustCompile(`"hash":"[0-9a-f]{8}`).ReplaceAllString(lines[10], `"hash":"deadbeef`)
	if err := os.WriteFile("forged.jsonl", []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	done(t, "convert", "forged.jsonl", "forged.murk")
	for _, command := range []string{"diff", "bisect"} {
		status, out, errs := murksim(t, nil, command, "forged.murk", "--json")
		if status != report.StatusDiverged || !strings.Contains(out, `"tick":10,`) || !strings.Contains(out, "the 30 ticks after it match; either the file was changed there, in its hash, or in a command, ") || !strings.Contains(out, "or tick 10 was computed differently then") || strings.Contains(out, "not the scenario's") || !strings.Contains(out, `"next":"murksim bisect forged.murk --phases"`) {
			t.Errorf("%s: %d, %s, %s", command, status, out, errs)
		}
	}
}

// TestLongValues: of two long values that begin alike, the part is shown where they differ.
func TestLongValues(t *testing.T) {
	const a, b = "if state == susceptible and chance(gamma) then infected", "if state == susceptible and chance(gamma * 1.5) then infected"
	if x, y := orNotSet(a, b), orNotSet(b, a); x != "…and chance(gamma) then infected" || y != "…and chance(gamma * 1.5) then infected" {
		t.Errorf("%q and %q", x, y)
	}
	if x, y := orNotSet("", b), orNotSet("0.3", "0.4"); x != "(not set)" || y != "0.3" {
		t.Errorf("%q and %q", x, y)
	}
}
