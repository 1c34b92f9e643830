package cli

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
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

// stepped counts the worlds of this process that have computed a tick.
var stepped atomic.Uint32

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
	kept  float32 // with "kept"
	woken bool    // with "asked"
	made  float32 // how many were made before, and this
	world uint32  // how many worlds stepped before it in this process, and it
}

// Spec implements [engine.Propagator].
func (u *unsteady) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: u.name, Incremental: engine.Fields(u.field), Parallel: u.mode == "workers"}
}

// Step implements [engine.Propagator].
func (u *unsteady) Step(c *engine.Context) error {
	if u.calls++; u.world == 0 {
		u.world = stepped.Add(1)
	}
	lo, hi := c.Range()
	if c.Tick() < unsteadyFrom || lo > 0 {
		return nil
	}
	next := c.Next(u.field)
	switch u.mode {
	case "kept": // what it saw at first
		if u.kept == 0 {
			u.kept = next[0] + 1
		}
		next[0] += u.kept
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
	case "asserts": // as a program does that counts its own ticks
		if u.calls != float32(c.Tick()) && c.Tick()%16 == 9 {
			return c.Fail(0, "out of step")
		}
		next[0]++
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
	case "shouts":
		return c.Fail(0, "no \x1b[31mmore")
	case "fails":
		return c.Fail(0, "no more")
	case "differs, then fails", "differs, then fails there", "fails, then differs", "fails, then fails later": // in the first world, and in the others
		first, then, _ := strings.Cut(u.mode, ", then ")
		act, from := first, uint64(33)
		if u.world > 1 {
			act = then
		}
		if act == "differs" || act == "fails later" || act == "fails there" {
			from = 50
		}
		if next[0]++; c.Tick() < from {
			return nil
		}
		if act != "differs" {
			return c.Fail(0, "no more")
		}
		next[0]++
	case "strikes", "strikes down": // once, if there is a file for it, as a machine fails once
		if c.Tick() == unsteadyFrom && os.Remove("strike") == nil {
			if u.mode == "strikes down" {
				return c.Fail(0, "struck")
			}
			next[0]++
		}
	case "recorded", "leaves out": // something of what it does where its changes are wanted, or of what it reports then
		next[0]++
		wanted, ends := c.WantsChanges(u.field), c.Tick() < unsteadyFrom+10 // when it is reported at last
		switch {
		case ends && u.mode == "leaves out":
			next[len(next)-1] = 7 // the same in each tick, for a sum of what is left out depends on which ticks are held
		case ends && !wanted:
			next[0]++
		}
		if wanted {
			c.Changed(u.field, 0, 1)
		}
		if wanted && c.Tick() == unsteadyFrom+10 {
			c.Changed(u.field, len(next)-1, len(next))
		}
	case "panics":
		next[len(next)]++
	default:
		next[0]++
	}
	return nil
}

// remembering records 300 ticks of a pond that does as a mode of UNSTEADY says, with an index that has many states.
func remembering(t *testing.T, mode string) Program {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("UNSTEADY", mode)
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
	return p
}

// TestOpenOfAMemory: a world that remembers something outside its state has at each tick the hash that was recorded, wherever one
// looked before: what comes of a keyframe does not count then, nor does a tick that fails after one.
func TestOpenOfAMemory(t *testing.T) {
	for _, mode := range []string{"counts", "asserts"} {
		p := remembering(t, mode)
		r, closeAll, err := p.Open(t.Context(), "pond.murk", Look{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tick := range []uint64{300, 200, 10, 297, 1, 300} {
			if w, err := r.At(t.Context(), tick); err != nil || w.Tick() != tick {
				t.Errorf("%s: tick %d: %v", mode, tick, err)
			}
		}
		closeAll()
	}
}

// TestOpenOfAFailure: a tick that fails in a replay from the first tick, too, is the error of it and of all after it, whatever the index has there.
func TestOpenOfAFailure(t *testing.T) {
	p := remembering(t, "")
	t.Setenv("UNSTEADY", "fails")
	r, closeAll, err := p.Open(t.Context(), "pond.murk", Look{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	for _, tick := range []uint64{300, 299, 29, 200, 300} {
		_, err := r.At(t.Context(), tick)
		if e, fails := errors.AsType[*engine.TickError](err); fails != (tick >= unsteadyFrom) || fails && e.Tick != unsteadyFrom {
			t.Errorf("tick %d: %v, want that tick %d fails", tick, err, unsteadyFrom)
		}
	}
}

// TestDiffOfAMemory: a tick that fails only after a keyframe has a state, with which diff and bisect compare another hash.
func TestDiffOfAMemory(t *testing.T) {
	p := remembering(t, "asserts")
	b, err := os.ReadFile("pond.murk")
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := session.OpenIndex(session.IndexName("pond.murk"))
	if err != nil {
		t.Fatal(err)
	}
	keys := x.SealedTicks()
	x.Close()
	i, _ := slices.BinarySearch(keys, 270)
	if i == 0 {
		t.Fatalf("keyframes %d", keys)
	}
	tick := keys[i-1] + 2 // a replay from there comes to the tick before it
	for tick%16 != 9 {
		tick++
	}
	b[len(b)-20*int(300-tick)-1] ^= 1 // its hash; the frame of a tick without commands has 20 bytes
	if err := os.WriteFile("pond.murk", b, 0o666); err != nil {
		t.Fatal(err)
	}
	begins := fmt.Sprintf("DIFFER at tick %d ", tick)
	for _, args := range [][]string{{"diff"}, {"bisect", "--phases"}} {
		var out, errs bytes.Buffer
		status := p.run(t.Context(), append(args, "pond.murk"), nil, &out, &errs)
		if text := out.String(); status != report.StatusDiverged || !strings.HasPrefix(text, begins) || strings.Contains(text, "there is no state") || !strings.Contains(text, "after it match; ") || !strings.Contains(text, "depends on something outside of the state") {
			t.Errorf("%v: status %d, %s%s", args, status, text, errs.String())
		}
	}
}

// TestDiffOfATickThatFailsOnce: diff and bisect replay a recording again before they say that a tick fails, and accuse neither the recording nor
// the build if the second replay comes to something else.
func TestDiffOfATickThatFailsOnce(t *testing.T) {
	for _, tt := range []struct{ recorded, then string }{
		{"strikes", "the recorded hash: "},
		{"", ""},
	} {
		p := remembering(t, tt.recorded)
		t.Setenv("UNSTEADY", "strikes down")
		for _, args := range [][]string{{"diff"}, {"diff", "--picture", "x.png"}, {"bisect"}, {"bisect", "--phases"}, {"diff", "--json"}, {"bisect", "--json"}} {
			if err := os.WriteFile("strike", nil, 0o666); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			status := p.run(t.Context(), append(args, "pond.murk"), nil, &out, &errs)
			text := out.String()
			for _, want := range []string{"tick 30 was computed twice here, and came to a failure (unsteady: cell [0, 0]: struck) and to " + tt.then, "nothing against the recording"} {
				if !strings.Contains(text, want) {
					t.Errorf("%v, recorded with %q: %s%s\nwant %s", args, tt.recorded, text, errs.String(), want)
				}
			}
			if !slices.Contains(args, "--json") && !strings.HasPrefix(text, "DIFFER at tick 30   the 29 ticks before it are equal\n") || status != report.StatusDiverged {
				t.Errorf("%v: status %d, %s", args, status, text)
			}
		}
	}
	p := remembering(t, "")
	t.Setenv("UNSTEADY", "fails")
	for _, args := range [][]string{{"diff"}, {"bisect", "--phases"}} { // each time
		var out, errs bytes.Buffer
		status := p.run(t.Context(), append(args, "pond.murk"), nil, &out, &errs)
		if want := "pond.murk: tick 30: unsteady: cell [0, 0]: no more\n  the 29 ticks before it match"; status != report.StatusDiverged || !strings.HasPrefix(errs.String(), want) {
			t.Errorf("%v: status %d, %s%s, want %s", args, status, out.String(), errs.String(), want)
		}
	}
}
