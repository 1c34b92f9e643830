package export_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/survey"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

const counted = all + `  - {tick: 3, set: {field: ground, cell: [0, 0], value: sand}}
  - {tick: 4, despawn: {entity: 1048577}}
  - {tick: 4, despawn: {entity: anna}}
probes:
  - {name: middle, field: heat, cell: [1, 2]}
  - {name: corner, field: wind, cell: [0, 0]}
  - {name: tick, field: ground, cell: [2, 3]}
  - {name: held, field: exact, cell: [0, 1]}
`

// stats runs a scenario for some ticks and returns its table, with a row each so many ticks.
func stats(t testing.TB, s *scenarios.Scenario, path string, workers int, ticks, every uint64, names ...string) []byte {
	t.Helper()
	w, err := s.World(workers)
	if err != nil {
		t.Fatal(err)
	}
	f, err := export.StatsFormatOf(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	table, err := f.NewStats(&b, s, names)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Add(w); err != nil {
		t.Fatal(err)
	}
	run := runner.Run{Scenario: s, World: w, Receipts: func(r []commands.Receipt) error { table.Count(r); return nil }, Watchers: []runner.Watcher{runner.EveryTick(func(w *engine.World) error {
		if w.Tick()%every != 0 {
			return nil
		}
		return table.Add(w)
	})}}
	if err := run.To(t.Context(), ticks); err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const wantStats = `tick,time,population_ant,population_bee,births,deaths,commands_applied,commands_refused,heat_sum,heat_mean,heat_min,heat_max,exact_sum,exact_mean,exact_min,exact_max,ground_grass,ground_sand,wind_0_sum,wind_0_mean,wind_0_min,wind_0_max,wind_1_sum,wind_1_mean,wind_1_min,wind_1_max,energy_sum,energy_mean,energy_min,energy_max,middle,corner_0,corner_1,tick_2,held
0,0.0,0,0,0,0,0,0,0.10000000149011612,0.008333333457509676,0.0,0.1,2.25,0.1875,0.0,2.25,11,1,3.0,0.25,0.0,3.0,4.0,0.3333333333333333,0.0,4.0,0.0,,,,0.1,3.0,4.0,1,2.25
1,0.05,0,1,1,0,1,0,H1,2.25,0.1875,0.0,2.25,11,1,3.0,0.25,0.0,3.0,4.0,0.3333333333333333,0.0,4.0,0.5,0.5,0.5,0.5,P1,3.0,4.0,1,2.25
2,0.1,1,1,1,0,1,0,H2,2.25,0.1875,0.0,2.25,11,1,3.0,0.25,0.0,3.0,4.0,0.3333333333333333,0.0,4.0,7.5,3.75,0.5,7.0,P2,3.0,4.0,1,2.25
3,0.15,1,1,0,0,1,1,H3,-1.5,-0.125,-1.5,0.0,11,1,3.0,0.25,0.0,3.0,4.0,0.3333333333333333,0.0,4.0,7.5,3.75,0.5,7.0,P3,3.0,4.0,1,-1.5
4,0.2,0,0,0,2,2,0,H4,-1.5,-0.125,-1.5,0.0,11,1,3.0,0.25,0.0,3.0,4.0,0.3333333333333333,0.0,4.0,0.0,,,,P4,3.0,4.0,1,-1.5
`

// The table has what happened: fields in all, entities, commands, probes. Columns of one name get
// numbers, and where there is no entity there is no mean.
func TestStats(t *testing.T) {
	got := string(stats(t, parse(t, counted), "-", 1, 4, 1))
	wants, lines := strings.Split(wantStats, "\n"), strings.Split(got, "\n")
	if len(lines) != len(wants) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(wants), got)
	}
	for i, line := range lines {
		cells, want := strings.Split(line, ","), wants[i]
		if len(cells) == 35 {
			want = strings.Replace(want, fmt.Sprintf("H%d", i-1), strings.Join(cells[8:12], ","), 1) // TestStatsHeat looks at them
			want = strings.Replace(want, fmt.Sprintf("P%d", i-1), cells[30], 1)
		}
		if line != want {
			t.Errorf("line %d is\n%s, want\n%s", i+1, line, want)
		}
	}
}

// The scenario's own statistics come last. What has no value, or none that is finite, is empty, and a truth is 0 or 1.
func TestOwnStats(t *testing.T) {
	const own = counted + "stats: {ants: count(ant), mean_energy: mean(anyone.energy), warm: sum(heat) > 0.05, many: 1 / count(bee), middle: most(heat)}\n"
	lines := strings.Split(strings.TrimSpace(string(stats(t, parse(t, own), "-", 1, 4, 1))), "\n")
	want := []string{"ants,mean_energy,warm,many,middle_2", "0.0,,1.0,,0.10000000149011612", "0.0,0.5,1.0,1.0,*", "1.0,3.75,1.0,1.0,*", "1.0,3.75,1.0,1.0,*", "0.0,,*,,*"}
	for i, line := range lines {
		got := strings.Split(line, ",")[35:]
		for k, cell := range strings.Split(want[i], ",") {
			if cell != "*" && got[k] != cell {
				t.Errorf("line %d ends in %s, want %s", i+1, got, want[i])
			}
		}
	}
	v, err := export.NewValues(parse(t, own), []string{"heat"})
	if err != nil {
		t.Fatal(err)
	}
	if names := v.Names(); !slices.Equal(names[len(names)-5:], []string{"ants", "mean_energy", "warm", "many", "middle_2"}) {
		t.Errorf("the last of %v are not the statistics", names)
	}
	if _, last := v.Units(); last != 10 {
		t.Errorf("%d numbers of probes and statistics, want 10", last)
	}
}

// Sums are those of all elements in their order, the extremes those among them.
func TestStatsHeat(t *testing.T) {
	s := parse(t, counted)
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(string(stats(t, s, "x.csv", 2, 4, 1, "heat", "wind")), "\n")
	run := runner.Run{Scenario: s, World: w}
	for tick := range uint64(5) {
		if err := run.To(t.Context(), tick); err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, of := range []struct {
			id           fields.ID
			first, every int
		}{{0, 0, 1}, {3, 0, 2}, {3, 1, 2}} {
			sum, lo, hi, n := 0.0, w.Value(of.id, of.first), w.Value(of.id, of.first), 0.0
			for i := of.first; i < w.Column(of.id).Len(); i += of.every {
				v := w.Value(of.id, i)
				sum, lo, hi, n = sum+v, min(lo, v), max(hi, v), n+1
			}
			for _, v := range []any{sum, sum / n, float32(lo), float32(hi)} {
				want += "," + pointed(v)
			}
		}
		want += fmt.Sprintf(",%s,", pointed(w.Column(0).Float32[6]))
		if row := rows[tick+1]; !strings.Contains(row, want) {
			t.Errorf("tick %d: %s, want … %s …", tick, row, want)
		}
	}
}

// pointed is a number as a CSV has it.
func pointed(v any) string {
	text := fmt.Sprint(v)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// All formats hold the same, and every second row counts what happened in two ticks.
func TestStatsFormats(t *testing.T) {
	s := parse(t, counted)
	for _, every := range []uint64{1, 2} {
		lines := strings.Split(strings.TrimSpace(string(stats(t, s, "x.csv", 1, 4, every))), "\n")
		names := strings.Split(lines[0], ",")
		_, columns, rows := readParquet(t, stats(t, s, "x.parquet", 1, 4, every))
		if !slices.Equal(columns, names) || len(rows) != len(lines)-1 {
			t.Fatalf("the Parquet has %d rows of %v, want %d of %v", len(rows), columns, len(lines)-1, names)
		}
		d := json.NewDecoder(bytes.NewReader(stats(t, s, "x.jsonl", 1, 4, every)))
		for i, line := range lines[1:] {
			cells := strings.Split(line, ",")
			object := map[string]any{}
			if err := d.Decode(&object); err != nil {
				t.Fatal(err)
			}
			for k, name := range names {
				inParquet := strings.ReplaceAll(rows[i][k], "<null>", "")
				inJSON := fmt.Sprint(object[name])
				if object[name] == nil {
					inJSON = ""
				}
				if cell := strings.TrimSuffix(cells[k], ".0"); inParquet != cell || inJSON != cell {
					t.Errorf("row %d, %s: CSV %q, Parquet %q, JSON %q", i, name, cells[k], inParquet, inJSON)
				}
			}
		}
		if d.More() {
			t.Errorf("more than %d JSON lines", len(lines)-1)
		}
		if last := strings.Split(lines[len(lines)-1], ","); every == 2 && strings.Join(last[4:8], ",") != "0,2,3,1" {
			t.Errorf("ticks 3 and 4 have births, deaths, applied, refused %v, want 0 2 3 1", last[4:8])
		}
	}
}

// Any number of workers gives the same bytes.
func TestStatsWorkers(t *testing.T) {
	for _, name := range []string{"waves", "predators"} {
		s, err := worlds.Open(worlds.Registry(), name)
		if err != nil {
			t.Fatal(err)
		}
		one, four := stats(t, s, "x.csv", 1, 60, 1), stats(t, s, "x.csv", 4, 60, 1)
		if len(one) < 60*100 || !bytes.Equal(one, four) {
			t.Errorf("%s: tables of 1 and 4 workers differ, or are short (%d bytes)", name, len(one))
		}
	}
}

// What a Writer gets is whole lines, so that a run that is killed leaves such.
func TestStatsLines(t *testing.T) {
	s, err := worlds.Open(worlds.Registry(), "predators")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"x.csv", "x.jsonl"} {
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		f, err := export.StatsFormatOf(path)
		if err != nil {
			t.Fatal(err)
		}
		writes := 0
		table, err := f.NewStats(writerFunc(func(b []byte) (int, error) {
			if writes++; !bytes.HasSuffix(b, []byte{'\n'}) {
				t.Errorf("%s: a write ends in %q", path, b[max(0, len(b)-20):])
			}
			return len(b), nil
		}), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			if err := table.Add(w); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.Close(); err != nil || writes < 3 {
			t.Errorf("%s: %d writes, %v; want 3 at least", path, writes, err)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A row allocates nothing, once there have been some.
func TestStatsAllocations(t *testing.T) {
	s, err := worlds.Open(worlds.Registry(), "predators")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"x.csv", "x.jsonl"} {
		f, err := export.StatsFormatOf(path)
		if err != nil {
			t.Fatal(err)
		}
		table, err := f.NewStats(bufio.NewWriter(io.Discard), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		add := func() {
			if err := table.Add(w); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			add()
		}
		if n := testing.AllocsPerRun(1000, add); n != 0 {
			t.Errorf("%s: %v allocations a row, want 0", path, n)
		}
	}
}

// Memory does not grow with the number of rows.
func TestStatsMemory(t *testing.T) {
	s := parse(t, counted)
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"x.csv", "x.jsonl", "x.parquet"} {
		f, err := export.StatsFormatOf(path)
		if err != nil {
			t.Fatal(err)
		}
		table, err := f.NewStats(io.Discard, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		const few, many, slack = 40_000, 160_000, 8 << 20 // rows, rows, bytes; the rows in between have 33 MB
		var before uint64
		for row := range many {
			if err := table.Add(w); err != nil {
				t.Fatal(err)
			}
			if row != few-1 && row != many-1 {
				continue
			}
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			if row == few-1 {
				before = m.HeapAlloc
			} else if m.HeapAlloc > before+slack {
				t.Errorf("%s: %d bytes are held after %d rows and %d after %d", path, before, few, m.HeapAlloc, many)
			}
		}
	}
}

func TestStatsRejects(t *testing.T) {
	for path, want := range map[string]string{
		"x":     "the ending of x must say what to write: .csv, .parquet or .jsonl",
		"x.npz": "x.npz ends in .npz; statistics end in .csv, .parquet or .jsonl",
	} {
		if _, err := export.StatsFormatOf(path); err == nil || err.Error() != want {
			t.Errorf("StatsFormatOf(%q) = %v, want %s", path, err, want)
		}
	}
	for names, want := range map[string]string{
		"heet":      `there is no field "heet"; did you mean "heat"?`,
		"heat,heat": `field "heat" is named twice`,
	} {
		if _, err := survey.New(parse(t, all), strings.Split(names, ",")); err == nil || err.Error() != want {
			t.Errorf("New(%s) = %v, want %s", names, err, want)
		}
	}
}

func BenchmarkStats(b *testing.B) {
	const text = "murksim: 1\nname: big\nspace: {kind: square4, rows: 1024, cols: 1024}\nfields: [{name: a, initial: {noise: {from: 0, to: 1}}}]\n"
	s := parse(b, text)
	w, err := s.World(1)
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range []string{"x.csv", "x.jsonl", "x.parquet"} {
		f, err := export.StatsFormatOf(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(f.Ending, func(b *testing.B) {
			table, err := f.NewStats(io.Discard, s, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(4 << 20)
			b.ReportAllocs()
			for b.Loop() {
				if err := table.Add(w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Units stand beside the names, and the numbers of probes come last.
func TestUnits(t *testing.T) {
	v, err := export.NewValues(parse(t, counted), nil)
	if err != nil {
		t.Fatal(err)
	}
	units, probes := v.Units()
	if probes != 5 || len(units) != len(v.Names()) {
		t.Fatalf("%d probes and %d units of %d numbers", probes, len(units), len(v.Names()))
	}
	for i, name := range v.Names() {
		want := ""
		if strings.HasPrefix(name, "heat_") || name == "middle" {
			want = "K"
		}
		if strings.HasPrefix(name, "wind_") || strings.HasPrefix(name, "corner_") {
			want = "m/s"
		}
		if units[i] != want {
			t.Errorf("the unit of %s is %q, want %q", name, units[i], want)
		}
	}
}
