package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/tools/ci/failures/colony"
)

// A desk is where runs are committed and audited: a database, a folder for bundles, and the program.
type desk struct {
	dir, dsn string
	murksim  string // the program, with the feast
	db       *store.DB
}

// newDesk opens a database in a folder of its own, or that of MURKSIM_POSTGRES.
func newDesk(murksim string) (*desk, error) {
	dir, err := os.MkdirTemp("", "failures")
	if err != nil {
		return nil, err
	}
	d := &desk{dir: dir, murksim: murksim, dsn: os.Getenv("MURKSIM_POSTGRES")}
	if d.dsn == "" {
		d.dsn = filepath.Join(dir, "audit.db")
	}
	if d.db, err = store.Open(context.Background(), d.dsn); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return d, nil
}

func (d *desk) close() {
	d.db.Close()
	os.RemoveAll(d.dir)
}

// record runs a setup, and commits its chain, with a snapshot of every 50th tick.
func (l *lab) record(u setup) (*run, error) { return colony.Record(u, l.desk.chain) }

// chain begins the chain of a world.
func (d *desk) chain(r *run) (engine.Settler, func() error, error) {
	s, ctx := r.Scenario, context.Background()
	rate, err := audit.RateOf(s.TickRate)
	if err != nil {
		return nil, nil, err
	}
	row := audit.Run{
		Created: time.Now(), Label: r.Setup.Fault.Name, Seed: s.Seed, Rate: rate, Rules: engine.RulesVersion, Format: audit.StateFormat, Generator: s.Generator,
		Genesis: s.Descriptor(), Digest: sha256.Sum256(s.Descriptor()),
	}
	if _, err := hex.Decode(row.ID[:], []byte(rng.FreshID())); err != nil {
		return nil, nil, err
	}
	r.ID = row.ID
	if err := d.db.Create(ctx, &row); err != nil {
		return nil, nil, err
	}
	w, err := d.db.Writer(ctx, row.ID)
	if err != nil {
		return nil, nil, err
	}
	recorder, err := audit.NewRecorder(w, r.World, row.Genesis, 50)
	return recorder, func() error { return errors.Join(recorder.Close(), w.Close()) }, err
}

// A verdict is what the program says of an audit, and its exit status.
type verdict struct {
	Verdict  string
	Tick     *uint64  `json:"first_divergent_tick"`
	Sections []string `json:"differing_sections"`
	Hash     string   `json:"calculated_hash"`
	Table    string
	Row      string
	Reason   string
	Refused  []string `json:"refused_snapshots"`

	status int
	errs   string // on standard error
}

func (v *verdict) String() string {
	text := fmt.Sprintf("%s, exit status %d", v.Verdict, v.status)
	if v.Tick != nil {
		text += fmt.Sprintf(", tick %d, %s", *v.Tick, strings.Join(v.Sections, "+"))
	}
	if v.Table != "" {
		text += fmt.Sprintf(", %s, row %s", v.Table, v.Row)
	}
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	return text
}

// run runs the program to its end.
func (d *desk) run(env []string, args ...string) (out []byte, errs string, status int, err error) {
	c := exec.Command(d.murksim, args...)
	var said strings.Builder
	c.Stderr, c.Dir, c.Env = &said, d.dir, append(os.Environ(), env...)
	out, err = c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out, said.String(), exit.ExitCode(), nil
	}
	return out, said.String(), 0, err
}

// audit audits a source. A lab that is blind finds nothing.
func (l *lab) audit(source string, args ...string) (*verdict, error) {
	return l.auditWith(nil, source, args...)
}

// auditRun audits a run of the database.
func (l *lab) auditRun(r *run, args ...string) (*verdict, error) {
	return l.audit(l.desk.dsn, append([]string{"--run", r.ID.String()}, args...)...)
}

func (l *lab) auditWith(env []string, source string, args ...string) (*verdict, error) {
	out, errs, status, err := l.desk.run(env, slices.Concat([]string{"audit", source, "--json"}, args)...)
	if err != nil {
		return nil, err
	}
	v := &verdict{status: status, errs: errs}
	if err := json.Unmarshal(out, v); err != nil {
		return nil, fmt.Errorf("murksim audit says %.200q, and %.200q: %w", out, errs, err)
	}
	if l.blind == toAll {
		return &verdict{Verdict: "PASS"}, nil
	}
	return v, nil
}

// passes audits a run of the database, which must pass.
func (l *lab) passes(r *run) (status int, err error) {
	v, err := l.auditRun(r)
	if err == nil && (v.Verdict != "PASS" || v.status != 0) {
		err = fmt.Errorf("its audit gives %v", v)
	}
	return 0, err
}

// fails audits a run of the database, which must fail at a tick; in these sections, unless there are none to hold it to.
func (l *lab) fails(r *run, tick uint64, sections []string) (status int, err error) {
	v, err := l.auditRun(r)
	if err == nil && (v.Verdict != "FAIL" || v.status != 3 || v.Tick == nil || *v.Tick != tick || sections != nil && !slices.Equal(v.Sections, sections)) {
		err = fmt.Errorf("its audit gives %v; want FAIL at tick %d in %q", v, tick, sections)
	}
	if err != nil {
		return 0, err
	}
	return 3, l.bisects(r, tick, true)
}

// bisects lets the program bisect a run of the database: it must find the tick, and that it comes to the same each time, or not.
func (l *lab) bisects(r *run, tick uint64, stable bool, env ...string) error {
	out, errs, status, err := l.desk.run(env, "audit", "bisect", l.desk.dsn, "--run", r.ID.String(), "--json")
	if err != nil {
		return err
	}
	var v struct {
		Tick uint64
		B    struct{ Stable *bool }
	}
	if err := json.Unmarshal(out, &v); err != nil || status != 3 || v.Tick != tick || v.B.Stable == nil || *v.B.Stable != stable {
		return fmt.Errorf("audit bisect gives %.300s, %.300s, exit status %d (%w); want tick %d, stable %v", out, errs, status, err, tick, stable)
	}
	return nil
}

// Evidence of a run that can be forged.
type forged struct {
	run       audit.Run
	inputs    []audit.Input
	links     []audit.Link
	snapshots []audit.Snapshot
}

// evidence reads all that is committed of a run.
func (l *lab) evidence(r *run) (*forged, error) {
	ctx := context.Background()
	e, done, err := l.desk.db.Evidence(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	f := &forged{run: *e.Run()}
	for x, err := range e.Inputs(ctx, 0) {
		if err != nil {
			return nil, err
		}
		in := *x
		in.Payload = bytes.Clone(x.Payload)
		f.inputs = append(f.inputs, in)
	}
	for x, err := range e.Links(ctx, 0) {
		if err != nil {
			return nil, err
		}
		link := *x
		link.Digests = slices.Clone(x.Digests)
		f.links = append(f.links, link)
	}
	all, err := e.Snapshots(ctx)
	for _, tick := range all {
		var s *audit.Snapshot
		if s, err = e.Snapshot(ctx, tick); err != nil {
			break
		}
		f.snapshots = append(f.snapshots, *s)
	}
	return f, err
}

// Run implements [audit.Evidence].
func (f *forged) Run() *audit.Run { return &f.run }

// Inputs implements [audit.Evidence].
func (f *forged) Inputs(_ context.Context, after uint64) iter.Seq2[*audit.Input, error] {
	return each(f.inputs, func(x *audit.Input) bool { return x.Seq > after })
}

// Links implements [audit.Evidence].
func (f *forged) Links(_ context.Context, from uint64) iter.Seq2[*audit.Link, error] {
	return each(f.links, func(x *audit.Link) bool { return x.Tick >= from })
}

func each[T any](list []T, wanted func(*T) bool) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for i := range list {
			if wanted(&list[i]) && !yield(&list[i], nil) {
				return
			}
		}
	}
}

// Snapshots implements [audit.Evidence].
func (f *forged) Snapshots(context.Context) (ticks []uint64, err error) {
	for i := range f.snapshots {
		ticks = append(ticks, f.snapshots[i].Tick)
	}
	return ticks, nil
}

// Snapshot implements [audit.Evidence].
func (f *forged) Snapshot(_ context.Context, tick uint64) (*audit.Snapshot, error) {
	i := slices.IndexFunc(f.snapshots, func(s audit.Snapshot) bool { return s.Tick == tick })
	if i < 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return &f.snapshots[i], nil
}

// Halt implements [audit.Evidence].
func (f *forged) Halt(context.Context) (*audit.Halt, error) { return nil, nil }

// bundle writes evidence as a file for the program.
func (l *lab) bundle(f *forged) (path string, err error) {
	file, err := os.CreateTemp(l.desk.dir, "*.audit")
	if err != nil {
		return "", err
	}
	_, err = audit.WriteBundle(context.Background(), file, f)
	return file.Name(), errors.Join(err, file.Close())
}
