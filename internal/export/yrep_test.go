package export_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

const meadow = `murksim: 1
name: meadow
seed: 3
tick_rate: 10
ticks: 9
space: {kind: square4, rows: 4, cols: 6}
fields:
  - {name: hill, initial: 2.5}
  - {name: grass, initial: 1}
  - {name: energy, domain: entities, initial: 5}
  - {name: does, type: categorical, values: [rest, bleat, dig], domain: entities}
  - {name: wool, type: vector(2), domain: entities}
entities:
  capacity: 4
  kinds: [sheep, dog]
  spawn:
    - {kind: sheep, name: dolly, cells: [[1, 2]], set: {wool: 1}}
    - {kind: dog, cells: [[0, 0]]}
commands:
  - {tick: 2, move: {entity: dolly, cell: [1, 3]}}
  - {tick: 3, set: {field: energy, entity: dolly, value: 4}}
  - {tick: 3, set: {field: does, entity: dolly, value: bleat}}
  - {tick: 4, set: {field: does, entity: dolly, value: dig}}
  - {tick: 4, set: {field: grass, cell: [2, 5], value: 7}}
  - {tick: 5, set: {field: hill, cell: [1, 3], value: 3}}
  - {tick: 5, set: {field: wool, entity: dolly, value: 0}}
  - {tick: 6, despawn: {entity: dolly}}
  - {tick: 7, spawn: {kind: sheep, cell: [3, 5]}}
`

const meadowMapping = `yrep:
  names: [{kind: dog, name: Hound}]
  ground: hill
  health: energy
  action: does
  actions: [{value: bleat, chat: Baa!}, {value: dig, swing: true}]
  items: [{field: wool, slot: 2, item: wool}, {field: wool, slot: 2, item: other}]
  blocks: [{field: grass, level: 1, materials: [0, 31, 32]}]
`

// exportYREP runs a scenario and writes all ticks.
func exportYREP(t *testing.T, s *scenarios.Scenario, look export.Look) ([]byte, string, error) {
	t.Helper()
	var b bytes.Buffer
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := export.NewPlan(s, export.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := export.FormatOf("x.yrep")
	if err != nil {
		t.Fatal(err)
	}
	sink, err := f.Open(discard{&b}, p, export.Ticks{Every: 1, Count: s.Ticks + 1}, look)
	if err != nil {
		return nil, "", err
	}
	if err := sink.Add(w); err != nil {
		return nil, "", err
	}
	for range s.Ticks {
		if _, _, err := w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		if err := sink.Add(w); err != nil {
			return nil, "", err
		}
	}
	err = sink.Close()
	return b.Bytes(), sink.Summary(), err
}

// lines returns the JSON lines of a file.
func lines(t *testing.T, b []byte) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := yrep.Convert(&out, bytes.NewReader(b), yrep.Options{}, yrep.Auto); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestYREP holds what every part of a mapping writes, tick by tick.
func TestYREP(t *testing.T) {
	s := parse(t, meadow+meadowMapping)
	b, what, err := exportYREP(t, s, export.Look{})
	if err != nil || what != "9 frames, 3 players, 15 instructions" {
		t.Errorf("%s, %v", what, err)
	}
	uuid := func(n uint32, tick uint64) string { return engine.NewUUID("agent", 3, tick, n).String() }
	add := func(tracker int, uuid, name string, x, y, z string) string {
		return fmt.Sprintf(`{"instruction":"ADD_PLAYER","tracker_id":%d,"uuid":"%s","name":"%s","skin_value":"","skin_signature":""},`+
			`{"instruction":"ENTITY_POSITION","tracker_id":%[1]d,"x":%[4]s,"y":%[5]s,"z":%[6]s,"yaw":0,"pitch":0}`, tracker, uuid, name, x, y, z)
	}
	want := `{"yrep":282,"dialect":"narrow","protocol":"v1_8_R3","metadata":"{\"scenario\":\"meadow\",\"seed\":3,\"tick_rate\":10,\"first_tick\":1}"}
{"frame":1,"instructions":[` + add(128, uuid(0, 1), "dolly", "2", "2.5", "1") + `,{"instruction":"PLAYER_INVENTORY","tracker_id":128,"slot":"CHESTPLATE","item":"wool"},` + add(129, uuid(1, 1), "Hound 1", "0", "2.5", "0") + `]}
{"frame":2,"instructions":[{"instruction":"ENTITY_POSITION","tracker_id":128,"x":3}]}
{"frame":3,"instructions":[{"instruction":"PLAYER_DAMAGE","tracker_id":128},{"instruction":"PLAYER_CHAT","tracker_id":128,"message":"Baa!"}]}
{"frame":4,"instructions":[{"instruction":"PLAYER_ARM_SWING","tracker_id":128},{"instruction":"BLOCK_CHANGE","x":5,"y":3,"z":2,"old_material":31,"old_data":0,"new_material":32,"new_data":0}]}
{"frame":5,"instructions":[{"instruction":"ENTITY_POSITION","tracker_id":128,"y":3},{"instruction":"PLAYER_INVENTORY","tracker_id":128,"slot":"CHESTPLATE","item":""}]}
{"frame":6,"instructions":[{"instruction":"PLAYER_DEATH","tracker_id":128}]}
{"frame":7,"instructions":[` + add(130, uuid(0, 7), "sheep 1", "5", "2.5", "3") + `]}
{"frame":8,"instructions":[]}
{"frame":9,"instructions":[]}
`
	if got := lines(t, b); got != want {
		t.Errorf("lines are\n%s\nwant\n%s", got, want)
	}
}

// TestYREPWithout: without a mapping every entity is a player on its cell, who is removed.
func TestYREPWithout(t *testing.T) {
	own := "mine \xff"
	look := export.Look{YREP: export.YREP{Dialect: yrep.Wide, Protocol: "v1_9_R1", Metadata: &own}}
	b, _, err := exportYREP(t, parse(t, meadow), look)
	if err != nil {
		t.Fatal(err)
	}
	in, err := yrep.NewReader(bytes.NewReader(b), yrep.Options{Dialect: yrep.Wide})
	if err != nil || in.Header.Protocol != "v1_9_R1" || string(in.Header.Metadata) != own {
		t.Fatalf("%+v, %v", in, err)
	}
	var f yrep.Frame
	var ids []yrep.ID
	for err == nil {
		if err = in.Next(&f); err == nil {
			for _, i := range f.Instructions {
				ids = append(ids, i.ID)
			}
		}
	}
	want := []yrep.ID{yrep.AddPlayer, yrep.EntityPosition, yrep.AddPlayer, yrep.EntityPosition, yrep.EntityPosition, yrep.RemovePlayer, yrep.AddPlayer, yrep.EntityPosition}
	if err != io.EOF || !slices.Equal(ids, want) {
		t.Errorf("%v, %v, want %v", ids, err, want)
	}
}

// TestYREPColony: after every frame, the players are where the colonists are after that tick.
func TestYREPColony(t *testing.T) {
	s, err := worlds.Open(worlds.Registry(), "colony", "ticks=100")
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := exportYREP(t, s, export.Look{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := yrep.NewPlayback(bytes.NewReader(b), yrep.Options{}, func(f yrep.Finding) { t.Errorf("%v", f) })
	if err != nil || p.Frames() != 100 {
		t.Fatalf("%d frames, %v", p.Frames(), err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	altitude := slices.IndexFunc(s.Fields, func(f scenarios.Field) bool { return f.Name == "altitude" })
	for range s.Ticks {
		if _, _, err := w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Step(); err != nil {
			t.Fatal(err)
		}
		want := map[yrep.UUID][3]float64{}
		all, view := w.Entities(), w.Snapshot()
		for slot, id := range all.ID {
			if id != 0 {
				c := s.Lattice().Coord(int(all.Cell[slot]))
				want[yrep.UUID(w.UUID(id))] = [3]float64{float64(c.At(1)), view.At(fields.ID(altitude), slot), float64(c.At(0))}
			}
		}
		view.Release()
		alive := 0
		for _, e := range p.State().Entities() {
			if !e.Alive() {
				continue
			}
			alive++
			if at := [3]float64{e.X, e.Y, e.Z}; at != want[e.UUID] {
				t.Fatalf("tick %d: %s is at %v, want %v", w.Tick(), e.Name, at, want[e.UUID])
			}
		}
		if alive != len(want) {
			t.Fatalf("tick %d: %d players, want %d", w.Tick(), alive, len(want))
		}
	}
}

// TestYREPRefuses: what cannot be in a file is refused, most of it before the first tick.
func TestYREPRefuses(t *testing.T) {
	f, err := export.FormatOf("x.yrep")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text     string
		selected export.Selection
		every    uint64
		want     string
	}{
		{meadow, export.Selection{Fields: []string{"hill"}}, 1, "leave out the fields and the region"},
		{meadow, export.Selection{}, 2, "a frame for every tick, not for every 2"},
		{"murksim: 1\nname: x\nspace: {kind: line, length: 2}\nfields: [{name: a}]\n", export.Selection{}, 1, "x has no entities"},
	} {
		p, err := export.NewPlan(parse(t, tt.text), tt.selected)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Open(discard{io.Discard}, p, export.Ticks{Every: tt.every, Count: 1}, export.Look{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	const crowd = "murksim: 1\nname: crowd\nticks: 1\nspace: {kind: line, length: 2}\nfields: [{name: a}]\nentities: {capacity: 20000, kinds: [bee], spawn: [{kind: bee, count: 16384}]}\n"
	if _, _, err := exportYREP(t, parse(t, crowd), export.Look{}); !errors.Is(err, yrep.ErrTooManyInstructions) || !strings.Contains(err.Error(), "tick 1: ") {
		t.Errorf("%v, want %s in tick 1", err, yrep.ErrTooManyInstructions)
	}
}
