package measure

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/space"
)

// fixed is a row that gives these readings.
func fixed(r Row, err error, readings ...reading) Row {
	r.Name = "fixed"
	r.measure = func(*run) ([]reading, error) { return readings, err }
	return r
}

// quick is a runner with one round.
func quick(seconds float64) *Runner { return &Runner{Seconds: seconds, Rounds: 1} }

// brief is the runner of all tests that run C loops: it compiles each once.
var brief = quick(1e-3)

func TestMain(m *testing.M) {
	status := m.Run()
	brief.Close()
	os.Exit(status)
}

func TestJudge(t *testing.T) {
	more := Row{Versus: "rival", Floor: 0.9, Aim: 1}
	less := Row{Versus: "rival", Floor: 1.4, Aim: 1.2, Less: true}
	plain := Row{Floor: 100, Aim: 200}
	for _, tt := range []struct {
		name   string
		row    Row
		want   Verdict
		judged float64
	}{
		{"above the aim", fixed(more, nil, reading{2, 1, 2}), Aim, 2},
		{"at the aim", fixed(more, nil, reading{1, 1, 1}), Aim, 1},
		{"at the floor", fixed(more, nil, reading{9, 10, 0.9}), OK, 0.9},
		{"below it", fixed(more, nil, reading{8, 10, 0.8}), Missed, 0.8},
		{"little is good", fixed(less, nil, reading{11, 10, 1.1}), Aim, 1.1},
		{"at the highest", fixed(less, nil, reading{14, 10, 1.4}), OK, 1.4},
		{"too much", fixed(less, nil, reading{15, 10, 1.5}), Missed, 1.5},
		{"no number", fixed(less, nil, reading{0, 0, math.NaN()}), Missed, math.NaN()},
		{"without a rival", fixed(plain, nil, reading{value: 150}), OK, 150},
		{"the middle one", fixed(more, nil, reading{1, 10, 0.1}, reading{9, 10, 0.9}, reading{70, 10, 7}), OK, 0.9},
		{"the middle two", fixed(plain, nil, reading{value: 300}, reading{value: 90}, reading{value: 10}, reading{value: 130}), OK, 110},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := quick(1).Measure(t.Context(), tt.row)
			if same := got.Judged() == tt.judged || got.Judged() != got.Judged() && tt.judged != tt.judged; err != nil || got.Verdict != tt.want || !same {
				t.Errorf("%v at %v, %v; want %v at %v", got.Verdict, got.Judged(), err, tt.want, tt.judged)
			}
		})
	}
}

func TestMediansAndRange(t *testing.T) {
	row := fixed(Row{Versus: "rival", Floor: 1, Aim: 1}, nil, reading{4, 1, 4}, reading{2, 2, 1}, reading{9, 3, 3})
	got, err := quick(1).Measure(t.Context(), row)
	if err != nil || got.Value != 4 || got.Rival != 2 || got.Ratio != 3 || got.Low != 1 || got.High != 4 {
		t.Errorf("value %v, rival %v, ratio %v from %v to %v, %v; want 4, 2, 3 from 1 to 4", got.Value, got.Rival, got.Ratio, got.Low, got.High, err)
	}
}

func TestFailures(t *testing.T) {
	got, err := quick(1).Measure(t.Context(), fixed(Row{}, missing("no moon")))
	if err != nil || got.Verdict != NotMeasured || got.Reason != "no moon" {
		t.Errorf("what lacks gives %v, %q, %v; want not measured, no moon", got.Verdict, got.Reason, err)
	}
	broken := errors.New("broken")
	if _, err := quick(1).Measure(t.Context(), fixed(Row{}, broken)); !errors.Is(err, broken) || err.Error() != "fixed: broken" {
		t.Errorf("a failure gives %v, want fixed: broken", err)
	}
}

// Contenders take turns, and each is timed by what it says of itself.
func TestRounds(t *testing.T) {
	var order []byte
	of := func(name byte, each time.Duration) contender {
		return func(n int) (cost, error) {
			order = append(order, name)
			return cost{wall: time.Duration(n) * each, cpu: -1, waited: -1}, nil
		}
	}
	r := &run{Runner: &Runner{Seconds: 0.004, Rounds: 4}, ctx: t.Context()}
	table, err := r.rounds(of('a', time.Microsecond), of('b', 3*time.Microsecond))
	if err != nil || len(table) != 4 {
		t.Fatalf("%d rounds, %v; want 4", len(table), err)
	}
	for i, row := range table {
		if math.Abs(row[0]-1e-6) > 1e-12 || math.Abs(row[1]-3e-6) > 1e-12 {
			t.Errorf("round %d: %v seconds each, want 1e-6 and 3e-6", i, row)
		}
	}
	if s := string(order); !strings.HasSuffix(s, "abbaabba") {
		t.Errorf("the order is %s; want it to end in abbaabba", s)
	}
}

func TestSelect(t *testing.T) {
	all, err := Select(nil)
	if err != nil || len(all) != len(Table) {
		t.Errorf("no names give %d rows, %v; want %d", len(all), err, len(Table))
	}
	names := func(rows []Row) (s string) {
		for _, r := range rows {
			s += r.Name + " "
		}
		return s
	}
	for _, tt := range []struct{ ask, want string }{
		{"small", "small "}, // one name begins another
		{"encode diffusion", "diffusion-256 diffusion-1024 diffusion-4096 encode "},
		{"hash hash-dense", "hash-dense hash-quiet "},
	} {
		if got, err := Select(strings.Fields(tt.ask)); err != nil || names(got) != tt.want {
			t.Errorf("%q gives %s, %v; want %s", tt.ask, names(got), err, tt.want)
		}
	}
	for _, bad := range []string{"x", "", "small-recorded-"} {
		if got, err := Select([]string{bad}); err == nil {
			t.Errorf("%q gives %s", bad, names(got))
		}
	}
}

// Every row has a name of its own, and an aim that is no less than its floor.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Table {
		if seen[r.Name] || r.Name == "" || r.What == "" || r.Unit == "" || r.measure == nil {
			t.Errorf("row %q (%s) is doubled or incomplete", r.Name, r.What)
		}
		seen[r.Name] = true
		if r.verdict(r.Aim) != Aim || !(r.Floor > 0) {
			t.Errorf("row %s: floor %v, aim %v", r.Name, r.Floor, r.Aim)
		}
	}
}

// All rows run, as briefly as they can.
func TestRowsRun(t *testing.T) {
	for _, r := range Table {
		if strings.Contains(r.Name, "4096") || strings.Contains(r.Name, "1000") {
			continue // the same as smaller ones, but slow
		}
		t.Run(r.Name, func(t *testing.T) {
			got, err := brief.Measure(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != NotMeasured && !(got.Judged() > 0) {
				t.Errorf("it is judged by %v", got.Judged())
			}
		})
	}
}

// A C loop with other bits is refused.
func TestOtherBitsAreRefused(t *testing.T) {
	if Compiler() == "" {
		t.Log("no C compiler: nothing to compare")
		return
	}
	m := &run{Runner: brief, ctx: t.Context()}
	f := diffusion(gridRate)
	for _, tt := range []struct {
		factor float32
		same   bool
	}{{1, true}, {1.000001, false}} {
		w, numbers, err := f.build(space.Hex{Cols: 9, Rows: 7})
		if err != nil {
			t.Fatal(err)
		}
		for i := range numbers {
			numbers[i] *= tt.factor
		}
		c, err := m.startLoop(f.loop, w, numbers)
		if err != nil {
			t.Fatal(err)
		}
		err = sameBits(w, c, step(w))
		if got := err == nil; got != tt.same {
			t.Errorf("a factor of %v: %v; want the same bits: %v", tt.factor, err, tt.same)
		}
		c.stop()
	}
}

// A C loop that dies or does not answer leaves its row out, and no other one.
func TestLostLoop(t *testing.T) {
	for text, want := range map[string]string{"exit 3": "the C loop ended: ", "exec sleep 100": "the C loop does not answer within 100ms"} {
		file := filepath.Join(t.TempDir(), "loop")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		m := quick(1e-3)
		m.loops.programs = map[string]program{"lost": {file: file}}
		row := Row{Name: "lost"}
		row.measure = func(r *run) ([]reading, error) {
			c, err := r.startProgram("lost", nil, 1)
			if err != nil {
				return nil, err
			}
			defer c.stop()
			c.most = 100 * time.Millisecond
			_, err = c.ticks(1)
			return nil, err
		}
		if got, err := m.Measure(t.Context(), row); err != nil || got.Verdict != NotMeasured || !strings.HasPrefix(got.Reason, want) {
			t.Errorf("%s: %s, %q, %v; want %q", text, got.Verdict, got.Reason, err, want)
		}
	}
}

// The C loops give murksim's bits on every kind of lattice that they are made for, with every
// edge, and odd sizes.
func TestLoopsGiveTheSameBits(t *testing.T) {
	if Compiler() == "" {
		t.Log("no C compiler: nothing to compare")
		return
	}
	m := &run{Runner: brief, ctx: t.Context()}
	all := []space.Space{space.Hex{Cols: 21, Rows: 6}}
	for _, edge := range []space.Edge{space.Absorb, space.Clamp, space.Wrap} {
		all = append(all, space.Line{Length: 1, Edge: edge}, space.Line{Length: 77, Edge: edge}, space.Square4{Rows: 5, Cols: 33, Edge: edge},
			space.Square8{Rows: 7, Cols: 19, Edge: edge}, space.FCC12{W: 8, H: 6, D: 4, Edge: edge},
			space.Product{space.Square4{Rows: 4, Cols: 9, Edge: edge}, space.Line{Length: 3}})
	}
	squares := []space.Space{
		space.Square4{Rows: 37, Cols: 41}, space.Square4{Rows: 2, Cols: 50, Edge: space.Clamp}, space.Square4{Rows: 1, Cols: 8},
		space.Square4{Rows: 9, Cols: 1},
	}
	for _, tt := range []struct {
		family family
		spaces []space.Space
	}{
		{diffusion(gridRate), all}, {walls, all}, {majority, all}, {wave, all}, {grayScott, all}, {resource, all},
		{morphology(0), all}, {morphology(1), all}, {morphology(4), all},
		{life, []space.Space{space.Square8{Rows: 33, Cols: 38}, space.Square8{Rows: 20, Cols: 19, Edge: space.Wrap}}},
		{water, squares}, {advection, squares}, {distance, squares},
	} {
		for _, s := range tt.spaces {
			t.Run(tt.family.loop+" "+s.String(), func(t *testing.T) {
				w, numbers, err := tt.family.build(s)
				if err != nil {
					t.Fatal(err)
				}
				c, err := m.startLoop(tt.family.loop, w, numbers)
				if err != nil {
					t.Fatal(err)
				}
				defer c.stop()
				if err := sameBits(w, c, step(w)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// No world gets values, as time goes by, that are so small that a processor computes them more
// slowly than others.
func TestNoSubnormals(t *testing.T) {
	const smallest = 0x1p-126
	square := space.Square4{Rows: 64, Cols: 64}
	for _, f := range []family{diffusion(gridRate), walls, wave, grayScott, resource, water, advection} {
		w, _, err := f.build(square)
		if err == nil {
			err = w.Run(3000)
		}
		if err != nil {
			t.Fatal(err)
		}
		for id, v := range fieldsOf(w) {
			for i, x := range v {
				if x != 0 && math.Abs(float64(x)) < smallest {
					t.Errorf("%s: %s is %v at element %d after %d ticks", f.loop, w.Defs()[id].Name, x, i, w.Tick())
					break
				}
			}
		}
	}
}
