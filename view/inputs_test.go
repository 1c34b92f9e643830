package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
	"github.com/murksim/murksim/view"
)

// ordered records heat with our own commands, given by the tick in which they are applied.
func ordered(t testing.TB, ticks uint64, orders map[uint64][]commands.Command) []byte {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), "heat", fmt.Sprintf("ticks=%d", ticks), "expect=[]")
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
	for w.Tick() < ticks {
		if _, _, err := w.SubmitAll(orders[w.Tick()+1]); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestInputs checks that a tick's commands and events are reported with their outcomes, wherever the session was before.
func TestInputs(t *testing.T) {
	set := func(row, col int32, v float32) commands.Command { return commands.SetField(space.At(row, col), 0, v) }
	system := set(1, 1, 30)
	system.Priority = commands.PrioritySystem
	many := make([]commands.Command, 1003)
	for i := range many {
		many[i] = set(int32(i/128), int32(i%128), 7)
	}
	long := commands.Custom(5, bytes.Repeat([]byte{0xab}, 1000))
	s := view.NewSession(open(t, ordered(t, 12, map[uint64][]commands.Command{
		5:  {set(2, 3, 50), commands.SetField(space.At(63, 10), 1, 0), set(1, 2, 40).From(7, 9), system, commands.Later(8, set(9, 9, 99)), long},
		10: many,
	}), nil))
	for _, tt := range []struct{ request, want string }{
		{`"tick":0`, `{"tick":0,"inputs":[]}`},
		{`"tick":8`, `{"tick":8,"inputs":[{"what":"set heat at [9, 9] to 99","event":true}]}`},
		{`"tick":5`, `{"tick":5,"inputs":[{"what":"set heat at [1, 1] to 30","priority":0},` +
			`{"what":"set heat at [1, 2] to 40","source":"7","sequence":"9"},` +
			`{"what":"set heat at [2, 3] to 50"},` +
			`{"what":"set wall at [63, 10] to open","refused":"static field","why":"a static field never changes"},` +
			`{"what":"at tick 8 set heat at [9, 9] to 99","made":"5242881"},` +
			`{"what":"custom command of type 5 ` + strings.Repeat("ab", 240) + ` …","refused":"unsupported","why":"this program has no handler for it"}]}`},
		{`"tick":5,"since":5`, `{"tick":5,"inputs":[{"what":"custom command of type 5 ` + strings.Repeat("ab", 240) + ` …","refused":"unsupported","why":"this program has no handler for it"}]}`},
		{`"tick":6,"since":-1`, `{"tick":6,"inputs":[]}`},
		{`"tick":5,"since":99`, `{"tick":5,"inputs":[]}`},
	} {
		for _, before := range []string{"12", "5", "0"} { // ticks at which the session was before
			ask(t, s, `{"op":"state","tick":%s}`, before)
			if got := string(ask(t, s, `{"op":"inputs",%s}`, tt.request).Answer); got != tt.want {
				t.Errorf("%s after tick %s: %s, want %s", tt.request, before, got, tt.want)
			}
		}
	}
	var got struct {
		Inputs []struct{ What string }
		More   int
	}
	for since, want := range map[int]string{0: "1000 and 3", 1000: "3 and 0"} {
		got.Inputs, got.More = nil, 0
		if err := json.Unmarshal(ask(t, s, `{"op":"inputs","tick":10,"since":%d}`, since).Answer, &got); err != nil {
			t.Fatal(err)
		}
		if had := fmt.Sprintf("%d and %d", len(got.Inputs), got.More); had != want || got.Inputs[0].What != fmt.Sprintf("set heat at [%d, %d] to 7", since/128, since%128) {
			t.Errorf("since %d there are %s, want %s; the first is %v", since, had, want, got.Inputs[0])
		}
	}
}
