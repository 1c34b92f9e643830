package view_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/view"
)

// record runs a scenario and returns its recording, its index if requested, and the worlds at some
// ticks.
func record(t testing.TB, name string, ticks uint64, indexed bool, keep ...uint64) (recording []byte, x *index.Index, at map[uint64]*engine.World) {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), name, fmt.Sprintf("ticks=%d", ticks), "expect=[]")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r, err := replay.NewRecorder(&b, w, s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	at = map[uint64]*engine.World{}
	for {
		for _, k := range keep {
			if k == w.Tick() {
				if at[k], err = w.Fork(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if w.Tick() == ticks {
			break
		}
		if _, _, err := w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	if indexed {
		frames, err := replay.NewReader(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		p, err := replay.NewPlayer(frames, func(h *replay.Header) (*engine.World, error) { w, _, err := build(h); return w, err })
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if _, err := index.Rebuild(&file, p, 8<<20, nil); err != nil {
			t.Fatal(err)
		}
		if x, err = index.Open(bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil {
			t.Fatal(err)
		}
		x.TrustAll()
	}
	return b.Bytes(), x, at
}

func build(h *replay.Header) (*engine.World, *scenarios.Scenario, error) {
	s, err := worlds.Registry().FromDescriptor(h.World())
	if err != nil {
		return nil, nil, err
	}
	w, err := s.World(1)
	if begin, wrong := h.Begin(); wrong == nil && begin != nil && err == nil {
		w, err = s.Restore(1, begin.State, nil)
	}
	return w, s, err
}

func open(t testing.TB, recording []byte, x *index.Index) *view.Recording {
	t.Helper()
	r, err := view.Open(view.Config{Name: "test.murk", Recording: bytes.NewReader(recording), Size: int64(len(recording)), Index: x, Build: build})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// An answer is an answer as a page reads it.
type answer struct {
	ID     uint64
	Error  string
	Later  bool
	Answer json.RawMessage
	Arrays []struct {
		Name, Type string
		At, Len    int
	}
	data []byte
}

func read(t testing.TB, b []byte) (a answer) {
	t.Helper()
	n := binary.LittleEndian.Uint32(b)
	if err := json.Unmarshal(b[4:4+n], &a); err != nil {
		t.Fatalf("%v: %q", err, b[4:4+n])
	}
	if (4+n)%8 != 0 {
		t.Errorf("the data begins at byte %d", 4+n)
	}
	a.data = b[4+n:]
	return a
}

// ask asks repeatedly until the answer is there.
func ask(t testing.TB, s *view.Session, format string, args ...any) answer {
	t.Helper()
	for {
		if a := read(t, s.Answer(fmt.Appendf(nil, format, args...))); !a.Later {
			return a
		}
	}
}

// numbers returns an array.
func (a *answer) numbers(t testing.TB, name string) (list []float64) {
	t.Helper()
	for _, r := range a.Arrays {
		if r.Name != name {
			continue
		}
		for i := range r.Len {
			switch b := a.data[r.At:]; r.Type {
			case "f32":
				list = append(list, float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))))
			case "f64":
				list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
			case "u8":
				list = append(list, float64(b[i]))
			case "i32":
				list = append(list, float64(int32(binary.LittleEndian.Uint32(b[4*i:]))))
			case "u64":
				list = append(list, float64(binary.LittleEndian.Uint64(b[8*i:])))
			}
		}
		return list
	}
	t.Fatalf("there is no array %q: error %q", name, a.Error)
	return nil
}

// TestStates checks that states match the run, forward and back, with and without an index.
func TestStates(t *testing.T) {
	ticks := []uint64{300, 0, 1, 299, 150, 151, 40, 300, 12}
	for _, name := range []string{"heat", "colony", "crystal", "minewars"} {
		for _, indexed := range []bool{false, true} {
			recording, x, at := record(t, name, 300, indexed, ticks...)
			s := view.NewSession(open(t, recording, x))
			for _, tick := range ticks {
				w := at[tick]
				defs := w.Defs()
				for id, d := range defs[:fieldsOf(defs)] {
					a := ask(t, s, `{"id":7,"op":"state","tick":%d,"fields":[%d],"entities":true}`, tick, id)
					got := a.numbers(t, fmt.Sprintf("field %d", id))
					for i := range got {
						if want := w.Value(fieldID(id), i); got[i] != want {
							t.Fatalf("%s, tick %d: %s[%d] is %v, want %v", name, tick, d.Name, i, got[i], want)
						}
					}
					if alive := len(a.numbers(t, "ids")); a.ID != 7 || alive != w.Population() {
						t.Fatalf("%s, tick %d: %d entities, want %d", name, tick, alive, w.Population())
					}
				}
			}
		}
	}
}

// TestLook compares what a cell and an entity hold with the world.
func TestLook(t *testing.T) {
	recording, _, at := record(t, "colony", 50, false, 50)
	s := view.NewSession(open(t, recording, nil))
	w := at[50]
	all := w.Entities()
	var l struct {
		Cell   int
		Coord  []int32
		Entity string
		Kind   string
		Values []struct {
			Field  int
			Values []string
		}
		Entities []struct{ ID, Kind string }
	}
	decode := func(a answer) {
		t.Helper()
		l.Values, l.Entities = nil, nil
		if err := json.Unmarshal(a.Answer, &l); err != nil {
			t.Fatalf("%v, %s", err, a.Error)
		}
	}
	for slot, id := range all.ID {
		if id == 0 {
			continue
		}
		decode(ask(t, s, `{"op":"look","tick":50,"entity":"%d"}`, id))
		if l.Cell != int(all.Cell[slot]) || l.Kind == "" {
			t.Errorf("entity %d is a %q at %d, want one at %d", id, l.Kind, l.Cell, all.Cell[slot])
		}
		for _, v := range l.Values {
			d := w.Defs()[v.Field]
			for c, text := range v.Values {
				held := w.Value(fieldID(v.Field), slot*len(v.Values)+c)
				want := fmt.Sprint(held)
				if d.Name == "target" && held >= 0 { // a cell, by its rank
					want = fmt.Sprint(w.Lattice().Coord(int(held)))
				}
				if d.Type.Kind != categorical && want != number(text) {
					t.Errorf("%s of entity %d is %s, want %s", d.Name, id, text, want)
				}
			}
		}
		decode(ask(t, s, `{"op":"look","tick":50,"cell":%d}`, all.Cell[slot]))
		if len(l.Entities) == 0 {
			t.Errorf("there is nobody on cell %d", all.Cell[slot])
		}
		return
	}
	t.Error("nobody lives")
}

// TestHistory compares the values of a cell over time with the states.
func TestHistory(t *testing.T) {
	recording, _, _ := record(t, "heat", 200, false)
	s := view.NewSession(open(t, recording, nil))
	var list []float64
	for from := uint64(0); from <= 200; {
		a := ask(t, s, `{"op":"history","field":0,"cell":700,"tick":%d,"to":200}`, from)
		list = append(list, a.numbers(t, "values")...)
		from = uint64(len(list))
	}
	for _, every := range []string{"200", "18446744073709551615"} { // a step beyond the end
		a := ask(t, s, `{"op":"history","field":0,"cell":700,"tick":77,"to":200,"every":%s}`, every)
		if got := a.numbers(t, "values"); len(got) != 1 || got[0] != list[77] {
			t.Errorf("every %s ticks: %v, want %v", every, got, list[77])
		}
	}
	for _, tick := range []int{0, 77, 200} {
		a := ask(t, s, `{"op":"state","tick":%d,"fields":[0]}`, tick)
		if want := a.numbers(t, "field 0")[700]; list[tick] != want {
			t.Errorf("tick %d: %v, want %v", tick, list[tick], want)
		}
	}
}

// TestVerify checks that a replay confirms every tick, or finds the first one that differs.
func TestVerify(t *testing.T) {
	recording, _, at := record(t, "heat", 100, false, 100)
	for _, tt := range []struct {
		name     string
		change   func(b []byte) []byte
		want     string
		lastTick int
	}{
		{"whole", func(b []byte) []byte { return b }, `{"ticks":100,"done":true}`, 100},
		{"flipped", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, `{"ticks":99,"done":true,"differs":100,"recorded":"`, 100},
		{"cut", func(b []byte) []byte { return b[:len(b)-1] }, `{"ticks":99,"done":true,"error":"`, 99},
	} {
		r := open(t, tt.change(bytes.Clone(recording)), nil)
		s := view.NewSession(r)
		if err := r.Verify(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		got := string(ask(t, s, `{"op":"check","since":1000}`).Answer)
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		a := ask(t, s, `{"op":"state","tick":%d,"fields":[0]}`, tt.lastTick)
		if values := a.numbers(t, "field 0"); tt.lastTick == 100 && values[5] != at[100].Value(0, 5) {
			t.Errorf("%s: the last tick has %v", tt.name, values[5])
		}
		points := ask(t, s, `{"op":"charts"}`)
		if n := len(points.numbers(t, "ticks")); n != 1+tt.lastTick && n != 1+99 {
			t.Errorf("%s: %d points", tt.name, n)
		}
	}
}

// TestWhileItVerifies asks for states while the recording is being verified. The replay's own index does
// not replace the given one meanwhile.
func TestWhileItVerifies(t *testing.T) {
	recording, _, at := record(t, "heat", 400, false, 33, 390)
	r := open(t, recording, nil)
	s := view.NewSession(r)
	done := make(chan error)
	go func() { done <- r.Verify(t.Context(), nil) }()
	for i := range 40 {
		for tick, w := range at {
			a := ask(t, s, `{"op":"state","tick":%d,"fields":[0]}`, tick)
			if got, want := a.numbers(t, "field 0")[600], w.Value(0, 600); got != want {
				t.Fatalf("round %d, tick %d: %v, want %v", i, tick, got, want)
			}
			ask(t, s, `{"op":"check"}`)
			ask(t, s, `{"op":"charts"}`)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestDiffer finds the first tick in which two recordings differ, or the end of the shorter one.
func TestDiffer(t *testing.T) {
	whole, _, _ := record(t, "heat", 60, false)
	short, _, _ := record(t, "heat", 40, false) // fewer planned ticks, but the same states
	other, _, _ := record(t, "waves", 10, false)
	drops, _, _ := record(t, "waves", 60, false)
	changed := bytes.Clone(whole)
	changed[len(changed)-1] ^= 1
	const unreadable = `{"reason":"test.murk cannot be read after tick %d, up to which nothing differs: ` +
		`input ends early at byte %d (%s): %s of 8 bytes"}`
	for _, tt := range []struct {
		a, b []byte
		want string
	}{
		{whole, whole, `{"equal":true}`},
		{whole, changed, `{"tick":60}`},
		{whole, short, `{"tick":41,"reason":"test.murk ends with tick 40"}`},
		{short, whole, `{"tick":41,"reason":"test.murk ends with tick 40"}`},
		{whole, whole[:len(whole)-1], fmt.Sprintf(unreadable, 59, len(whole)-8, "tick 60", "state hash is cut short: 7")},
		{drops, uncommanded(t, drops, 1), `{"tick":1,"reason":"other commands, the same hash"}`},
		{whole, redescribed(t, whole), `{"reason":"all ticks are equal, the scenarios are not"}`},
		{emptied(t, whole), whole, `{"reason":"there is no tick that both have"}`},
		{whole, append(bytes.Clone(whole), "abc"...), fmt.Sprintf(unreadable, 60, len(whole), "frame 61", "tick is cut short: 3")},
	} {
		a, b := open(t, tt.a, nil), open(t, tt.b, nil)
		if err := a.Comparable(b); err != nil {
			t.Error(err)
		}
		if got := string(ask(t, view.NewSession(a, b), `{"op":"differ","with":1}`).Answer); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
	a, b := open(t, whole, nil), open(t, other, nil)
	if err := a.Comparable(b); err == nil || !strings.Contains(err.Error(), "they cannot be compared") {
		t.Errorf("heat and waves: %v", err)
	}
	if got := ask(t, view.NewSession(a), `{"op":"differ"}`).Error; got != "two recordings can be compared, and nothing else" {
		t.Errorf("one recording: %s", got)
	}
}

// rewritten returns a recording with a changed header and changed frames, which keep their hashes.
func rewritten(t *testing.T, recording []byte, head func(h *replay.Header), frame func(f *replay.Frame)) []byte {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	h := *r.Head()
	head(&h)
	var b bytes.Buffer
	w, err := replay.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		frame(&f)
		if err := w.CopyFrame(&f); err != nil {
			t.Fatal(err)
		}
	}
	if flushed := w.Flush(); err != io.EOF || flushed != nil {
		t.Fatal(err, flushed)
	}
	return b.Bytes()
}

// uncommanded removes the commands of a tick.
func uncommanded(t *testing.T, recording []byte, tick uint64) []byte {
	return rewritten(t, recording, func(*replay.Header) {}, func(f *replay.Frame) {
		if f.Tick == tick {
			f.Records = nil
		}
	})
}

// redescribed changes the scenario's description.
func redescribed(t *testing.T, recording []byte) []byte {
	return rewritten(t, recording, func(h *replay.Header) {
		h.Descriptor = bytes.Replace(h.Descriptor, []byte("Two heaters"), []byte("Two ovens"), 1)
		s := fields.Setup{Seed: h.Seed, Dt: 1.0 / 20, Fields: h.FieldCount, Cells: h.CellCount, Descriptor: h.Descriptor}
		h.ConfigHash = s.Hash()
	}, func(*replay.Frame) {})
}

// emptied removes all frames.
func emptied(t *testing.T, recording []byte) []byte {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := replay.NewWriter(&b, *r.Head())
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDifferInTurn checks that comparisons of several pairs, one of them with a fork, can take turns.
func TestDifferInTurn(t *testing.T) {
	whole, x, _ := record(t, "heat", 60, true)
	changed := bytes.Clone(whole)
	changed[len(changed)-1] ^= 1
	s := running(t, open(t, whole, x), open(t, changed, nil))
	must(t, s, `{"op":"fork","tick":30}`)
	must(t, s, `{"op":"drive","source":2,"speed":0}`)
	until(t, s, 2, "done", done)
	for range 2 {
		for request, want := range map[string]string{
			`{"op":"differ","with":1}`:            `{"tick":60}`,
			`{"op":"differ","with":2}`:            `{"equal":true}`,
			`{"op":"differ","source":2,"with":1}`: `{"tick":60}`,
		} {
			if got := string(ask(t, s, "%s", request).Answer); got != want {
				t.Errorf("%s: %s, want %s", request, got, want)
			}
		}
	}
}

// TestWrongIndex checks that an index of other states is dropped. Our own index is kept, even behind a tick that
// differs.
func TestWrongIndex(t *testing.T) {
	recording, x, at := record(t, "heat", 300, true, 250)
	changed := bytes.Clone(recording)
	frames, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	for f := new(replay.Frame); f.Tick < 200; {
		if err := frames.Next(f); err != nil {
			t.Fatal(err)
		}
	}
	changed[frames.Offset()-1] ^= 1 // in the hash of tick 200
	r := open(t, changed, x)
	s := view.NewSession(r)
	for _, tick := range []uint64{250, 40, 250, 300} {
		a := ask(t, s, `{"op":"state","tick":%d,"fields":[0]}`, tick)
		if got := a.numbers(t, "field 0"); len(got) != at[250].Lattice().Cells() {
			t.Errorf("tick %d has %d cells: %s", tick, len(got), a.Error)
		}
	}
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := string(ask(t, s, `{"op":"check","since":1000}`).Answer); !strings.HasPrefix(got, `{"ticks":199,"done":true,"differs":200,`) {
		t.Errorf("tick 200 was changed: %s", got)
	}
	for range 3 {
		ask(t, s, `{"op":"state","tick":290}`)
		ask(t, s, `{"op":"state","tick":0}`)
	}
	if !r.Indexed() {
		t.Error("the index of our own replay is given up")
	}
}

// TestErrors checks the errors of requests that cannot be answered.
func TestErrors(t *testing.T) {
	recording, _, _ := record(t, "heat", 10, false)
	s := view.NewSession(open(t, recording, nil))
	for _, tt := range []struct{ request, want string }{
		{``, "the value has no end"},
		{`{"op":"state","tick":11}`, "there is no tick 11; there are 0 to 10"},
		{`{"op":"state","fields":[2]}`, "there is no field 2; there are 2"},
		{`{"op":"state","fields":[-1]}`, "there is no field -1; there are 2"},
		{`{"op":"state","source":1}`, "there is no source 1; there are 1"},
		{`{"op":"look"}`, "a request needs a cell, or the id of an entity"},
		{`{"op":"look","cell":16384}`, "there is no cell 16384; there are 16384"},
		{`{"op":"look","entity":"5"}`, "there is no entity 5 at tick 0"},
		{`{"op":"history","field":9}`, "there is no field 9; there are 2"},
		{`{"op":"history","cell":1,"tick":5,"to":4}`, "a history has at most 2000 values, from a tick to a later one"},
		{`{"op":"history","cell":1,"tick":11,"to":12}`, "there is no tick 11; there are 0 to 10"},
		{`{"op":"state","fields":[0,0,0]}`, "3 fields are asked for; there are 2"},
		{`{"op":"history","entity":"1","to":4}`, "field heat is one of cells"},
		{`{"op":"inputs","tick":11}`, "there is no tick 11; there are 0 to 10"},
		{`{"op":"fly"}`, `there is no operation "fly"`},
		{`{"op":"state","wings":2}`, `unknown key "wings"`},
	} {
		if a := ask(t, s, "%s", tt.request); a.Error != tt.want {
			t.Errorf("%s: %q, want %q", tt.request, a.Error, tt.want)
		}
	}
}

// FuzzAnswer checks that no request ends a session.
func FuzzAnswer(f *testing.F) {
	recording, _, _ := record(f, "predators", 20, false)
	r := open(f, recording, nil)
	for _, seed := range []string{
		`{"id":1,"op":"about"}`, `{"op":"state","tick":20,"fields":[0,0],"entities":true}`, `{"op":"look","cell":5,"tick":3}`,
		`{"op":"look","entity":"4294967296"}`, `{"op":"history","field":0,"cell":1,"to":20,"every":3}`, `{"op":"check","since":-1}`, `{"op":"charts","since":1}`,
		`{"op":"inputs","tick":9,"since":2}`, `{"op":"apart","cell":5,"tick":3}`, `{"op":"apart","entity":"4294967296"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		for _, s := range []*view.Session{view.NewSession(r), view.NewSession(r, r)} {
			if a := read(t, s.Answer(request)); a.Error == "" && a.Answer == nil && !a.Later {
				t.Errorf("%q has no answer", request)
			}
		}
	})
}
