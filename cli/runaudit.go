package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// An auditing commits the chain of a run to a database. Without a database it does nothing.
type auditing struct {
	dsn     string
	label   string
	every   uint64 // ticks from one snapshot to the next
	webhook string // address that alerts are sent to; "": none
	wanted  string // the run with which to go on, by the beginning of its id
	resumes bool   // --resume is the database

	name     string // of the database, for people
	db       *store.DB
	writer   *store.Writer
	recorder *audit.Recorder
	run      audit.Run
	head     *audit.Head // where the chain goes on; nil: it begins
	unwatch  func()      // ends watch; nil: it has not begun
	halted   bool        // it has failed for good, and the database says so
	memory   runMemory
	notes    *notingStore // nil: nothing is committed yet
}

func (x *auditing) flags(f *pflag.FlagSet) {
	f.StringVar(&x.dsn, "audit", "", "also commit a chain of SHA-256 over every tick to a `database`: a file such as run.db, or postgres://user@host/name")
	f.StringVar(&x.wanted, "audit-run", "", "with --resume of a database: the run, by its `id` or the beginning of it (default: the only one)")
	f.StringVar(&x.label, "audit-label", "", "with --audit: a `text` that tells people what the run is")
	f.StringVar(&x.webhook, "webhook", "", "with --audit: send alerts to an `address`, too, by POST")
	f.Uint64Var(&x.every, "audit-every", audit.DefaultEvery, "with --audit: keep the state of every so many ticks, and of the last; 0: of none")
}

// check looks at the flags.
func (x *auditing) check(j *runJob, given func(flag string) bool) error {
	switch {
	case x.dsn == "" && (given("audit-label") || given("audit-every") || given("webhook")):
		return report.Usage("--audit-label, --audit-every and --webhook need --audit")
	case x.dsn != "" && j.resume != "":
		return report.Usage("--audit and --resume cannot be used together: --resume %s goes on with the chain of a run, with --resume of a recording there is none", words.Argument(x.dsn))
	case len(x.label) > audit.MaxText:
		return report.Usage("--audit-label has %s; the most are %s", words.Count(uint64(len(x.label)), "byte"), words.Count(uint64(audit.MaxText), "byte"))
	case !utf8.ValidString(x.label):
		return report.Usage("--audit-label must be a text in UTF-8")
	case given("audit-run") && !x.resumes:
		return report.Usage("--audit-run needs --resume of a database")
	}
	return checkAddress("--webhook", x.webhook)
}

// open opens the database before the run writes anything.
func (x *auditing) open(ctx context.Context) (err error) {
	if x.dsn == "" || x.db != nil {
		return nil
	}
	if x.db, err = store.Open(ctx, x.dsn); err != nil {
		return evidence.Stored(err)
	}
	x.name = x.db.Name()
	return nil
}

// begin begins the chain.
func (x *auditing) begin(ctx context.Context, j *runJob) (engine.Settler, error) {
	s := j.Scenario
	if x.head != nil {
		var err error
		if x.recorder, err = audit.ResumeRecorder(x.noting(j.app), j.World, x.run.Genesis, x.every, x.head); err == nil {
			x.watch(ctx, j.app)
		}
		return x.recorder, err
	}
	rate, err := audit.RateOf(s.TickRate)
	if err != nil {
		return nil, err
	}
	genesis := s.Descriptor()
	x.run = audit.Run{
		Created: time.Now(), Label: x.label, Seed: s.Seed, Rate: rate, Rules: engine.RulesVersion, Format: audit.StateFormat, Generator: s.Generator,
		Genesis: genesis, Digest: sha256.Sum256(genesis), Engine: replay.ThisBuild().Version, First: j.World.Tick(),
	}
	x.run.ID = evidence.FreshID()
	if x.writer, err = x.db.Begin(ctx, &x.run); err != nil {
		return nil, evidence.Stored(err)
	}
	if x.memory = memoryOf(x.run.ID); x.memory == "" {
		if err := j.Say("%s", noNote(x.memory.none())); err != nil {
			return nil, err
		}
	}
	if x.recorder, err = audit.NewRecorder(x.noting(j.app), j.World, genesis, x.every); err != nil {
		return nil, err
	}
	x.watch(ctx, j.app)
	return x.recorder, x.recorder.Flush() // so that a run has its first tick from the beginning
}

// noting returns where the recorder commits to.
func (x *auditing) noting(a *app) audit.Store {
	x.notes = &notingStore{Store: x.writer, memory: x.memory, in: x.db.Place(), failed: func(err error) {
		a.Meter(0).Clear()
		a.Warn("%s", noNote(words.InWords(err).Error()))
	}}
	return x.notes
}

// commitPatience is how long a commit may take before the run says that the database does not answer, and before an interrupt gives it up.
const commitPatience = 10 * time.Second

// watch says so when a commit takes long, and ends such a commit if the run is interrupted.
func (x *auditing) watch(ctx context.Context, a *app) {
	ended, end := context.WithCancel(context.Background())
	x.unwatch = end
	w, r, name := x.writer, x.recorder, x.name
	go func() {
		for told := false; ; {
			select {
			case <-ended.Done():
				return
			case <-time.After(commitPatience / 50):
			}
			switch long := w.Waiting() >= commitPatience; {
			case !long:
				told = false
			case ctx.Err() != nil:
				r.Abort(fmt.Errorf("%s does not answer, and the run was interrupted", name))
				return
			case !told:
				told = true
				a.Meter(0).Clear()
				a.Warn("%s has not answered for %s; the run waits, and Ctrl-C ends it", name, commitPatience)
			}
		}
	}()
}

// end commits the rest, and closes the database. A run that has failed for good is halted in it, with an alert.
func (x *auditing) end(ctx context.Context, a *app, tick uint64, failed error) (err error) {
	if x.recorder != nil {
		err = x.recorder.Close()
		x.notes.note()
		if w := x.writer; err == nil && w != nil {
			x.writer = nil
			err = evidence.Stored(w.Close())
		}
		cause := failed
		if haltCode(cause) == "" {
			cause = err
		}
		if haltCode(cause) != "" {
			if haltCode(cause) == audit.ChainConflict { // the world is ahead of what is committed
				tick = uint64(x.recorder.Committed() + 1)
			}
			alarm := alarm{Code: haltCode(cause), Run: x.run.ID.String(), Tick: tick, Reason: words.InWords(cause).Error(), id: x.run.ID}
			parting, stop := report.After(ctx, report.PartingTime)
			defer stop()
			x.halted = a.raise(parting, x.db, nil, &alarm, true, x.webhook)
		}
	}
	x.discard()
	return err
}

// discard ends the chain and closes the database.
func (x *auditing) discard() {
	if x.recorder != nil {
		x.recorder.Close() // whose error is told
		x.notes.note()
	}
	if x.unwatch != nil {
		x.unwatch()
	}
	if x.writer != nil {
		x.writer.Close()
		x.writer = nil
	}
	if x.db != nil {
		x.db.Close()
		x.db = nil
	}
}

// An auditedView is what a run reports about its chain with --json.
type auditedView struct {
	Database string `json:"database"`
	Run      string `json:"run"`
	First    uint64 `json:"first_tick"`
	Last     int64  `json:"last_tick"` // that is committed; -1: none
}

func (x *auditing) view() *auditedView {
	if x.recorder == nil {
		return nil
	}
	return &auditedView{x.name, x.run.ID.String(), x.run.First, x.recorder.Committed()}
}

// line says the same for people.
func (v *auditedView) line() string {
	return fmt.Sprintf("audited   %s  run %s  ticks %s to %s", v.Database, v.Run, words.Number(v.First), words.Number(uint64(v.Last)))
}
