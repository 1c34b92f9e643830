package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// A seekJob goes to a tick of a recording.
type seekJob struct {
	visitor
	tick      uint64
	saveState string
	phases    bool
	watch     string // a field, or firstField; "": none
}

func (a *app) seekCommand() *cobra.Command {
	j := &seekJob{visitor: visitor{app: a, maxMemory: defaultMaxMemory, lenient: true}}
	c := &cobra.Command{
		Use:   "seek RECORDING --tick N",
		Short: "Show the state at a tick of a recording",
		Long: `Seek goes to a tick of a recording, compares the hash of the state with the recorded one,
and shows what the state holds. It starts from the nearest state in the index, which
run writes beside the recording, or else from the first tick. Tick 0 is the world before
the first tick; a recording has no hash of it.

In a recording that begins at a saved state, the first tick that can be shown is that of the
state, which is compared with its SHA-256. --state names its file where the recording does not
hold it.

With --save-state it writes the state, from which run --state goes on. With --watch it draws
a field in the terminal, and the totals of the ticks before.

With --phases it shows the hash of the state after each part of the tick: the commands, each
propagator and system, the checks of what they wrote, and the events with which the tick
ends; and which fields each has changed. --json has the hash of each field after each part.

If the hash of the tick is not the recorded one, --json prints what the replay holds all the
same, with both hashes, before the error, and nothing is saved.

Exit status: 0 the state matches, 3 it does not, 1 the file is damaged, has no such
tick or cannot be replayed here.`,
		Example: `  murksim seek heat.murk --tick 500
  murksim seek heat.murk --tick 500 --save-state half.state
  murksim seek heat.murk --tick 500 --phases
  murksim seek heat.murk --tick 500 --watch
  murksim seek heat.murk --tick 500 --json | jq .fields`,
		Args: withWatch(cobra.ExactArgs(1), "one recording"),
		RunE: func(c *cobra.Command, args []string) error {
			j.saveState = dashed(j.saveState)
			switch {
			case !c.Flags().Changed("tick"):
				return usage("seek needs --tick")
			case args[0] == "-":
				return usage("seek takes a file, not standard input")
			case j.phases && j.tick == 0:
				return usage("--phases needs a tick from 1 on; tick 0 is the world before the first tick")
			case j.phases && j.watch != "":
				return usage("--phases and --watch cannot be used together")
			case c.Flags().Changed("watch") && j.watch == "":
				return usage("--watch=FIELD must name a field; it is empty")
			case c.Flags().Changed("save-state") && j.saveState == "":
				return usage("--save-state must be a file; it is empty")
			case j.saveState != "" && same(args[0], j.saveState):
				return usage("%s is the recording itself; write to another file", j.saveState)
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
	j.flags(f)
	return c
}

// A seekResult is what seek prints with --json.
type seekResult struct {
	Event        string         `json:"event"` // "state"
	File         string         `json:"file"`
	Tick         uint64         `json:"tick"`
	PlannedTicks uint64         `json:"planned_ticks"`
	Hash         string         `json:"hash,omitempty"`       // none at the tick of a state at which the recording begins
	StateHash    string         `json:"state_hash,omitempty"` // there, the SHA-256 of the state
	Recorded     string         `json:"recorded,omitempty"`   // the recorded hash, if it is another
	Keyframe     uint64         `json:"keyframe"`             // from which it started; 0: where the recording begins
	Fields       []fieldSummary `json:"fields"`
	Population   map[string]int `json:"population,omitempty"`
	Parts        []partView     `json:"parts,omitempty"`
}

// A fieldSummary is what a field holds at a tick.
type fieldSummary struct {
	Name string  `json:"name"`
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
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
	defer v.close()
	if v.wrong != nil {
		r := j.look(name, v)
		r.Recorded = hash16(v.recorded)
		if err := j.result(r, false); err != nil {
			return err
		}
		return v.wrong
	}
	if err := j.save(ctx, v.Player); err != nil {
		return err
	}
	return j.print(name, v)
}

// visitParts is visit with a trace of the tick.
func (j *seekJob) visitParts(ctx context.Context, name string) (*visit, error) {
	v, err := j.visit(ctx, name, j.tick-1)
	if err != nil {
		return nil, err
	}
	v.wrong = nil // of the tick before
	if v.trace, err = traced(v.World, nil, v.Step); err == nil {
		return v, nil
	}
	if err = j.visited(v, name, j.tick, err); err != nil {
		v.close()
	}
	return v, err
}

// save writes the state, and replaces a saved state of that name, but no other file.
func (j *seekJob) save(ctx context.Context, p *replay.Player) error {
	if j.saveState == "" {
		return nil
	}
	b, err := p.World.Save(p.Source.Head().World())
	if err != nil {
		return err
	}
	b = engine.Seal(b)
	if j.saveState == "-" {
		out, err := j.takeStdout()
		if err == nil {
			_, err = out.Write(b)
		}
		return err
	}
	if err := replaceable(j.saveState, stateMark, "saved state"); err != nil {
		return err
	}
	return j.writeFrom(ctx, j.saveState, bytes.NewReader(b), true)
}

// look says what a world holds.
func (j *seekJob) look(name string, v *visit) *seekResult {
	s, w := v.scenario, v.World
	r := &seekResult{Event: "state", File: name, Tick: w.Tick(), PlannedTicks: s.Ticks, Hash: hash16(w.Hash()), Keyframe: v.from}
	if b := v.begin; b != nil && b.Tick == r.Tick { // a state does not tell the hash of its own tick
		r.Hash, r.StateHash = "", fmt.Sprintf("%x", b.SHA256)
	}
	for i := range s.Fields {
		r.Fields = append(r.Fields, summarize(w, fields.ID(i)))
	}
	if v.trace != nil {
		r.Parts = v.trace.parts
	}
	if s.Entities != nil {
		r.Population = make(map[string]int)
		var slots []int32
		for kind, name := range s.Entities.Kinds {
			slots = w.AppendKind(slots[:0], int32(kind))
			r.Population[name] = len(slots)
		}
	}
	return r
}

func (j *seekJob) print(name string, v *visit) error {
	r := j.look(name, v)
	if err := j.emit(r); err != nil {
		return err
	}
	if err := j.say("%s  tick %s of %s, %s\n%s", argument(name), number(r.Tick), number(r.PlannedTicks), v.origin(), r.hashLine()); err != nil {
		return err
	}
	if err := j.sayParts(r.Parts); err != nil {
		return err
	}
	for _, f := range r.Fields {
		if err := j.say("%-9s %.6g to %.6g, mean %.6g", f.Name, f.Min, f.Max, f.Mean); err != nil {
			return err
		}
	}
	if v.scenario.Entities == nil {
		return nil
	}
	for _, name := range v.scenario.Entities.Kinds {
		if err := j.say("%-9s %s", name, number(uint64(r.Population[name]))); err != nil {
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
	return n
}

// origin says where a visit started.
func (v *visit) origin() string {
	switch {
	case v.from > 0:
		return "from the keyframe of tick " + number(v.from)
	case v.begin != nil:
		return "from the state of tick " + number(v.begin.Tick)
	}
	return "from the first tick"
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
func (j *seekJob) sayParts(parts []partView) error {
	var rows [][]string
	for i, p := range parts {
		row := []string{p.Part, p.Hash}
		if i > 0 {
			row = append(row, strings.Join(otherFields(p.Fields, parts[i-1].Fields), ", "))
		}
		rows = append(rows, row)
	}
	for i, line := range aligned(rows) {
		label := ""
		if i == 0 {
			label = "parts"
		}
		if err := j.say("%-9s %s", label, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// summarize looks at all elements of a field; of attributes, at those of living entities.
func summarize(w *engine.World, id fields.ID) fieldSummary {
	d := &w.Defs()[id]
	s := fieldSummary{Name: d.Name}
	alive := w.Entities().ID
	per := 1
	if len(alive) > 0 {
		per = max(1, w.Column(id).Len()/len(alive))
	}
	n, sum := 0, 0.0
	for i := range w.Column(id).Len() {
		if d.Domain == fields.Entities && alive[i/per] == 0 {
			continue
		}
		v := w.Value(id, i)
		if n++; n == 1 || v < s.Min {
			s.Min = v
		}
		if n == 1 || v > s.Max {
			s.Max = v
		}
		sum += v
	}
	if n > 0 {
		s.Mean = sum / float64(n)
	}
	return s
}
