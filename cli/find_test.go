package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/view"
)

// TestFindEveryScenario: in every scenario, find and the page say what a scan of the exported values says, for each term that goes over all cells.
func TestFindEveryScenario(t *testing.T) {
	t.Chdir(t.TempDir())
	looked := 0
	for _, s := range worlds.Embedded() {
		x, err := worlds.Open(worlds.Registry(), s.Name)
		if err != nil {
			t.Fatal(err)
		}
		var field string
		for i := range x.Fields {
			if d := x.Fields[i].Def(); d.Element == fields.Float32 && d.Type.Kind == fields.ScalarKind && x.Fields[i].Domain == "cells" {
				field = d.Name
				break
			}
		}
		if field == "" {
			continue
		}
		looked++
		ok(t, "run", s.Name, "-q", "--ticks", "14", "--set", "expect=[]", "-o", "a.murk", "--force")
		ok(t, "export", "a.murk", "-o", "a.csv", "--fields", field, "-q", "--force")
		scan := scanned(t, "a.csv", field)
		limit := middle(scan, slices.Max[[]float64])
		for _, term := range []struct {
			text string
			of   func(cells []float64) float64
		}{
			{"most(" + field + ")", slices.Max[[]float64]}, {"least(" + field + ")", slices.Min[[]float64]}, {"sum(" + field + ")", sum},
			{fmt.Sprintf("count(%s >= %s)", field, digits(limit)), func(cells []float64) (n float64) {
				for _, x := range cells {
					if x >= limit {
						n++
					}
				}
				return n
			}},
		} {
			half := middle(scan, term.of)
			var want []string
			for tick, cells := range scan {
				if term.of(cells) >= half {
					want = append(want, strconv.Itoa(tick))
				}
			}
			condition := term.text + " >= " + digits(half)
			for _, workers := range []string{"1", "2"} {
				if got := found(t, condition, workers); !slices.Equal(got, want) {
					t.Errorf("%s: %s holds in ticks %v, in the exported values in %v", s.Name, condition, got, want)
				}
			}
			if got := foundOnPage(t, condition); !slices.Equal(got, want) {
				t.Errorf("%s: %s holds on the page in ticks %v, in the exported values in %v", s.Name, condition, got, want)
			}
		}
	}
	if looked < 20 {
		t.Errorf("%d scenarios have a field of numbers", looked)
	}
}

// TestFindHappened: in every scenario with entities, find and the page say in which ticks some are born, die, enter a part of the space, and in which commands are refused, as a
// run of the world does that is looked at tick by tick.
func TestFindHappened(t *testing.T) {
	t.Chdir(t.TempDir())
	looked, held := 0, map[string]int{}
	for _, s := range worlds.Embedded() {
		x, err := worlds.Open(worlds.Registry(), s.Name, "ticks=40", "expect=[]")
		if err != nil {
			t.Fatal(err)
		}
		if x.Entities == nil || x.Environment != nil {
			continue
		}
		looked++
		ok(t, "run", s.Name, "-q", "--ticks", "40", "--set", "expect=[]", "-o", "a.murk", "--force")
		want := map[string][]string{}
		w := ranTo(t, x, 0)
		before, _ := livingIn(w)
		for w.Tick() < 40 {
			if _, _, err := w.SubmitAll(x.CommandsAt(w.Tick() + 1)); err != nil {
				t.Fatal(err)
			}
			receipts, err := w.Step()
			if err != nil {
				t.Fatal(err)
			}
			now, degree := livingIn(w)
			hold := map[string]bool{}
			for id := range now {
				_, lived := before[id]
				hold["born(anyone) > 0"] = hold["born(anyone) > 0"] || !lived
				is := fmt.Sprintf("entered(anyone where anyone.degree < %d) > 0", degree)
				hold[is] = hold[is] || lived && now[id] < degree && before[id] >= degree
			}
			for id := range before {
				_, lives := now[id]
				hold["died(anyone) > 0"] = hold["died(anyone) > 0"] || !lives
			}
			for _, r := range receipts {
				hold["refused() > 0"] = hold["refused() > 0"] || !r.Event && r.Reason != commands.Applied
			}
			for condition, is := range hold {
				if want[condition] == nil {
					want[condition] = []string{}
				}
				if is {
					want[condition] = append(want[condition], strconv.FormatUint(w.Tick(), 10))
				}
			}
			before = now
		}
		for condition, ticks := range want {
			held[condition] += len(ticks)
			for _, workers := range []string{"1", "2"} {
				if got := foundOrNever(t, condition, workers); !slices.Equal(got, ticks) {
					t.Errorf("%s: %s holds in ticks %v, want %v", s.Name, condition, got, ticks)
				}
			}
			if got := foundOnPage(t, condition); !slices.Equal(got, ticks) {
				t.Errorf("%s: %s holds on the page in ticks %v, want %v", s.Name, condition, got, ticks)
			}
		}
	}
	if looked < 4 || held["born(anyone) > 0"] == 0 || held["died(anyone) > 0"] == 0 || held["entered(anyone where anyone.degree < 8) > 0"] == 0 {
		t.Errorf("%d scenarios, %v", looked, held)
	}
}

// livingIn returns the degree of the cell of each entity that lives, and the greatest degree.
func livingIn(w *engine.World) (list map[uint64]int, greatest int) {
	list = map[uint64]int{}
	l, all := w.Lattice(), w.Entities()
	for slot, id := range all.Live() {
		list[id] = l.Degree(int(all.Cell[slot]))
	}
	return list, l.MaxDegree()
}

// ok runs a command that must end with status 0.
func ok(t *testing.T, args ...string) {
	t.Helper()
	if status, _, errs := murksim(t, nil, args...); status != report.StatusOK {
		t.Fatalf("%v: status %d, %s", args, status, errs)
	}
}

// foundOrNever is found for a condition that may never hold.
func foundOrNever(t *testing.T, condition, workers string) []string {
	t.Helper()
	if status, _, _ := murksim(t, nil, "find", "a.murk", condition, "--json", "--workers", workers); status == report.StatusNever {
		return []string{}
	}
	return found(t, condition, workers)
}

// found returns the ticks in which find says that a condition holds.
func found(t *testing.T, condition, workers string) (ticks []string) {
	t.Helper()
	status, out, errs := murksim(t, nil, "find", "a.murk", condition, "--json", "--workers", workers)
	if status != report.StatusOK {
		t.Fatalf("%s: status %d, %s", condition, status, errs)
	}
	for line := range strings.Lines(out) {
		var x session.Stretch
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		for tick := x.First; x.Event == "held" && tick <= x.Last; tick++ {
			ticks = append(ticks, strconv.FormatUint(tick, 10))
		}
	}
	return ticks
}

// foundOnPage returns the ticks in which the page says that a condition holds.
func foundOnPage(t *testing.T, condition string) (ticks []string) {
	t.Helper()
	b, err := os.ReadFile("a.murk")
	if err != nil {
		t.Fatal(err)
	}
	r, err := view.Open(view.Config{Recording: bytes.NewReader(b), Size: int64(len(b)), Build: func(h *replay.Header) (*engine.World, *scenarios.Scenario, error) {
		s, err := worlds.Registry().FromDescriptor(h.World())
		if err != nil {
			return nil, nil, err
		}
		w, err := s.World(1)
		return w, s, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(condition)
	page := view.NewSession(r)
	for {
		answer := page.Answer(fmt.Appendf(nil, `{"op":"find","condition":%s}`, text))
		var head struct {
			Error  string
			Answer struct {
				Done  bool
				Spans []struct{ First, Last uint64 }
			}
		}
		if err := json.Unmarshal(answer[4:], &head); err != nil || head.Error != "" {
			t.Fatal(err, head.Error)
		}
		if !head.Answer.Done {
			continue
		}
		for _, x := range head.Answer.Spans {
			for tick := x.First; tick <= x.Last; tick++ {
				ticks = append(ticks, strconv.FormatUint(tick, 10))
			}
		}
		return ticks
	}
}

// scanned returns the values of a field in each tick of an export.
func scanned(t *testing.T, file, field string) (list [][]float64) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := slices.Index(rows[0], field)
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[column], 32)
		tick, err2 := strconv.Atoi(row[0])
		if err != nil || err2 != nil || tick > len(list) {
			t.Fatal(row, err, err2)
		}
		if tick == len(list) {
			list = append(list, nil)
		}
		list[tick] = append(list[tick], v)
	}
	return list
}

// middle returns the median of what a function gives for each of the lists.
func middle(lists [][]float64, f func([]float64) float64) float64 {
	var all []float64
	for _, v := range lists {
		all = append(all, f(v))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func sum(cells []float64) (n float64) {
	for _, x := range cells {
		n += x
	}
	return n
}

// digits writes a number without an exponent.
func digits(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// TestQuestionsEveryScenario: in every scenario, why answers for each field, and a fork and what shrink makes of a run verify.
func TestQuestionsEveryScenario(t *testing.T) {
	t.Chdir(t.TempDir())
	forked, shrunk := 0, 0
	for _, s := range worlds.Embedded() {
		x, err := worlds.Open(worlds.Registry(), s.Name, "ticks=14", "expect=[]")
		if err != nil {
			t.Fatal(err)
		}
		w := ranTo(t, x, 14)
		ok(t, "run", s.Name, "-q", "--ticks", "14", "--set", "expect=[]", "-o", "a.murk", "--force")
		middle := w.Lattice().Coord(w.Lattice().Cells() / 2)
		at := strings.Trim(strings.ReplaceAll(fmt.Sprint(middle.AppendTo(nil)), " ", ","), "[]")
		for i := range x.Fields {
			d := w.Defs()[i]
			name := d.Name
			if d.Type.Kind == fields.VectorKind {
				name += "_0"
			}
			if d.Domain == fields.Cells {
				ok(t, "why", "a.murk", "--tick", "14", "--field", name, "--cell", at, "--depth", "2")
				continue
			}
			for _, id := range w.Entities().Live() {
				ok(t, "why", "a.murk", "--tick", "14", "--field", name, "--entity", strconv.FormatUint(id, 10))
				break
			}
		}
		for i := range x.Fields {
			d := w.Defs()[i]
			if d.Domain != fields.Cells || d.Mutability == fields.Static || d.Type.Kind != fields.ScalarKind || d.Element != fields.Float32 {
				continue
			}
			value := d.Value(w.Column(fields.ID(i)).Bits(0))
			ok(t, "fork", "a.murk", "--command", fmt.Sprintf("tick: 10, set: {field: %s, cell: [%s], value: %v}", d.Name, at, value), "-o", "b.murk", "--force")
			ok(t, "verify", "b.murk")
			forked++
			switch status, _, errs := murksim(t, nil, "shrink", "a.murk", fmt.Sprintf("sum(%s) > %s", d.Name, digits(sumOf(ranTo(t, x, 7).Column(fields.ID(i)).Float32))), "-o", "small.murk", "--force"); status {
			case report.StatusOK:
				ok(t, "verify", "small.murk")
				shrunk++
			case report.StatusNever:
			default:
				t.Errorf("%s: shrink: status %d, %s", s.Name, status, errs)
			}
			break
		}
	}
	if forked < 20 || shrunk < 10 {
		t.Errorf("%d forks, %d small recordings", forked, shrunk)
	}
}

// ranTo returns the world of a scenario at a tick.
func ranTo(t *testing.T, s *scenarios.Scenario, tick uint64) *engine.World {
	t.Helper()
	w, err := s.World(1)
	for err == nil && w.Tick() < tick {
		if _, _, err = w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err == nil {
			_, err = w.Step()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func sumOf(cells []float32) (n float64) {
	for _, x := range cells {
		n += float64(x)
	}
	return n
}
