package propagators_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

var smallSpaces = []space.Space{
	space.Line{Length: 40, Edge: space.Clamp},
	space.Ring{Length: 33},
	space.Square4{Rows: 6, Cols: 21, Edge: space.Wrap},
	space.Square8{Rows: 6, Cols: 21, Edge: space.Absorb},
	space.Hex{Cols: 20, Rows: 5},
	space.FCC12{W: 6, H: 6, D: 4, Edge: space.Wrap},
	space.Product{space.Line{Length: 30}, space.Square4{Rows: 2, Cols: 2, Edge: space.Clamp}},
	space.Hex{Cols: 12, Rows: 9, Edge: space.Wrap},
	space.Hex{Cols: 12, Rows: 9, Edge: space.Clamp},
}

// zoo is a world with one propagator of the library, and the fields that any of them needs.
func zoo(s space.Space, p engine.Propagator) engine.Config {
	return engine.Config{
		Space: s, Seed: 42,
		Fields: []fields.Def{
			{Name: "a", Initial: someValues(s, 1)}, {Name: "b", Initial: someValues(s, 1)},
			{Name: "c", Type: fields.Categorical(4), Initial: someBits(s)}, {Name: "d", Type: fields.Vector(2)},
			{Name: "e", Type: fields.Vector(3), Initial: someValues(s, 3)},
		},
		Propagators: []engine.Propagator{p},
	}
}

var animals = []struct {
	name string
	p    engine.Propagator
}{
	{"diffusion", propagators.Diffusion{Rate: 1.25, Decay: 0.5}},
	{"diffusion with walls", propagators.Diffusion{Rate: 1.25, BlockedBy: new(fields.ID(2)), Gradient: new(fields.ID(3)),
		Hold: []propagators.Hold{{Cells: []int{3, 1}, Value: 9}}}},
	{"diffusion of vectors", propagators.Diffusion{Field: 4, Rate: 1.25}},
	{"wave", propagators.Wave{Velocity: 1, Speed: 3, Damping: 0.25}},
	{"gradient", propagators.Gradient{Output: 3}},
	{"flow", propagators.Flow{Output: 3, Normalise: true}},
	{"resource", propagators.Resource{Presence: new(fields.ID(2)), Consumption: 0.5, Regrowth: 0.75, Logistic: true, Capacity: 2}},
	{"resource, linear", propagators.Resource{Presence: new(fields.ID(2)), Consumption: 0.5, Regrowth: 0.75, Capacity: 2}},
	{"decay", propagators.Decay{Field: 4, Rate: 0.3}},
	{"noise, uniform", propagators.Noise{Kind: propagators.Uniform, Scale: 0.1}},
	{"noise, gaussian", propagators.Noise{Field: 4, Kind: propagators.Gaussian, Scale: 0.1}},
	{"noise, salt and pepper", propagators.Noise{Kind: propagators.SaltPepper, Scale: 0.1}},
	{"automaton", propagators.Automaton{Field: 2, Rule: propagators.Rule{Born: 0b110, Survive: 0b101, States: 4}}},
	{"distance", propagators.Distance{Source: 2, Distance: 0}},
	{"majority", propagators.Majority{Field: 2, States: 4, Noise: 0.1}},
	{"percolation", propagators.Percolation{Field: 2, Open: 0.5}},
	{"sight", propagators.Sight{Viewer: 2, Visible: 0, Radius: 4}},
}

// TestGolden pins the state after ten ticks, of each propagator on each kind of space.
func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, s := range smallSpaces {
		for _, a := range animals {
			c := zoo(s, a.p)
			c.Workers = 2
			w := newWorld(t, c)
			before := w.Hash()
			steps(t, w, 10)
			if w.Hash() == before {
				t.Errorf("%s on %v: nothing happened", a.name, s)
			}
			fmt.Fprintf(&b, "%016x  %v: %s\n", w.Hash(), s, a.name)
		}
	}
	const file = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(string(data), "\n"), strings.Split(b.String(), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

// TestAllocs: no propagator allocates in a tick.
func TestAllocs(t *testing.T) {
	for _, s := range smallSpaces {
		for _, a := range animals {
			for _, workers := range []int{1, 2} {
				c := zoo(s, a.p)
				c.Workers = workers
				w := newWorld(t, c)
				steps(t, w, 3)
				if got := testing.AllocsPerRun(20, func() { steps(t, w, 1) }); got != 0 {
					t.Errorf("%s on %v, %d workers: %v allocations a tick, want 0", a.name, s, workers, got)
				}
			}
		}
	}
}

// TestUlp: a constant that is off by the least possible amount changes the hash.
func TestUlp(t *testing.T) {
	s := space.Square4{Rows: 16, Cols: 16}
	world := func(rate float64) *engine.World { return newWorld(t, zoo(s, propagators.Diffusion{Rate: rate})) }
	alpha := func(rate float64) float32 { return float32(rate * 0.05 * 4) }
	rate := 1.1
	other := math.Nextafter(rate, 2)
	for alpha(other) == alpha(rate) {
		other += 1e-9
	}
	if d := math.Float32bits(alpha(other)) - math.Float32bits(alpha(rate)); d != 1 {
		t.Fatalf("the constants differ by %d ulp, want 1", d)
	}
	a, b := world(rate), world(other)
	if a.Hash() != b.Hash() {
		t.Fatalf("hashes differ before the first tick")
	}
	steps(t, a, 1)
	steps(t, b, 1)
	if a.Hash() == b.Hash() {
		t.Errorf("both hashes are %016x, want different ones", a.Hash())
	}
}

// TestStability: each limit is where the arithmetic has it: at the limit the world is
// built and stays bounded, a world above it is refused.
func TestStability(t *testing.T) {
	ring := space.Ring{Length: 16}
	for _, tt := range []struct {
		name  string
		p     engine.Propagator
		limit float64 // of dt
	}{
		{"diffusion", propagators.Diffusion{Rate: 2}, 0.25},
		{"wave", propagators.Wave{Velocity: 1, Speed: 2}, math.Sqrt2 / 2},
		{"damped wave", propagators.Wave{Velocity: 1, Speed: 2, Damping: 7}, 0.25},
		{"damping", propagators.Wave{Velocity: 1, Damping: 8}, 0.25},
		{"resource", propagators.Resource{Regrowth: 8, Logistic: true, Capacity: 1}, 0.25},
	} {
		c := zoo(ring, tt.p)
		c.TickRate = 1.001 / tt.limit
		w := newWorld(t, c)
		steps(t, w, 500)
		for i, v := range values(w, 0) {
			if math.Abs(v) > 1e4 {
				t.Errorf("%s: cell %d = %v after 500 ticks at the limit", tt.name, i, v)
				break
			}
		}
		c.TickRate = 0.999 / tt.limit
		_, err := engine.New(c)
		if unstable, ok := errors.AsType[*engine.UnstableError](err); !ok || math.Abs(unstable.MaxDt-tt.limit) > 1e-12 {
			t.Errorf("%s at dt %v: %v, want an UnstableError with the limit %v", tt.name, 1/c.TickRate, err, tt.limit)
		}
	}
}

// TestCheck: what a propagator cannot work with is refused when the world is built.
func TestCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	const missing = 99
	for _, tt := range []struct {
		p    engine.Propagator
		want string
	}{
		{propagators.Diffusion{Field: missing}, `engine: propagator "diffusion": field 99 does not exist`},
		{propagators.Diffusion{Name: "smoke", Rate: nan}, `engine: propagator "smoke": rate must be finite as a float32, not NaN`},
		{propagators.Diffusion{Rate: -1}, "rate must be at least 0, not -1"},
		{propagators.Diffusion{Rate: 1e300}, "rate must be finite as a float32, not 1e+300"},
		{propagators.Diffusion{Decay: inf}, "decay must be finite as a float32, not +Inf"},
		{propagators.Diffusion{BlockedBy: new(fields.ID(0))}, `field and blocked_by are both field "a"`},
		{propagators.Diffusion{BlockedBy: new(fields.ID(3))}, `blocked_by: field "d" has 2 components; 1 is needed`},
		{propagators.Diffusion{Field: 2}, `field: field "c" is categorical and cannot hold what is written to it`},
		{propagators.Noise{Field: 2, Scale: 1}, `field: field "c" is categorical`},
		{propagators.Decay{Field: 2, Rate: 1}, `field: field "c" is categorical`},
		{propagators.Diffusion{Output: new(fields.ID(3))}, `output: field "d" has 2 components; 1 is needed`},
		{propagators.Diffusion{Min: new(2.0), Max: new(1.0)}, "max must be at least 2, not 1"},
		{propagators.Diffusion{Min: new(nan)}, "min must be finite as a float32, not NaN"},
		{propagators.Diffusion{Gradient: new(fields.ID(1))}, `gradient: field "b" has 1 component; 2 are needed`},
		{propagators.Diffusion{Field: 4, Gradient: new(fields.ID(3))}, `gradient: field "e" has 3 components`},
		{propagators.Diffusion{Hold: []propagators.Hold{{Cells: []int{0, 16}}}}, "hold 0: cell 16; the space has 16 cells"},
		{propagators.Diffusion{Hold: []propagators.Hold{{Cells: []int{-1}}}}, "hold 0: cell -1"},
		{propagators.Diffusion{Hold: []propagators.Hold{{Value: nan}}}, "hold.0.value must be finite as a float32, not NaN"},
		{propagators.Diffusion{Field: 5}, `field "f" must hold float32, not fixed`},
		{propagators.Diffusion{Field: 6}, `field "g" must be a field of cells, not of entities`},
		{propagators.Wave{}, `displacement and velocity are both field "a"`},
		{propagators.Wave{Velocity: 3}, `velocity: field "d" has 2 components; 1 is needed`},
		{propagators.Wave{Velocity: 1, Speed: 1e30}, "speed 1e+30 is too large: its square, 1.0000000000000001e+60, must fit a float32"},
		{propagators.Wave{Velocity: 1, Damping: -2}, "damping must be at least 0, not -2"},
		{propagators.Gradient{Output: 1}, `output: field "b" has 1 component;`},
		{propagators.Flow{Field: 4, Output: 3}, `field "e" has 3 components; 1 is needed`},
		{propagators.Resource{}, "capacity must be above 0, not 0"},
		{propagators.Resource{Capacity: 1, Presence: new(fields.ID(0))}, `field and presence are both field "a"`},
		{propagators.Resource{Capacity: 1, Consumption: -1}, "consumption must be at least 0, not -1"},
		{propagators.Decay{Rate: inf}, "rate must be finite as a float32, not +Inf"},
		{propagators.Noise{Scale: -1}, "scale must be at least 0, not -1"},
		{propagators.Noise{Kind: propagators.SaltPepper, Scale: 1.5}, "scale must be at most 1 for salt_pepper, not 1.5"},
		{propagators.Noise{Kind: 9}, "NoiseKind(9) does not exist"},
		{propagators.Automaton{Field: 3}, `field "d" has 2 components`},
		{propagators.Automaton{Field: 2, Rule: propagators.Rule{Born: 1 << 9}}, "rule B9/S: counts 9 neighbours; cells have at most 4 here"},
		{propagators.Automaton{Field: 2, Rule: propagators.Rule{States: 5}}, `has 5 states; field "c" holds 4 values`},
		{propagators.Automaton{Field: 2, Rule: propagators.Rule{States: -1}}, "states must be 2 to 65536, not -1"},
	} {
		c := zoo(space.Square4{Rows: 4, Cols: 4}, tt.p)
		c.Capacity = 3
		c.Fields = append(c.Fields, fields.Def{Name: "f", Element: fields.Fixed}, fields.Def{Name: "g", Domain: fields.Entities})
		_, err := engine.New(c)
		if _, ok := errors.AsType[*engine.ConfigError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want a ConfigError with %q", tt.p, err, tt.want)
		}
	}
}

func TestParseRule(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want propagators.Rule
	}{
		{"B3/S23", life},
		{"B/S", propagators.Rule{States: 2}},
		{"B2/S/3", propagators.Rule{Born: 4, States: 3}},
		{"B0ac/S8z", propagators.Rule{Born: 1 | 1<<10 | 1<<12, Survive: 1<<8 | 1<<35, States: 2}},
	} {
		got, err := propagators.ParseRule(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("ParseRule(%q) = %+v, %v; want %+v", tt.in, got, err, tt.want)
		}
		if back := got.String(); back != tt.in {
			t.Errorf("%q is written %q", tt.in, back)
		}
	}
	for _, in := range []string{"", "B3", "S23/B3", "B3/S2!", "B3S23", "B3/S23/1", "B3/S23/x", "B3/S23/3/3", "B3/S23/99999999", "BÄ/S"} {
		if r, err := propagators.ParseRule(in); err == nil {
			t.Errorf("ParseRule(%q) = %v, want an error", in, r)
		}
	}
}

func TestNoiseKind(t *testing.T) {
	for _, k := range []propagators.NoiseKind{propagators.Uniform, propagators.Gaussian, propagators.SaltPepper} {
		if got, err := propagators.ParseNoiseKind(k.String()); err != nil || got != k {
			t.Errorf("ParseNoiseKind(%q) = %v, %v; want %v", k, got, err, k)
		}
	}
	if k, err := propagators.ParseNoiseKind("pink"); err == nil {
		t.Errorf("ParseNoiseKind(pink) = %v, want an error", k)
	}
}
