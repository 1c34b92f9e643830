package cli

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay/audit"
)

// A forger rewrites a bundle, and makes its hashes those of what it holds then.
type forger struct {
	t     *testing.T
	lines []map[string]any
}

// forge reads a bundle.
func forge(t *testing.T, name string) *forger {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{t: t}
	for line := range bytes.Lines(text) {
		var object map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&object); err != nil {
			t.Fatal(err)
		}
		f.lines = append(f.lines, object)
	}
	return f
}

// each calls a function with the rows of a kind.
func (f *forger) each(kind string, do func(row map[string]any)) {
	for _, line := range f.lines {
		if row, ok := line[kind].(map[string]any); ok {
			do(row)
		}
	}
}

func (f *forger) bytes(row map[string]any, key string) []byte {
	f.t.Helper()
	b, err := base64.StdEncoding.DecodeString(row[key].(string))
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

func (f *forger) number(row map[string]any, key string) uint64 {
	f.t.Helper()
	n, err := strconv.ParseUint(row[key].(json.Number).String(), 10, 64)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// rechain makes the chain of inputs anew, and the hashes of it in the links.
func (f *forger) rechain() {
	f.t.Helper()
	var events audit.Events
	last := map[uint64]audit.Events{}
	f.each("input_event", func(row map[string]any) {
		id, err := audit.ParseID(row["source"].(string))
		if err != nil {
			f.t.Fatal(err)
		}
		row["prev_hash"] = events.Hash.String()
		e := audit.Event{Seq: f.number(row, "seq"), Tick: f.number(row, "tick"), Source: id, Kind: uint16(f.number(row, "kind")), Payload: f.bytes(row, "payload")}
		if err := events.Add(&e); err != nil {
			f.t.Fatal(err)
		}
		row["event_hash"] = events.Hash.String()
		last[e.Tick] = events
	})
	var now audit.Events
	f.each("chain_hash", func(row map[string]any) {
		if e, ok := last[f.number(row, "tick")]; ok {
			now = e
		}
		row["input_seq"], row["input_hash"] = now.Seq, now.Hash.String()
	})
}

// relink makes the chain of ticks anew, and the hashes of it in the snapshots.
func (f *forger) relink() {
	f.t.Helper()
	var prev audit.Hash
	hashes := map[uint64]string{}
	f.each("chain_hash", func(row map[string]any) {
		commitment := append(prev[:], "MSC2"...)
		commitment = binary.LittleEndian.AppendUint64(commitment, f.number(row, "tick"))
		commitment = binary.LittleEndian.AppendUint64(commitment, f.number(row, "state_len"))
		commitment = binary.LittleEndian.AppendUint16(commitment, 5)
		if f.number(row, "tick") > 0 {
			row["prev_hash"] = prev.String()
		}
		prev = sha256.Sum256(append(commitment, f.bytes(row, "section_digests")...))
		row["world_hash"] = prev.String()
		hashes[f.number(row, "tick")] = prev.String()
	})
	f.each("snapshot", func(row map[string]any) { row["world_hash"] = hashes[f.number(row, "tick")] })
}

// redigest changes the digest of a section of a tick.
func (f *forger) redigest(tick uint64, section int) {
	f.t.Helper()
	f.each("chain_hash", func(row map[string]any) {
		if f.number(row, "tick") == tick {
			digests := f.bytes(row, "section_digests")
			digests[(section-1)*audit.DigestSize+5] ^= 1
			row["section_digests"] = base64.StdEncoding.EncodeToString(digests)
		}
	})
	f.relink()
}

// write writes the bundle, with the keys in the order in which a reader must find them.
func (f *forger) write(name string) {
	f.t.Helper()
	var b bytes.Buffer
	for i, line := range f.lines {
		text, err := json.Marshal(line)
		if err != nil {
			f.t.Fatal(err)
		}
		if i == 0 { // "bundle" first
			text = append([]byte(`{"bundle":1,`), bytes.Replace(text, []byte(`"bundle":1,`), nil, 1)[1:]...)
		}
		b.Write(append(text, '\n'))
	}
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

// done runs a command line that must end well, and returns what it prints.
func done(t *testing.T, args ...string) string {
	t.Helper()
	status, out, errs := murksim(t, nil, args...)
	if status != report.StatusOK {
		t.Fatalf("murksim %q = %d\n%s", args, status, out+errs)
	}
	return out
}

// runIDs returns the ids of the runs of a source, oldest first.
func runIDs(t *testing.T, source string) (ids []string) {
	t.Helper()
	for line := range strings.Lines(done(t, "audit", "list", source)) {
		id, _, _ := strings.Cut(line, " ")
		ids = append(ids, id)
	}
	return ids
}

// audited audits a run, and returns the exit status and the last line.
func audited(t *testing.T, args ...string) (status int, line string) {
	t.Helper()
	status, out, errs := murksim(t, nil, append([]string{"audit", "--no-verdict"}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if line = lines[len(lines)-1]; line == "" {
		line = errs
	}
	return status, line
}

// TestForgedFork holds that a fork with another genesis than its parent's, whose hashes are all right, is no fork of it: one with other rules, another
// seed, or with a first section that says something else.
func TestForgedFork(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "predators", "--until", "40", "--no-record", "--audit", "p.db")
	done(t, "audit", "fork", "p.db", "--tick", "30")
	done(t, "audit", "export", "p.db", "--run", runIDs(t, "p.db")[1], "-o", "fork.audit")
	for i, tt := range []struct {
		what, want string
		genesis    []string                 // replaced
		row        map[string]any           // of the run
		meta       func(meta []byte) []byte // of the first state, before the digest
	}{
		{"the same", "PASS ticks=30..30 ", nil, nil, nil},
		{"another parameter", "its genesis is not that of its parent ", []string{`"catch":0.5`, `"catch":0.99`}, nil, nil},
		{"another name", "its genesis is not that of its parent ", []string{`"name":"predators"`, `"name":"predatorz"`}, nil, nil},
		{"another seed", "its genesis is not that of its parent ", []string{`"seed":11`, `"seed":12`}, map[string]any{"seed": "12"}, func(b []byte) []byte { b[0] = 12; return b }},
		{"another time step in the state", "its seed, tick rate, rules, generator or genesis is not what", nil, nil, func(b []byte) []byte { b[14] ^= 1; return b }},
	} {
		f := forge(t, "fork.audit")
		run := f.lines[0]
		id := "00000000-0000-4000-8000-00000000000" + strconv.Itoa(i)
		genesis := f.bytes(run, "genesis")
		if tt.genesis != nil {
			changed := bytes.Replace(genesis, []byte(tt.genesis[0]), []byte(tt.genesis[1]), 1)
			if bytes.Equal(changed, genesis) {
				t.Fatalf("%s: there is no %s in %s", tt.what, tt.genesis[0], genesis)
			}
			genesis = changed
		}
		digest := sha256.Sum256(genesis)
		run["run"], run["genesis"], run["genesis_digest"] = id, base64.StdEncoding.EncodeToString(genesis), hex.EncodeToString(digest[:])
		for key, value := range tt.row {
			run[key] = value
		}
		f.each("snapshot", func(row map[string]any) {
			state := f.bytes(row, "state")
			meta := state[20 : 20+int(state[16])]
			if tt.meta != nil {
				tt.meta(meta)
			}
			copy(meta[len(meta)-32:], digest[:])
			l, err := audit.NewLink(audit.Hash{}, state)
			if err != nil {
				t.Fatal(err)
			}
			row["state"], row["world_hash"] = base64.StdEncoding.EncodeToString(state), l.Hash.String()
			f.each("chain_hash", func(row map[string]any) {
				row["world_hash"], row["section_digests"] = l.Hash.String(), base64.StdEncoding.EncodeToString(audit.AppendDigests(nil, l.Digests))
			})
		})
		name := filepath.Base(id) + ".audit"
		f.write(name)
		status, out, errs := murksim(t, nil, "audit", "import", name, "p.db")
		if tt.what != "the same" {
			if status != report.StatusEvidence || !strings.Contains(errs, tt.want) {
				t.Errorf("%s: %d, %s, want %s", tt.what, status, out+errs, tt.want)
			}
			continue
		}
		if status != report.StatusOK {
			t.Fatalf("%s: %d, %s", tt.what, status, out+errs)
		}
		if status, line := audited(t, "p.db", "--run", id); status != report.StatusOK || !strings.Contains(line, tt.want) {
			t.Errorf("%s: %d, %s, want %s", tt.what, status, line, tt.want)
		}
	}
}

// TestForkOfForks holds that a fork is held against all runs from which it comes, and names the one that is broken.
func TestForkOfForks(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "4", "--no-record", "--audit", "h.db")
	for range 5 {
		ids := runIDs(t, "h.db")
		done(t, "audit", "fork", "h.db", "--tick", "4", "--run", ids[len(ids)-1])
	}
	ids := runIDs(t, "h.db")
	if status, line := audited(t, "h.db", "--run", ids[5]); status != report.StatusOK {
		t.Errorf("a fork of a fork: %d, %s", status, line)
	}
	tamper(t, "h.db", "DROP TRIGGER chain_hashes_update", "UPDATE chain_hashes SET state_len = state_len + 1 WHERE tick = 2 AND run_id = '"+ids[0]+"'")
	want := "the evidence of run " + ids[1] + ", from which its parent comes, is broken: runs, " + ids[1] + ": the evidence of its parent " + ids[0] + " is broken: chain_hashes, tick 2: "
	if status, line := audited(t, "h.db", "--run", ids[5]); status != report.StatusEvidence || !strings.Contains(line, want) {
		t.Errorf("%d, %s, want %s", status, line, want)
	}
}

// tamper changes a database in a file, past the program.
func tamper(t *testing.T, name string, statements ...string) {
	t.Helper()
	if err := tampered(name, statements...); err != nil {
		t.Fatal(err)
	}
}

// tampered changes a database in a file. Triggers of ours that it drops are there again at the end.
func tampered(name string, statements ...string) error {
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var dropped []string
	for _, s := range statements {
		for _, trigger := range regexp.MustCompile(`DROP TRIGGER (\w+_(?:insert|update|delete))`).FindAllStringSubmatch(s, -1) {
			var text string
			if err := db.QueryRow("SELECT sql FROM sqlite_schema WHERE name = $1", trigger[1]).Scan(&text); err != nil {
				return err
			}
			dropped = append(dropped, text)
		}
		if _, err := db.Exec(s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	for _, text := range dropped {
		if _, err := db.Exec(text); err != nil {
			return err
		}
	}
	return nil
}

// TestForgedImport holds that a bundle adds to a run only if it has the same row, states and inputs as far as that goes, and halts it only if that is wanted.
func TestForgedImport(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "120", "--no-record", "--audit", "a.db", "--audit-label", "honest")
	tamper(t, "a.db", "VACUUM INTO 'b.db'")
	done(t, "run", "--resume", "b.db", "--until", "130", "--no-record")
	done(t, "audit", "export", "b.db", "-o", "honest.audit")
	halt := map[string]any{"halt": map[string]any{"tick": 125, "code": "INVENTED", "detail": "{}", "halted_at": "2020-01-01T00:00:00Z"}}
	for _, tt := range []struct {
		what, want string
		change     func(f *forger)
	}{
		{"an input that changes no state", "whose hash or inputs at tick 100 are others", func(f *forger) {
			f.each("input_event", func(row map[string]any) {
				if payload := f.bytes(row, "payload"); f.number(row, "seq") == 1 {
					payload[9] ^= 1
					row["payload"] = base64.StdEncoding.EncodeToString(payload)
				}
			})
			f.rechain()
		}},
		{"the seed", "its seed, tick rate, rules, generator or genesis is not what the states of its ticks were hashed with", func(f *forger) { f.lines[0]["seed"] = "43" }},
		{"a state", "whose hash or inputs at tick 5 are others", func(f *forger) { f.redigest(5, 3) }},
		{"the label", "whose label is another one", func(f *forger) { f.lines[0]["label"] = "other" }},
		{"the genesis", "its seed, tick rate, rules, generator or genesis is not what the states of its ticks were hashed with", func(f *forger) {
			genesis := append(f.bytes(f.lines[0], "genesis"), ' ')
			digest := sha256.Sum256(genesis)
			f.lines[0]["genesis"], f.lines[0]["genesis_digest"] = base64.StdEncoding.EncodeToString(genesis), hex.EncodeToString(digest[:])
		}},
		{"a halt", "already, without a halt; the bundle halts it at tick 125: INVENTED. With --halt", func(f *forger) { f.lines = slices.Insert(f.lines, len(f.lines)-1, halt) }},
	} {
		f := forge(t, "honest.audit")
		tt.change(f)
		f.write("forged.audit")
		if status, out, errs := murksim(t, nil, "audit", "import", "forged.audit", "a.db"); status != report.StatusError && status != report.StatusEvidence || !strings.Contains(errs, tt.want) {
			t.Errorf("%s: %d, %s, want %s", tt.what, status, out+errs, tt.want)
		}
	}
	if status, line := audited(t, "a.db"); status != report.StatusOK || !strings.HasPrefix(line, "PASS ticks=0..120 ") {
		t.Errorf("after forged imports: %d, %s", status, line)
	}
	done(t, "audit", "import", "honest.audit", "a.db")
	if status, line := audited(t, "a.db"); status != report.StatusOK || !strings.HasPrefix(line, "PASS ticks=0..130 ") {
		t.Errorf("after an honest import: %d, %s", status, line)
	}
	done(t, "audit", "import", "forged.audit", "a.db", "--halt") // the last one, with nothing but a halt
	if out := done(t, "audit", "list", "a.db"); !strings.Contains(out, "halted at tick 125: INVENTED") {
		t.Error(out)
	}
}

// TestForgedImportEmpty holds that a run that has no ticks yet takes those of the same run only.
func TestForgedImportEmpty(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, seed := range []string{"1", "2"} {
		done(t, "run", "heat", "--until", "3", "--no-record", "--seed", seed, "--audit", seed+".db")
		done(t, "audit", "export", seed+".db", "-o", seed+".audit")
	}
	tamper(t, "1.db", "DROP TRIGGER chain_hashes_delete", "DROP TRIGGER snapshots_delete", "DELETE FROM snapshots", "DELETE FROM chain_hashes")
	f := forge(t, "2.audit")
	f.lines[0]["run"] = runIDs(t, "1.db")[0]
	f.write("other.audit")
	if status, _, errs := murksim(t, nil, "audit", "import", "other.audit", "1.db"); status != report.StatusError || !strings.Contains(errs, "already, whose genesis is another one") {
		t.Errorf("another genesis: %d, %s", status, errs)
	}
	done(t, "audit", "import", "1.audit", "1.db")
	done(t, "audit", "1.db")
}

// TestForgedLength holds that audit diff says what is wrong if nothing but the length of a state is, in a chain that fits it.
func TestForgedLength(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "5", "--no-record", "--audit", "h.db", "--audit-every", "0")
	done(t, "audit", "export", "h.db", "-o", "h.audit")
	f := forge(t, "h.audit")
	f.each("chain_hash", func(row map[string]any) {
		if f.number(row, "tick") == 3 {
			row["state_len"] = json.Number(strconv.FormatUint(f.number(row, "state_len")+1, 10))
		}
	})
	f.relink()
	f.write("forged.audit")
	status, out, errs := murksim(t, nil, "audit", "diff", "forged.audit")
	if status != report.StatusDiverged || !strings.Contains(out, "the states have the same sections; one is said to have ") || strings.Contains(out, "the tick before it") {
		t.Errorf("%d, %s", status, out+errs)
	}
}

// TestForgedGenesis holds that a tick 0 that another program would have made is told as that.
func TestForgedGenesis(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "5", "--no-record", "--audit", "h.db", "--audit-every", "0")
	done(t, "audit", "export", "h.db", "-o", "h.audit")
	f := forge(t, "h.audit")
	f.redigest(0, 3)
	f.write("forged.audit")
	status, out, errs := murksim(t, nil, "audit", "bisect", "forged.audit")
	if status != report.StatusDiverged || !strings.Contains(out, "genesis   the first tick differs: ") || !strings.Contains(out, "FAIL tick=0 ") {
		t.Errorf("%d, %s", status, out+errs)
	}
}

// TestForgedAlike holds that whatever looks at a forged chain says of it what audit says.
func TestForgedAlike(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "60", "--no-record", "--audit", "s.db", "--audit-every", "20", "--set", "commands=[{tick: 20, set: {field: heat, cell: [1, 1], value: 50}}]")
	done(t, "audit", "export", "s.db", "-o", "s.audit")
	done(t, "audit", "key", "k.key")
	done(t, "audit", "sign", "s.db", "--key", "k.key", "-o", "s.sig")
	forged := func(name string, change func(f *forger)) {
		f := forge(t, "s.audit")
		change(f)
		f.write(name)
	}
	forged("input.audit", func(f *forger) {
		f.each("input_event", func(row map[string]any) {
			payload := f.bytes(row, "payload")
			payload[24] ^= 1
			row["payload"] = base64.StdEncoding.EncodeToString(payload)
		})
		f.rechain()
	})
	forged("seed.audit", func(f *forger) { f.lines[0]["seed"] = "8" })
	forged("rate.audit", func(f *forger) { f.lines[0]["rate_num"] = 30 })
	forged("genesis.audit", func(f *forger) {
		genesis := bytes.Replace(f.bytes(f.lines[0], "genesis"), []byte(`"rate":4`), []byte(`"rate":3`), 1)
		digest := sha256.Sum256(genesis)
		f.lines[0]["genesis"], f.lines[0]["genesis_digest"] = base64.StdEncoding.EncodeToString(genesis), hex.EncodeToString(digest[:])
	})
	forged("digest.audit", func(f *forger) { f.redigest(30, 3) })
	done(t, "run", "heat", "--until", "40", "--no-record", "--audit", "c.db", "--audit-every", "20", "--set", "commands=[{tick: 20, set: {field: heat, cell: [1, 1], value: 50}}]")
	const notHashed = "is not what the states of its ticks were hashed with"
	for _, tt := range []struct {
		status int
		want   string
		args   []string
	}{
		{3, "DIFFER at tick 20", []string{"diff", "s.audit", "input.audit"}},
		{3, "commands  1 differs in tick 20", []string{"diff", "s.audit", "input.audit"}},
		{3, "DIFFER in length", []string{"diff", "s.audit", "c.db"}},
		{0, "EQUAL at tick 40", []string{"audit", "diff", "s.audit", "--against", "c.db", "--tick", "40"}},
		{4, notHashed, []string{"diff", "s.audit", "genesis.audit"}},
		{4, notHashed, []string{"audit", "genesis.audit"}},
		{4, notHashed, []string{"audit", "check", "s.sig", "genesis.audit", "--key", "k.key.pub"}},
		{4, notHashed, []string{"audit", "check", "s.sig", "seed.audit", "--key", "k.key.pub"}},
		{4, notHashed, []string{"audit", "check", "s.sig", "rate.audit", "--key", "k.key.pub"}},
		{4, notHashed, []string{"audit", "sign", "seed.audit", "--key", "k.key", "-o", "x.sig"}},
		{4, notHashed, []string{"audit", "import", "seed.audit", "x.db"}},
		{3, "FAIL tick=30 ", []string{"audit", "digest.audit", "--no-verdict"}},
		{3, "an earlier tick differs, which bisect finds", []string{"seek", "digest.audit", "--tick", "60"}},
		{1, "no tick is audited behind the snapshot of tick 40, so nothing would be computed", []string{"audit", "s.audit", "--from-snapshot", "40", "--to", "40"}},
		{0, "PASS ticks=40..41 ", []string{"audit", "s.audit", "--from-snapshot", "40", "--to", "41"}},
		{3, "FAIL tick=60 ", []string{"audit", "state", "digest.audit", "--tick", "60", "-o", "d.state"}},
		{3, "DIFFER at tick 60", []string{"audit", "diff", "digest.audit", "--tick", "60"}},
		{0, "PASS tick=60 ", []string{"seek", "s.audit", "--tick", "60"}},
		{1, "it holds a chain: murksim audit s.audit", []string{"verify", "s.audit"}},
	} {
		if status, out, errs := murksim(t, nil, tt.args...); status != tt.status || !strings.Contains(out+errs, tt.want) {
			t.Errorf("%q: %d, %s, want %d, %s", tt.args, status, out+errs, tt.status, tt.want)
		}
	}
}

// TestForkOfACopy holds that a database which is not in WAL mode, such as a copy, does not keep its own fork waiting.
func TestForkOfACopy(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "9", "--no-record", "--audit", "h.db")
	tamper(t, "h.db", "VACUUM INTO 'copy.db'")
	done(t, "audit", "fork", "copy.db", "--tick", "5")
	if ids := runIDs(t, "copy.db"); len(ids) != 2 {
		t.Errorf("runs %v, want two", ids)
	}
}

// TestExportOfADamagedSnapshot holds that a snapshot which cannot be read, and which nobody needs, does not keep the evidence from being taken out.
func TestExportOfADamagedSnapshot(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "30", "--no-record", "--audit", "h.db", "--audit-every", "10")
	tamper(t, "h.db", "DROP TRIGGER snapshots_update", "UPDATE snapshots SET state = x'0001' WHERE tick = 20")
	status, out, errs := murksim(t, nil, "audit", "export", "h.db", "-o", "h.audit")
	if status != report.StatusOK || !strings.Contains(errs, "left out  the snapshot of tick 20: ") {
		t.Errorf("%d, %s", status, out+errs)
	}
	if status, line := audited(t, "h.audit"); status != report.StatusOK || !strings.HasPrefix(line, "PASS ticks=0..30 ") {
		t.Errorf("%d, %s", status, line)
	}
}
