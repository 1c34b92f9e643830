package components_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/components"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

// spaces are one of each kind and edge, small enough for every propagator.
var spaces = []space.Space{
	space.Line{Length: 40, Edge: space.Clamp},
	space.Ring{Length: 33},
	space.Square4{Rows: 6, Cols: 21, Edge: space.Wrap},
	space.Square8{Rows: 6, Cols: 21, Edge: space.Absorb},
	space.Hex{Cols: 20, Rows: 5},
	space.Hex{Cols: 12, Rows: 9, Edge: space.Wrap},
	space.Hex{Cols: 12, Rows: 9, Edge: space.Clamp},
	space.FCC12{W: 6, H: 6, D: 4, Edge: space.Wrap},
	space.Product{space.Line{Length: 30}, space.Square4{Rows: 2, Cols: 2, Edge: space.Clamp}},
}

// A specimen is a propagator as the scenario of its name sets it up.
type specimen struct {
	kind     scenarios.Component
	source   string // of the scenario
	at       int    // in its list of propagators
	made     engine.Propagator
	fields   []fields.Def
	values   [][]float64 // of each field after some ticks of the scenario
	tickRate float64
}

// specimens are of all propagators of the library that have a scenario of their name;
// that the others belong to single worlds, TestPages of scenarios/worlds checks.
func specimens(t *testing.T) (all []specimen) {
	t.Helper()
	const ticks = 50
	shown := worlds.Embedded()
	for _, kind := range components.All() {
		i := slices.IndexFunc(shown, func(w worlds.Info) bool { return w.Shows == kind.Name })
		if i < 0 {
			continue
		}
		s, err := scenariotest.Open(kind.Name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Config(1)
		if err != nil {
			t.Fatal(err)
		}
		x := specimen{kind: kind, source: string(shown[i].Source), fields: c.Fields, tickRate: s.TickRate}
		x.at = slices.IndexFunc(s.Propagators, func(p scenarios.Instance) bool { return p.Component == kind.Name })
		if x.at < 0 {
			t.Fatalf("the scenario %s does not use it", kind.Name)
		}
		x.made = c.Propagators[x.at]
		if _, ok := x.made.(engine.Explainer); !ok {
			t.Errorf("%s, which is %T, does not say how it comes to a number", kind.Name, x.made)
		}
		w := scenariotest.Run(t, kind.Name, ticks)
		for id := range c.Fields {
			var column []float64
			for e := range w.Lattice().Cells() * c.Fields[id].Type.Components() {
				column = append(column, w.Value(fields.ID(id), e))
			}
			x.values = append(x.values, column)
		}
		all = append(all, x)
	}
	if len(all) < 20 {
		t.Errorf("found %d propagators, want 20 at least", len(all))
	}
	return all
}

// on sets the propagator up alone on a space, with values that the fields of its
// scenario have. Vectors have n components, unless n is 0; its ticks are faster than
// those of the scenario by a factor.
func (x *specimen) on(s space.Space, p engine.Propagator, n int, faster float64, workers int) engine.Config {
	l, err := s.Build()
	if err != nil {
		panic(err)
	}
	c := engine.Config{Space: s, Seed: 42, TickRate: x.tickRate * faster, Workers: workers, Propagators: []engine.Propagator{p}}
	for id, d := range x.fields {
		if d.Type.Components() > 1 && n > 0 {
			d.Type = fields.Vector(n)
		}
		r := rand.New(rand.NewPCG(5, uint64(id)))
		v := make([]float64, l.Cells()*d.Type.Components())
		for i := range v {
			v[i] = x.values[id][r.IntN(len(x.values[id]))]
		}
		d.Initial = fields.Values(v)
		c.Fields = append(c.Fields, d)
	}
	return c
}

// world builds the propagator's world on a space: with vectors as long and ticks as
// short as it takes, and without lists, such as of cells of its scenario, where it does
// not take them.
func (x *specimen) world(s space.Space) (build func(workers int) (*engine.World, error), err error) {
	for _, p := range []engine.Propagator{x.made, withoutLists(x.made)} {
		for _, n := range []int{0, 1, 2, 3, 4, 6} {
			for _, faster := range []float64{1, 4} {
				build = func(workers int) (*engine.World, error) { return engine.New(x.on(s, p, n, faster, workers)) }
				_, e := build(1)
				if e == nil {
					return build, nil
				}
				err = cmp.Or(err, e)
			}
		}
	}
	return nil, err
}

func withoutLists(p engine.Propagator) engine.Propagator {
	v := reflect.New(reflect.TypeOf(p)).Elem()
	v.Set(reflect.ValueOf(p))
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Slice && v.Field(i).CanSet() {
			v.Field(i).SetZero()
		}
	}
	return v.Interface().(engine.Propagator)
}

func steps(t *testing.T, w *engine.World, ticks int) {
	t.Helper()
	for range ticks {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEverywhere pins the state after ten ticks of every propagator on every kind of
// space, or that it refuses the space: with any number of workers the same, and without
// memory allocated in a tick.
func TestEverywhere(t *testing.T) {
	const file, ticks = "testdata/golden.txt", 10
	var got strings.Builder
	for _, x := range specimens(t) {
		moved := 0
		for _, s := range spaces {
			row := fmt.Sprintf("%v: %s", s, x.kind.ID())
			build, err := x.world(s)
			if err != nil {
				fmt.Fprintf(&got, "refused           %s\n", row)
				if _, ok := errors.AsType[*engine.ConfigError](err); !ok {
					t.Errorf("%s: %v, want a ConfigError", row, err)
				}
				continue
			}
			hashes := map[int]uint64{} // by workers, looked up only
			for _, workers := range []int{1, 2, 8} {
				w, err := build(workers)
				if err != nil {
					t.Fatal(err)
				}
				before := w.Hash()
				steps(t, w, ticks)
				hashes[workers] = w.Hash()
				if w.Hash() != before {
					moved++
				}
				if allocs := testing.AllocsPerRun(10, func() { steps(t, w, 1) }); allocs != 0 {
					t.Errorf("%s, %d workers: %v allocations a tick, want 0", row, workers, allocs)
				}
			}
			if hashes[2] != hashes[1] || hashes[8] != hashes[1] {
				t.Errorf("%s: hashes %016x with 1 worker, %016x with 2, %016x with 8", row, hashes[1], hashes[2], hashes[8])
			}
			fmt.Fprintf(&got, "%016x  %s\n", hashes[1], row)
		}
		if moved == 0 {
			t.Errorf("%s: nothing happens on any space", x.kind.Name)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, wants := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	if len(rows) != len(wants) {
		t.Fatalf("%d rows, want %d", len(rows), len(wants))
	}
	for i := range rows {
		if rows[i] != wants[i] {
			t.Errorf("got  %s\nwant %s", rows[i], wants[i])
		}
	}
}

// A leaf is a key of a component with a value that tests may change.
type leaf struct {
	name string
	tag  reflect.StructTag
	of   reflect.Type
	was  any // in the descriptor, or the default
}

// leaves lists the keys of a propagator with what its scenario says.
func (x *specimen) leaves(t *testing.T) (all []leaf) {
	t.Helper()
	s, err := scenariotest.Open(x.kind.Name)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Propagators []map[string]map[string]any }
	if err := json.Unmarshal(s.Descriptor(), &doc); err != nil {
		t.Fatal(err)
	}
	params := reflect.TypeOf(x.kind.Params()).Elem()
	for i := range params.NumField() {
		f := params.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" {
			was, ok := doc.Propagators[x.at][x.kind.ID()][name]
			if text := f.Tag.Get("default"); !ok && text != "" {
				was = text
				if v, err := strconv.ParseFloat(text, 64); err == nil {
					was = v
				}
			}
			all = append(all, leaf{name, f.Tag, f.Type, was})
		}
	}
	return all
}

// others are values that a key may have instead, in YAML.
func (l *leaf) others() []string {
	t := l.of
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[scenarios.FieldRef]():
		return []string{"odd"}
	case t.Kind() == reflect.Bool:
		return []string{strconv.FormatBool(l.was != true)}
	case l.tag.Get("enum") != "":
		return slices.DeleteFunc(strings.Split(l.tag.Get("enum"), ","), func(word string) bool { return word == l.was })
	case t.Kind() == reflect.String, t.Kind() == reflect.Slice:
		return nil
	}
	was, _ := l.was.(float64)
	values := []string{fmt.Sprint(was + 1), fmt.Sprint(was - 1)}
	if was != 0 {
		values = append(values, fmt.Sprint(was/2))
	}
	return values
}

// with is the scenario with another value for a key of the propagator, and one more
// field, odd, of five components.
func (x *specimen) with(key, value string) (*scenarios.Scenario, error) {
	text := strings.Replace(x.source, "\nfields:\n", "\nfields:\n  - {name: odd, type: vector(5)}\n", 1)
	return scenariotest.Parse(x.kind.Name+".yaml", text, fmt.Sprintf("propagators.%d.%s.%s=%s", x.at, x.kind.Name, key, value))
}

// TestKeys holds that every key of a propagator makes a difference to it.
func TestKeys(t *testing.T) {
	keys := 0
	for _, x := range specimens(t) {
		base, err := x.with("name", x.kind.Name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := base.Config(1)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range x.leaves(t) {
			for _, value := range l.others() {
				s, err := x.with(l.name, value)
				if err != nil {
					continue // out of bounds, or not together with the other keys
				}
				changed, err := s.Config(1)
				if err != nil {
					continue
				}
				keys++
				if reflect.DeepEqual(unnamed(changed.Propagators[x.at]), unnamed(c.Propagators[x.at])) {
					t.Errorf("%s: %s has no effect: with %s it makes the same", x.kind.Name, l.name, value)
				}
			}
		}
	}
	if keys < 100 {
		t.Errorf("tried %d values, want 100 at least", keys)
	}
}

// unnamed is a propagator without its name.
func unnamed(p engine.Propagator) any {
	v := reflect.New(reflect.TypeOf(p)).Elem()
	v.Set(reflect.ValueOf(p))
	if name := v.FieldByName("Name"); name.IsValid() {
		name.SetZero()
	}
	return v.Interface()
}

// TestRefusals holds that a propagator that cannot do with a key's value says so, at a
// place in the scenario, before the first tick.
func TestRefusals(t *testing.T) {
	refused := 0
	for _, x := range specimens(t) {
		for _, l := range x.leaves(t) {
			values := l.others()
			if _, number := l.was.(float64); number {
				values = append(values, "1e300", "-1e300", "1e-300")
			}
			for _, value := range values {
				s, err := x.with(l.name, value)
				if err == nil {
					_, err = s.World(1)
				}
				if err == nil {
					continue
				}
				refused++
				if e, ok := errors.AsType[*document.Error](err); !ok || e.Line == 0 {
					t.Errorf("%s: %s: %s: %v, want an error with a place", x.kind.Name, l.name, value, err)
				}
			}
		}
	}
	if refused < 100 {
		t.Errorf("%d values were refused, want 100 at least", refused)
	}
}
