package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/survey"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
)

// A seekJob goes to a tick of a recording.
type seekJob struct {
	*app
	session.Visitor
	tick      uint64
	saveState string
	phases    bool
	watch     string // a field, or firstField; "": none
}

func (a *app) seekCommand() *cobra.Command {
	j := &seekJob{app: a, Visitor: session.Visitor{Opener: a.Session, MaxMemory: session.DefaultMaxMemory, Lenient: true}}
	c := &cobra.Command{
		Use:   "seek RECORDING --tick N",
		Short: "Show the state at a tick of a recording",
		Long:  aboutSeek,
		Example: `  murksim seek heat.murk --tick 500
  murksim seek heat.murk --tick 500 --save-state half.state
  murksim seek heat.murk --tick 500 --phases
  murksim seek heat.murk --tick 500 --watch
  murksim seek heat.murk --tick 500 --json | jq .fields`,
		Args: withWatch(cobra.ExactArgs(1), "one recording"),
		RunE: func(c *cobra.Command, args []string) error {
			j.saveState = files.Dashed(j.saveState)
			switch {
			case !c.Flags().Changed("tick"):
				return report.Usage("seek needs --tick")
			case args[0] == "-":
				return report.Usage("seek takes a file, not standard input")
			}
			if chain, err := ofChains(c, args, "tick", "save-state", "workers", "max-memory"); err != nil {
				return err
			} else if chain {
				return a.seekChain(c.Context(), args[0], j)
			}
			switch {
			case j.phases && j.tick == 0:
				return report.Usage("--phases needs a tick from 1 on; tick 0 is the world before the first tick")
			case j.phases && j.watch != "":
				return report.Usage("--phases and --watch cannot be used together")
			case j.saveState != "" && files.Same(args[0], j.saveState):
				return report.Usage("%s is the recording itself; write to another file", j.saveState)
			}
			if err := j.notState(j.saveState); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context()) // so that neither a line of progress nor a part of a state stays
			defer stop()
			return j.run(ctx, args[0])
		},
	}
	f := c.Flags()
	f.Var((*tickFlag)(&j.tick), "tick", "the tick")
	f.StringVar(&j.saveState, "save-state", "", "write the state to a `file`, or - for standard output")
	f.BoolVar(&j.phases, "phases", false, "also show the hashes after each part of the tick: commands, propagators, systems, checks, events")
	watchFlag(f, &j.watch, "draw a field in the terminal")
	a.visitorFlags(f, &j.Visitor)
	return c
}

const aboutSeek = `Seek goes to a tick of a recording, compares the hash of the state with the recorded one,
and shows what the state holds. It starts from the nearest state in the index, which run
writes beside the recording, or otherwise from the first tick. It uses only those states of
an index that have this user's seal, which run, serve, index and verify give to states that
they have computed themselves. Without one, it computes all ticks. Tick 0 is the world
before the first tick; a recording has no hash of it.

If a recording begins at a saved state, the first tick that can be shown is that of the
state, which is compared with its SHA-256. --state names its file if the recording does not
hold the state.

With --save-state it writes the state, so that run --state can continue from it. With
--watch it draws a field in the terminal, with the totals of the ticks before.

With --phases it shows the hash of the state after each part of the tick: the commands, each
propagator and system, the checks of what they wrote, and the events with which the tick
ends; and which fields each has changed. --json has the hash of each field after each part.

If the hash of the tick differs from the recorded one, --json still prints what the replay
holds, with both hashes, before the error, and nothing is saved.

For a chain (a database or bundle of run --audit) it shows and saves what audit state does.

Exit status: 0 the state matches, 3 it does not, 1 the file is damaged, has no such
tick or cannot be replayed here, 4 the evidence of a chain is broken.`

// A seekResult is what seek prints with --json.
type seekResult struct {
	Event        string             `json:"event"` // "state"
	File         string             `json:"file"`
	Tick         uint64             `json:"tick"`
	PlannedTicks uint64             `json:"planned_ticks"`
	Hash         string             `json:"hash,omitempty"`       // none at the tick of a state at which the recording begins
	StateHash    string             `json:"state_hash,omitempty"` // there, the SHA-256 of the state
	Recorded     string             `json:"recorded,omitempty"`   // the recorded hash, if it is another
	Keyframe     uint64             `json:"keyframe"`             // from which it started; 0: where the recording begins
	Fields       []fieldSummary     `json:"fields"`
	Population   map[string]uint64  `json:"population,omitempty"`
	Stats        []statSummary      `json:"stats,omitempty"`
	Parts        []session.PartView `json:"parts,omitempty"`
	Saved        string             `json:"saved,omitempty"`
	SavedBytes   int64              `json:"saved_bytes,omitempty"`

	*chainState
}

// A chainState is what seek reports only for a chain.
type chainState struct {
	OK       bool     `json:"ok"` // it is the state that was committed
	Run      string   `json:"run"`
	Sections []string `json:"differing_sections,omitempty"`
}

// A fieldSummary is what a field, or a component of a vector, holds at a tick.
type fieldSummary struct {
	Name string `json:"name"`
	fieldTotal
	Mean   *float64 `json:"mean,omitempty"` // not of categories
	values []string // of categories: their names
}

// A statSummary is one of the scenario's own statistics at a tick.
type statSummary struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value,omitempty"` // none if it has no value
}

// String says the same for people.
func (f *fieldSummary) String() string {
	if f.Mean != nil {
		return fmt.Sprintf("%.6g to %.6g, mean %.6g", *f.Min, *f.Max, *f.Mean)
	}
	var parts []string
	for _, name := range f.values {
		if n := f.Counts[name]; n > 0 {
			parts = append(parts, name+" "+words.Number(n))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

func (j *seekJob) run(ctx context.Context, name string) error {
	find := j.watched
	if j.phases {
		find = j.visitParts
	}
	v, err := find(ctx, name)
	if err != nil {
		return err
	}
	defer v.Close()
	r, err := stateOf(name, v)
	if err != nil {
		return err
	}
	if v.Wrong != nil {
		r.Recorded = words.Hash16(v.Recorded)
		if err := j.Result(r, false); err != nil {
			return err
		}
		return v.Wrong
	}
	if r.Saved = j.saveState; r.Saved != "" {
		if err := session.CheckNames(ctx, j.Opener, name, v.Scenario, r.Tick); err != nil {
			return words.About(name, err)
		}
		if r.SavedBytes, err = j.save(ctx, v.Player); err != nil {
			return err
		}
	}
	return j.print(name, v, r)
}

// visitParts is visit with a trace of the tick.
func (j *seekJob) visitParts(ctx context.Context, name string) (*session.Visit, error) {
	v, err := j.Visit(ctx, name, j.tick-1)
	if err != nil {
		return nil, err
	}
	v.Wrong = nil // of the tick before
	v.TickTrace, err = session.Traced(v.World, nil, v.Step)
	if v.Doubts(err) {
		if err = v.Seek(nil, j.tick-1); err == nil {
			v.TickTrace, err = session.Traced(v.World, nil, v.Step)
		}
	}
	if err == nil {
		return v, nil
	}
	if err = j.Visited(v, name, j.tick, err); err != nil {
		v.Close()
	}
	return v, err
}

// save writes the state, and replaces a saved state of that name, but no other file. It returns
// how many bytes there are.
func (j *seekJob) save(ctx context.Context, p *replay.Player) (length int64, err error) {
	b, err := p.World.Save(p.Source.Head().World())
	if err != nil {
		return 0, err
	}
	b = engine.Seal(b)
	if j.saveState == "-" {
		out, err := j.takeStdout()
		if err == nil {
			_, err = out.Write(b)
		}
		return int64(len(b)), err
	}
	if err := replaceable(j.saveState, session.StateMark, "saved state"); err != nil {
		return 0, err
	}
	return int64(len(b)), j.writeFrom(ctx, j.saveState, bytes.NewReader(b), true)
}

// sayGoOn says how to continue a run from the saved state, if the scenario of the recording is
// found under its name.
func (j *seekJob) sayGoOn(s *scenarios.Scenario) error {
	if s.PlannedTicks() == 0 {
		return nil
	}
	ticks, seed := fmt.Sprintf("ticks=%d", s.Ticks), fmt.Sprintf("seed=%d", s.Seed)
	for _, name := range []string{s.Name, s.Name + ".yaml"} {
		if info, err := os.Stat(name); !worlds.IsEmbedded(name) && (err != nil || !info.Mode().IsRegular()) {
			continue
		}
		for _, sets := range [][]string{nil, {ticks}, {seed}, {ticks, seed}} {
			again, err := j.LoadScenario(name, sets, j.MaxMemory)
			if err != nil || !bytes.Equal(again.Descriptor(), s.Descriptor()) {
				continue
			}
			flags := ""
			for _, set := range sets {
				flags += " --" + strings.Replace(set, "=", " ", 1)
			}
			return j.Say("next      %s run %s%s%s%s", j.Name, words.Argument(name), flags, session.StateArguments(j.saveState), j.MaxMemory.Flag())
		}
	}
	return nil
}

// stateOf says what a world holds.
func stateOf(name string, v *session.Visit) (*seekResult, error) {
	s, w := v.Scenario, v.World
	all, err := survey.New(s, nil)
	if err != nil {
		return nil, err
	}
	all.Look(w)
	r := &seekResult{Event: "state", File: name, Tick: w.Tick(), PlannedTicks: s.PlannedTicks(), Hash: words.Hash16(w.Hash()), Keyframe: v.Keyframe}
	if b := v.Begin; b != nil && b.Tick == r.Tick { // a state does not tell the hash of its own tick
		r.Hash, r.StateHash = "", fmt.Sprintf("%x", b.SHA256)
	}
	for i := range all.Totals {
		t := &all.Totals[i]
		f := fieldSummary{Name: t.Field, fieldTotal: totalOf(t), values: t.Values}
		if mean := t.Mean(); t.Values == nil {
			f.Mean = &mean
		}
		r.Fields = append(r.Fields, f)
	}
	if v.TickTrace != nil {
		r.Parts = v.TickTrace.Parts
	}
	if s.Entities != nil {
		r.Population = make(map[string]uint64)
		for kind, name := range s.Entities.Kinds {
			r.Population[name] = all.Population[kind]
		}
	}
	for _, x := range all.Stats {
		own := statSummary{Name: x.Name}
		if x.Value == x.Value {
			own.Value = &x.Value
		}
		r.Stats = append(r.Stats, own)
	}
	return r, nil
}

func (j *seekJob) print(name string, v *session.Visit, r *seekResult) error {
	if err := j.Emit(r); err != nil {
		return err
	}
	if err := j.Say("%s  tick %s, %s\n%s", words.Argument(name), tickOf(r.Tick, r.PlannedTicks), v.Origin(), r.hashLine()); err != nil {
		return err
	}
	if err := j.sayParts(r.Parts); err != nil {
		return err
	}
	if err := j.sayFields(v.Scenario, r); err != nil {
		return err
	}
	if r.Saved == "" {
		return nil
	}
	if err := j.Say("saved     %s  %s", document.FileName(r.Saved), words.Size(r.SavedBytes)); err != nil || r.Saved == "-" || r.Tick == r.PlannedTicks {
		return err
	}
	return j.sayGoOn(v.Scenario)
}

// tickOf writes a tick, and how many are planned if anything says that.
func tickOf(tick, planned uint64) string {
	if planned == 0 {
		return words.Number(tick)
	}
	return words.Number(tick) + " of " + words.Number(planned)
}

// sayFields prints what the fields hold, how many entities there are, and the scenario's own statistics.
func (a *app) sayFields(s *scenarios.Scenario, r *seekResult) error {
	for i := range r.Fields {
		if err := a.Say("%-9s %s", r.Fields[i].Name, &r.Fields[i]); err != nil {
			return err
		}
	}
	if s.Entities != nil {
		for _, name := range s.Entities.Kinds {
			if err := a.Say("%-9s %s", name, words.Number(r.Population[name])); err != nil {
				return err
			}
		}
	}
	for _, x := range r.Stats {
		text := "no value"
		if x.Value != nil {
			text = fmt.Sprintf("%.6g", *x.Value)
		}
		if err := a.Say("%-9s %s", x.Name, text); err != nil {
			return err
		}
	}
	return nil
}

// lines is how many lines print writes of a scenario, about.
func (j *seekJob) lines(s *scenarios.Scenario) int {
	n := 2 // where it is, and the hash
	if j.saveState != "" {
		n += 2
	}
	for i := range s.Fields {
		n += s.Fields[i].Def().Type.Components()
	}
	if s.Entities != nil {
		n += len(s.Entities.Kinds)
	}
	return n + len(s.Stats)
}

// hashLine is the hash, or that of the state at which the recording begins.
func (r *seekResult) hashLine() string {
	switch {
	case r.StateHash != "":
		return "state     " + r.StateHash + " (SHA-256), as the recording says"
	case r.Tick == 0: // a recording has no hash of it
		return "hash      " + r.Hash
	}
	return "hash      " + r.Hash + ", as recorded"
}

// sayParts prints the hash after each part, and which fields it changed.
func (j *seekJob) sayParts(parts []session.PartView) error {
	var rows [][]string
	for i, p := range parts {
		row := []string{p.Part, p.Hash}
		if i > 0 {
			row = append(row, strings.Join(session.OtherFields(p.Fields, parts[i-1].Fields), ", "))
		}
		rows = append(rows, row)
	}
	for i, line := range words.Aligned(rows) {
		label := ""
		if i == 0 {
			label = "parts"
		}
		if err := j.Say("%-9s %s", label, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}
