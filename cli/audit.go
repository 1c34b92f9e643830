package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/scenarios"
)

// An auditJob audits runs, as the flags ask for it.
type auditJob struct {
	*app
	runs      []string
	all       bool
	from      tickFlag
	fromState bool // from is given
	to        tickFlag
	toTick    bool // to is given
	report    string
	unkept    bool
	halt      bool
	webhook   string
	workers   int
	maxMemory bytesFlag
}

func (a *app) auditCommand() *cobra.Command {
	j := &auditJob{app: a, maxMemory: defaultMaxMemory}
	c := &cobra.Command{
		Use:   "audit SOURCE",
		Short: "Prove that a run is what its chain says",
		Long: `Audit takes a run from a database that run --audit wrote, or from a bundle of audit export.
It checks the evidence: that no input, no hash and no snapshot was lost, changed, moved or
exchanged since it was committed. Then it computes the run again from its genesis and compares
the hash of every tick.

A source is a file, or postgres://user@host/name. The verdict is the last line:

  PASS ticks=0..1000 hash=...        every tick is what was committed
  FAIL tick=X expected=... calculated=...
                                     tick X is the first that is not
  EVIDENCE table=... row=... reason=...
                                     the first row that cannot be as it was committed

The verdict goes to the database, unless --no-verdict is given or it cannot be written to. A FAIL is
an alert there, too.

Exit status: 0 PASS, 1 the source cannot be read or the run not be computed here, 3 FAIL,
4 EVIDENCE, 5 the run is halted.`,
		Example: `  murksim run heat --audit run.db
  murksim audit run.db
  murksim audit run.db --from-snapshot 500
  murksim audit postgres://auditor@db.example/murksim --run 01234567-89ab-4def-8123-456789abcdef
  murksim audit heat.audit --report heat.json`,
		Args: arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			j.fromState, j.toTick = c.Flags().Changed("from-snapshot"), c.Flags().Changed("to")
			switch {
			case c.Flags().Changed("workers") && (j.workers < 1 || j.workers > engine.MaxWorkers):
				return usage("--workers must be 1 to %d, not %d", engine.MaxWorkers, j.workers)
			case j.all && len(j.runs) > 0:
				return usage("--all and --run cannot be used together")
			case j.halt && j.unkept:
				return usage("--halt and --no-verdict cannot be used together")
			}
			if err := checkWebhook(j.webhook); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			return j.run(ctx, args[0])
		},
	}
	f := c.Flags()
	f.StringArrayVar(&j.runs, "run", nil, "audit this run, by its `id` or the beginning of it; can be repeated")
	f.BoolVar(&j.all, "all", false, "audit all runs of the source")
	f.Var(&j.from, "from-snapshot", "begin at the snapshot of this `tick`, instead of at genesis")
	f.Var(&j.to, "to", "end with this `tick` (default: the last that is committed)")
	f.StringVar(&j.report, "report", "", "write the report, JSON, to a `file`")
	f.BoolVar(&j.unkept, "no-verdict", false, "do not write the verdict into the database")
	f.BoolVar(&j.halt, "halt", false, "halt a run that fails: nothing more is committed of it")
	f.StringVar(&j.webhook, "webhook", "", "send alerts to an `address`, too, by POST")
	f.IntVar(&j.workers, "workers", 0, "goroutines that share the work; any number gives the same result (default: one per core where that pays)")
	f.Var(&j.maxMemory, "max-memory", "refuse a world that takes more memory, not counting the commands of a tick")
	c.AddCommand(a.auditListCommand(), a.auditExportCommand(), a.auditImportCommand(), a.auditKeyCommand(), a.auditSignCommand(), a.auditCheckCommand())
	return c
}

// run audits the runs, and returns the worst outcome.
func (j *auditJob) run(ctx context.Context, name string) error {
	src, err := j.openEvidence(ctx, name)
	if err != nil {
		return err
	}
	defer src.close()
	ids, err := src.pick(ctx, j.runs, j.all)
	if err != nil {
		return err
	}
	if j.report != "" && len(ids) > 1 {
		return usage("--report takes one run, not %d", len(ids))
	}
	worst := statusOK
	for _, id := range ids {
		e, done, err := src.evidence(ctx, id)
		if err != nil {
			return err
		}
		v := j.audit(ctx, e)
		done()
		if ctx.Err() != nil {
			return fmt.Errorf("run %s: interrupted", id)
		}
		if err := j.conclude(ctx, name, src, v); err != nil {
			return err
		}
		worst = worse(worst, v.code)
	}
	if worst != statusOK {
		return &exitError{code: worst}
	}
	return nil
}

// worse returns the graver one of two exit statuses: what is broken before what differs before what cannot be told.
func worse(a, b int) int {
	rank := map[int]int{statusOK: 0, statusError: 1, statusHalted: 2, statusDiverged: 3, statusEvidence: 4}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// An auditReport is what came of one run.
type auditReport struct {
	Event    string    `json:"event"`  // "audit"
	Format   int       `json:"format"` // of the report: 1
	Run      string    `json:"run"`
	Label    string    `json:"label,omitempty"`
	Seed     whole     `json:"seed"`
	RateNum  int64     `json:"rate_num"`
	RateDen  int64     `json:"rate_den"`
	Rules    uint32    `json:"rules_version"`
	Recorded string    `json:"recorded_with"` // version of the engine
	Replayed buildView `json:"replayed_with"`
	Start    string    `json:"start"` // genesis or snapshot
	From     uint64    `json:"from_tick"`
	To       uint64    `json:"to_tick"`
	Ticks    uint64    `json:"ticks"`  // that were compared
	Inputs   uint64    `json:"inputs"` // in the evidence
	Verdict  string    `json:"verdict"`
	Tick     *uint64   `json:"first_divergent_tick,omitempty"`
	Expected string    `json:"expected_hash,omitempty"`
	Hash     string    `json:"calculated_hash,omitempty"`
	Sections []string  `json:"differing_sections,omitempty"`
	Table    string    `json:"table,omitempty"` // with EVIDENCE
	Row      string    `json:"row,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Refused  []string  `json:"refused_snapshots,omitempty"`
	Halted   string    `json:"halted,omitempty"` // the code
	Seconds  float64   `json:"seconds"`

	id       audit.ID
	code     int
	started  time.Time
	expected audit.Hash
	computed audit.Hash
}

// audit looks at the evidence of a run, and computes it again.
func (j *auditJob) audit(ctx context.Context, e audit.Evidence) *auditReport {
	r := e.Run()
	v := &auditReport{
		Event: "audit", Format: 1, Run: r.ID.String(), Label: r.Label, Seed: whole(r.Seed), RateNum: r.Rate.Num, RateDen: r.Rate.Den, Rules: r.Rules,
		Recorded: r.Engine, Replayed: viewBuild(replay.ThisBuild()), Start: "genesis", id: r.ID, started: time.Now(),
	}
	halt, err := e.Halt(ctx)
	if halt != nil {
		v.Halted, v.code = halt.Code, statusHalted
	}
	if err == nil {
		err = j.prove(ctx, e, v)
	}
	v.conclude(err)
	v.Seconds = time.Since(v.started).Seconds()
	return v
}

// prove checks the evidence and computes the run again.
func (j *auditJob) prove(ctx context.Context, e audit.Evidence, v *auditReport) error {
	found, err := audit.Check(ctx, e)
	if err != nil {
		return err
	}
	r := e.Run()
	v.From, v.To, v.Inputs, v.computed = r.First, found.Tick, found.Inputs, found.Hash
	for _, refused := range found.Refused {
		v.Refused = append(v.Refused, fmt.Sprintf("%s: %s", refused.Row, refused.Reason))
	}
	if err := j.say("evidence  %s, %s: whole", count(found.Ticks, "link"), count(found.Inputs, "input")); err != nil {
		return err
	}
	for _, text := range v.Refused {
		if err := j.say("refused   the snapshot of %s", text); err != nil {
			return err
		}
	}
	s, err := j.genesis(r)
	if err != nil {
		return err
	}
	again, from := &audit.Rerun{Evidence: e, Descriptor: s.Descriptor(), To: found.Tick}, r.First
	if j.fromState {
		from, v.Start = uint64(j.from), "snapshot"
	}
	switch to := uint64(j.to); {
	case !j.toTick:
	case to > found.Tick:
		return fmt.Errorf("--to is %s; the last tick that is committed is %s", number(to), number(found.Tick))
	case to < from:
		return fmt.Errorf("--to is %s; the audit begins at tick %s", number(to), number(from))
	default:
		again.To = to
	}
	if err := j.place(ctx, e, s, again, from); err != nil {
		return err
	}
	m := j.meter(again.To)
	m.first, v.From, v.To = again.World.Tick(), again.World.Tick(), again.To
	again.Passed = m.show
	if again.To < found.Tick {
		if v.computed, err = linkAt(ctx, e, again.To); err != nil {
			return err
		}
	}
	err = again.Run(ctx)
	m.clear()
	if err == nil {
		v.Ticks = v.To - v.From + 1
	}
	return err
}

// linkAt returns the hash of a tick.
func linkAt(ctx context.Context, e audit.Evidence, tick uint64) (audit.Hash, error) {
	for l, err := range e.Links(ctx, tick) {
		if err != nil {
			return audit.Hash{}, err
		}
		if l.Tick == tick {
			return l.Hash, nil
		}
		break
	}
	return audit.Hash{}, fmt.Errorf("no tick %s is committed", number(tick))
}

// genesis reads the scenario of a run, and holds that the run's other values are those of it.
func (j *auditJob) genesis(r *audit.Run) (*scenarios.Scenario, error) {
	s, err := j.registry.FromDescriptor(r.Genesis)
	if err != nil {
		return nil, unbuilt(err)
	}
	rate, err := audit.RateOf(s.TickRate)
	if err != nil {
		return nil, err
	}
	wrong := ""
	switch {
	case r.Seed != s.Seed:
		wrong = fmt.Sprintf("its seed is %d, that of its genesis %d", r.Seed, s.Seed)
	case r.Rate != rate:
		wrong = fmt.Sprintf("its tick rate is %d/%d, that of its genesis %d/%d", r.Rate.Num, r.Rate.Den, rate.Num, rate.Den)
	case r.Generator != s.Generator:
		wrong = fmt.Sprintf("its random numbers are of %s, those of its genesis of %s", r.Generator, s.Generator)
	}
	if wrong != "" {
		return nil, &audit.EvidenceError{Table: "runs", Row: r.ID.String(), Reason: wrong}
	}
	if r.Rules != engine.RulesVersion {
		return nil, fmt.Errorf("its rules have version %d; this program has version %d", r.Rules, engine.RulesVersion)
	}
	return s, checkMemory(s, j.maxMemory)
}

// place makes the world of a rerun: at genesis, or in the state of a snapshot.
func (j *auditJob) place(ctx context.Context, e audit.Evidence, s *scenarios.Scenario, again *audit.Rerun, from uint64) (err error) {
	if from == e.Run().First && from == 0 {
		again.World, err = made(ctx, j.app, func(step func(share float64) error) (*engine.World, error) { return s.Make(j.workers, step) })
		return unbuilt(err)
	}
	if ticks, err := e.Snapshots(ctx); err != nil {
		return err
	} else if !slices.Contains(ticks, from) {
		return fmt.Errorf("there is no snapshot of tick %s; there are those of %v", number(from), ticks)
	}
	snapshot, head, err := audit.Open(ctx, e, from)
	if err != nil {
		return err
	}
	again.From = head
	again.World, err = made(ctx, j.app, func(step func(share float64) error) (*engine.World, error) {
		return s.Restore(j.workers, snapshot.State, step)
	})
	if state, ok := errors.AsType[*engine.StateError](err); ok {
		return &audit.EvidenceError{Table: "snapshots", Row: fmt.Sprintf("tick %d", from), Reason: stateProblem(state).Error()}
	}
	return unbuilt(err)
}

// conclude says what an error comes to.
func (v *auditReport) conclude(err error) {
	diverged, d := errors.AsType[*audit.DivergenceError](err)
	evidence, broken := errors.AsType[*audit.EvidenceError](err)
	switch {
	case err == nil:
		v.Verdict, v.Hash = "PASS", v.computed.String()
	case d:
		v.Verdict, v.code, v.Tick = "FAIL", statusDiverged, &diverged.Tick
		v.expected, v.computed = diverged.Expected, diverged.Calculated
		v.Expected, v.Hash = diverged.Expected.String(), diverged.Calculated.String()
		if diverged.Err != nil {
			v.Reason = diverged.Err.Error()
		}
		for _, id := range diverged.Sections {
			v.Sections = append(v.Sections, engine.SectionNames[id-1])
		}
	case broken:
		v.Verdict, v.code = "EVIDENCE", statusEvidence
		words := strings.Fields(evidence.Row)
		v.Table, v.Row, v.Reason = evidence.Table, words[len(words)-1], evidence.Reason
	default:
		v.Verdict, v.code = "ERROR", statusError
		v.Reason = inWords(err).Error()
	}
}

// line is the verdict as the last line of the output.
func (v *auditReport) line() string {
	switch v.Verdict {
	case "PASS":
		return fmt.Sprintf("PASS ticks=%d..%d hash=%s", v.From, v.To, v.Hash)
	case "FAIL":
		return fmt.Sprintf("FAIL tick=%d expected=%s calculated=%s", *v.Tick, v.Expected, v.Hash)
	case "EVIDENCE":
		return fmt.Sprintf("EVIDENCE table=%s row=%s reason=%s", v.Table, v.Row, v.Reason)
	}
	return "ERROR reason=" + v.Reason
}

// conclude keeps and prints the verdict of a run.
func (j *auditJob) conclude(ctx context.Context, name string, src *evidenceSource, v *auditReport) error {
	text := v.json()
	if j.report != "" {
		if err := j.writeFile(j.report, append(text, '\n'), true); err != nil {
			return err
		}
	}
	if err := j.keep(ctx, name, src, v, text); err != nil {
		fmt.Fprintf(j.errs, "the verdict is not in the database: %v\n", stored(err))
	}
	if v.Halted != "" {
		if err := j.say("halted    %s", v.Halted); err != nil {
			return err
		}
	}
	if v.Verdict == "FAIL" && v.Reason != "" {
		if err := j.say("fails     tick %s cannot be computed: %s", number(*v.Tick), v.Reason); err != nil {
			return err
		}
	}
	if len(v.Sections) > 0 {
		if err := j.say("differs   in the section %s", strings.Join(v.Sections, ", ")); err != nil {
			return err
		}
	}
	return cmp.Or(j.emit(v), j.say("%s", v.line()))
}

// keep adds the verdict to the database, and raises an alarm for one that fails.
func (j *auditJob) keep(ctx context.Context, name string, src *evidenceSource, v *auditReport, text []byte) (err error) {
	x := &alarm{Code: audit.Divergence, Run: v.Run, Expected: v.Expected, Calculated: v.Hash, Reason: v.Reason, id: v.id}
	var db *store.DB
	if src.db != nil && !j.unkept {
		if db, err = store.Open(ctx, name); err == nil {
			defer db.Close()
			row := store.Audit{
				ID: freshID(), Run: v.id, Started: v.started, Finished: time.Now(), Engine: replay.ThisBuild().Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
				From: v.From, To: v.To, Verdict: v.Verdict, Expected: v.expected, Computed: v.computed, Report: string(text),
			}
			if v.Tick != nil {
				row.Divergent = *v.Tick
			}
			if err = db.Audit(ctx, &row); err == nil {
				x.audit = row.ID
			}
		}
	}
	if v.Verdict == "FAIL" {
		x.Tick = *v.Tick
		if j.raise(ctx, db, x, j.halt, j.webhook) && j.halt {
			v.Halted, v.code = x.Code, statusHalted
		}
	}
	return err
}
