package scenarios_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/yaml"
	"github.com/murksim/murksim/space"
)

// A world that would take too long to make is refused when it is read, from YAML and from a
// descriptor, with the place and the estimate.
func TestSlowGenesisIsRefused(t *testing.T) {
	const head = "murksim: 1\nname: a\nspace: {kind: square4, rows: 8192, cols: 8192}\n"
	disks := strings.Repeat("{disk: {center: [4000, 4000], radius: 3000}, value: 1}, ", 100)
	for _, tt := range []struct{ name, text, want string }{
		{"smooth", "fields: [{name: a, initial: {noise: {from: 0, to: 1, smooth: 1000}}}]\n",
			"a.yaml:4:62: smooth: with it the world takes about 335,611,428,864 steps to make; at most 100,000,000,000 are allowed\n"},
		{"disks", "fields: [{name: a, initial: [" + disks + "]}]\n",
			"a.yaml:4:2382: layer: with it the world takes about 100,653,542,795 steps to make; at most 100,000,000,000 are allowed\n"},
		{"holds", "fields: [{name: a}]\npropagators: [{diffusion: {field: a, rate: 1, hold: [" + disks + "]}}]\n",
			"a.yaml:5:2462: region: with it the world takes about 101,409,794,816 steps to make; at most 100,000,000,000 are allowed\n"},
		{"spawns", "fields: [{name: a}]\nentities: {capacity: 9, kinds: [x], spawn: [" +
			strings.Repeat("{kind: x, count: 1, disk: {center: [4000, 4000], radius: 3000}}, ", 5) + "]}\n",
			"a.yaml:5:175: region: with it the world takes about 6,914,304,192 steps to make; at most 5,000,000,000 are allowed\n"},
	} {
		_, err := scenariotest.Parse("a.yaml", head+tt.text)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %.150v, want %s", tt.name, err, tt.want)
		}
	}
	descriptor := `{"rules":"murksim@1","murksim":1,"name":"a","space":{"kind":"square4","rows":8192,"cols":8192},` +
		`"fields":[{"name":"a","initial":[{"noise":{"from":0,"to":1,"smooth":1000}}]}]}`
	if _, err := scenariotest.FromDescriptor([]byte(descriptor)); err == nil || !strings.Contains(err.Error(), "335,611,428,864 steps") {
		t.Errorf("FromDescriptor = %v, want the same error", err)
	}
}

// toil is a propagator whose making takes long.
type toil struct {
	Steps float64 `yaml:"steps,required" doc:"How long."`
}

// Work implements [scenarios.WorkUser].
func (p *toil) Work(*scenarios.Builder) uint64 { return uint64(p.Steps) }

// Propagator implements [scenarios.PropagatorMaker].
func (p *toil) Propagator(*scenarios.Builder, string) (engine.Propagator, error) {
	return nil, errors.New("made")
}

// The work of making components counts with the rest, is refused beyond the limit, and can be
// ended before each.
func TestWorkOfComponentsIsCounted(t *testing.T) {
	r, err := scenarios.NewRegistry(scenarios.Component{Name: "toil", Version: 1, About: "toils.", Params: func() any { return new(toil) }})
	if err != nil {
		t.Fatal(err)
	}
	read := func(list string) (*scenarios.Scenario, error) {
		return yaml.Parse(r, "a.yaml", nil, []byte("murksim: 1\nname: a\nspace: {kind: ring, length: 9}\nfields: [{name: a}]\npropagators: ["+list+"]\n"))
	}
	_, err = read("{toil: {steps: 6e10}}, {toil: {steps: 6e10}}")
	if want := "a.yaml:5:45: toil: with it the world takes about 120,000,000,000 steps to make; at most 100,000,000,000 are allowed\n"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Decode = %v, want %s", err, want)
	}
	s, err := read("{toil: {steps: 6e10}}")
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	if _, err := s.Make(1, func(float64) error { return enough }); err != enough {
		t.Errorf("Make = %v, want that of step before the propagator is made", err)
	}
}

// Whoever makes a world is called often while it is made, with a share that grows, and can
// end it.
func TestMakingCanBeWatchedAndEnded(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", "murksim: 1\nname: a\nspace: {kind: square4, rows: 500, cols: 500}\n"+
		"fields: [{name: a, initial: [{noise: {from: 0, to: 1, smooth: 30}}, {disk: {center: [250, 250], radius: 200}, value: 1}]}]\n"+
		"propagators: [{diffusion: {field: a, rate: 1, hold: [{disk: {center: [99, 99], radius: 99}, value: 3}]}}]\n")
	if err != nil {
		t.Fatal(err)
	}
	var shares []float64
	w, err := s.Make(1, func(share float64) error {
		if n := len(shares); n > 0 && share < shares[n-1] {
			t.Errorf("%v after %v", share, shares[n-1])
		}
		shares = append(shares, share)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(shares); n < 8 || shares[n-1] < 0.8 || shares[n-1] > 1 {
		t.Errorf("the shares are %v, want 8 at least, up to 1", shares)
	}
	if got := hash(t, s); got != w.Hash() {
		t.Errorf("hash %016x, without a watcher %016x", w.Hash(), got)
	}
	enough := errors.New("enough")
	for call := range len(shares) {
		calls := 0
		_, err := s.Make(1, func(float64) error {
			if calls++; calls > call {
				return enough
			}
			return nil
		})
		if err != enough || calls != call+1 {
			t.Errorf("ended by call %d: %v after %d calls", call+1, err, calls)
		}
	}
}

func hash(t *testing.T, s *scenarios.Scenario) uint64 {
	t.Helper()
	w, err := s.World(2)
	if err != nil {
		t.Fatal(err)
	}
	return w.Hash()
}

// Smoothed noise is the mean of a cell and its neighbours, in this order, as if it were
// computed cell by cell.
func TestSmoothIsTheMeanInOrder(t *testing.T) {
	for _, kind := range []string{
		"{kind: square4, rows: 5, cols: 7, edge: wrap}", "{kind: square8, rows: 5, cols: 7, edge: clamp}", "{kind: ring, length: 2}",
		"{kind: hex, cols: 4, rows: 6}", "{kind: fcc12, w: 4, h: 4, d: 4, edge: wrap}",
	} {
		const field = "{name: a, type: vector(2), initial: {noise: {from: 1, to: 3, smooth: %d}}}"
		s := parse(t, "", kind, fmt.Sprintf(field, 0))
		once := parse(t, "", kind, fmt.Sprintf(field, 4))
		raw, err := s.Config(1)
		if err != nil {
			t.Fatal(err)
		}
		smooth, err := once.Config(1)
		if err != nil {
			t.Fatal(err)
		}
		values := means(s.Lattice(), &raw.Fields[0].Initial, 4)
		for i, want := range values {
			if got := smooth.Fields[0].Initial.At(i); got != want {
				t.Errorf("%s: element %d is %v, want %v", kind, i, got, want)
			}
		}
	}
}

// means computes smoothed noise from 1 to 3 of two components.
func means(l *space.Lattice, raw *fields.Initial, times int) []float64 {
	values := make([]float64, 2*l.Cells())
	for i := range values {
		values[i] = raw.At(i)
	}
	for range times {
		next := make([]float64, len(values))
		for cell := range l.Cells() {
			near := l.AppendNeighbours([]int32{int32(cell)}, cell)
			for i := range 2 {
				sum := 0.0
				for _, at := range near {
					sum += values[2*int(at)+i]
				}
				next[2*cell+i] = sum / float64(len(near))
			}
		}
		values = next
	}
	for i := range 2 {
		low, high := values[i], values[i]
		for at := i; at < len(values); at += 2 {
			low, high = min(low, values[at]), max(high, values[at])
		}
		for at := i; at < len(values) && high > low; at += 2 {
			share := (values[at] - low) / (high - low)
			values[at] = 1 + float64(share*2)
		}
	}
	return values
}
