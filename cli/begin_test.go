package cli

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

// stateAfter is the state of a scenario after some ticks.
func stateAfter(t *testing.T, s *scenarios.Scenario, ticks uint64) []byte {
	t.Helper()
	w, err := s.World(1)
	for err == nil && w.Tick() < ticks {
		if _, _, err = w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err == nil {
			_, err = w.Step()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	state, err := w.Save(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// beginningAt is a recording without ticks that says that it begins at a state.
func beginningAt(t *testing.T, s *scenarios.Scenario, state []byte) []byte {
	t.Helper()
	begin, err := replay.NewBegin(state)
	if err != nil {
		t.Fatal(err)
	}
	descriptor, err := begin.Describe(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	h := replay.HeaderOf(w, descriptor)
	return h.AppendBytes(nil)
}

// TestBeginsAtWrongState: a state that its SHA-256 fits, but not the scenario, or that no world
// can have, is an error of the recording, whoever holds the state.
func TestBeginsAtWrongState(t *testing.T) {
	heat, err := worlds.Open(worlds.Registry(), "heat")
	if err != nil {
		t.Fatal(err)
	}
	good := stateAfter(t, heat, 3)
	other := func(name string, sets ...string) []byte {
		s, err := worlds.Open(worlds.Registry(), name, sets...)
		if err != nil {
			t.Fatal(err)
		}
		return stateAfter(t, s, 3)
	}
	hot := bytes.Clone(good) // beyond the bounds of its field
	s, err := engine.ReadState(hot)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(s.Columns[0].Bytes, math.Float32bits(1e9))
	dir := t.TempDir()
	open := func(set string) *scenarios.Scenario {
		s, err := worlds.Open(worlds.Registry(), "heat", set)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old := open("rules=murk-0.1.9")
	for _, tt := range []struct {
		name  string
		state []byte
		want  string
	}{
		{"good", good, ""},
		{"of rules without states", good, "malformed header: a world with the rules murk-0.1.9 cannot begin at a state\n"},
		{"of another scenario", other("predators"), "malformed header: the state at which it begins is not one of its scenario: its seed is 11; "},
		{"of other values", other("heat", "about=b"), "malformed header: the state at which it begins is not one of its scenario: it was saved with another descriptor\n"},
		{"of another seed", other("heat", "seed=43"), "malformed header: the state at which it begins is not one of its scenario: its seed is 43; "},
		{"of the last planned tick", other("heat", "ticks=3"), "a.murk: malformed header: it begins at the state of tick 3, and its scenario has 3 ticks\n"},
		{"of a tick after it", other("heat", "ticks=2"), "a.murk: malformed header: it begins at the state of tick 3, and its scenario has 2 ticks\n"},
		{"out of bounds", hot, `malformed header: the state at which it begins: damaged: field "heat": 1e+09 is out of its bounds`},
	} {
		path, s := filepath.Join(dir, "a.murk"), heat
		switch tt.name {
		case "of rules without states":
			s = old
		case "of the last planned tick":
			s = open("ticks=3")
		case "of a tick after it":
			s = open("ticks=2")
		}
		if err := os.WriteFile(path, beginningAt(t, s, tt.state), 0o666); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "a.state")
		if err := os.WriteFile(file, engine.Seal(bytes.Clone(tt.state)), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"verify", path}, {"seek", path, "--tick", "3"}, {"verify", path, "--state", file}, {"index", path}, {"run", "--resume", path, "--until", "4"}} {
			status, out, errs := murksim(t, nil, args...)
			switch {
			case tt.want == "" && status != report.StatusOK:
				t.Errorf("%s: %q = %d\n%s", tt.name, args, status, out+errs)
			case tt.want != "" && (status != report.StatusError || !strings.Contains(errs, tt.want)):
				t.Errorf("%s: %q = %d\n%s\nwant %s", tt.name, args, status, out+errs, tt.want)
			}
		}
	}
}

// TestBeginsWithoutTicks: a recording that ends with the state at which it begins.
func TestBeginsWithoutTicks(t *testing.T) {
	heat, err := worlds.Open(worlds.Registry(), "heat")
	if err != nil {
		t.Fatal(err)
	}
	b := beginningAt(t, heat, stateAfter(t, heat, 3))
	path := filepath.Join(t.TempDir(), "a.murk")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   string
		status int
		says   string
	}{
		{"verify A", report.StatusOK, "0 of 1,000 planned ticks"},
		{"verify --complete A", report.StatusDiverged, "INCOMPLETE"},
		{"seek A --tick 3", report.StatusOK, "tick 3 of 1,000, from the state of tick 3\nstate "},
		{"seek A --tick 4", report.StatusError, "it has no tick 4; it ends with tick 3"},
		{"inspect A", report.StatusOK, "begins    at the state of tick 3, "},
		{"recover A -o A.whole", report.StatusOK, "0 ticks"},
		{"export A -o A.csv --fields heat --region 0,0", report.StatusOK, "1 row of 5 columns"},
		{"export A -o A.png --fields heat", report.StatusOK, "wrote"},
		{"index A", report.StatusOK, "0 ticks, 0 keyframes"},
		{"diff A", report.StatusOK, "EQUAL"},
		{"diff A A.whole", report.StatusOK, "EQUAL"},
		{"run --resume A --until 5", report.StatusOK, "5/1,000 ticks"},
		{"verify A", report.StatusOK, "2 of 1,000 planned ticks"},
		{"seek A --tick 5", report.StatusOK, "as recorded"},
	} {
		var args []string
		for _, arg := range strings.Fields(tt.args) {
			if strings.HasPrefix(arg, "A") {
				arg = path + arg[1:]
			}
			args = append(args, arg)
		}
		status, out, errs := murksim(t, nil, args...)
		if status != tt.status || !strings.Contains(out+errs, tt.says) {
			t.Errorf("%s = %d\n%s\nwant %d and %s", tt.args, status, out+errs, tt.status, tt.says)
		}
	}
}
