package engine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A ConfigError says which part of a Config is wrong.
type ConfigError struct {
	Part  string // "space", "field", "propagator", "system", "handler", "parameter", or "" for the whole
	Index int    // into that part's list, or -1
	Name  string // of the field, propagator or system, if it has one
	Err   error
}

// Error implements error.
func (e *ConfigError) Error() string {
	switch {
	case e.Part == "" || e.Index < 0 && e.Name == "":
		return e.Err.Error()
	case e.Name == "":
		return fmt.Sprintf("engine: %s %d: %v", e.Part, e.Index, e.Err)
	}
	return fmt.Sprintf("engine: %s %q: %v", e.Part, e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// An ArgError says which argument of a propagator or system is wrong. A [Checker]
// returns it, so that a scenario reader can point at the place where the argument was given.
type ArgError struct {
	Arg string // its name in scenarios, such as "rate", or a path to a part of it, such as "hold.0.value"
	Err error  // its text names the argument
}

// ErrWork is in the chain of the error of a component whose ticks would take minutes or more:
// a tick cannot be interrupted.
var ErrWork = errors.New("more work than a tick may have")

// ArgErrorf returns an [*ArgError] whose cause is formatted as by [fmt.Errorf].
func ArgErrorf(arg, format string, args ...any) error {
	return &ArgError{arg, fmt.Errorf(format, args...)}
}

// Error implements error.
func (e *ArgError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ArgError) Unwrap() error { return e.Err }

// An UnstableError reports a time step above a propagator's stability limit.
type UnstableError struct {
	Dt, MaxDt float64 // seconds
	Space     string
	MaxDegree int // the most neighbours of any cell
}

// Error implements error.
func (e *UnstableError) Error() string {
	return fmt.Sprintf("would be unstable: dt is %v s, the limit on %s (%d neighbours) is %v s", e.Dt, e.Space, e.MaxDegree, e.MaxDt)
}

var errNil = errors.New("must not be nil")

// missing reports whether a part of a Config is nil, or a nil pointer or function of some type.
func missing(part any) bool {
	v := reflect.ValueOf(part)
	return !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}

// check checks everything that can be checked without the world's memory, and builds the
// lattice.
func (c *Config) check() (*space.Lattice, error) {
	if err := c.checkLimits(); err != nil {
		return nil, &ConfigError{Index: -1, Err: err}
	}
	lattice, err := c.Space.Build()
	if err != nil {
		return nil, &ConfigError{Part: "space", Index: -1, Err: err}
	}
	names := map[string]bool{} // looked up only
	for i := range c.Fields {
		d := &c.Fields[i]
		if err := c.checkField(d, lattice.Cells(), names[d.Name]); err != nil {
			return nil, &ConfigError{"field", i, d.Name, err}
		}
		names[d.Name] = true
	}
	if _, err := c.Memory(); err != nil {
		return nil, err
	}
	return lattice, nil
}

func (c *Config) checkField(d *fields.Def, cells int, taken bool) error {
	if err := d.Check(); err != nil {
		return err
	}
	switch {
	case taken:
		return fmt.Errorf("two fields have this name")
	case strings.HasPrefix(d.Name, "entity.") || strings.HasPrefix(d.Name, "world."):
		return fmt.Errorf("names that begin with entity. or world. are reserved for the engine")
	case d.Domain == fields.Entities && c.Capacity == 0:
		return fmt.Errorf("it is a field of entities, but the world's capacity is 0")
	}
	return checkInitial(d, int64(cells)*int64(d.Type.Components()))
}

// checkInitial checks initial values that are given one by one.
func checkInitial(d *fields.Def, elements int64) error {
	if n := d.Initial.Len(); n >= 0 && int64(n) != elements {
		return fmt.Errorf("%d initial values for %d elements", n, elements)
	}
	for i := range max(0, d.Initial.Len()) {
		if _, ok := d.Bits(d.Initial.At(i)); !ok {
			return fmt.Errorf("initial value %v of element %d cannot be stored", d.Initial.At(i), i)
		}
	}
	return nil
}

// addStages checks propagators and systems against the fields and each other and
// makes stages of them.
func (w *World) addStages(c *Config) error {
	w.writer = make([]*stage, len(w.defs))
	names := make(map[string]bool) // of the stages; looked up only
	for i, p := range c.Propagators {
		spec := p.Spec(w.lattice)
		if err := w.addStage(spec, p, nil, c.Workers, names); err != nil {
			return &ConfigError{"propagator", i, spec.Name, err}
		}
	}
	for i, s := range c.Systems {
		spec := s.Spec(w.lattice)
		if err := w.addStage(spec, nil, s, 1, names); err != nil {
			return &ConfigError{"system", i, spec.Name, err}
		}
	}
	most := 1
	for _, s := range w.stages {
		most = max(most, len(s.workers))
	}
	w.crew.begin(most)
	return nil
}

func (w *World) addStage(spec Spec, p Propagator, s System, workers int, names map[string]bool) error {
	if err := w.checkNames(&spec, names); err != nil {
		return err
	}
	for _, part := range []any{p, s} { // one of them is nil
		if c, ok := part.(Checker); ok {
			if err := c.Check(w.lattice, w.defs); err != nil {
				return err
			}
		}
	}
	if err := w.checkSpec(&spec); err != nil {
		return err
	}
	if spec.Cost < 0 || spec.Cost > maxCost {
		return fmt.Errorf("its Cost must be 0 to %v, not %v", maxCost, spec.Cost)
	}
	if spec.Local && !spec.Parallel {
		return fmt.Errorf("its Spec says Local but not Parallel")
	}
	if s != nil && spec.Parallel {
		return fmt.Errorf("a system must not be Parallel; only propagators may")
	}
	st := w.newStage(spec, p, s, workers)
	w.stages = append(w.stages, st)
	names[spec.Name] = true
	for _, name := range st.places {
		names[name] = true
	}
	for _, id := range slices.Concat(spec.Full, spec.Incremental) {
		w.writer[id] = st
	}
	return nil
}

// checkNames checks that the name is none of those taken and that the fields exist.
func (w *World) checkNames(spec *Spec, taken map[string]bool) error {
	if err := rng.CheckName(spec.Name); err != nil {
		return err
	}
	if taken[spec.Name] {
		return fmt.Errorf("another propagator or system has this name")
	}
	if strings.HasPrefix(spec.Name, handlerPrefix) {
		return fmt.Errorf("names that begin with %s are reserved for the engine", handlerPrefix)
	}
	for _, place := range spec.Places {
		name := spec.Name + "." + place
		if err := rng.CheckName(name); err != nil {
			return err
		}
		if taken[name] || spec.Local {
			return fmt.Errorf("it draws at the place %q, and is local or another part is called %q", place, name)
		}
	}
	for _, id := range slices.Concat(spec.Prev, spec.Now, spec.Full, spec.Incremental) {
		if id >= fields.ID(len(w.defs)) {
			return fmt.Errorf("field %d does not exist; the number of fields is %d", id, len(w.defs))
		}
	}
	return nil
}

func (w *World) checkSpec(spec *Spec) error {
	for _, id := range spec.Full {
		if other := w.writer[id]; other != nil {
			remedy := fmt.Sprintf("it must come before %q", other.spec.Name)
			if slices.ContainsFunc(w.stages, func(s *stage) bool { return slices.Contains(s.spec.Full, id) }) {
				remedy = "a field has one such writer; the others add to what it wrote (Spec.Incremental)"
			}
			return fmt.Errorf("it writes field %q in full, over what %q wrote; %s", w.defs[id].Name, other.spec.Name, remedy)
		}
	}
	for _, id := range slices.Concat(spec.Full, spec.Incremental) {
		if err := w.checkWrite(spec, id); err != nil {
			return err
		}
	}
	for _, id := range spec.Rewrite {
		switch {
		case !slices.Contains(spec.Incremental, id):
			return fmt.Errorf("field %d is in Rewrite, but not in Incremental", id)
		case w.defs[id].Element != fields.Float32:
			return fmt.Errorf("it rewrites field %q, which is not of float32", w.defs[id].Name)
		}
	}
	for _, id := range spec.Now {
		switch {
		case slices.Contains(spec.Rewrite, id):
			return fmt.Errorf("it reads field %q, which it rewrites, with Now; read it with Was", w.defs[id].Name)
		case slices.Contains(spec.Full, id):
			return fmt.Errorf("it reads field %q, its own Full output, with Now; read it with Prev", w.defs[id].Name)
		case spec.Parallel && slices.Contains(spec.Incremental, id):
			return fmt.Errorf("it is parallel and reads field %q with Now while it writes it; leave out Parallel, or read it with Prev", w.defs[id].Name)
		}
	}
	if !(spec.MaxDt >= 0) {
		return fmt.Errorf("MaxDt must be above zero, or 0 for any, not %v s", spec.MaxDt)
	}
	if spec.MaxDt > 0 && w.dt > spec.MaxDt && w.rules.strict() {
		return &UnstableError{w.dt, spec.MaxDt, w.lattice.Space().String(), w.lattice.MaxDegree()}
	}
	return nil
}

func (w *World) checkWrite(spec *Spec, id fields.ID) error {
	name := w.defs[id].Name
	switch {
	case w.defs[id].Mutability == fields.Static:
		return fmt.Errorf("it writes field %q, which is static", name)
	case int(id) >= w.userFields && (name == EntityID || name == WorldRest):
		return fmt.Errorf("it writes %s, which only the engine may write", name)
	case w.defs[id].Domain == fields.Entities && slices.Contains(spec.Full, id):
		return fmt.Errorf("it writes %q in full; columns of entities must be written incrementally", name)
	case w.defs[id].Domain == fields.Entities && spec.Parallel:
		return fmt.Errorf("it is parallel and writes %q, a column of entities; only cells are shared among workers", name)
	case slices.Contains(spec.Full, id) && slices.Contains(spec.Incremental, id):
		return fmt.Errorf("it writes field %q both in full and incrementally", name)
	}
	return nil
}

const handlerPrefix = "custom:"

func (w *World) addHandlers(handlers []Handler) error {
	for i, h := range handlers {
		if missing(h) {
			return &ConfigError{Part: "handler", Index: i, Err: errNil}
		}
		typeID := h.Type()
		if typeID == commands.LaterType || typeID == commands.CancelType {
			return &ConfigError{Part: "handler", Index: i, Err: fmt.Errorf("type id %#x is reserved for commands.Later or commands.Cancel", typeID)}
		}
		for _, other := range w.handlers {
			if other.typeID == typeID {
				return &ConfigError{Part: "handler", Index: i, Err: fmt.Errorf("type id %d has two handlers", typeID)}
			}
		}
		name := fmt.Sprintf("%s%d", handlerPrefix, typeID)
		w.handlers = append(w.handlers, handlerSlot{typeID, h, HandlerContext{name: name}})
	}
	return nil
}
