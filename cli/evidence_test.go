package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

// recordPlayed records ten ticks of a scenario. In tick 4 a command comes from somebody, or from a program that says no source.
func recordPlayed(t *testing.T, path, name string, source bool) []byte {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	rec, err := replay.NewRecorder(&b, w, s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	w.Record(rec)
	for w.Tick() < 10 {
		list := s.CommandsAt(w.Tick() + 1)
		if w.Tick() == 3 {
			c := commands.SetField(space.At(1, 1), 0, 2)
			if source {
				c = c.From(7, 1)
			}
			list = append(list, c)
		}
		_, err := w.SubmitAll(list)
		_, failed := w.Step()
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(rec.Flush(), os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// damagedAt changes a byte of a recording so that it cannot be read to its end.
func damagedAt(t *testing.T, path string, b []byte, at int) []byte {
	t.Helper()
	b = bytes.Clone(b)
	b[at] ^= 0xff
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEvidenceStays: no run replaces what nobody could make again, unless it is told to; it is recorded under another name.
func TestEvidenceStays(t *testing.T) {
	for name, played := range map[string]func(t *testing.T, path string) []byte{
		"from somebody":  func(t *testing.T, path string) []byte { return recordPlayed(t, path, "heat", true) },
		"from a program": func(t *testing.T, path string) []byte { return recordPlayed(t, path, "heat", false) },
		"damaged in the header": func(t *testing.T, path string) []byte {
			return damagedAt(t, path, recordPlayed(t, path, "heat", true), 9)
		},
		"damaged before it": func(t *testing.T, path string) []byte {
			b := recordPlayed(t, path, "heat", true)
			return damagedAt(t, path, b, len(b)-9*20-60)
		},
		"torn": func(t *testing.T, path string) []byte {
			b := recordPlayed(t, path, "heat", true)
			b = b[:len(b)-3]
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, args := range [][]string{nil, {"-o", "game.murk"}} {
				path := "heat.murk"
				if args != nil {
					path = args[1]
				}
				was := played(t, path)
				for n, want := range []string{"-2.murk", "-2.murk", "-3.murk"} {
					if n == 2 { // the second one has something, too
						played(t, strings.TrimSuffix(path, ".murk")+"-2.murk")
					}
					status, _, errs := murksim(t, nil, append([]string{"run", "heat", "-q", "--ticks", "20"}, args...)...)
					now, err := os.ReadFile(path)
					if status != statusOK || err != nil || !bytes.Equal(now, was) {
						t.Fatalf("status %d, %v, %s", status, err, errs)
					}
					other := strings.TrimSuffix(path, ".murk") + want
					if status, _, _ := murksim(t, nil, "verify", "-q", other); status != statusOK || !strings.Contains(errs, "this run is recorded in "+other) {
						t.Errorf("verify %s = %d; run says %q", other, status, errs)
					}
				}
				if status, _, errs := murksim(t, nil, append([]string{"run", "heat", "-q", "--ticks", "20", "--force"}, args...)...); status != statusOK || errs != "" {
					t.Errorf("with --force: status %d, %s", status, errs)
				}
				if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, was) {
					t.Errorf("with --force nothing is replaced, %v", err)
				}
			}
		})
	}
}

// TestDefaultNames: a recording has the name of the scenario's file, and none replaces that of another scenario.
func TestDefaultNames(t *testing.T) {
	t.Chdir(t.TempDir())
	const town = "murksim: 1\nname: town\nticks: 5\nspace: {kind: ring, length: 3}\nfields: [{name: a, initial: 1}]\n"
	for name, text := range map[string]string{"town.yaml": town, "variant.yaml": town, "other/town.yml": strings.Replace(town, "name: town", "name: village", 1)} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct{ scenario, file, says string }{
		{"town.yaml", "town.murk", ""},
		{"town.yaml", "town.murk", ""},
		{"variant.yaml", "variant.murk", ""},
		{"other/town.yml", "town-2.murk", "town.murk has the recording of the scenario town, so it stays; this run is recorded in town-2.murk (--force replaces town.murk)\n"},
		{"heat", "heat.murk", ""},
	} {
		_ = os.Remove(step.file)
		if step.file == "town-2.murk" {
			murksim(t, nil, "run", "town.yaml", "-q")
		}
		status, _, errs := murksim(t, nil, "run", step.scenario, "-q", "--ticks", "5", "--set", "expect=[]")
		if _, err := os.Stat(step.file); status != statusOK || errs != step.says || err != nil {
			t.Errorf("run %s = %d, %q, %v; want %s and %q", step.scenario, status, errs, err, step.file, step.says)
		}
	}
}
