package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// TestResumesWhatItCompared: a run goes on with a chain only after its ticks were computed and compared, by this program or an earlier one of the same user. A hash or a
// state in the midst that is another one halts the run, and no tick is added.
func TestResumesWhatItCompared(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "60", "--no-record", "--audit", "run.db", "--audit-every", "10")
	for what, change := range map[string][]string{
		"a hash":      {"DROP TRIGGER chain_hashes_update", "PRAGMA foreign_keys = 0", "UPDATE chain_hashes SET world_hash = zeroblob(32) WHERE tick = 25"},
		"the digests": {"DROP TRIGGER chain_hashes_update", "UPDATE chain_hashes SET section_digests = (SELECT section_digests FROM chain_hashes WHERE tick = 24) WHERE tick = 25"},
	} {
		os.Remove("broken.db")
		tamper(t, "run.db", "VACUUM INTO 'broken.db'")
		tamper(t, "broken.db", change...)
		status, out, errs := murksim(t, nil, "run", "--resume", "broken.db", "--no-record", "--until", "70")
		if status != report.StatusHalted || !strings.Contains(errs, "EVIDENCE_FAULT") || strings.Contains(errs, " is not ") || lastTick(t, "broken.db") != 60 {
			t.Errorf("%s: %d, %s, and the last tick is %d", what, status, out+errs, lastTick(t, "broken.db"))
		}
	}
	tamper(t, "run.db", "VACUUM INTO 'states.db'")
	tamper(t, "states.db", "DROP TRIGGER snapshots_update", "UPDATE snapshots SET state = (SELECT state FROM snapshots WHERE tick = 30) WHERE tick > 30") // they are refused
	done(t, "run", "--resume", "states.db", "--no-record", "--until", "70")
	if status, line := audited(t, "states.db"); status != report.StatusOK || !strings.HasPrefix(line, "PASS ticks=0..70 ") {
		t.Errorf("without its last snapshots: %d, %s", status, line)
	}

	done(t, "audit", "export", "run.db", "-o", "run.audit")
	f := forge(t, "run.audit")
	f.redigest(25, 3)
	f.write("forged.audit")
	done(t, "audit", "import", "forged.audit", "forged.db")
	status, out, errs := murksim(t, nil, "run", "--resume", "forged.db", "--no-record", "--until", "70", "--force")
	if status != report.StatusHalted || !strings.Contains(errs, `"code":"DETERMINISM_DIVERGENCE"`) || !strings.Contains(errs, `"tick":25,`) || lastTick(t, "forged.db") != 60 {
		t.Errorf("a chain that fits together: %d, %s, and the last tick is %d", status, out+errs, lastTick(t, "forged.db"))
	}
}

// TestCompleteIsCompared: of a recording or a chain that has all its ticks, run --resume says so only after it has compared them.
func TestCompleteIsCompared(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--ticks", "60", "--set", "expect=[]", "-q", "-o", "run.murk", "--audit", "run.db", "--audit-every", "10")
	done(t, "audit", "export", "run.db", "-o", "run.audit")
	f := forge(t, "run.audit")
	f.redigest(25, 3)
	f.write("forged.audit")
	done(t, "audit", "import", "forged.audit", "forged.db")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // of another user, who has no note of it
	status, out, errs := murksim(t, nil, "run", "--resume", "forged.db")
	if status != report.StatusHalted || out != "" || !strings.Contains(errs, `"code":"DETERMINISM_DIVERGENCE"`) || !strings.Contains(errs, `"tick":25,`) {
		t.Errorf("a chain that fits together: %d, %s", status, out+errs)
	}
	honest, err := os.ReadFile("run.murk")
	if err != nil {
		t.Fatal(err)
	}
	for _, tick := range []int{1, 25, 60} {
		forged := bytes.Clone(honest)
		end := len(honest)
		if tick < 60 {
			end = frameAt(t, honest, tick)
		}
		forged[end-1] ^= 1 // of the hash, with which a frame ends
		if err := os.WriteFile("run.murk", forged, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, flags := range [][]string{nil, {"--no-index"}} {
			status, out, _ := murksim(t, nil, append([]string{"run", "--resume", "run.murk"}, flags...)...)
			if now, err := os.ReadFile("run.murk"); status != report.StatusDiverged || out != "" || err != nil || !bytes.Equal(now, forged) {
				t.Errorf("a wrong hash of tick %d, flags %q: %d, %s, %v", tick, flags, status, out, err)
			}
		}
	}
}

// TestResumesFromSnapshot: of a run of this user no more than the ticks after the last snapshot are computed again, until it is complete.
func TestResumesFromSnapshot(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Chdir(t.TempDir())
	notes := func() int {
		list, _ := filepath.Glob(filepath.Join(config, "murksim", "runs", "*"))
		return len(list)
	}
	done(t, "run", "heat", "--ticks", "90", "--set", "expect=[]", "--until", "60", "--no-record", "--audit", "run.db", "--audit-every", "10")
	if notes() != 1 {
		t.Fatalf("%d runs are noted, want 1", notes())
	}
	id, err := audit.ParseID(runIDs(t, "run.db")[0])
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.OpenReader(t.Context(), "run.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e, end, err := db.Evidence(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	noted := memoryOf(id).read()
	if ok, err := noted.agrees(t.Context(), e); noted.tick != 60 || !ok || err != nil {
		t.Errorf("of the chain tick %d is noted, %t, %v, want 60", noted.tick, ok, err)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	done(t, "run", "--resume", "run.db", "--no-record", "--until", "75")
	if status, line := audited(t, "run.db"); status != report.StatusOK || !strings.HasPrefix(line, "PASS ticks=0..75 ") {
		t.Errorf("%d, %s", status, line)
	}
	done(t, "run", "--resume", "run.db", "--no-record")
	if notes() != 1 {
		t.Errorf("of a complete run there are %d notes", notes())
	}
}

// lastTick returns the last committed tick of a database in a file.
func lastTick(t *testing.T, name string) (tick int) {
	t.Helper()
	out := done(t, "audit", "list", name, "--json")
	_, rest, _ := strings.Cut(out, `"last_tick":`)
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		tick = 10*tick + int(c-'0')
	}
	return tick
}

// TestResumesAfterFail: a chain of this program in which one of its audits found a wrong tick is computed from its first tick, and so
// halted there.
func TestResumesAfterFail(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("UNSTEADY", "strikes")
	t.Chdir(t.TempDir())
	unsteady := func(args ...string) (status int, out string) {
		var b bytes.Buffer
		p := Program{Name: "unsteady", Components: unsteadyComponents()}
		return p.run(t.Context(), args, nil, &b, &b), b.String()
	}
	scenario := "murksim: 1\nname: pond\nticks: 90\nspace: {kind: square4, rows: 4, cols: 4}\nfields:\n  - {name: heat}\n" +
		"propagators:\n  - unsteady: {field: heat}\n"
	if err := errors.Join(os.WriteFile("pond.yaml", []byte(scenario), 0o666), os.WriteFile("strike", nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		status int
		want   string
		args   []string
	}{
		{report.StatusOK, "", []string{"run", "pond.yaml", "--until", "60", "--audit", "run.db", "--audit-every", "10", "--no-record"}},
		{report.StatusOK, "", []string{"run", "--resume", "run.db", "--until", "70", "--no-record"}}, // nobody doubts it
		{report.StatusDiverged, "FAIL tick=30 ", []string{"audit", "run.db"}},
		{report.StatusHalted, `"tick":30,`, []string{"run", "--resume", "run.db", "--until", "80", "--no-record"}},
	} {
		if status, out := unsteady(tt.args...); status != tt.status || !strings.Contains(out, tt.want) {
			t.Errorf("%q = %d, want %d with %s\n%s", tt.args, status, tt.status, tt.want, out)
		}
	}
	if last := lastTick(t, "run.db"); last != 70 {
		t.Errorf("the last tick is %d, want 70", last)
	}
}

// TestStateOfTickZero: a chain from tick 0 on begins with the genesis, and with no other state.
func TestStateOfTickZero(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--ticks", "40", "--until", "1", "-o", "zero.murk")
	done(t, "seek", "zero.murk", "--tick", "0", "--save-state", "zero.state", "-q")
	done(t, "run", "heat", "-q", "--ticks", "40", "--state", "zero.state", "--audit", "zero.db", "--no-record")
	if status, line := audited(t, "zero.db"); status != report.StatusOK {
		t.Errorf("of the genesis: %d, %s", status, line)
	}
	b, err := os.ReadFile("zero.state")
	if err != nil {
		t.Fatal(err)
	}
	b = b[:len(b)-sha256.Size]
	copy(b[len(b)/4&^3:], binary.LittleEndian.AppendUint32(nil, math.Float32bits(42))) // a cell of heat
	if err := os.WriteFile("other.state", engine.Seal(b), 0o666); err != nil {
		t.Fatal(err)
	}
	status, _, errs := murksim(t, nil, "run", "heat", "-q", "--ticks", "40", "--state", "other.state", "--audit", "other.db", "--no-record")
	if want := "other.state: it is a state of tick 0 that is not the one with which heat begins; a chain that begins at tick 0 begins with that\n"; status != report.StatusError || errs != want {
		t.Errorf("of another state: %d, %q", status, errs)
	}
	if _, err := os.Stat("other.db"); err == nil {
		t.Error("there is a database")
	}
}

// TestImportOntoOtherInputs: an import goes on only where the evidence that the database has of the run already is whole.
func TestImportOntoOtherInputs(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--ticks", "200", "--audit", "whole.db", "--no-record")
	done(t, "audit", "export", "whole.db", "-o", "whole.audit")
	tamper(t, "whole.db", "VACUUM INTO 'part.db'")
	tamper(t, "part.db", "DROP TRIGGER chain_hashes_delete; DROP TRIGGER snapshots_delete; DROP TRIGGER input_events_delete; "+
		"DELETE FROM chain_hashes WHERE tick > 120; DELETE FROM snapshots WHERE tick > 120; DELETE FROM input_events WHERE tick > 120")
	tamper(t, "part.db", "VACUUM INTO 'other.db'")
	tamper(t, "other.db", "DROP TRIGGER input_events_update; UPDATE input_events SET payload = zeroblob(length(payload)) WHERE seq = 1")
	if status, _, errs := murksim(t, nil, "audit", "import", "whole.audit", "other.db"); status != report.StatusEvidence || !strings.Contains(errs, "input_events, seq 1: ") {
		t.Errorf("onto other inputs: %d, %q", status, errs)
	}
	done(t, "audit", "import", "whole.audit", "part.db")
	if status, line := audited(t, "part.db"); status != report.StatusOK || !strings.HasPrefix(line, "PASS ticks=0..200 ") {
		t.Errorf("%d, %s", status, line)
	}
}

// TestBeyondThePlan: a chain has no tick after the last that its run plans.
func TestBeyondThePlan(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := worlds.Open(worlds.Registry(), "heat", "ticks=20", "expect=[]")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, "run.db", func(w *engine.World) error { return (&runner.Run{Scenario: s, World: w}).To(t.Context(), 30) })
	done(t, "audit", "key", "mine.key")
	done(t, "audit", "export", "run.db", "-o", "run.audit")
	for _, args := range []string{"audit run.db", "audit run.db --complete", "audit bisect run.db", "audit diff run.db", "audit fork run.db", "audit prove run.db --tick 5 --field heat --cell 3,3 -o x", "audit state run.db --tick 5 -o x", "audit run.db --to 20", "audit sign run.db --key mine.key -o x", "audit import run.audit new.db", "run --resume run.db --no-record"} {
		status, out, errs := murksim(t, nil, strings.Fields(args)...)
		if want := map[bool]int{true: report.StatusHalted, false: report.StatusEvidence}[args[:3] == "run"]; status != want || !strings.Contains(out+errs, "the run plans only 20 ticks") {
			t.Errorf("%s: %d, %q, %q", args, status, out, errs)
		}
	}
}

// commit commits to a new database what drive does with the world of a scenario.
func commit(t *testing.T, s *scenarios.Scenario, name string, drive func(w *engine.World) error) {
	t.Helper()
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	genesis := s.Descriptor()
	rate, err := audit.RateOf(s.TickRate)
	if err != nil {
		t.Fatal(err)
	}
	r := audit.Run{ID: evidence.FreshID(), Created: time.Now(), Seed: s.Seed, Rate: rate, Rules: engine.RulesVersion, Format: audit.StateFormat,
		Generator: s.Generator, Genesis: genesis, Digest: sha256.Sum256(genesis), Engine: replay.ThisBuild().Version}
	writer, err := db.Begin(t.Context(), &r)
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := audit.NewRecorder(writer, w, genesis, 10)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(recorder)
	if err := drive(w); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(recorder.Close(), writer.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestChainOfOtherEntities: a chain that did not spawn an entity to which its scenario gives a name is right, but not gone on with: that name would reach another one.
func TestChainOfOtherEntities(t *testing.T) {
	t.Chdir(t.TempDir())
	const zoo = `{murksim: 1, name: zoo, ticks: 9, space: {kind: square4, rows: 3, cols: 3}, fields: [{name: mood, domain: entities}], entities: {capacity: 3, kinds: [bird]}, commands: [
  {tick: 1, spawn: {kind: bird, name: anna, cell: [1, 1]}}, {tick: 1, spawn: {kind: bird, cell: [0, 0]}}, {tick: 8, despawn: {entity: anna}}]}`
	if err := os.WriteFile("zoo.yaml", []byte(zoo), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := yaml.LoadTemplate(worlds.Registry(), "zoo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.With()
	if err != nil {
		t.Fatal(err)
	}
	for name, without := range map[string]int{"right.db": 0, "wrong.db": 1} {
		commit(t, s, name, func(w *engine.World) error {
			for w.Tick() < 5 {
				list := s.CommandsAt(w.Tick() + 1)
				if _, _, err := w.SubmitAll(list[min(without, len(list)):]); err != nil {
					return err
				}
				if _, err := w.Step(); err != nil {
					return err
				}
			}
			return nil
		})
		if status, line := audited(t, name); status != report.StatusOK {
			t.Errorf("%s: %d, %s", name, status, line)
		}
		status, out, errs := murksim(t, nil, "run", "--resume", name, "--no-record")
		refused := status == report.StatusError && strings.Contains(errs, `wrong.db: tick 1 does not spawn "anna" as the scenario does, so that name would reach another entity`)
		if without == 0 && status != report.StatusOK || without > 0 && !refused {
			t.Errorf("%s: %d, %s", name, status, out+errs)
		}
	}
}

// TestImportAddsWhatIsComputed: to a run that a database has already, only ticks are added that come to their hashes when they are computed.
func TestImportAddsWhatIsComputed(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--ticks", "100", "--until", "60", "--audit", "run.db", "--no-record")
	tamper(t, "run.db", "VACUUM INTO 'other.db'")
	done(t, "run", "--resume", "other.db", "--no-record", "-q")
	done(t, "audit", "export", "other.db", "-o", "whole.audit")
	f := forge(t, "whole.audit")
	f.redigest(80, 3)
	f.write("other.audit")
	if status, _, errs := murksim(t, nil, "audit", "import", "other.audit", "run.db"); status != report.StatusDiverged || !strings.Contains(errs, "nothing is added to the run, which run.db has already") {
		t.Errorf("%d, %q", status, errs)
	}
	if status, line := audited(t, "run.db"); status != report.StatusOK || !strings.HasPrefix(line, "PASS ticks=0..60 ") {
		t.Errorf("%d, %s", status, line)
	}
	done(t, "audit", "import", "whole.audit", "run.db")
	done(t, "audit", "import", "other.audit", "new.db") // where nothing is there that it could spoil
}

// TestLogOfAnotherFile: the log of a database that was moved away holds what the database lacks, and stays.
func TestLogOfAnotherFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("run.db-wal", []byte("all the ticks of a run that crashed"), 0o666); err != nil {
		t.Fatal(err)
	}
	commands := []string{"run heat -q --ticks 5 --audit run.db --no-record"}
	for range 2 {
		for _, args := range append(commands, "audit list run.db", "audit run.db") {
			status, _, errs := murksim(t, nil, strings.Fields(args)...)
			if status != report.StatusError {
				t.Errorf("%s: %d, %q", args, status, errs)
			}
			if b, err := os.ReadFile("run.db-wal"); err != nil || len(b) != 35 {
				t.Fatalf("after %s the log has %d bytes, %v", args, len(b), err)
			}
		}
		if err := os.WriteFile("run.db", nil, 0o666); err != nil { // empty
			t.Fatal(err)
		}
	}
}

// TestForkOfACutChain: a fork does not go past what a program of this user has committed of its parent.
func TestForkOfACutChain(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--ticks", "200", "--until", "120", "--audit", "run.db", "--audit-every", "20", "--no-record")
	tamper(t, "run.db", "VACUUM INTO 'cut.db'")
	done(t, "audit", "fork", "run.db", "--tick", "60", "-q")
	tamper(t, "run.db", "VACUUM INTO 'forked.db'")
	fork := runIDs(t, "forked.db")
	for _, name := range []string{"cut.db", "forked.db"} {
		tamper(t, name, "DROP TRIGGER chain_hashes_delete; DROP TRIGGER snapshots_delete; DROP TRIGGER input_events_delete; "+
			"DELETE FROM chain_hashes WHERE tick > 90; DELETE FROM snapshots WHERE tick > 90; DELETE FROM input_events WHERE tick > 90")
	}
	if status, _, errs := murksim(t, nil, "audit", "fork", "cut.db"); status != report.StatusEvidence || !strings.Contains(errs, "a program of yours has committed tick 120") {
		t.Errorf("a fork of what was cut: %d, %q", status, errs)
	}
	refused := 0
	for _, id := range fork {
		if status, _, errs := murksim(t, nil, "run", "--resume", "forked.db", "--audit-run", id, "--no-record", "--until", "125"); status == report.StatusEvidence && strings.Contains(errs, "a program of yours has committed tick 120") {
			refused++
		}
	}
	if refused != len(fork) {
		t.Errorf("%d of %d runs are not gone on with", refused, len(fork))
	}
}

// TestImportTooLong: what a database would not read back is not imported, and the run that is there stays whole.
func TestImportTooLong(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "-q", "--ticks", "20", "--audit", "run.db", "--no-record")
	done(t, "audit", "export", "run.db", "-o", "run.audit")
	long := strings.Repeat("x", audit.MaxText+1)
	for _, key := range []string{"label", "engine_version"} {
		f := forge(t, "run.audit")
		f.lines[0][key] = long
		f.write("long.audit")
		if status, _, errs := murksim(t, nil, "audit", "import", "long.audit", "new.db"); status != report.StatusEvidence || !strings.Contains(errs, "more than 1048576 bytes") {
			t.Errorf("%s: %d, %.200q", key, status, errs)
		}
	}
	f := forge(t, "run.audit")
	f.lines = slices.Insert(f.lines, len(f.lines)-1, map[string]any{"halt": map[string]any{"tick": 5, "code": long, "detail": "{}", "halted_at": "2020-01-01T00:00:00Z"}})
	f.write("long.audit")
	if status, _, errs := murksim(t, nil, "audit", "import", "long.audit", "run.db", "--halt"); status == report.StatusOK || !strings.Contains(errs, "its code or its detail is too long") {
		t.Errorf("a halt: %d, %.200q", status, errs)
	}
	if status, line := audited(t, "run.db"); status != report.StatusOK {
		t.Errorf("%d, %s", status, line)
	}
	if status, _, errs := murksim(t, nil, "run", "heat", "--audit", "label.db", "--audit-label", long); status != report.StatusUsage || !strings.Contains(errs, "--audit-label has 1,048,577 bytes") {
		t.Errorf("a label: %d, %.200q", status, errs)
	}
}
