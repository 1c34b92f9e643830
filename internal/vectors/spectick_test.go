package vectors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

type columnCase struct {
	Name  string `json:"name"`
	Bytes string `json:"bytes"`
	Hash  string `json:"hash"`
}

type commandCase struct {
	Bytes  string `json:"bytes"` // as the frame holds it
	Result int    `json:"result"`
	Made   uint64 `json:"made,omitempty"` // the id of an entity or event
	Event  bool   `json:"event,omitempty"`
	Note   string `json:"note,omitempty"`
	what   string
}

type tickCase struct {
	Descriptor json.RawMessage `json:"descriptor,omitempty"` // of the first tick
	Tick       uint64          `json:"tick"`
	Commands   []commandCase   `json:"commands"` // and events, in the order in which they were applied
	Columns    []columnCase    `json:"columns"`
	Parameters string          `json:"parameters"`
	Events     string          `json:"events"`
	Random     string          `json:"random"`
	Inputs     string          `json:"inputs"`
	Rest       string          `json:"rest"`
	Hash       string          `json:"hash"`
}

// A run is a world whose ticks become cases.
type run struct {
	t    *testing.T
	s    *scenarios.Scenario
	w    *engine.World
	last tickCase
}

func newRun(t *testing.T, s *scenarios.Scenario) *run {
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, s: s, w: w}
	w.Record(r)
	return r
}

// genesis is tick 0.
func (r *run) genesis() tickCase {
	b, err := r.w.Save(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	state, err := engine.ReadState(b)
	if err != nil {
		r.t.Fatal(err)
	}
	c := tickCase{Descriptor: r.s.Descriptor(), Commands: []commandCase{}, Inputs: "00000000", Hash: h64(r.w.Hash()),
		Parameters: hexes(state.Sections[1]), Events: hexes(state.Sections[3]), Random: hexes(state.Sections[4])}
	return r.withColumns(c)
}

// withColumns adds the columns as they are now.
func (r *run) withColumns(c tickCase) tickCase {
	for i, d := range r.w.Defs() {
		c.Columns = append(c.Columns, columnCase{d.Name, hexes(r.w.Column(fieldID(i)).AppendBytes(nil)), h64(r.w.FieldHash(fieldID(i)))})
	}
	c.Rest = h64(r.w.Column(fieldID(len(r.w.Defs()) - 1)).Uint64[0])
	return c
}

// Record implements engine.Recorder.
func (r *run) Record(k *engine.Tick) error {
	parameters, events, random := k.Rest()
	c := tickCase{Tick: k.Number, Commands: []commandCase{}, Parameters: hexes(parameters), Events: hexes(events), Random: hexes(random), Hash: h64(k.Hash())}
	for i := range k.Receipts {
		p := &k.Receipts[i]
		c.Commands = append(c.Commands, commandCase{Bytes: hexes(p.Command.Append(nil)), Result: int(p.Reason), Made: p.Made, Event: p.Event, what: p.Kind.String()})
	}
	c.Inputs = hexes(commands.AppendResults(nil, k.Receipts))
	r.last = c
	return nil
}

// step computes a tick.
func (r *run) step(list ...commands.Command) tickCase {
	for _, c := range list {
		if _, err := r.w.Submit(c); err != nil {
			r.t.Fatal(err)
		}
	}
	if _, err := r.w.Step(); err != nil {
		r.t.Fatal(err)
	}
	return r.withColumns(r.last)
}

const zoo = `"seed":3,"space":{"kind":"line","length":4},"fields":[` +
	`{"name":"rock","mutability":"static"},{"name":"heat","min":0,"max":10,"at_bound":"absorb","initial":[{"value":5}]},` +
	`{"name":"sort","type":"categorical","values":["a","b","c"]},{"name":"wind","type":"vector(2)","element":"fixed"},` +
	`{"name":"energy","domain":"entities","min":0,"max":9,"initial":[{"value":2}]}],` +
	`"entities":{"capacity":2,"kinds":["cat","dog"],"occupancy":1},` +
	`"parameters":{"gain":{"key":5,"value":0.5},"loss":{"key":2,"value":-1}},` +
	`"propagators":[{"noise@1":{"name":"noise","field":"heat","scale":2}}]`

// A noted command says what it is for.
type noted struct {
	commands.Command
	note string
}

func energy(v float32) commands.FieldValue { return commands.FieldValue{Field: 4, Value: v} }

const inf = 0x7f800000

// firstTick is one of everything.
func firstTick() []noted {
	nan := commands.SetField(space.At(0), 1, 0)
	nan.Bits = inf
	nowhere := commands.SetField(space.At(9), 0, 1)
	expired := commands.Despawn(1)
	expired.Expires = 0
	last := commands.SetParameter(5, 7)
	last.Priority = 200
	badBatch := commands.SetParameterBatch(commands.Parameter{Key: 5, Value: 99}, commands.Parameter{Key: 6, Value: 1})
	return []noted{
		{last, "set_parameter of priority 200: applied last"},
		{commands.SetField(space.At(1), 1, 12), "set_field heat [1] = 12: bounded to 10"},
		{nan, "set_field heat = infinity"},
		{nowhere, "set_field of the static rock, no cell"},
		{commands.SetField(space.At(0), 0, 1), "set_field of the static rock"},
		{commands.SetField(space.At(0), 6, 1), "set_field of entity.kind, no field of the scenario"},
		{commands.SetField(space.At(2), 2, 1.5), "set_field sort = 1.5"},
		{commands.SetField(space.At(2, 1), 3, 0.1), "set_field wind [2], element 1 = 0.1"},
		{commands.SetField(space.At(2, 2), 3, 1), "set_field wind, element 2 of 2"},
		{commands.SetField(space.At(2), 3, 1), "set_field wind without an element: [2] is the element"},
		{commands.SetField(space.At(0, 1), 4, 1), "set_field energy of entity 1"},
		{commands.Spawn(space.At(4)), "spawn, no cell"},
		{commands.Spawn(space.At(1), energy(20), commands.FieldValue{Field: 1, Value: 1}), "spawn with heat, no attribute"},
		{commands.Spawn(space.At(1), commands.FieldValue{Field: 6, Value: 0.5}), "spawn with kind 0.5"},
		{commands.Spawn(space.At(1), energy(20), commands.FieldValue{Field: 6, Value: 1}), "spawn, energy 20, kind 1"},
		{commands.Spawn(space.At(1)), "spawn on the same cell"},
		{commands.Spawn(space.At(3)), "spawn"},
		{commands.Spawn(space.At(0)), "spawn, no slot"},
		{commands.Move(1<<20|2, space.At(1)), "move onto a full cell"},
		{commands.Move(1<<20|2, space.At(3)), "move to its own cell"},
		{commands.Move(7, space.At(9)), "move of an id that no entity has, to no cell"},
		{commands.SetField(commands.EntityCoord(1<<20|1), 4, 3), "set_field energy of the first"},
		{expired, "despawn, expired"},
		{badBatch, "batch with an unknown key"},
		{commands.SetParameterBatch(commands.Parameter{Key: 2, Value: 4}, commands.Parameter{Key: 2, Value: 6}), "batch: the later value holds"},
		{commands.Custom(77, []byte{1, 2}), "custom without a handler"},
		{commands.Later(2, commands.Despawn(1<<20|1)), "later: despawn the first in tick 2"},
		{commands.Later(1, commands.Despawn(1<<20|1)), "later, in this tick"},
		{commands.Later(3, commands.Spawn(space.At(2))), "later: spawn in tick 3"},
		{commands.Custom(commands.LaterType, []byte{2}), "later, data too short"},
		{commands.Cancel(1<<20 | 2), "cancel the second event"},
		{commands.Cancel(1<<20 | 2), "cancel it again"},
		{commands.Later(2, commands.SetField(space.At(3), 2, 2)), "later: its number is 3"},
		{commands.SetField(space.At(0), 1, 1).From(8, 2), "set_field by source 8, sequence 2: before all without a source"},
		{commands.SetField(space.At(0), 1, 2).From(8, 1), "set_field by source 8, sequence 1: comes first"},
	}
}

// secondTick frees a slot, and takes it again.
func secondTick() []noted {
	early := commands.Spawn(space.At(0))
	early.Priority = commands.PrioritySystem
	return []noted{
		{early, "spawn of priority 0: before the event of priority 1 that frees a slot"},
		{commands.Spawn(space.At(0)), "spawn: the lowest slot, with a new id"},
		{commands.Cancel(1<<20 | 3), "cancel an event that is due now"},
		{commands.Cancel(1 << 20), "cancel what never was"},
	}
}

// take computes a tick of noted commands.
func (r *run) take(list []noted) tickCase {
	var plain []commands.Command
	for _, c := range list {
		plain = append(plain, c.Command)
	}
	next := r.next()
	k := r.step(plain...)
	for i := range k.Commands {
		c := &k.Commands[i]
		if c.Event {
			continue
		}
		at := slices.IndexFunc(r.arrivals(list, next), func(b []byte) bool { return hexes(b) == c.Bytes })
		c.Note = list[at].note
	}
	return k
}

// next is the arrival number of the next input.
func (r *run) next() uint64 {
	b, err := r.w.Save(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := engine.ReadState(b)
	if err != nil {
		r.t.Fatal(err)
	}
	return s.Arrival
}

// arrivals are the commands as a frame holds them.
func (r *run) arrivals(list []noted, first uint64) (all [][]byte) {
	for i, c := range list {
		c.Arrival = first + uint64(i)
		all = append(all, bytes.Clone(c.Append(nil)))
	}
	return all
}

func tickKit(t *testing.T) kit {
	r := newRun(t, described(t, zoo))
	ticks := []any{r.genesis()}
	one, two := r.take(firstTick()), r.take(secondTick())
	ticks = append(ticks, one, two, r.step(), r.step())
	return kit{
		files:    map[string][]byte{"tick.json": lines(t, []string{"ticks"}, ticks)},
		examples: map[string]string{"commands": commandText(one) + commandText(two)},
	}
}

// commandText lists what a tick applied.
func commandText(k tickCase) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tick %d, in the order in which they are applied: result, what it made, command\n", k.Tick)
	for _, c := range k.Commands {
		made, note := "", c.Note
		if c.Made != 0 {
			made = fmt.Sprintf("%d<<20|%d", c.Made>>20, c.Made&(1<<20-1))
		}
		if c.Event {
			note = "event: " + c.what
		}
		fmt.Fprintf(&b, "  %2d  %-8s %s\n", c.Result, made, note)
	}
	return b.String()
}
