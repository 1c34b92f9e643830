package refworld_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/internal/refworld"
	"github.com/murksim/murksim/fields"
)

var (
	worlds = flag.Int("worlds", 1000, "how many random worlds to compare")
	seed   = flag.Uint64("seed", 0, "seed of the random worlds; 0: today's date, UTC")
	only   = flag.Int("world", -1, "compare this one world alone")
)

// TestRandomWorlds holds the engine to the reference on random worlds: every field's
// hash, the snapshot hash, every receipt and every failure of every tick.
func TestRandomWorlds(t *testing.T) {
	base := *seed
	if base == 0 {
		now := time.Now().UTC()
		base = uint64(now.Year()*10000 + int(now.Month())*100 + now.Day())
	}
	fmt.Printf("refworld: %d worlds, seed %d\n", *worlds, base)
	if *only >= 0 {
		if err := compare(randomWorld(base, *only, nil), newCoverage()); err != nil {
			t.Fatalf("world %d of seed %d: %v", *only, base, err)
		}
		return
	}
	begin, total := time.Now(), newCoverage()
	var mu sync.Mutex
	failures, digest := 0, uint64(0)
	inParallel(*worlds, func(i int) bool {
		cover := newCoverage()
		s := randomWorld(base, i, cover)
		err := compare(s, cover)
		mu.Lock()
		defer mu.Unlock()
		total.add(cover)
		digest += s.final * (2*uint64(i) + 1)
		if err != nil {
			t.Errorf("world %d: %v\n\treproduce with: go test ./engine/internal/refworld -seed %d -world %d", i, err, base, i)
			failures++
		}
		return failures < 10
	})
	t.Logf("%d worlds, seed %d, in %v; all final hashes together %016x\n%v", *worlds, base, time.Since(begin).Round(time.Millisecond), digest, total)
	const enough = 500 // worlds, to meet everything
	if missing := total.missing(); len(missing) > 0 && *worlds >= enough && failures == 0 {
		t.Errorf("never met in %d worlds: %v", *worlds, missing)
	}
}

// inParallel calls f for 0 to n-1 from as many goroutines as there are processors,
// until one call returns false.
func inParallel(n int, f func(i int) bool) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				if !f(i) {
					next.Store(int64(n))
				}
			}
		})
	}
	wait.Wait()
}

// randomWorld makes world i of a seed.
func randomWorld(seed uint64, i int, cover coverage) *scenario {
	s := newScenario(rand.New(rand.NewPCG(seed, uint64(i))))
	if cover != nil {
		cover.scenario(s)
	}
	return s
}

// A pair is the same world twice.
type pair struct {
	*scenario
	engine  *engine.World
	ref     *refworld.World
	refuse  bool // the recorder refuses this tick
	replays bool // the engine is given inputs in order instead of being submitted to
	halted  bool // at the last step
	heard   uint64
	held    []held
	cover   coverage
}

// held is a snapshot that must not change.
type held struct {
	*engine.Snapshot
	hash uint64
}

var errRefused = errors.New("refused")

// Record implements [engine.Recorder].
func (p *pair) Record(t *engine.Tick) error {
	if p.heard = t.Hash(); p.refuse {
		return errRefused
	}
	return nil
}

// compare runs a scenario in both worlds and returns the first difference.
func compare(s *scenario, cover coverage) error {
	p := &pair{scenario: s, replays: s.IntN(4) == 0, cover: cover}
	s.engine.Recorder = p
	s.ref.Record = func(uint64) error {
		if p.refuse {
			return errRefused
		}
		return nil
	}
	var err error
	if p.engine, err = engine.New(s.engine); err != nil {
		return fmt.Errorf("the engine refuses the world: %v", err)
	}
	if s.fault != nil && s.fault.config != nil {
		s.fault.config(s)
	}
	p.ref = refworld.New(s.ref)
	if err := p.compareState(); err != nil {
		return fmt.Errorf("genesis: %w", err)
	}
	for range s.ticks {
		tick := p.ref.Tick() + 1
		if err := p.step(tick); err != nil {
			return fmt.Errorf("%v: tick %d: %w", s.lattice.Space(), tick, err)
		}
	}
	s.final = p.engine.Hash()
	for _, h := range p.held {
		if got := h.Hash(); got != h.hash {
			return fmt.Errorf("a held snapshot has the hash %016x, had %016x", got, h.hash)
		}
	}
	return nil
}

// step feeds and steps both worlds and compares what comes of it.
func (p *pair) step(tick uint64) error {
	p.refuse = p.IntN(30) == 0
	if p.IntN(150) == 0 {
		p.ref.Stop()
		p.engine.Stop()
	}
	if p.IntN(60) == 0 || p.halted && p.IntN(3) == 0 {
		seed := p.Uint64()
		p.ref.Reset(seed)
		p.engine.Reset(seed)
		p.cover.meet("world", "reset")
		tick = 1
		if err := p.compareState(); err != nil {
			return fmt.Errorf("reset: %w", err)
		}
	}
	if err := p.submit(p.commands(p.entities(), tick)); err != nil {
		return err
	}
	if p.fault != nil && p.fault.tick != nil {
		p.fault.tick(p.ref)
	}
	inputs := p.ref.Take()
	want, wantErr := p.ref.Step(inputs)
	var got []commands.Receipt
	var gotErr error
	if p.replays {
		got, gotErr = p.engine.Replay(inputs)
	} else {
		got, gotErr = p.engine.Step()
	}
	p.cover.tick(want, wantErr, p.replays)
	p.halted = errors.Is(wantErr, refworld.ErrHalted)
	if err := compareErrors(gotErr, wantErr); err != nil {
		return err
	}
	if err := compareReceipts(got, want); err != nil {
		return err
	}
	if err := p.compareState(); err != nil {
		return err
	}
	if gotErr == nil && p.heard != p.ref.Hash() {
		return fmt.Errorf("the recorder was told the hash %016x, want %016x", p.heard, p.ref.Hash())
	}
	p.hold()
	return nil
}

// submit submits to both worlds and compares the answers.
func (p *pair) submit(all []commands.Command) error {
	for i, c := range all {
		want := p.ref.Submit(c)
		p.cover.meet("submit", want.String())
		if p.replays {
			continue
		}
		got := commands.Applied
		if _, err := p.engine.Submit(c); err != nil && !errors.As(err, &got) {
			return fmt.Errorf("Submit of command %d gives %v, no Reason", i, err)
		}
		if got != want {
			return fmt.Errorf("Submit of command %d gives %v, want %v", i, got, want)
		}
	}
	return nil
}

// hold takes and drops snapshots of the engine now and then.
func (p *pair) hold() {
	if p.IntN(3) == 0 {
		s := p.engine.Snapshot()
		p.held = append(p.held, held{s, s.Hash()})
	}
	if len(p.held) > 1 && p.IntN(3) == 0 && p.held[0].Hash() == p.held[0].hash {
		p.held[0].Release()
		p.held = p.held[1:]
	}
}

// entities are the ids of all entities.
func (p *pair) entities() (ids []uint64) {
	if p.scenario.engine.Capacity == 0 {
		return nil
	}
	id, _, _ := engine.EntityColumns(len(p.scenario.engine.Fields))
	f := p.ref.Field(id)
	for _, at := range f.Places() {
		if v := f.Bits(at.At, 0); v != 0 {
			ids = append(ids, v)
		}
	}
	return ids
}

func compareErrors(got, want error) error {
	if got == nil && want == nil {
		return nil
	}
	e, ok := errors.AsType[*engine.TickError](got)
	r, also := errors.AsType[*refworld.Failure](want)
	if !ok || !also || e.Tick != r.Tick || e.Where != r.Where {
		return fmt.Errorf("it ends with %v, want %v", got, want)
	}
	return nil
}

func compareReceipts(got, want []commands.Receipt) error {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			return fmt.Errorf("it gives %d receipts, want %d", len(got), len(want))
		}
		if g, w := spell(&got[i]), spell(&want[i]); g != w {
			return fmt.Errorf("receipt %d is %s, want %s", i, g, w)
		}
	}
	return nil
}

// spell writes out a receipt with its command.
func spell(r *commands.Receipt) string {
	return fmt.Sprintf("%+v: %v, event %t, made %d", *r.Command, r.Reason, r.Event, r.Made)
}

// compareState compares all that can be seen of both worlds between ticks.
func (p *pair) compareState() error {
	if got, want := p.engine.Tick(), p.ref.Tick(); got != want {
		return fmt.Errorf("Tick is %d, want %d", got, want)
	}
	for id := range p.ref.Defs() {
		if got, want := p.engine.FieldHash(fields.ID(id)), p.ref.FieldHash(fields.ID(id)); got != want {
			return p.locate(fields.ID(id), got, want)
		}
	}
	if got, want := p.engine.Hash(), p.ref.Hash(); got != want {
		return fmt.Errorf("the snapshot hash is %016x, want %016x", got, want)
	}
	if got, want := p.engine.Population(), p.ref.Population(); got != want {
		return fmt.Errorf("Population is %d, want %d", got, want)
	}
	if got, want := p.engine.Pending(), p.ref.Pending(); got != want {
		return fmt.Errorf("Pending is %d, want %d", got, want)
	}
	return nil
}

// locate says where two fields of different hashes differ.
func (p *pair) locate(id fields.ID, got, want uint64) error {
	s := p.engine.Snapshot()
	defer s.Release()
	c, f, d := s.Column(id), p.ref.Field(id), &p.ref.Defs()[id]
	for i, at := range f.Places() {
		if bits := f.Bits(at.At, at.Part); c.Bits(i) != bits {
			return fmt.Errorf("field %d %q (%v, %v) at %v, component %d, is %v (%#x), want %v (%#x)", id, d.Name, d.Type, d.Element,
				at.At, at.Part, d.Value(c.Bits(i)), c.Bits(i), d.Value(bits), bits)
		}
	}
	return fmt.Errorf("field %d %q has the hash %016x, want %016x, with equal values", id, d.Name, got, want)
}
