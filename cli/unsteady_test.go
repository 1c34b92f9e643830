package cli

import (
	"math"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// unsteadyComponents are those of the program unsteady: a propagator that from tick 30 on does
// as the environment variable UNSTEADY says, as if builds were different ones.
func unsteadyComponents() []scenarios.Component {
	return []scenarios.Component{{Name: "unsteady", Version: 1, About: "Does what UNSTEADY says.", Params: func() any { return new(unsteadyParams) }}}
}

type unsteadyParams struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"What it changes."`
}

// Propagator implements [scenarios.PropagatorMaker].
func (p *unsteadyParams) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	return &unsteady{name: name, field: b.Field(p.Field), mode: os.Getenv("UNSTEADY"), made: float32(made.Add(1))}, nil
}

// remembered is a value of the first call in this process; 0: there was none.
var remembered float32

// shared counts the ticks of all worlds of this process.
var shared atomic.Uint32

// made counts what was made in this process.
var made atomic.Uint32

// terms are added in the order of a map.
var terms = func() map[int]float32 {
	m := map[int]float32{}
	for i := range 64 {
		m[i] = 1 / float32(1+i*i*i)
	}
	return m
}()

// unsteadyFrom is the first tick in which an unsteady propagator acts.
const unsteadyFrom = 30

type unsteady struct {
	name  string
	field fields.ID
	mode  string
	calls float32
	woken bool    // with "asked"
	made  float32 // how many were made before, and this
}

// Spec implements [engine.Propagator].
func (u *unsteady) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: u.name, Incremental: engine.Fields(u.field), Parallel: u.mode == "workers"}
}

// Step implements [engine.Propagator].
func (u *unsteady) Step(c *engine.Context) error {
	u.calls++
	lo, hi := c.Range()
	if c.Tick() < unsteadyFrom || lo > 0 {
		return nil
	}
	next := c.Next(u.field)
	switch u.mode {
	case "other": // build
		next[0] += 2
	case "hair":
		next[0] += 1.00001
	case "counts":
		next[0] += u.calls
	case "later": // a memory that acts in the seventh tick after a restore
		if u.calls == 7 {
			next[0]++
		}
	case "asked": // a memory that a command wakes
		u.woken = u.woken || slices.Max(next) > 50
		if u.woken && c.Tick() >= 60 {
			next[0] += u.calls
		}
	case "alternates":
		next[0] += float32(int(u.calls) % 2)
	case "workers": // a sum of its share
		next[0] += float32(hi - lo)
	case "draws":
		c.Stream(0).Uint64()
		next[0]++
	case "remembers":
		if remembered == 0 {
			remembered = next[0] / 1000
		}
		next[0] += remembered
	case "shared":
		next[0] += float32(shared.Add(1))
	case "made":
		next[0] += 1 + u.made
	case "sooner": // other than at first, each time that it is made again
		next[0]++
		if c.Tick() >= 50 || u.made > 1 {
			next[0]++
		}
	case "order": // of a map
		for _, term := range terms {
			next[0] += term
		}
	case "clock":
		next[0] += float32(time.Now().Nanosecond() % 1000)
	case "fused":
		next[0] = float32(math.FMA(float64(next[0]), 1.1, float64(next[0])))
	case "rounded":
		next[0] += float32(next[0] * 1.1)
	case "fails":
		return c.Fail(0, "no more")
	case "strikes", "strikes down": // once, if there is a file for it, as a machine fails once
		if c.Tick() == unsteadyFrom && os.Remove("strike") == nil {
			if u.mode == "strikes down" {
				return c.Fail(0, "struck")
			}
			next[0]++
		}
	case "panics":
		next[len(next)]++
	default:
		next[0]++
	}
	return nil
}

// TestOpenOfAMemory: a world that remembers something outside its state has at each tick the hash that was recorded, wherever one
// looked before: what comes of a keyframe does not count then.
func TestOpenOfAMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("UNSTEADY", "counts")
	scenario := "murksim: 1\nname: pond\nticks: 300\nspace: {kind: square4, rows: 64, cols: 64}\nfields:\n" +
		"  - {name: heat, initial: {noise: {from: 0, to: 1}}, min: -1e9, max: 1e9}\npropagators:\n  - unsteady: {field: heat}\n"
	if err := os.WriteFile("pond.yaml", []byte(scenario), 0o666); err != nil {
		t.Fatal(err)
	}
	p := Program{Name: "unsteady", Components: unsteadyComponents()}
	scene, err := p.Scenario("pond.yaml", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	recordWith(t, "pond.murk", scene, scene.Ticks, scene.Descriptor())
	r, closeAll, err := p.Open(t.Context(), "pond.murk", Look{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	for _, tick := range []uint64{300, 200, 10, 299, 1, 300} {
		if w, err := r.At(t.Context(), tick); err != nil || w.Tick() != tick {
			t.Errorf("tick %d: %v", tick, err)
		}
	}
}
