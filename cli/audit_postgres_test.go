//go:build postgres

package cli

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/replay/audit/store"
)

// onServer returns the DSN of an empty schema on the server that tools/ci/postgres.sh has started.
func onServer(t *testing.T, name string) string {
	t.Helper()
	dsn := os.Getenv("MURKSIM_POSTGRES")
	db, err := sql.Open("pgx", dsn)
	if err == nil {
		_, err = db.Exec("CREATE SCHEMA " + name)
		db.Close()
	}
	if err != nil {
		t.Fatalf("no server; run tools/ci/postgres.sh: %v", err)
	}
	return dsn + "&search_path=" + name
}

// last returns the last tick that is committed of the only run; -1 if there is none.
func (p program) last(t *testing.T, dsn string) (tick int64) {
	t.Helper()
	out, err := p.command("audit", "list", dsn, "--json").Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tick = -1
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		var l struct {
			Last int64 `json:"last_tick"`
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		tick = l.Last
	}
	return tick
}

// TestKilledOnPostgres: the run, and then the server, is killed with SIGKILL ten times while ticks are committed. What was committed is
// there each time, a run that goes on checks all of it, and it passes its audit.
func TestKilledOnPostgres(t *testing.T) {
	p := build(t)
	for _, tt := range []struct {
		name string
		kill func(t *testing.T, c *exec.Cmd)
	}{
		{"run", func(t *testing.T, c *exec.Cmd) { c.Process.Kill() }},
		{"server", func(t *testing.T, _ *exec.Cmd) {
			if out, err := exec.Command(os.Getenv("MURKSIM_POSTGRES_RESTART")).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dsn := onServer(t, fmt.Sprintf("killed_%s_%d", tt.name, os.Getpid()))
			args := []string{"run", "decay", "--ticks", "1000000000", "--no-record", "--quiet", "--audit", dsn}
			committed := int64(-1)
			for round := range 10 {
				c := p.command(args...)
				var said strings.Builder
				c.Stderr = &said
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				for late := time.Now().Add(waiting.Hang); round > 0 && p.last(t, dsn) <= committed || round == 0 && !p.begun(dsn); {
					if time.Now().After(late) {
						c.Process.Kill()
						c.Wait()
						t.Fatalf("round %d: no tick is committed after tick %d: %s", round, committed, said.String())
					}
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
				committed = p.last(t, dsn)
				tt.kill(t, c)
				c.Wait()
				if tt.name == "server" && (c.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "committed")) {
					t.Errorf("round %d: the run ends with %v, and says %q", round, c.ProcessState, said.String())
				}
				if now := p.last(t, dsn); now < committed {
					t.Fatalf("round %d: tick %d was committed, now %d is the last", round, committed, now)
				} else {
					committed = now
				}
				p.must(t, "audit", dsn, "--no-verdict")
				args = []string{"run", "--resume", dsn, "--no-record", "--quiet"}
			}
			t.Logf("killed ten times, ticks up to %d committed", committed)
		})
	}
}

// TestStandsStillOnPostgres: a run whose server does not answer says so, and an interrupt ends it.
func TestStandsStillOnPostgres(t *testing.T) {
	p := build(t)
	dsn := onServer(t, fmt.Sprintf("still_%d", os.Getpid()))
	c := p.command("run", "decay", "--ticks", "1000000000", "--no-record", "--quiet", "--audit", dsn)
	said, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	waiting.For(t, "a tick is committed", func() bool { return p.begun(dsn) })
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err == nil {
		_, err = tx.Exec("LOCK TABLE chain_hashes IN EXCLUSIVE MODE")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	late := time.AfterFunc(waiting.Hang, func() { c.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(said)
	if !lines.Scan() || !strings.Contains(lines.Text(), " has not answered for 10s; the run waits, and Ctrl-C ends it") {
		t.Errorf("it says %q", lines.Text())
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
	}
	c.Wait()
	if c.ProcessState.ExitCode() != report.StatusError || !strings.Contains(all.String(), "does not answer, and the run was interrupted") || !strings.Contains(all.String(), "are committed: ") {
		t.Errorf("it ends with %v, and says %s", c.ProcessState, all.String())
	}
}

// begun reports whether a tick is committed in a database that may have no tables yet.
func (p program) begun(dsn string) bool {
	out, err := p.command("audit", "list", dsn, "--json").Output()
	return err == nil && strings.Contains(string(out), `"last_tick":`) && !strings.Contains(string(out), `"last_tick":-1`)
}

// TestAuditEndsOnPostgres: a verdict is printed before a database takes it, and the first signal ends an audit whose database never does.
func TestAuditEndsOnPostgres(t *testing.T) {
	p := build(t)
	dsn := onServer(t, fmt.Sprintf("ends_%d", os.Getpid()))
	p.must(t, "run", "decay", "--ticks", "10", "--no-record", "--quiet", "--audit", dsn)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err == nil {
		_, err = tx.Exec("LOCK TABLE audits IN EXCLUSIVE MODE")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	c := p.command("audit", dsn)
	var errs strings.Builder
	c.Stderr = &errs
	said, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(waiting.Hang, func() { c.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "PASS ticks=0..10 hash=") {
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("after the verdict it says %q", lines.Text())
	}
	c.Wait()
	if want := "the verdict is not in the database: it has not answered for 5s after the interrupt\n"; c.ProcessState.ExitCode() != report.StatusOK || !strings.HasSuffix(errs.String(), want) {
		t.Errorf("it ends with %v, and says %q, want %q", c.ProcessState, errs.String(), want)
	}
}

// TestUnreadVerdictsOnPostgres: what a user may not read is not known: a run that its note vouches for is computed from the first tick, and a fork is neither
// signed nor gone on with. Who may add no verdict adds its alert and its halt.
func TestUnreadVerdictsOnPostgres(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	dsn := onServer(t, fmt.Sprintf("unread_%d", os.Getpid()))
	engine := dsn + "&role=murksim_engine"
	done(t, "run", "heat", "-q", "--until", "40", "--audit", dsn, "--audit-every", "10", "--no-record")
	d, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := d.Grant(t.Context()); err != nil {
		t.Fatal(err)
	}
	const unknown = "it is not known whether"
	run := runIDs(t, dsn)[0]
	if status, out, errs := murksim(t, nil, "run", "--resume", engine, "--until", "41", "--no-record"); status != report.StatusOK || strings.Contains(out, unknown) {
		t.Errorf("an engine goes on: %d, %s", status, out+errs)
	}
	done(t, "audit", "fork", dsn, "--tick", "30", "-q")
	fork := runIDs(t, dsn)[1]
	done(t, "audit", "key", "mine.key")
	if _, err := db.Exec("REVOKE SELECT ON audits FROM murksim_engine"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		status int
		args   []string
	}{
		{report.StatusOK, []string{"run", "--resume", engine, "--audit-run", run, "--until", "42", "--no-record"}},
		{report.StatusError, []string{"run", "--resume", engine, "--audit-run", fork, "--until", "42", "--no-record"}},
		{report.StatusError, []string{"audit", "sign", engine, "--run", fork, "--key", "mine.key", "-o", "fork.sig"}},
		{report.StatusError, []string{"audit", "fork", engine, "--run", fork}},
	} {
		if status, out, errs := murksim(t, nil, tt.args...); status != tt.status || strings.Count(out+errs, unknown) != 1 {
			t.Errorf("%s: %d, want %d\n%s", tt.args, status, tt.status, out+errs)
		}
	}
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"SET session_replication_role = replica", "ALTER TABLE chain_hashes DISABLE TRIGGER append_only", "UPDATE chain_hashes SET world_hash = sha256('') WHERE tick = 7",
		"ALTER TABLE chain_hashes ENABLE ALWAYS TRIGGER append_only"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	const alone = "\nthe verdict is not in the database: "
	if status, out, errs := murksim(t, nil, "audit", engine, "--run", run, "--halt"); status != report.StatusHalted || strings.Count(errs, alone) != 1 {
		t.Errorf("audit of an engine: %d, %s", status, out+errs)
	}
	var alerts, audits, halts int
	if err := db.QueryRow("SELECT (SELECT count(*) FROM alerts), (SELECT count(*) FROM audits), (SELECT count(*) FROM run_halts)").Scan(&alerts, &audits, &halts); err != nil || alerts != 1 || audits != 0 || halts != 1 {
		t.Errorf("%d alerts, %d verdicts, %d halts, %v; want 1, 0, 1", alerts, audits, halts, err)
	}
}
