package cli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
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
	recording := recordedWith(t, s, 10, func(tick uint64, list []commands.Command) []commands.Command {
		c := commands.SetField(space.At(1, 1), 0, 2)
		if source {
			c = c.From(7, 1)
		}
		if tick == 4 {
			list = append(list, c)
		}
		return list
	})
	if err := os.WriteFile(path, recording, 0o666); err != nil {
		t.Fatal(err)
	}
	return recording
}

// recordedWith records ticks of a scenario, with commands that a function makes of those of each tick.
func recordedWith(t *testing.T, s *scenarios.Scenario, ticks uint64, given func(tick uint64, list []commands.Command) []commands.Command) []byte {
	t.Helper()
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r, err := replay.NewRecorder(&b, w, s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	for tick := uint64(1); tick <= ticks; tick++ {
		_, _, err := w.SubmitAll(given(tick, slices.Clone(s.CommandsAt(tick))))
		_, failed := w.Step()
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// frameAt returns where the frame is that follows so many others.
func frameAt(t *testing.T, recording []byte, before int) int {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(recording))
	var f replay.Frame
	for n := -1; n < before && err == nil; n++ {
		err = r.Next(&f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return int(f.Position.Offset)
}

// damagedAt changes a byte of a recording so that it cannot be read to its end.
func damagedAt(t *testing.T, path string, b []byte, at int) []byte {
	t.Helper()
	return flippedAt(t, path, b, at, 0xff)
}

// flippedAt changes bits of a byte of a recording.
func flippedAt(t *testing.T, path string, b []byte, at int, bits byte) []byte {
	t.Helper()
	b = bytes.Clone(b)
	b[at] ^= bits
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
		"with a bit of the length of its header changed": func(t *testing.T, path string) []byte {
			return flippedAt(t, path, recordPlayed(t, path, "heat", true), 10, 0x01)
		},
		"with a bit of the count of its first tick changed": func(t *testing.T, path string) []byte {
			b := recordPlayed(t, path, "heat", true)
			return flippedAt(t, path, b, frameAt(t, b, 0)+8, 0x01)
		},
		"with a bit of the length of a command changed": func(t *testing.T, path string) []byte {
			b := recordPlayed(t, path, "heat", true)
			return flippedAt(t, path, b, frameAt(t, b, 3)+13, 0x10)
		},
		"cut short within the tick with it": func(t *testing.T, path string) []byte {
			b := recordPlayed(t, path, "heat", true)
			b = b[:frameAt(t, b, 4)-9]
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			return b
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
					if status != report.StatusOK || err != nil || !bytes.Equal(now, was) {
						t.Fatalf("status %d, %v, %s", status, err, errs)
					}
					other := strings.TrimSuffix(path, ".murk") + want
					if status, _, _ := murksim(t, nil, "verify", "-q", other); status != report.StatusOK || !strings.Contains(errs, "this run is recorded in "+other) {
						t.Errorf("verify %s = %d; run says %q", other, status, errs)
					}
				}
				if status, _, errs := murksim(t, nil, append([]string{"run", "heat", "-q", "--ticks", "20", "--force"}, args...)...); status != report.StatusOK || errs != "" {
					t.Errorf("with --force: status %d, %s", status, errs)
				}
				if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, was) {
					t.Errorf("with --force nothing is replaced, %v", err)
				}
			}
		})
	}
}

// TestAnotherStateStays: no run replaces the recording of one from another state, which may be all that is left of it, unless it is told to.
func TestAnotherStateStays(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--no-record", "--until", "20", "--save-state", "a.state")
	done(t, "run", "heat", "-q", "--no-record", "--until", "20", "--save-state", "b.state", "--set", "propagators.diffusion.rate=0.75")
	const says = " has the recording of a run from another state, so it stays; this run is recorded in "
	for _, step := range []struct{ args, file, says string }{
		{"--state a.state", "heat-from-20.murk", ""},
		{"--state a.state", "heat-from-20.murk", ""}, // the same bits
		{"--state b.state --set propagators.diffusion.rate=0.75", "heat-from-20-2.murk", "heat-from-20.murk" + says + "heat-from-20-2.murk (--force replaces heat-from-20.murk)\n"},
		{"--state a.state -o x.murk", "x.murk", ""},
		{"--state b.state --set propagators.diffusion.rate=0.75 -o x.murk", "x.murk", ""}, // which was asked for
	} {
		status, _, errs := murksim(t, nil, append([]string{"run", "heat", "-q", "--until", "30"}, strings.Fields(step.args)...)...)
		if status != report.StatusOK || errs != step.says {
			t.Errorf("run %s = %d, %q; want %q", step.args, status, errs, step.says)
		}
		done(t, "verify", "-q", step.file)
	}
}

// TestOwnCutFrame: a frame that was cut short anywhere holds nothing from outside if it begins as the scenario's own.
func TestOwnCutFrame(t *testing.T) {
	s, err := worlds.Open(worlds.Registry(), "heat")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	first := uint64(1) // after it a tick has two commands: from its state on nothing tells the number of the first
	for len(s.CommandsAt(first+1)) < 2 {
		first++
	}
	done(t, "run", "heat", "-q", "--until", fmt.Sprint(first), "--save-state", "before.state")
	for _, args := range [][]string{{"run", "heat", "-q", "--ticks", "300", "-o", "-"}, {"run", "heat", "-q", "--state", "before.state", "--until", "300", "-o", "-"}} {
		b := done(t, args...)
		r, err := replay.NewReader(strings.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		begin, err := r.Header.Begin()
		if err != nil {
			t.Fatal(err)
		}
		ownCutFrames(t, s, b, begin, r)
	}
}

func ownCutFrames(t *testing.T, s *scenarios.Scenario, b string, begin *replay.Begin, r *replay.Reader) {
	t.Helper()
	var f replay.Frame
	given, numbered := 0, begin == nil
	for k := 0; r.Next(&f) == nil; k++ {
		tick := f.Tick
		if len(f.Records) == 0 && k > 1 {
			continue
		}
		given += len(f.Records)
		for n := range f.Position.Size {
			frames, err := replay.NewReader(strings.NewReader(b[:f.Position.Offset]))
			if err != nil {
				t.Fatal(err)
			}
			cut := []byte(b[f.Position.Offset : f.Position.Offset+n])
			if last, outside, err := fromOutside(frames, s, begin, cut); last != tick-1 || outside || err != nil {
				t.Fatalf("%d bytes of tick %d: %d, %v, %v", n, tick, last, outside, err)
			}
			if n == 0 || n > f.Position.Size-8 {
				continue // the hash, of which nobody knows anything
			}
			if number := 12 + 5 + payloadSize(b[f.Position.Offset:]) + 11; !numbered && len(cut)/2 >= number && len(cut)/2 < number+8 {
				continue // of the first command, of which nobody knows anything either
			}
			cut[len(cut)/2] ^= 1
			if frames, err = replay.NewReader(strings.NewReader(b[:f.Position.Offset])); err != nil {
				t.Fatal(err)
			}
			if _, outside, _ := fromOutside(frames, s, begin, cut); !outside {
				t.Errorf("%d bytes of tick %d with a bit changed count as the scenario's", n, tick)
			}
		}
		numbered = numbered || len(f.Records) > 0
	}
	if given == 0 {
		t.Error("the scenario gives no commands")
	}
}

// payloadSize is that of the first command of a frame.
func payloadSize(frame string) int {
	if len(frame) < 17 {
		return 0
	}
	return int(binary.LittleEndian.Uint32([]byte(frame[13:17])))
}

// TestCutFrameOfAgents: where agents act by a policy, a frame that was cut short is looked at, too: the policy's own is no evidence, one
// in which somebody acted is.
func TestCutFrameOfAgents(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat_seeker", "-q", "--until", "12")
	whole, err := os.ReadFile("heat_seeker.murk")
	if err != nil {
		t.Fatal(err)
	}
	begin, end := frameAt(t, whole, 10), frameAt(t, whole, 11)
	c := commands.SetField(space.At(1, 1), 0, 2).From(7, 1)
	somebody := slices.Concat(whole[:begin], []byte{11, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, c.Append(nil))
	for what, tt := range map[string]struct {
		b     []byte
		stays bool
	}{
		"the policy's, nearly whole": {whole[:end-3], false},
		"the policy's, a little":     {whole[:begin+15], false},
		"somebody's, nearly whole":   {somebody, true},
		"somebody's, a little":       {somebody[:len(somebody)-20], true},
	} {
		if err := os.WriteFile("heat_seeker.murk", tt.b, 0o666); err != nil {
			t.Fatal(err)
		}
		status, _, errs := murksim(t, nil, "run", "heat_seeker", "-q", "--until", "3")
		if stays := strings.Contains(errs, "so it stays"); status != report.StatusOK || stays != tt.stays {
			t.Errorf("%s: status %d, %q", what, status, errs)
		}
	}
}

// TestStatesAreNamedByTheFile: as recordings are, so that a variant of a scenario does not replace its states.
func TestStatesAreNamedByTheFile(t *testing.T) {
	t.Chdir(t.TempDir())
	text := done(t, "scenarios", "show", "heat")
	if err := os.WriteFile("variant.yaml", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	done(t, "run", "variant.yaml", "-q", "--ticks", "9", "--no-record", "--save-every", "4")
	list, err := filepath.Glob("*")
	if want := "variant-4.state variant-8.state variant.yaml"; err != nil || strings.Join(list, " ") != want {
		t.Errorf("%v, %v; want %s", list, err, want)
	}
}

// TestStatesStay: a state that --save-every would replace stays if this run does not come to it.
func TestStatesStay(t *testing.T) {
	t.Chdir(t.TempDir())
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	done(t, "run", "predators", "-q", "--until", "4", "--no-record", "--save-state", "heat-4.state")
	other := read("heat-4.state")
	status, _, errs := murksim(t, nil, "run", "heat", "-q", "--ticks", "9", "--save-every", "4")
	if status != report.StatusOK || !strings.Contains(errs, "heat-4.state holds a state that this run does not come to, so it stays; that of this run is in heat-4-2.state (--force replaces heat-4.state)\n") || read("heat-4.state") != other {
		t.Errorf("another scenario's: %d, %s", status, errs)
	}
	ours, eight := read("heat-4-2.state"), read("heat-8.state")
	if status, _, errs = murksim(t, nil, "run", "heat", "-q", "--ticks", "9", "--save-every", "4"); status != report.StatusOK || strings.Contains(errs, "heat-8") || read("heat-4.state") != other || read("heat-4-2.state") != ours {
		t.Errorf("the same run: %d, %s", status, errs)
	}
	if status, _, errs = murksim(t, nil, "run", "heat", "-q", "--ticks", "9", "--seed", "7", "--save-every", "8"); status != report.StatusOK || !strings.Contains(errs, "heat-8-2.state") || read("heat-8.state") != eight {
		t.Errorf("another seed: %d, %s", status, errs)
	}
	if done(t, "run", "heat", "-q", "--ticks", "9", "--save-every", "4", "--force"); read("heat-4.state") != ours {
		t.Error("--force does not replace it")
	}
}

// TestNextFreeName: the name that a run takes is no folder's, no pipe's and none of another kind of file.
func TestNextFreeName(t *testing.T) {
	t.Chdir(t.TempDir())
	was := recordPlayed(t, "heat.murk", "heat", true)
	err := errors.Join(os.Mkdir("heat-2.murk", 0o777), os.WriteFile("heat-3.murk", []byte("a text"), 0o666), os.Symlink("heat.murk", "heat-4.murk"))
	if err != nil {
		t.Fatal(err)
	}
	done(t, "run", "heat", "-q", "--ticks", "20")
	done(t, "verify", "-q", "heat-5.murk")
	if now, err := os.ReadFile("heat.murk"); err != nil || !bytes.Equal(now, was) {
		t.Errorf("heat.murk is another, %v", err)
	}
}

// TestExchangedMeanwhile: a file that takes the place of the one that was looked at stays.
func TestExchangedMeanwhile(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := worlds.Open(worlds.Registry(), "heat")
	if err != nil {
		t.Fatal(err)
	}
	for _, there := range []bool{true, false} {
		os.Remove("heat.murk")
		if there {
			done(t, "run", "heat", "-q", "--ticks", "20", "-o", "heat.murk")
		}
		for _, exchanged := range []bool{false, true} {
			a, err := Program{}.embed()
			if err != nil {
				t.Fatal(err)
			}
			j := &runJob{app: a, Run: &runner.Run{Scenario: s}, source: "heat"}
			if err := j.nameOutput(t.Context()); err != nil {
				t.Fatal(err)
			}
			if exchanged {
				recordPlayed(t, "people.murk", "heat", true)
				if err := os.Rename("people.murk", "heat.murk"); err != nil {
					t.Fatal(err)
				}
			}
			err = j.openOutputs(t.Context(), "heat")
			abandon(j.outputs)
			if j.output != "heat.murk" || (err != nil) != exchanged || exchanged && !strings.Contains(err.Error(), "another program has written there meanwhile") {
				t.Errorf("%s, exchanged %t: %v", j.output, exchanged, err)
			}
		}
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
		if _, err := os.Stat(step.file); status != report.StatusOK || errs != step.says || err != nil {
			t.Errorf("run %s = %d, %q, %v; want %s and %q", step.scenario, status, errs, err, step.file, step.says)
		}
	}
}
