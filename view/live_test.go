package view_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/view"
)

// begin starts a run, in a session that lasts until the test ends.
func begin(t *testing.T, name string, held bool, sets ...string) *view.Session {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := view.NewRun(view.Start{Name: name, Scenario: s, Workers: 1, Held: held})
	if err != nil {
		t.Fatal(err)
	}
	return running(t, r)
}

func running(t *testing.T, sources ...view.Source) *view.Session {
	s := view.NewSession(sources...)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s
}

// A found is what a replay has found so far, and the state of the run.
type found struct {
	Ticks, Differs uint64
	Done           bool
	Error          string
	Run            struct {
		Last        uint64
		Held, Ended bool
		Error       string
	}
}

// until asks repeatedly what a replay has found, until right accepts it.
func until(t *testing.T, s *view.Session, source int, what string, right func(*found) bool) *found {
	t.Helper()
	var f found
	if !waiting.Until(func() bool {
		f = found{}
		if err := json.Unmarshal(ask(t, s, `{"op":"check","source":%d}`, source).Answer, &f); err != nil {
			t.Fatal(err)
		}
		return right(&f)
	}) {
		t.Fatalf("after %v source %d is not %s: %+v", waiting.Hang, source, what, f)
	}
	return &f
}

// must sends a request that has to succeed.
func must(t *testing.T, s *view.Session, request string) json.RawMessage {
	t.Helper()
	a := ask(t, s, "%s", request)
	if a.Error != "" {
		t.Fatalf("%s: %s", request, a.Error)
	}
	return a.Answer
}

func done(f *found) bool { return f.Done }

// TestLive watches scenarios as they run, and forks them. The results must be those of an ordinary run.
func TestLive(t *testing.T) {
	for _, name := range []string{"heat", "predators", "minewars"} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, name, true, "ticks=120", "expect=[]")
			if f := until(t, s, 0, "held", func(f *found) bool { return f.Run.Held }); f.Run.Last != 0 {
				t.Fatalf("a run that is held is at tick %d", f.Run.Last)
			}
			must(t, s, `{"op":"drive","speed":0}`)
			if f := until(t, s, 0, "done", done); f.Ticks != 120 || f.Differs != 0 || f.Error != "" || !f.Run.Ended {
				t.Errorf("%+v", f)
			}
			_, _, at := record(t, name, 120, false, 120)
			if got, want := hashAt(t, s, 0, 120), fmt.Sprintf("%016x", at[120].Hash()); got != want {
				t.Errorf("the hash of tick 120 is %s, that of a run %s", got, want)
			}
			if got := string(must(t, s, `{"op":"fork","tick":50}`)); got != `{"source":1}` {
				t.Fatalf("the fork is %s", got)
			}
			must(t, s, `{"op":"drive","source":1,"speed":0}`)
			if f := until(t, s, 1, "done", done); f.Ticks != 70 || f.Differs != 0 || f.Error != "" || f.Run.Error != "" {
				t.Errorf("the fork: %+v", f)
			}
			if got := string(must(t, s, `{"op":"differ","with":1}`)); got != `{"equal":true}` {
				t.Errorf("a fork that nobody touched and the run: %s", got)
			}
		})
	}
}

func hashAt(t *testing.T, s *view.Session, source, tick int) string {
	t.Helper()
	var a struct{ Recorded string }
	if err := json.Unmarshal(must(t, s, fmt.Sprintf(`{"op":"state","source":%d,"tick":%d}`, source, tick)), &a); err != nil {
		t.Fatal(err)
	}
	return a.Recorded
}

// TestForkAsRecorded: a fork goes on from a tick only if its replay is as recorded.
func TestForkAsRecorded(t *testing.T) {
	recording, _, _ := record(t, "heat", 60, false)
	changed := rewritten(t, recording, func(*replay.Header) {}, func(f *replay.Frame) {
		if f.Tick >= 20 {
			f.Hash ^= 1
		}
	})
	s := running(t, open(t, changed, nil))
	for _, tick := range []uint64{20, 30} {
		want := fmt.Sprintf("tick %d is not as recorded, ", tick)
		if got := ask(t, s, `{"op":"fork","tick":%d}`, tick).Error; !strings.HasPrefix(got, want) {
			t.Errorf("the fork says %q, want %q", got, want)
		}
	}
	for n, tick := range []uint64{19, 0} {
		want := fmt.Sprintf(`{"source":%d}`, n+1)
		if got := string(must(t, s, fmt.Sprintf(`{"op":"fork","tick":%d,"hold":true}`, tick))); got != want {
			t.Errorf("a fork of tick %d is %s, want %s", tick, got, want)
		}
	}
}

// TestForkAfterWrongTick: nor does one go on from a later tick once the check has found that an earlier one is not as recorded.
func TestForkAfterWrongTick(t *testing.T) {
	recording, _, _ := record(t, "heat", 60, false)
	s := running(t, open(t, rewritten(t, recording, func(*replay.Header) {}, func(f *replay.Frame) {
		if f.Tick == 20 {
			f.Hash ^= 1
		}
	}), nil))
	until(t, s, 0, "done", done)
	if got := ask(t, s, `{"op":"fork","tick":30}`).Error; !strings.HasPrefix(got, "tick 20 is not as recorded, ") {
		t.Errorf("the fork says %q", got)
	}
	must(t, s, `{"op":"fork","tick":19,"hold":true}`)
}

// TestForkKeepsNames: nor if a name would reach another entity.
func TestForkKeepsNames(t *testing.T) {
	x, err := worlds.Open(worlds.Registry(), "predators", "ticks=20", "expect=[]", "commands=[{tick: 3, spawn: {kind: grazer, cell: [1, 1], name: anna}}]")
	if err != nil {
		t.Fatal(err)
	}
	w, err := x.World(1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r, err := replay.NewRecorder(&b, w, x.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	for range 10 { // without commands
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	s := running(t, open(t, b.Bytes(), nil))
	if got := ask(t, s, `{"op":"fork","tick":1}`).Error; !strings.Contains(got, `tick 3 does not spawn "anna" as the scenario does`) {
		t.Errorf("the fork says %q", got)
	}
}

// TestOrders gives orders to a fork, which then differs, and is verified with them.
func TestOrders(t *testing.T) {
	recording, x, _ := record(t, "heat", 200, true)
	s := running(t, open(t, recording, x))
	until(t, s, 0, "done", done)
	must(t, s, `{"op":"fork","tick":100,"hold":true}`)
	must(t, s, `{"op":"submit","source":1,"order":{"set":{"field":"heat","cell":[5,6],"value":7.5}}}`)
	for request, want := range map[string]string{
		`{"op":"submit","source":1,"order":{"set":{"field":"cold","cell":[5,6],"value":7.5}}}`: "cold",
		`{"op":"submit","source":1,"order":3}`:                                                 "mapping",
		`{"op":"submit","source":1}`:                                                           "the command",
		`{"op":"submit","order":{}}`:                                                           "fork it",
		`{"op":"drive","source":1,"speed":1e-12}`:                                              "speed",
		`{"op":"fork","source":1,"tick":200}`:                                                  "no tick 200",
		`{"op":"fork","tick":200}`:                                                             "the last that is planned",
		`{"op":"drive","source":1,"speed":-1}`:                                                 "speed",
		`{"op":"fork","tick":1000}`:                                                            "no tick 1000",
		`{"op":"begin","scenario":"heat"}`:                                                     "no gallery",
		`{"op":"differ","source":0,"with":9}`:                                                  "no source 9",
		`{"op":"state","source":1,"tick":5}`:                                                   "there are 100 to 100",
	} {
		if got := ask(t, s, "%s", request).Error; !strings.Contains(got, want) {
			t.Errorf("%s says %q, want %q", request, got, want)
		}
	}
	if got := string(must(t, s, `{"op":"differ","with":1}`)); got != `{"equal":true,"open":true}` {
		t.Errorf("before the run goes on: %s", got)
	}
	must(t, s, `{"op":"drive","source":1,"speed":1}`)
	until(t, s, 1, "at tick 103", func(f *found) bool { return f.Run.Last >= 103 })
	must(t, s, `{"op":"drive","source":1,"hold":true,"speed":1}`)
	until(t, s, 1, "verified while it is held", func(f *found) bool { return f.Run.Held && f.Ticks > 0 && f.Ticks == f.Run.Last-100 })
	must(t, s, `{"op":"drive","source":1,"speed":0}`)
	f := until(t, s, 1, "done", done)
	if f.Ticks != f.Run.Last-100 || f.Error != "" || f.Run.Error != "" {
		t.Errorf("%+v", f)
	}
	if got := string(must(t, s, `{"op":"differ","with":1}`)); got != `{"tick":101,"reason":"other commands"}` {
		t.Errorf("they differ at %s, want tick 101", got)
	}
	a := ask(t, s, `{"op":"check","source":1}`)
	if !strings.Contains(string(a.Answer), `{"tick":101,"inputs":1}`) && !strings.Contains(string(a.Answer), `{"tick":101,"inputs":2}`) {
		t.Errorf("tick 101 has no mark: %s", a.Answer)
	}
}

// TestMoreForksThanThereMayBe checks that a page cannot start unlimited runs: the oldest make room.
func TestMoreForksThanThereMayBe(t *testing.T) {
	recording, x, _ := record(t, "heat", 20, true)
	s := running(t, open(t, recording, x))
	for i := range 40 {
		if got, want := string(must(t, s, `{"op":"fork","tick":10,"hold":true}`)), fmt.Sprintf(`{"source":%d}`, i+1); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	for source, want := range map[int]string{0: "", 1: "this run was given up, to make room for others", 25: "this run was given up, to make room for others", 26: "", 40: ""} {
		if got := ask(t, s, `{"op":"about","source":%d}`, source).Error; got != want {
			t.Errorf("source %d: %q, want %q", source, got, want)
		}
	}
	s.Memory = 1000
	if got := ask(t, s, `{"op":"fork","tick":10}`).Error; !strings.Contains(got, "the limit is 0 MiB") {
		t.Errorf("a fork without memory: %q", got)
	}
}

// TestForkTakesOrders checks that an order waiting in a held run also waits in a fork of it, and is applied once.
func TestForkTakesOrders(t *testing.T) {
	s := begin(t, "heat", true)
	must(t, s, `{"op":"drive","speed":1}`)
	until(t, s, 0, "at tick 3", func(f *found) bool { return f.Run.Last >= 3 })
	must(t, s, `{"op":"drive","hold":true,"speed":1}`)
	f := until(t, s, 0, "verified while it is held", func(f *found) bool { return f.Run.Held && f.Ticks > 0 && f.Ticks == f.Run.Last })
	must(t, s, `{"op":"submit","order":{"set":{"field":"heat","cell":[5,6],"value":7.5}}}`)
	for i, tick := range []uint64{f.Run.Last, f.Run.Last - 1} {
		must(t, s, fmt.Sprintf(`{"op":"fork","tick":%d,"hold":true}`, tick))
		must(t, s, fmt.Sprintf(`{"op":"drive","source":%d,"speed":1}`, i+1))
		until(t, s, i+1, "two ticks on", func(fork *found) bool { return fork.Run.Last >= f.Run.Last+2 })
	}
	must(t, s, `{"op":"drive","speed":1}`)
	until(t, s, 0, "two ticks on", func(run *found) bool { return run.Run.Last >= f.Run.Last+2 })
	must(t, s, fmt.Sprintf(`{"op":"fork","tick":%d}`, f.Run.Last)) // the order is in the recording by now
	until(t, s, 3, "two ticks on", func(fork *found) bool { return fork.Run.Last >= f.Run.Last+2 })
	inputs := fmt.Sprintf(`{"op":"inputs","source":%%d,"tick":%d}`, f.Run.Last+1)
	want := string(must(t, s, fmt.Sprintf(inputs, 0)))
	if !strings.Contains(want, "7.5") {
		t.Fatalf("the run has %s", want)
	}
	for i := range 3 {
		if got := string(must(t, s, fmt.Sprintf(inputs, i+1))); got != want {
			t.Errorf("fork %d has %s, want %s", i, got, want)
		}
	}
}

// TestForkKeepsItsParent checks that a fork never displaces the source it is forked from.
func TestForkKeepsItsParent(t *testing.T) {
	recording, x, _ := record(t, "heat", 20, true)
	r := open(t, recording, x)
	s := running(t, r)
	must(t, s, `{"op":"fork","tick":10,"hold":true}`)
	for i := range 20 {
		must(t, s, `{"op":"fork","source":1,"tick":10,"hold":true}`)
		if got := ask(t, s, `{"op":"about","source":1}`).Error; got != "" {
			t.Fatalf("after %d forks of it: %s", i+1, got)
		}
	}
	scenario, err := worlds.Open(worlds.Registry(), "heat", "ticks=20", "expect=[]")
	if err != nil {
		t.Fatal(err)
	}
	need, err := scenario.Memory()
	if err != nil {
		t.Fatal(err)
	}
	s = running(t, open(t, recording, x))
	s.Memory = (3*view.WorldsOfSource - 1) * need // of the recording and a fork, and nearly another one
	must(t, s, `{"op":"fork","tick":10,"hold":true}`)
	if got := ask(t, s, `{"op":"fork","source":1,"tick":10,"hold":true}`).Error; !strings.Contains(got, "there is no room for its worlds beside what is shown") {
		t.Errorf("a fork of a fork: %q", got)
	}
	if got := ask(t, s, `{"op":"about","source":1}`).Error; got != "" {
		t.Errorf("the fork: %s", got)
	}
}

// TestStop checks that a held run ends when it is stopped.
func TestStop(t *testing.T) {
	scenario, err := worlds.Open(worlds.Registry(), "heat")
	if err != nil {
		t.Fatal(err)
	}
	run, err := runner.New(runner.Config{Scenario: scenario})
	if err != nil {
		t.Fatal(err)
	}
	live, why := view.NewLive(run.World, true), errors.New("nobody can look")
	time.AfterFunc(20*time.Millisecond, func() { live.Stop(why) })
	run.Gate = live.Gate
	if err := run.To(t.Context(), 10); !errors.Is(err, why) || run.World.Tick() != 0 {
		t.Errorf("the run ended at tick %d: %v", run.World.Tick(), err)
	}
}

// TestForkOfMixedPriorities checks that a fork gets commands in order of arrival, which is not the order in which they are
// applied: later arrival numbers depend on it.
func TestForkOfMixedPriorities(t *testing.T) {
	s := begin(t, "predators", true, "ticks=60", "expect=[]")
	must(t, s, `{"op":"submit","order":{"set":{"field":"grass","cell":[5,6],"value":0.5},"priority":255}}`)
	must(t, s, `{"op":"submit","order":{"set":{"field":"grass","cell":[5,7],"value":0.5}}}`)
	must(t, s, `{"op":"drive","speed":0}`)
	until(t, s, 0, "done", done)
	must(t, s, `{"op":"fork","tick":0}`)
	must(t, s, `{"op":"drive","source":1,"speed":0}`)
	until(t, s, 1, "done", done)
	if got := string(must(t, s, `{"op":"differ","with":1}`)); got != `{"equal":true}` {
		t.Errorf("the fork and the run: %s", got)
	}
}

// TestForksForgetWhereTheyComeFrom checks that a closed source takes no memory, even if there are forks of forks of it.
func TestForksForgetWhereTheyComeFrom(t *testing.T) {
	recording, x, _ := record(t, "heat", 20, true)
	s := running(t, open(t, recording, x))
	must(t, s, `{"op":"fork","tick":10,"hold":true}`)
	first := s.Weak(1)
	for i := range 20 {
		must(t, s, fmt.Sprintf(`{"op":"fork","source":%d,"tick":10,"hold":true}`, i+1))
	}
	waiting.For(t, "the first fork, which was given up, takes no memory", func() bool {
		runtime.GC()
		return first.Value() == nil
	})
}

// TestOrdersOfAQuickRun checks that an order for the next tick is in time, however fast the run is.
func TestOrdersOfAQuickRun(t *testing.T) {
	ticks := 3000
	if testing.Short() {
		ticks = 300
	}
	s := begin(t, "life", false, fmt.Sprintf("ticks=%d", ticks))
	const order = `{"op":"submit","order":{"set":{"field":"cells","cell":[1,1],"value":"alive"},"expires_after":0}}`
	must(t, s, order) // for the first tick: on a busy machine the run may end before another one is given
	must(t, s, `{"op":"drive","speed":0}`)
	given := 1
	for ask(t, s, "%s", order).Error == "" {
		if given++; given > 1e6 {
			t.Fatal("the run does not end")
		}
	}
	until(t, s, 0, "done", done)
	var c struct {
		Marks []struct{ Tick, Inputs, Refused uint64 }
	}
	if err := json.Unmarshal(ask(t, s, `{"op":"check"}`).Answer, &c); err != nil {
		t.Fatal(err)
	}
	taken := uint64(0)
	for _, m := range c.Marks {
		if taken += m.Inputs; m.Refused > 0 {
			t.Errorf("%d commands of tick %d are refused", m.Refused, m.Tick)
		}
	}
	if taken == 0 {
		t.Errorf("none of %d orders was done", given)
	}
}

// TestTooManyOrders checks that an order is applied completely or not at all.
func TestTooManyOrders(t *testing.T) {
	s := begin(t, "heat", true, "ticks=3", "expect=[]")
	given := 0
	for ask(t, s, "%s", `{"op":"submit","order":{"set":{"field":"heat","rect":{"from":[0,0],"to":[60,60]},"value":1}}}`).Error != "queue full" {
		given++
	}
	must(t, s, `{"op":"drive","speed":0}`)
	until(t, s, 0, "done", done)
	var in struct {
		Inputs []struct{}
		More   int
	}
	if err := json.Unmarshal(ask(t, s, `{"op":"inputs","tick":1}`).Answer, &in); err != nil {
		t.Fatal(err)
	}
	if n := len(in.Inputs) + in.More; n != given*61*61 || given == 0 {
		t.Errorf("%d orders were taken, and %d commands are done", given, n)
	}
}
