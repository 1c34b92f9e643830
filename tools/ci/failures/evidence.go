package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/tools/ci/failures/colony"
	"github.com/murksim/murksim/tools/ci/failures/faults"
)

// inputs gives a colony four commands, two of them of one tick.
const inputs = "commands=[{tick: 50, spawn: {kind: colonist, cell: [5, 5]}}, {tick: 60, spawn: {kind: colonist, cell: [5, 6]}}, " +
	"{tick: 60, spawn: {kind: colonist, cell: [5, 7]}}, {tick: 70, spawn: {kind: colonist, cell: [5, 8]}}]"

// A forgery changes evidence, and says what must be found.
type forgery struct {
	name  string
	do    func(f *forged)
	table string
	row   int // a tick, or which of the four last inputs it is, from 1
}

// forge forges the evidence of a colony with four commands in each of the ways; all must be found.
func (l *lab) forge(ways []forgery) (*seen, error) {
	r, err := l.record(setup{Sets: []string{inputs}})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, w := range ways {
		f, err := l.evidence(r)
		if err != nil {
			return nil, err
		}
		row := w.row
		if w.table == "input_events" {
			row += len(f.inputs) - 4
		}
		if !l.unplanted {
			w.do(f)
		}
		path, err := l.bundle(f)
		if err != nil {
			return nil, err
		}
		v, err := l.audit(path)
		if err != nil {
			return nil, err
		}
		if v.Verdict != "EVIDENCE" || v.status != 4 || v.Table != w.table || v.Row != fmt.Sprint(row) {
			return nil, fmt.Errorf("%s: the audit gives %v; want EVIDENCE, %s, row %d", w.name, v, w.table, row)
		}
		found = append(found, fmt.Sprintf("%s: row %s", w.name, v.Row))
	}
	return &seen{by: "EVIDENCE, " + ways[0].table, report: strings.Join(found, "; "), status: 4}, nil
}

// last returns the four last inputs, those of the scenario's commands.
func (f *forged) last() []audit.Input { return f.inputs[len(f.inputs)-4:] }

// events are lost, doubled, reordered, changed and moved.
func (l *lab) events() (*seen, error) {
	return l.forge([]forgery{
		{"lost", func(f *forged) { n := len(f.inputs) - 4; f.inputs = slices.Delete(f.inputs, n+1, n+2) }, "input_events", 3},
		{"doubled", func(f *forged) { n := len(f.inputs) - 4; f.inputs = slices.Insert(f.inputs, n+2, f.inputs[n+1]) }, "input_events", 2},
		{"reordered", func(f *forged) { in := f.last(); in[1], in[2] = in[2], in[1] }, "input_events", 3},
		{"changed", func(f *forged) { flipLast(f.last()[1].Payload) }, "input_events", 2},
		{"moved to another tick", func(f *forged) { f.last()[2].Tick = 61 }, "input_events", 3},
	})
}

// flipLast changes a bit.
func flipLast(b []byte) { b[len(b)-1] ^= 1 }

// rehashed: the same by who computes the chain of the events anew.
func (l *lab) rehashed() (*seen, error) {
	rehash := func(f *forged) {
		var all audit.Events
		for i := range f.inputs {
			x := &f.inputs[i]
			x.Seq, x.Prev = all.Seq+1, all.Hash
			_ = all.Add(&x.Event)
			x.Hash = all.Hash
		}
	}
	return l.forge([]forgery{
		{"changed", func(f *forged) { flipLast(f.last()[1].Payload); rehash(f) }, "chain_hashes", 60},
		{"lost", func(f *forged) { f.inputs = f.inputs[:len(f.inputs)-1]; rehash(f) }, "chain_hashes", 70},
		{"reordered", func(f *forged) {
			in := f.last()
			in[1].Event, in[2].Event = in[2].Event, in[1].Event
			rehash(f)
		}, "chain_hashes", 60},
		{"moved to another tick", func(f *forged) { f.last()[3].Tick = 71; rehash(f) }, "chain_hashes", 70},
	})
}

// hashRows: rows of the chain are forged in a bundle, and in the database.
func (l *lab) hashRows() (*seen, error) {
	s, err := l.forge([]forgery{
		{"changed", func(f *forged) { f.links[planted].Hash[0] ^= 1 }, "chain_hashes", planted},
		{"removed", func(f *forged) { f.links = slices.Delete(f.links, planted, planted+1) }, "chain_hashes", planted},
		{"added", func(f *forged) { f.links = slices.Insert(f.links, planted, f.links[planted]) }, "chain_hashes", planted + 1},
		{"exchanged", func(f *forged) {
			a, b := &f.links[planted], &f.links[planted+9]
			a.Hash, b.Hash, a.Digests, b.Digests = b.Hash, a.Hash, b.Digests, a.Digests
		}, "chain_hashes", planted},
	})
	if err != nil {
		return nil, err
	}
	driver := "sqlite"
	if strings.Contains(l.desk.dsn, "://") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, l.desk.dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	for _, statement := range []string{
		"UPDATE chain_hashes SET world_hash = prev_hash WHERE tick = 61", "DELETE FROM chain_hashes WHERE tick = 61",
		"UPDATE input_events SET tick = 61 WHERE seq = 3", "DELETE FROM input_events WHERE seq = 3", "DELETE FROM runs",
	} {
		if _, err := db.Exec(statement); err == nil || !strings.Contains(err.Error(), "MS001") {
			return nil, fmt.Errorf("%s: %v, want MS001", statement, err)
		}
	}
	r, err := l.record(setup{})
	if err != nil {
		return nil, err
	}
	w, err := l.desk.db.Writer(context.Background(), r.ID)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	added := audit.Link{Tick: ticks + 1, StateLen: 100}
	if err := w.Commit(context.Background(), &audit.Batch{Links: []audit.Link{added}}); !errors.Is(err, store.ErrChain) {
		return nil, fmt.Errorf("adding a link that stands on zeros: %v, want %v", err, store.ErrChain)
	}
	s.report += "; the database refuses to change or remove a row (MS001) and to add one that does not follow"
	return s, nil
}

// nudged records a run in which an altitude is off at a tick.
func (l *lab) nudged(fault string) (*run, error) {
	id, err := l.entity(1, planted)
	if err != nil {
		return nil, err
	}
	f := faults.Fault{Name: fault, Tick: planted, Entity: id}
	if l.unplanted {
		f = faults.Fault{}
	}
	return l.record(setup{Fault: f})
}

// rewritten: all hashes are computed anew from a tick on, at which the state was changed.
func (l *lab) rewritten() (*seen, error) {
	other, err := l.nudged("hair")
	if err != nil {
		return nil, err
	}
	honest, err := l.evidence(l.control)
	if err != nil {
		return nil, err
	}
	changed, err := l.evidence(other)
	if err != nil {
		return nil, err
	}
	honest.links = slices.Concat(honest.links[:planted], changed.links[planted:])
	honest.snapshots = changed.snapshots
	path, err := l.bundle(honest)
	if err != nil {
		return nil, err
	}
	v, err := l.audit(path)
	if err == nil && (v.Verdict != "FAIL" || v.status != 3 || *v.Tick != planted || !slices.Equal(v.Sections, []string{"fields"})) {
		err = fmt.Errorf("the audit gives %v; want FAIL at tick %d", v, planted)
	}
	return &seen{by: "FAIL: fields", tick: planted, report: "the evidence is whole; the first tick that is computed otherwise is the planted one", status: 3}, err
}

// snapshots are changed, and exchanged.
func (l *lab) snapshots() (*seen, error) {
	for _, way := range []struct {
		do      func(s []audit.Snapshot)
		refused int
		from    string
	}{
		{func(s []audit.Snapshot) { s[1].State[len(s[1].State)/2] ^= 1 }, 1, "50"},
		{func(s []audit.Snapshot) { s[1].State, s[2].State = s[2].State, s[1].State }, 2, "100"},
	} {
		f, err := l.evidence(l.control)
		if err != nil {
			return nil, err
		}
		if !l.unplanted {
			way.do(f.snapshots)
		}
		path, err := l.bundle(f)
		if err != nil {
			return nil, err
		}
		v, err := l.audit(path)
		if err != nil {
			return nil, err
		}
		if v.Verdict != "PASS" || v.status != 0 || len(v.Refused) != way.refused {
			return nil, fmt.Errorf("the audit gives %v and refuses %q; want PASS, and %d refused", v, v.Refused, way.refused)
		}
		if v, err = l.audit(path, "--from-snapshot", way.from); err != nil {
			return nil, err
		}
		if v.Verdict != "EVIDENCE" || v.status != 4 || v.Table != "snapshots" || v.Row != way.from {
			return nil, fmt.Errorf("the audit from it gives %v; want EVIDENCE, snapshots, row %s", v, way.from)
		}
	}
	return &seen{by: "the snapshot is refused", tick: 50, report: "from genesis the run still passes; from the snapshot it is EVIDENCE (exit status 4)"}, nil
}

// halted: a halted run takes no row, and an engine that runs it ends.
func (l *lab) halted() (*seen, error) {
	ctx := context.Background()
	r, err := l.record(setup{})
	if err != nil {
		return nil, err
	}
	w, err := l.desk.db.Writer(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if !l.unplanted {
		if err := l.desk.db.Halt(ctx, r.ID, audit.Halt{Tick: planted, Code: audit.Divergence, At: time.Now()}); err != nil {
			return nil, err
		}
	}
	e, err := l.evidence(r)
	if err != nil {
		return nil, err
	}
	next := audit.Link{Tick: ticks + 1, Prev: e.links[ticks].Hash, InputSeq: e.links[ticks].InputSeq, InputHash: e.links[ticks].InputHash, StateLen: 100}
	if err := w.Commit(ctx, &audit.Batch{Links: []audit.Link{next}}); !errors.Is(err, store.ErrHalted) || l.blind == toAll {
		return nil, fmt.Errorf("a tick after the halt: %v, want %v", err, store.ErrHalted)
	}
	return l.haltedRunning(ctx)
}

// haltedRunning halts a run that another process computes.
func (l *lab) haltedRunning(ctx context.Context) (*seen, error) {
	label := fmt.Sprintf("halted %d", time.Now().UnixNano())
	c := exec.Command(l.desk.murksim, "run", "decay", "--ticks", "1000000000", "--no-record", "--audit", l.desk.dsn, "--audit-label", label)
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		return nil, err
	}
	late := time.AfterFunc(10*time.Minute, func() { c.Process.Kill() })
	defer late.Stop()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for halted := false; !halted; {
		select {
		case err := <-ended:
			return nil, fmt.Errorf("the run does not begin: %w, %s", err, said.String())
		case <-time.After(20 * time.Millisecond):
		}
		runs, err := l.desk.db.Runs(ctx)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(runs, func(r store.Listed) bool { return r.Run.Label == label && r.Links })
		if halted = i >= 0; !halted {
			continue
		}
		if err := l.desk.db.Halt(ctx, runs[i].Run.ID, audit.Halt{Tick: runs[i].Last, Code: audit.Divergence, At: time.Now()}); err != nil {
			return nil, err
		}
	}
	<-ended
	if status := c.ProcessState.ExitCode(); status != 5 {
		return nil, fmt.Errorf("the engine ends with status %d: %s", status, said.String())
	}
	return &seen{by: "the database refuses (MS002), the engine ends", report: "a run that goes on is ended at its next commit", status: 5}, nil
}

// alertLost: nothing answers at the address of the alert.
func (l *lab) alertLost() (*seen, error) {
	r, err := l.nudged("nudge")
	if err != nil {
		return nil, err
	}
	v, err := l.auditRun(r, "--halt", "--webhook", "http://127.0.0.1:1/alerts")
	if err != nil {
		return nil, err
	}
	halt, err := l.desk.db.Halted(context.Background(), r.ID)
	if err != nil {
		return nil, err
	}
	alerts, err := l.desk.db.Alerts(context.Background(), r.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case v.status != 5 || v.Verdict != "FAIL" || *v.Tick != planted:
		err = fmt.Errorf("the audit gives %v; want FAIL, exit status 5", v)
	case halt == nil || halt.Code != audit.Divergence || halt.Tick != planted:
		err = fmt.Errorf("the halt is %v", halt)
	case len(alerts) != 1 || alerts[0].Code != audit.Divergence || alerts[0].Tick != planted:
		err = fmt.Errorf("the alerts are %v", alerts)
	case !strings.Contains(v.errs, "the alert is not delivered"):
		err = fmt.Errorf("standard error says %q", v.errs)
	}
	return &seen{by: "FAIL; halt and alert are in the database", tick: planted, report: "standard error says that the alert is not delivered", status: 5}, err
}

// rocket is a world whose fourth tick cannot be held by its numbers.
const rocket = `murksim: 1
name: rocket
ticks: 12
space: {kind: square4, rows: 2, cols: 2}
fields:
  - {name: ground, element: fixed}
  - {name: x, domain: entities, element: fixed}
  - {name: y, domain: entities, element: fixed}
  - {name: height, domain: entities, element: fixed, initial: 140737488352256}
  - {name: vx, domain: entities, element: fixed}
  - {name: vy, domain: entities, element: fixed}
  - {name: vz, domain: entities, element: fixed, initial: 1024}
entities: {capacity: 1, kinds: [rocket], spawn: [{kind: rocket, count: 1}]}
systems:
  - bodies: {x: x, y: y, height: height, vx: vx, vy: vy, vz: vz, ground: ground}
`

// overflowRun runs that world by the program: nothing of the tick is committed, and the run is halted.
func (l *lab) overflowRun() (status int, err error) {
	if err := os.WriteFile(filepath.Join(l.desk.dir, "rocket.yaml"), []byte(rocket), 0o666); err != nil {
		return 0, err
	}
	label := fmt.Sprintf("rocket %d", time.Now().UnixNano())
	_, errs, status, err := l.desk.run(nil, "run", "rocket.yaml", "--no-record", "--audit", l.desk.dsn, "--audit-label", label)
	if err != nil {
		return 0, err
	}
	runs, err := l.desk.db.Runs(context.Background())
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(runs, func(r store.Listed) bool { return r.Run.Label == label })
	if status != 5 || i < 0 || runs[i].Last != 3 || runs[i].Halt == nil || runs[i].Halt.Code != audit.ArithmeticFault {
		return 0, fmt.Errorf("the program ends with status %d; its run is %+v: %s", status, runs[max(i, 0)].Halt, errs)
	}
	return status, nil
}

// resumeChain lets the program run the colony in ten processes, each of which goes on with the chain: it ends as that of a run in one go.
func (l *lab) resumeChain() (status int, err error) {
	label := fmt.Sprintf("resumed %d", time.Now().UnixNano())
	args := []string{"run", "colony", "--no-record", "--audit", l.desk.dsn, "--audit-label", label, "--until", "20"}
	for _, set := range colony.Sets {
		args = append(args, "--set", set)
	}
	for until := 20; until <= ticks; until += 20 {
		if _, errs, status, err := l.desk.run(nil, args...); err != nil || status != 0 {
			return status, fmt.Errorf("up to tick %d: exit status %d, %w: %s", until, status, err, errs)
		}
		runs, err := l.desk.db.Runs(context.Background())
		if err != nil {
			return 0, err
		}
		i := slices.IndexFunc(runs, func(r store.Listed) bool { return r.Run.Label == label })
		args = []string{"run", "--no-record", "--resume", l.desk.dsn, "--audit-run", runs[i].Run.ID.String(), "--until", fmt.Sprint(until + 20)}
		if until == ticks {
			return 0, l.sameChain(&run{ID: runs[i].Run.ID}, l.control)
		}
	}
	return 0, nil
}

// sameChain holds that two runs have the same links.
func (l *lab) sameChain(a, b *run) error {
	x, err := l.evidence(a)
	if err != nil {
		return err
	}
	y, err := l.evidence(b)
	if err != nil {
		return err
	}
	for i := range y.links {
		if i >= len(x.links) || !bytes.Equal(x.links[i].Hash[:], y.links[i].Hash[:]) {
			return fmt.Errorf("the chains differ at tick %d", i)
		}
	}
	return nil
}
