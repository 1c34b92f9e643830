package cli

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// An inspectJob shows what is in a recording, without replaying it.
type inspectJob struct {
	*app
	frames, commands bool
	tick             uint64
	names            names
}

func (a *app) inspectCommand() *cobra.Command {
	j := &inspectJob{app: a}
	c := &cobra.Command{
		Use:   "inspect RECORDING",
		Short: "Show what is in a recording",
		Long: `Inspect prints a recording's header and how many frames it has; with --frames a line
for each, with --commands also their commands. With --json every line is an object:
the header, then every frame with its commands. It replays nothing.`,
		Example: `  murksim inspect heat.murk
  murksim inspect --commands --tick 500 heat.murk
  murksim inspect --json heat.murk | jq 'select(.tick == 500)'`,
		Args: arguments(cobra.ExactArgs(1), "one recording"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("tick") && j.tick == 0 {
				return usage("--tick must be a whole number above 0, not 0")
			}
			return j.inspect(args[0])
		},
	}
	c.Flags().BoolVar(&j.frames, "frames", false, "a line for every frame")
	c.Flags().BoolVar(&j.commands, "commands", false, "every frame with its commands")
	c.Flags().Uint64Var(&j.tick, "tick", 0, "this tick's frame only")
	return c
}

func (j *inspectJob) inspect(name string) error {
	rec, err := j.openRecording(name)
	if err != nil {
		return fmt.Errorf("%w%s", about(name, err), j.hint(name, err))
	}
	defer rec.close()
	if s, err := j.registry.FromDescriptor(rec.frames.Head().Descriptor); err == nil {
		j.names.scenario = s
	}
	if j.tick == 0 {
		if err := j.header(name, rec.frames.Head()); err != nil {
			return err
		}
	}
	var f replay.Frame
	var total struct{ frames, commands, last uint64 }
	found := false
	for {
		switch err := rec.frames.Next(&f); {
		case err == io.EOF && j.tick != 0 && !found:
			return fmt.Errorf("%s: it has no tick %s; it ends with tick %s", document.FileName(name), number(j.tick), number(total.last))
		case err == io.EOF:
			return j.say("frames    %s, %s, the last is tick %s", count(total.frames, "frame"), count(total.commands, "command"), number(total.last))
		case err != nil:
			return fmt.Errorf("%w\n  there are %s before it", about(name, err), count(total.frames, "whole frame"))
		}
		total.frames++
		total.commands += uint64(len(f.Records))
		total.last = f.Tick
		if j.tick != 0 && f.Tick != j.tick {
			continue
		}
		if j.tick != 0 && !found {
			if err := j.header(name, rec.frames.Head()); err != nil {
				return err
			}
		}
		found = true
		if err := j.frame(&f); err != nil {
			return err
		}
	}
}

// A headerView is a header in JSON.
type headerView struct {
	File       string          `json:"file"`
	Build      buildView       `json:"build"`
	Seed       string          `json:"seed"` // 64 bits are more than a JSON number holds
	ConfigHash string          `json:"config_hash"`
	FieldCount uint32          `json:"field_count"`
	CellCount  uint64          `json:"cell_count"`
	Bytes      int             `json:"descriptor_bytes"`
	Descriptor json.RawMessage `json:"descriptor,omitempty"` // if it is JSON
}

func (j *inspectJob) header(name string, h *replay.Header) error {
	view := headerView{
		File: name, Build: view(h.Build), Seed: fmt.Sprint(h.Seed), ConfigHash: hash16(h.ConfigHash),
		FieldCount: h.FieldCount, CellCount: h.CellCount, Bytes: len(h.Descriptor),
	}
	if json.Valid(h.Descriptor) {
		view.Descriptor = h.Descriptor
	}
	if err := j.emit(view); err != nil {
		return err
	}
	what, fields := "not a scenario of this build", count(uint64(h.FieldCount), "field")
	switch s := j.names.scenario; {
	case s != nil:
		if own := uint64(len(s.Fields)); own <= uint64(h.FieldCount) {
			fields = fmt.Sprintf("%s + %d of the engine's", count(own, "field"), uint64(h.FieldCount)-own)
		}
		what = fmt.Sprintf("scenario %s, %s, %s planned ticks", s.Name, s.Lattice().Space(), number(s.Ticks))
	case len(h.Descriptor) == 0:
		what = "none"
	}
	return j.say(`file      %s
recorded  by %s
seed      %d
config    hash %s, %s, %s cells
descriptor  %s, %s`, document.FileName(name), describe(h.Build), h.Seed, hash16(h.ConfigHash), fields, number(h.CellCount),
		size(int64(len(h.Descriptor))), what)
}

// A frameView is a frame in JSON.
type frameView struct {
	Tick     uint64        `json:"tick"`
	Hash     string        `json:"hash"`
	Commands []commandView `json:"commands"`
}

func (j *inspectJob) frame(f *replay.Frame) error {
	if j.json {
		view := frameView{Tick: f.Tick, Hash: hash16(f.Hash), Commands: []commandView{}}
		for i := range f.Records {
			view.Commands = append(view.Commands, viewOf(&f.Records[i], j.names))
		}
		return j.emit(view)
	}
	if !j.frames && !j.commands && j.tick == 0 {
		return nil
	}
	if err := j.say("tick %d  hash %s  %s", f.Tick, hash16(f.Hash), count(uint64(len(f.Records)), "command")); err != nil {
		return err
	}
	if !j.commands && j.tick == 0 {
		return nil
	}
	for i := range f.Records {
		v := viewOf(&f.Records[i], j.names)
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := j.say("  %s", text); err != nil {
			return err
		}
	}
	return nil
}

// A commandView is a command in JSON. Numbers that need 64 bits are strings, floats
// that JSON lacks are their names.
type commandView struct {
	Kind     string         `json:"kind"`
	Tag      uint8          `json:"tag"`
	Entity   string         `json:"entity,omitempty"`
	Coord    []int32        `json:"coord,omitempty"`
	ID       *uint32        `json:"id,omitempty"` // field, parameter or type
	Field    string         `json:"field,omitempty"`
	Param    string         `json:"parameter,omitempty"`
	Value    any            `json:"value,omitempty"`
	Values   map[string]any `json:"values,omitempty"`
	Data     string         `json:"data,omitempty"` // hexadecimal
	Priority uint8          `json:"priority"`
	Source   *string        `json:"source,omitempty"`
	Seq      *string        `json:"source_seq,omitempty"`
	Expires  string         `json:"expires_after,omitempty"`
	Arrival  string         `json:"arrival"`
	Error    string         `json:"error,omitempty"`
}

func viewOf(r *replay.Record, n names) commandView {
	v := commandView{Kind: commands.Kind(r.Tag).String(), Tag: r.Tag, Priority: r.Priority, Arrival: fmt.Sprint(r.Arrival)}
	if r.HasSource {
		v.Source = new(fmt.Sprint(r.Source))
	}
	if r.HasSeq {
		v.Seq = new(fmt.Sprint(r.SourceSeq))
	}
	if r.Expires != commands.NoExpiry {
		v.Expires = fmt.Sprint(r.Expires)
	}
	c, err := r.Command()
	if err != nil {
		v.Error, v.Data = err.Error(), hex.EncodeToString(r.Payload)
		return v
	}
	v.payload(&c, n)
	return v
}

func (v *commandView) payload(c *commands.Command, n names) {
	v.Coord = c.Coord.AppendTo(nil)
	switch c.Kind {
	case commands.KindMove, commands.KindDespawn:
		v.Entity = fmt.Sprint(c.Entity)
	case commands.KindSpawn:
		v.Values = map[string]any{}
		for f := range c.FieldValues() {
			name, value := n.attribute(f.Field, f.Value)
			v.Values[name] = value
		}
	case commands.KindSetField:
		v.ID, v.Field, v.Value = &c.ID, n.field(c.ID), jsonFloat(float64(c.Float32()))
		if n.ofEntities(c.ID) {
			v.Entity, v.Coord = entityAt(c.Coord)
		}
	case commands.KindCustom:
		v.ID, v.Data = &c.ID, hex.EncodeToString(c.Data)
	case commands.KindSetParameter:
		v.ID, v.Param, v.Value = &c.ID, n.parameter(c.ID), jsonFloat(c.Float64())
	case commands.KindSetParameterBatch:
		v.Values = map[string]any{}
		for p := range c.Parameters() {
			v.Values[orNumber(n.parameter(p.Key), p.Key)] = jsonFloat(p.Value)
		}
	}
}

// jsonFloat is v, or its name if JSON has no number for it.
func jsonFloat(v float64) any {
	if v-v != 0 {
		return fmt.Sprint(v)
	}
	return v
}
