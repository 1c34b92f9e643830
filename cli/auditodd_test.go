package cli

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
)

// unguard takes from a database what keeps odd rows out of it.
var unguard = []string{"PRAGMA foreign_keys = 0", "PRAGMA ignore_check_constraints = 1",
	"DROP TRIGGER runs_update", "DROP TRIGGER chain_hashes_update", "DROP TRIGGER chain_hashes_insert", "DROP TRIGGER input_events_insert", "DROP TRIGGER input_events_update",
	"DROP TRIGGER snapshots_insert", "DROP TRIGGER snapshots_delete", "DROP TRIGGER run_halts_insert"}

// TestOddRows holds that rows that no recorder writes are found, wherever they stand.
func TestOddRows(t *testing.T) {
	const link = "INSERT INTO chain_hashes SELECT run_id, TICK, prev_tick, prev_hash, world_hash, input_seq, input_hash, state_len, section_digests, committed_at FROM chain_hashes WHERE tick = 0"
	const input = "INSERT INTO input_events (run_id, seq, tick, source, kind, payload, prev_hash, event_hash, accepted_at) SELECT run_id, SEQ, tick, source, kind, payload, prev_hash, event_hash, accepted_at FROM input_events WHERE seq = 1"
	const snapshot = "INSERT INTO snapshots SELECT run_id, TICK, world_hash, codec, state_len, state FROM snapshots WHERE tick = 50"
	oddRows(t, []oddRow{
		{"a link below 0", strings.Replace(link, "TICK", "-7", 1), "EVIDENCE table=chain_hashes row=-7 reason=its tick is below 0"},
		{"input 0", strings.Replace(input, "SEQ", "0", 1), "EVIDENCE table=input_events row=0 reason=inputs are numbered from 1"},
		{"input -3", strings.Replace(input, "SEQ", "-3", 1), "EVIDENCE table=input_events row=-3 reason=inputs are numbered from 1"},
		{"bytes of two columns", "UPDATE chain_hashes SET section_digests = CAST(substr(input_hash, 31) || section_digests AS BLOB), input_hash = substr(input_hash, 1, 30) WHERE tick = 9",
			"EVIDENCE table=chain_hashes row=9 reason=its hashes have not 32 bytes each"},
		{"a snapshot below 0", strings.Replace(snapshot, "TICK", "-5", 1), "PASS refused   the snapshot of tick -5: there is no such tick"},
		{"a snapshot after the end", strings.Replace(snapshot, "TICK", "500", 1), "PASS refused   the snapshot of tick 500: there is no such tick"},
		{"two such snapshots", strings.Replace(snapshot, "TICK", "-5", 1) + ";" + strings.Replace(snapshot, "TICK", "500", 1), "PASS refused   the snapshot of tick 500: there is no such tick"},
		{"no snapshots", "DELETE FROM snapshots", "PASS evidence"},
	})
}

// TestLargeRows is TestOddRows of values that are large. It runs in a process of its own: other tests look at how much memory this one takes.
func TestLargeRows(t *testing.T) {
	const child = "MURKSIM_TEST_LARGE"
	if os.Getenv(child) == "" {
		c := exec.Command(os.Args[0], "-test.run", "^TestLargeRows$")
		c.Env = append(os.Environ(), child+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	oddRows(t, []oddRow{
		{"a large payload", "UPDATE input_events SET payload = zeroblob(100000000) WHERE seq = 2", "EVIDENCE table=input_events row=2 reason=its payload has 100000000 bytes; that of a command has up to "},
		{"a large source", "UPDATE input_events SET source = CAST(zeroblob(100000000) AS TEXT) WHERE seq = 2", "EVIDENCE table=input_events row=2 reason=source: "},
		{"large digests", "UPDATE chain_hashes SET section_digests = zeroblob(34000000) WHERE tick = 9", "EVIDENCE table=chain_hashes row=9 reason=its hashes have not 32 bytes each, its section_digests"},
		{"a large state", "DROP TRIGGER snapshots_update;UPDATE snapshots SET state = zeroblob(200000000) WHERE tick = 50", "PASS refused   the snapshot of tick 50: it has 200000000 bytes; a state of this run has up to "},
		{"a large state that says so", "DROP TRIGGER snapshots_update;UPDATE chain_hashes SET state_len = 2000000000 WHERE tick = 50;UPDATE snapshots SET state_len = 2000000000, state = zeroblob(200000000) WHERE tick = 50",
			"EVIDENCE table=chain_hashes row=50 reason=its hash is "},
	})
}

// An oddRow is what is changed in a database, and what an audit says of it: after PASS, what it says besides.
type oddRow struct{ what, sql, want string }

func oddRows(t *testing.T, list []oddRow) {
	t.Helper()
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "110", "--no-record", "--audit", "good.db", "--audit-every", "50")
	for _, tt := range list {
		os.Remove("bad.db")
		tamper(t, "good.db", "VACUUM INTO 'bad.db'")
		tamper(t, "bad.db", append(unguard[:len(unguard):len(unguard)], strings.Split(tt.sql, ";")...)...)
		status, out, errs := murksim(t, nil, "audit", "bad.db", "--no-verdict")
		want, pass := strings.CutPrefix(tt.want, "PASS ")
		if !strings.Contains(out, want) || pass != (status == report.StatusOK) || !pass && status != report.StatusEvidence {
			t.Errorf("%s: %d, %s, want %s", tt.what, status, out+errs, tt.want)
		}
	}
}

// TestOddLines holds that lines that no recorder writes are found in a bundle.
func TestOddLines(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "110", "--no-record", "--audit", "h.db")
	done(t, "audit", "fork", "h.db", "--tick", "105")
	ids := runIDs(t, "h.db")
	done(t, "audit", "export", "h.db", "--run", ids[0], "-o", "h.audit")
	done(t, "audit", "export", "h.db", "--run", ids[1], "-o", "fork.audit")
	for _, tt := range []struct {
		what, source, line, want string
	}{
		{"a link before the first", "fork.audit", `{"chain_hash":{"tick":3,`, "EVIDENCE table=chain_hashes row=3 reason=the run begins with tick 105"},
		{"input 0", "h.audit", `{"input_event":{"seq":0,`, "EVIDENCE table=input_events row=0 reason=event 1 is next"},
		{"two objects", "h.audit", "", "ERROR reason=line 2: it holds 2 objects; a line holds one"},
	} {
		text, err := os.ReadFile(tt.source)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		key, _, _ := strings.Cut(tt.line, ":")
		for i, line := range lines {
			switch {
			case tt.line == "" && i == 1: // the first input has a link in its line
				var link string
				for _, link = range lines {
					if strings.HasPrefix(link, `{"chain_hash":`) {
						break
					}
				}
				lines[i] = strings.TrimSuffix(line, "}\n") + "," + link[1:]
			case tt.line != "" && strings.HasPrefix(line, key):
				_, rest, _ := strings.Cut(line, ",")
				lines[i] = tt.line + rest + line
			default:
				continue
			}
			break
		}
		text = []byte(strings.Join(lines, ""))
		if err := os.WriteFile("odd.audit", text, 0o666); err != nil {
			t.Fatal(err)
		}
		f := forge(t, "odd.audit")
		for _, kind := range [][2]string{{"input_event", "input_events"}, {"chain_hash", "chain_hashes"}} {
			n := 0
			f.each(kind[0], func(map[string]any) { n++ })
			f.each("end", func(row map[string]any) { row[kind[1]] = n })
		}
		if tt.line != "" {
			f.write("odd.audit")
		}
		status, line := audited(t, "odd.audit")
		if !strings.Contains(line, tt.want) || status == report.StatusOK {
			t.Errorf("%s: %d, %s, want %s", tt.what, status, line, tt.want)
		}
	}
}

// TestOddRuns holds that a row of runs or run_halts that no run writes is EVIDENCE for that run, and keeps no other from being audited.
func TestOddRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "3", "--no-record", "--audit", "good.db")
	done(t, "run", "life", "--until", "3", "--no-record", "--audit", "good.db")
	id := runIDs(t, "good.db")[0]
	const large = "CAST(zeroblob(3000000) AS TEXT)"
	for _, tt := range []struct{ what, set, want string }{
		{"a negative tick", "first_tick = -1", "runs row=" + id + " reason=its first_tick must be a number from 0 to "},
		{"a seed that is none", "master_seed = 'x'", "runs row=" + id + ` reason=its master_seed must be a number from 0 to 18446744073709551615, not "x"`},
		{"a parent that is none", "parent_run_id = '-1', fork_tick = 0", "runs row=" + id + ` reason=its parent_run_id must be the id of a run, not "-1"`},
		{"a fork of none", "fork_tick = 0", "runs row=" + id + " reason=its fork_tick is that of a fork"},
		{"a fork at another tick", "parent_run_id = run_id, fork_tick = 5", "runs row=" + id + " reason=its fork_tick is 5, and its first_tick 0"},
		{"an id that is none", "run_id = 'no id'", "runs row="},
		{"a long label", "label = " + large, "runs row=" + id + " reason=its label must be a text, not NULL, and not too long"},
		{"a long seed", "master_seed = " + large, "runs row=" + id + " reason=its master_seed must be"},
		{"a halt below 0", "-1, 'X', '{}', 0", "run_halts row=" + id + " reason=its tick must be a number from 0 to "},
		{"a halt with a long code", "1, " + large + ", '{}', 0", "run_halts row=" + id + " reason=its code must be a text, not NULL, and not too long"},
	} {
		os.Remove("bad.db")
		tamper(t, "good.db", "VACUUM INTO 'bad.db'")
		change := "UPDATE runs SET " + tt.set + " WHERE run_id = '" + id + "'"
		if strings.HasPrefix(tt.want, "run_halts") {
			change = "INSERT INTO run_halts VALUES ('" + id + "', " + tt.set + ")"
		}
		tamper(t, "bad.db", append(unguard[:len(unguard):len(unguard)], change)...)
		status, out, errs := murksim(t, nil, "audit", "bad.db", "--all")
		if status != report.StatusEvidence || strings.Count(out, "\nPASS ticks=0..3 ") != 1 || !strings.Contains(out, "EVIDENCE table="+tt.want) || !strings.Contains(errs, `"code":"EVIDENCE_FAULT"`) {
			t.Errorf("%s: %d, %s, want %s", tt.what, status, out+errs, tt.want)
		}
		if list := done(t, "audit", "list", "bad.db"); strings.Count(list, "\n") != 2 || strings.Count(list, "no row of ours: ") != 1 {
			t.Errorf("%s: %s", tt.what, list)
		}
		done(t, "run", "life", "--until", "3", "--no-record", "--audit", "bad.db")
	}
}

// TestLargeSources holds that what is small on a disk, or is none of ours, takes no memory: of a bundle whose line has no end the beginning is read, and of
// columns that are too long nothing.
func TestLargeSources(t *testing.T) {
	t.Cleanup(debug.FreeOSMemory) // other tests look at how much memory this process takes
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "3", "--no-record", "--audit", "good.db")
	done(t, "audit", "export", "good.db", "-o", "good.audit")
	text, err := os.ReadFile("good.audit")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "\n")
	for _, begin := range []string{`{"snapshot":{"tick":0,`, `{"chain_hash":{"tick":0,`, `{"halt":`} {
		if err := os.WriteFile("large.audit", []byte(head+"\n"+begin), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate("large.audit", 4<<30); err != nil { // which takes no room
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, out, errs := murksim(t, nil, "audit", "large.audit")
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; status != report.StatusError || !strings.Contains(errs, "large.audit: line 2: it has more than ") || got > 1<<30 {
			t.Errorf("%s: %d, %s, and %d bytes were allocated", begin, status, out+errs, got)
		}
	}
}
