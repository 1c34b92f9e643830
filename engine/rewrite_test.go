package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// doubler gives each element of field 0 twice its value and one more, without a copy if it rewrites it.
func doubler(name string, rewrites bool) propagator {
	spec := engine.Spec{Name: name, Incremental: engine.Fields(0), Parallel: true}
	if rewrites {
		spec.Rewrite = spec.Incremental
	}
	return propagator{spec, func(c *engine.Context) error {
		next := c.Next(0)
		was := next
		if rewrites {
			was = c.Was(0)
		}
		lo, hi := c.Range()
		for i := lo; i < hi; i++ {
			next[i] = 2*was[i] + 1
		}
		return nil
	}}
}

// An output that is rewritten has the values that it has without, wherever its writer stands.
func TestRewrite(t *testing.T) {
	full := propagator{engine.Spec{Name: "full", Full: engine.Fields(0), Prev: engine.Fields(0), Parallel: true}, func(c *engine.Context) error {
		lo, hi := c.Range()
		for i, v := range c.Prev(0)[lo:hi] {
			c.Next(0)[lo+i] = v - 3
		}
		return nil
	}}
	for name, parts := range map[string]func(rewrites bool) []engine.Propagator{
		"alone":      func(r bool) []engine.Propagator { return []engine.Propagator{doubler("a", r)} },
		"twice":      func(r bool) []engine.Propagator { return []engine.Propagator{doubler("a", r), doubler("b", r)} },
		"after full": func(r bool) []engine.Propagator { return []engine.Propagator{full, doubler("a", r)} },
	} {
		for _, workers := range []int{1, 3} {
			hash := func(rewrites, paranoid bool) uint64 {
				w, err := engine.New(engine.Config{
					Space: space.Ring{Length: 9}, Fields: []fields.Def{{Name: "v", Initial: fields.Fill(0.25)}},
					Propagators: parts(rewrites), Workers: workers, Paranoid: paranoid,
				})
				if err != nil {
					t.Fatal(err)
				}
				for range 6 {
					if _, err := w.Step(); err != nil {
						t.Fatalf("%s, %d workers: %v", name, workers, err)
					}
				}
				return w.Hash()
			}
			want := hash(false, false)
			for _, paranoid := range []bool{false, true} {
				if got := hash(true, paranoid); got != want {
					t.Errorf("%s, %d workers, paranoid %v: rewritten the hash is %016x, else %016x", name, workers, paranoid, got, want)
				}
			}
		}
	}
}

// A tick that fails leaves what is rewritten as it was.
func TestRewriteFails(t *testing.T) {
	w, err := engine.New(engine.Config{
		Space: space.Ring{Length: 9}, Fields: []fields.Def{{Name: "v", Initial: fields.Fill(math.MaxFloat32)}},
		Propagators: []engine.Propagator{doubler("a", true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	before := w.Hash()
	if _, err := w.Step(); err == nil || w.Hash() != before {
		t.Errorf("Step = %v, and the hash is %016x, before %016x", err, w.Hash(), before)
	}
}

// A world refuses what cannot be rewritten, and a Step that does not rewrite has no Was.
func TestRewriteRefused(t *testing.T) {
	build := func(element fields.Element, change func(*engine.Spec)) (*engine.World, error) {
		p := doubler("a", true)
		change(&p.spec)
		return engine.New(engine.Config{Space: space.Ring{Length: 9}, Fields: []fields.Def{{Name: "v", Element: element}}, Propagators: []engine.Propagator{p}})
	}
	for name, tt := range map[string]struct {
		element fields.Element
		change  func(*engine.Spec)
		says    string
	}{
		"full":     {fields.Float32, func(s *engine.Spec) { s.Incremental, s.Full = nil, s.Incremental }, "is in Rewrite, but not in Incremental"},
		"now":      {fields.Float32, func(s *engine.Spec) { s.Now, s.Parallel = s.Incremental, false }, `reads field "v", which it rewrites, with Now`},
		"integers": {fields.Int32, func(*engine.Spec) {}, `rewrites field "v", which is not of float32`},
	} {
		if _, err := build(tt.element, tt.change); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: New = %v, want %q", name, err, tt.says)
		}
	}
	w, err := build(fields.Float32, func(s *engine.Spec) { s.Rewrite = nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Step(); err == nil || !strings.Contains(err.Error(), "does not call Rewrite") {
		t.Errorf("Step = %v, want that there is no Was", err)
	}
}

// What all workers call valid is not looked at, even if it is categorical; to call it finite is not enough.
func TestValid(t *testing.T) {
	for _, tt := range []struct {
		name   string
		claim  func(c *engine.Context, lo int)
		passes bool
	}{
		{"nobody", func(*engine.Context, int) {}, false},
		{"finite", func(c *engine.Context, _ int) { c.Finite(0) }, false},
		{"one worker", func(c *engine.Context, lo int) {
			if c.Finite(0); lo == 0 {
				c.Valid(0)
			}
		}, false},
		{"all", func(c *engine.Context, _ int) { c.Valid(0) }, true},
	} {
		c := engine.Config{
			Space: space.Ring{Length: 9}, Fields: []fields.Def{{Name: "v", Type: fields.Categorical(2)}}, Workers: 2,
			Propagators: []engine.Propagator{propagator{engine.Spec{Name: "a", Full: engine.Fields(0), Parallel: true}, func(c *engine.Context) error {
				lo, hi := c.Range()
				for i := lo; i < hi; i++ {
					c.Next(0)[i] = 2 // no category
				}
				tt.claim(c, lo)
				return nil
			}}},
		}
		w, err := engine.New(c)
		if err != nil {
			t.Fatal(err)
		}
		for tick := range 2 {
			if _, err := w.Step(); (err == nil) != tt.passes {
				t.Errorf("%s: tick %d: Step = %v", tt.name, tick+1, err)
			}
		}
		if _, err := build(t, c).Step(); err == nil {
			t.Errorf("%s: paranoid: the tick passes", tt.name)
		}
	}
}
