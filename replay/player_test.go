package replay_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// The pond is the world of these tests: a ring with heat that spreads, a static
// wall, up to two entities, and a system that schedules events for itself.
const (
	pondHeat, pondWall, pondEnergy = 0, 1, 2
	pondWind, pondRain             = 1, 2
	pondType                       = 7 // of Custom commands that heat cell 0
	pondTicks                      = 7
	firstEntity                    = 1<<20 | 1 // what the first Spawn of tick 1 makes
)

type spread struct{}

func (spread) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "spread", Prev: engine.Fields(pondHeat), Full: engine.Fields(pondHeat)}
}

func (spread) Step(c *engine.Context) error {
	prev, next, wind := c.Prev(pondHeat), c.Next(pondHeat), float32(c.Parameter(pondWind))
	for i := range next {
		next[i] = prev[i] + float32(wind*(prev[(i+1)%len(prev)]-prev[i]))
	}
	return nil
}

type beat struct{}

func (beat) Spec(*space.Lattice) engine.Spec { return engine.Spec{Name: "beat"} }

func (beat) Update(c *engine.SystemContext) error {
	_, err := c.Schedule(c.Tick()+2, commands.Custom(pondType, []byte{1}))
	return err
}

type heater struct{}

func (heater) Type() uint32 { return pondType }

func (heater) Handle(c *engine.HandlerContext, data []byte) commands.Reason {
	return c.Set(pondHeat, 0, c.Get(pondHeat, 0)+float64(len(data)))
}

// pondConfig is the pond with a given wind.
func pondConfig(wind float64) engine.Config {
	return engine.Config{
		Space: space.Ring{Length: 6},
		Fields: []fields.Def{
			{Name: "heat", Initial: fields.Values([]float64{6, 5, 4, 3, 2, 1})},
			{Name: "wall", Mutability: fields.Static},
			{Name: "energy", Domain: fields.Entities, Initial: fields.Fill(1)},
		},
		Propagators: []engine.Propagator{spread{}},
		Systems:     []engine.System{beat{}},
		Handlers:    []engine.Handler{heater{}},
		Parameters:  []engine.Parameter{{Key: pondWind, Name: "wind", Value: wind}, {Key: pondRain, Name: "rain", Value: 1}},
		Capacity:    2,
		Seed:        11,
	}
}

const wind = 0.375

// pond is the builder of recordings of the pond.
func pond(*replay.Header) (*engine.World, error) { return engine.New(pondConfig(wind)) }

var pondDescriptor = []byte("the pond")

// pondInputs are the inputs of a tick: over all ticks every kind of command, taken
// and refused, for every reason that replay can meet.
func pondInputs(tick uint64) []commands.Command {
	late := commands.SetField(space.At(1), pondHeat, 50)
	late.Expires = tick - 1
	first := commands.SetField(space.At(2), pondHeat, 9)
	first.Priority = commands.PrioritySystem
	switch tick {
	case 1:
		return []commands.Command{
			commands.Spawn(space.At(1), commands.FieldValue{Field: pondEnergy, Value: 2}),
			commands.Spawn(space.At(2)), commands.Spawn(space.At(3)), // no room for the third
		}
	case 2:
		return []commands.Command{
			commands.Move(firstEntity, space.At(4)).From(5, 1), commands.Move(99, space.At(4)),
			commands.SetField(space.At(3), pondHeat, 7.5), commands.SetField(space.At(3), pondWall, 1), first,
		}
	case 3:
		return []commands.Command{
			commands.SetParameter(pondWind, 0.25), commands.SetParameter(9, 1), late,
			commands.SetParameterBatch(commands.Parameter{Key: pondWind, Value: 0.125}, commands.Parameter{Key: pondRain, Value: 2}),
			commands.SetParameterBatch(commands.Parameter{Key: pondWind, Value: 0.5}, commands.Parameter{Key: 9, Value: 2}),
		}
	case 4:
		return []commands.Command{commands.Custom(pondType, []byte("ab")).From(6, 2), commands.Custom(8, nil)}
	case 5:
		return []commands.Command{
			commands.Despawn(firstEntity), commands.SetField(space.At(6), pondHeat, 1),
			commands.SetField(space.At(0), pondHeat, float32(math.NaN())), commands.SetField(space.At(0), 9, 1),
			commands.SetField(commands.EntityCoord(1<<20|2), pondEnergy, 3),
		}
	}
	return nil
}

// A tally counts what the ticks of a world applied.
type tally struct {
	events, refused []int
	reasons         map[commands.Reason]bool
	kinds           map[commands.Kind]bool
}

func (c *tally) Record(t *engine.Tick) error {
	events, refused := 0, 0
	for i := range t.Receipts {
		r := &t.Receipts[i]
		c.reasons[r.Reason], c.kinds[r.Kind] = true, true
		if r.Event {
			events++
		}
		if r.Reason != commands.Applied {
			refused++
		}
	}
	c.events, c.refused = append(c.events, events), append(c.refused, refused)
	return nil
}

func newTally() *tally {
	return &tally{reasons: map[commands.Reason]bool{}, kinds: map[commands.Kind]bool{}}
}

// pondRecording records the pond, and tells what was applied in it.
func pondRecording(tb testing.TB) ([]byte, *tally) {
	tb.Helper()
	w, err := pond(nil)
	if err != nil {
		tb.Fatal(err)
	}
	var sink bytes.Buffer
	r, err := replay.NewRecorder(&sink, w, pondDescriptor)
	if err != nil {
		tb.Fatal(err)
	}
	count := newTally()
	w.Record(r)
	w.Watch(func(t *engine.Tick) { count.Record(t) })
	for tick := uint64(1); tick <= pondTicks; tick++ {
		for _, c := range pondInputs(tick) {
			if _, err := w.Submit(c); err != nil {
				tb.Fatal(err)
			}
		}
		if _, err := w.Step(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		tb.Fatal(err)
	}
	return sink.Bytes(), count
}

// verify replays a recording with a builder, by Verify and by Step, which must agree.
func verify(b []byte, build replay.Builder) (ticks uint64, err error) {
	ticks, err = replayed(b, build, (*replay.Player).Verify)
	stepped, stepErr := replayed(b, build, verifyPlain)
	if ticks != stepped || fmt.Sprint(err) != fmt.Sprint(stepErr) {
		return 0, fmt.Errorf("Verify = %d, %v; by Step %d, %v", ticks, err, stepped, stepErr)
	}
	return ticks, err
}

// verifyPlain is [replay.Player.Verify] with a hash after each tick.
func verifyPlain(p *replay.Player) (ticks uint64, err error) {
	for ; ; ticks++ {
		if err := p.Step(); err == io.EOF {
			return ticks, nil
		} else if err != nil {
			return ticks, err
		}
	}
}

func replayed(b []byte, build replay.Builder, play func(*replay.Player) (uint64, error)) (ticks uint64, err error) {
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		return 0, err
	}
	p, err := replay.NewPlayer(r, build)
	if err != nil {
		return 0, err
	}
	return play(p)
}

// TestVerifyLarge: a hash that is wrong is found at its tick, whatever is hashed beside the
// world, and what follows is not asked.
func TestVerifyLarge(t *testing.T) {
	const ticks = 90
	every := 7
	if testing.Short() {
		every = 40
	}
	for _, side := range []int{4, 300} {
		fails := false
		w := moodyWorld(t, side, &fails)
		var sink bytes.Buffer
		r, err := replay.NewRecorder(&sink, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		for range ticks {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
		build := func(*replay.Header) (*engine.World, error) { return moodyWorld(t, side, &fails), nil }
		l := layoutOf(t, sink.Bytes())
		for wrong := 0; wrong < ticks; wrong += every {
			b := bytes.Clone(sink.Bytes())
			b[l.ends[wrong+1]-1] ^= 1
			b[l.ends[min(wrong+3, ticks)]-2] ^= 1
			n, err := verify(b, build)
			e, ok := errors.AsType[*replay.MismatchError](err)
			if n != uint64(wrong) || !ok || e.Tick != uint64(wrong+1) || e.Offset != l.ends[wrong+1]-8 {
				t.Fatalf("side %d: Verify = %d, %v, want a mismatch at tick %d", side, n, err, wrong+1)
			}
		}
	}
}

// A liar changes everything and tells that nothing has changed.
type liar struct{}

func (liar) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "liar", Incremental: engine.Fields(0)}
}

func (liar) Step(c *engine.Context) error {
	next := c.Next(0)
	for i := range next {
		next[i]++
	}
	if c.Tick() > 2 {
		c.Changed(0, 0, 0)
	}
	return nil
}

// TestVerifyLiar: who records wrong hashes by telling the world lies is found by the same
// lies, at the end.
func TestVerifyLiar(t *testing.T) {
	build := func(*replay.Header) (*engine.World, error) {
		return engine.New(engine.Config{
			Space: space.Square4{Rows: 300, Cols: 300}, Fields: []fields.Def{{Name: "a"}}, Propagators: []engine.Propagator{liar{}},
		})
	}
	w, err := build(nil)
	if err != nil {
		t.Fatal(err)
	}
	var sink bytes.Buffer
	r, err := replay.NewRecorder(&sink, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	for range 40 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	n, err := replayed(sink.Bytes(), build, (*replay.Player).Verify)
	e, ok := errors.AsType[*replay.MismatchError](err)
	if n != 39 || !ok || e.Tick != 40 || e.Replayed != w.Hash() || e.Offset != int64(sink.Len()-8) {
		t.Errorf("Verify = %d, %v, want a mismatch at tick 40 with %016x", n, err, w.Hash())
	}
}

// TestVerifyBefore: Before hears of each tick, and its error ends Verify with all ticks before
// it compared. The world's own recorder hears of all, and stays.
func TestVerifyBefore(t *testing.T) {
	b, _ := pondRecording(t)
	stop := errors.New("enough")
	for last := range uint64(pondTicks + 1) {
		n, err := replayed(b, pond, func(p *replay.Player) (uint64, error) {
			own := newTally()
			p.World.Record(own)
			called := uint64(0)
			p.Before = func() error {
				if called != p.World.Tick() {
					t.Errorf("called %d times before tick %d", called, p.World.Tick())
				}
				if called == last {
					return stop
				}
				called++
				return nil
			}
			n, err := p.Verify()
			if p.World.Recorder() != engine.Recorder(own) || len(own.events) != int(last) {
				t.Errorf("the world's recorder is %v and heard of %d ticks, want %d", p.World.Recorder(), len(own.events), last)
			}
			return n, err
		})
		if n != last || err != stop {
			t.Fatalf("Verify = %d, %v, want %d, %v", n, err, last, stop)
		}
	}
}

func TestVerify(t *testing.T) {
	b, recorded := pondRecording(t)
	for kind := commands.KindMove; kind <= commands.KindSetParameterBatch; kind++ {
		if !recorded.kinds[kind] {
			t.Errorf("the recording has no %s", kind)
		}
	}
	for _, reason := range []commands.Reason{
		commands.Applied, commands.Expired, commands.UnknownEntity, commands.UnknownField, commands.StaticField, commands.OutsideSpace,
		commands.CapacityFull, commands.NotFinite, commands.Unsupported, commands.UnknownParameter,
	} {
		if !recorded.reasons[reason] {
			t.Errorf("the recording has no command that is %s", reason)
		}
	}
	if ticks, err := verify(b, pond); ticks != pondTicks || err != nil {
		t.Errorf("Verify = %d, %v; want %d", ticks, err, pondTicks)
	}
}

// TestReplayAppliesEventsOnce: the pond's system schedules an event a tick. None of
// them is an input, and a replay applies each as often as the run did.
func TestReplayAppliesEventsOnce(t *testing.T) {
	b, recorded := pondRecording(t)
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(r, pond)
	if err != nil {
		t.Fatal(err)
	}
	replayed := newTally()
	p.World.Record(replayed)
	for tick := uint64(1); tick <= pondTicks; tick++ {
		if err := p.Step(); err != nil {
			t.Fatal(err)
		}
		if got, want := len(p.Frame().Records), len(pondInputs(tick)); got != want {
			t.Errorf("tick %d: %d commands recorded, want the %d inputs", tick, got, want)
		}
	}
	if want := []int{0, 0, 1, 1, 1, 1, 1}; !slices.Equal(recorded.events, want) || !slices.Equal(replayed.events, want) {
		t.Errorf("events applied: %v in the run, %v in the replay; want %v", recorded.events, replayed.events, want)
	}
	if !slices.Equal(recorded.refused, replayed.refused) {
		t.Errorf("commands refused: %v in the run, %v in the replay", recorded.refused, replayed.refused)
	}
	if err := p.Step(); err != io.EOF {
		t.Errorf("Step at the end = %v, want io.EOF", err)
	}
}

// TestHeaderMismatch: each value of the header that the world contradicts is named,
// with the place where it stands.
func TestHeaderMismatch(t *testing.T) {
	w, err := pond(nil)
	if err != nil {
		t.Fatal(err)
	}
	good := replay.HeaderOf(w, pondDescriptor)
	good.Build.Flags = "ü, longer than one byte"
	for _, tt := range []struct {
		what     string
		change   func(*replay.Header)
		recorded uint64
		replayed uint64
		size     int
	}{
		{"seed", func(h *replay.Header) { h.Seed = 12 }, 12, 11, 8},
		{"field count", func(h *replay.Header) { h.FieldCount = 1 }, 1, 7, 4},
		{"cell count", func(h *replay.Header) { h.CellCount = 1 << 40 }, 1 << 40, 6, 8},
		{"config hash", func(h *replay.Header) { h.ConfigHash++ }, good.ConfigHash + 1, good.ConfigHash, 8},
		{"config hash", func(h *replay.Header) { h.ConfigHash = 0 }, 0, good.ConfigHash, 8},
	} {
		h := good
		tt.change(&h)
		b := newWriter(t, h).bytes(t)
		_, err := verify(b, pond)
		m, ok := errors.AsType[*replay.MismatchError](err)
		if !ok || !errors.Is(err, replay.ErrMismatch) {
			t.Errorf("%s: %v, want a *MismatchError", tt.what, err)
			continue
		}
		if m.What != tt.what || m.Tick != 0 || m.Recorded != tt.recorded || m.Replayed != tt.replayed {
			t.Errorf("got %+v, want %s %d instead of %d at tick 0", *m, tt.what, tt.recorded, tt.replayed)
		}
		if at := slices.Concat(b[m.Offset:m.Offset+int64(tt.size)], make([]byte, 8)); binary.LittleEndian.Uint64(at) != tt.recorded {
			t.Errorf("%s: %d is said to stand at byte %d, where % x does", tt.what, tt.recorded, m.Offset, at)
		}
	}
	h := good
	h.Descriptor = []byte("the pool")
	b, s := newWriter(t, h).bytes(t), w.Setup(h.Descriptor)
	want := fmt.Sprintf("replay: header mismatch at byte %d: config hash is %016x, the descriptor makes it %016x",
		bytes.Index(b, h.Descriptor)-24, good.ConfigHash, s.Hash())
	if _, err := verify(b, pond); err == nil || err.Error() != want {
		t.Errorf("another descriptor: %v, want %s", err, want)
	}
}

// TestBuilderFails: the player hands on what the builder fails with.
func TestBuilderFails(t *testing.T) {
	b, _ := pondRecording(t)
	no := errors.New("no such pond")
	if ticks, err := verify(b, func(*replay.Header) (*engine.World, error) { return nil, no }); ticks != 0 || err != no {
		t.Errorf("Verify = %d, %v; want 0, %v", ticks, err, no)
	}
}

// TestOtherBuildDiverges: a world that computes otherwise by one unit in the last
// place of a constant differs at the first tick that the constant touches.
func TestOtherBuildDiverges(t *testing.T) {
	b, _ := pondRecording(t)
	other := float64(math.Nextafter32(wind, 1))
	ticks, err := verify(b, func(*replay.Header) (*engine.World, error) { return engine.New(pondConfig(other)) })
	m, ok := errors.AsType[*replay.MismatchError](err)
	if ticks != 0 || !ok || m.Tick != 1 || m.What != "state hash" || m.Recorded == m.Replayed {
		t.Fatalf("Verify = %d, %v; want a mismatch of the state hash at tick 1", ticks, err)
	}
	if got := binary.LittleEndian.Uint64(b[m.Offset:]); got != m.Recorded {
		t.Errorf("at byte %d stands %016x, want the recorded hash %016x", m.Offset, got, m.Recorded)
	}
}

// TestFailingTick: a tick that was recorded but fails in the replay says so.
func TestFailingTick(t *testing.T) {
	b, _ := pondRecording(t)
	ticks, err := verify(b, func(*replay.Header) (*engine.World, error) {
		w, err := pond(nil)
		w.Record(failing(3))
		return w, err
	})
	if e, ok := errors.AsType[*engine.TickError](err); ticks != 2 || !ok || e.Tick != 3 || e.Where != "recorder" {
		t.Errorf("Verify = %d, %v; want 2 and a *TickError at tick 3", ticks, err)
	}
}

// A failing recorder fails at a tick.
type failing uint64

func (f failing) Record(t *engine.Tick) error {
	if t.Number == uint64(f) {
		return syscall.EIO
	}
	return nil
}

// TestRecorderFails: where the sink takes no more, the tick has not happened, and
// what was written is a valid prefix that verifies.
func TestRecorderFails(t *testing.T) {
	const payload = 3000 // so that frames leave the buffer during the run
	for _, limit := range []int{0, 10, 70_000, 140_000} {
		w, err := pond(nil)
		if err != nil {
			t.Fatal(err)
		}
		var sink bytes.Buffer
		r, err := replay.NewRecorder(&full{w: &sink, limit: limit, cause: syscall.ENOSPC}, w, pondDescriptor)
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		for err == nil && w.Tick() < 1000 {
			if _, err := w.Submit(commands.Custom(8, make([]byte, payload))); err != nil {
				t.Fatal(err)
			}
			_, err = w.Step()
		}
		failed, ok := errors.AsType[*engine.TickError](err)
		if !ok || failed.Where != "recorder" || failed.Tick != w.Tick()+1 || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("limit %d: after tick %d: %v, want the sink's error at the next tick", limit, w.Tick(), err)
		}
		if again := r.Flush(); !errors.Is(again, syscall.ENOSPC) {
			t.Errorf("limit %d: Flush = %v, want the first error again", limit, again)
		}
		ticks, err := verify(sink.Bytes(), pond)
		if sink.Len() != limit || kindOf(err) != replay.ErrTruncated || ticks > w.Tick() || limit > payload && ticks < uint64(limit/payload-2) {
			t.Errorf("limit %d: %d bytes, Verify = %d, %v; want a cut recording of nearly as many ticks", limit, sink.Len(), ticks, err)
		}
	}
}

// TestBuilderSubmits: commands are the recording's. A builder that submits some would have them twice, once a recording is gone on with.
func TestBuilderSubmits(t *testing.T) {
	recording, _ := pondRecording(t)
	frames, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	submits := func(h *replay.Header) (*engine.World, error) {
		w, err := pond(h)
		if err == nil {
			_, err = w.Submit(commands.SetField(space.At(0, 0), 0, 1))
		}
		return w, err
	}
	_, _, _, begun := replay.Resume(inFile(t, nil), submits, *frames.Head())
	if begun == nil || !strings.Contains(begun.Error(), "the builder has submitted 1 commands") {
		t.Errorf("Resume in an empty file = %v", begun)
	}
	_, err = replay.NewPlayer(frames, submits)
	if err == nil || !strings.Contains(err.Error(), "the builder has submitted 1 commands") {
		t.Errorf("NewPlayer = %v", err)
	}
}
