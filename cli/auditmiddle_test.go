package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
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
	status, out, errs := murksim(t, nil, "run", "--resume", "forged.db", "--no-record", "--until", "70")
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
	if tick, ok := memoryOf(id).vouches(t.Context(), e); tick != 60 || !ok {
		t.Errorf("of the chain tick %d is noted, %t, want 60", tick, ok)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	done(t, "run", "--resume", "run.db", "--no-record", "--until", "75")
	if status, line := audited(t, "run.db"); status != report.StatusOK || !strings.HasPrefix(line, "PASS ticks=0..75 ") {
		t.Errorf("%d, %s", status, line)
	}
	done(t, "run", "--resume", "run.db", "--no-record")
	if notes() != 0 {
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
