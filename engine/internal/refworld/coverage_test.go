package refworld_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/internal/refworld"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// coverage counts what random worlds have met, by topic and case.
type coverage map[string]int

// expected are the cases that enough worlds must all meet, besides the kinds of
// propagators.
var expected = map[string][]string{
	"space":      {"line", "ring", "square4", "square8", "hex", "fcc12", "product", "nested product"},
	"size":       {"one cell", "up to 50 cells", "up to 400 cells", "above 1024 cells"},
	"edge":       {"absorb", "clamp", "wrap"},
	"hexes":      {"absorb", "clamp", "wrap"},
	"element":    {"float32", "fixed", "int32", "uint64"},
	"type":       {"scalar", "vector", "categorical"},
	"domain":     {"cells", "entities"},
	"mutability": {"per_tick", "sparse", "static"},
	"bounds":     {"clamp float32", "reflect float32", "absorb float32", "wrap float32", "clamp fixed", "reflect fixed", "absorb fixed", "wrap fixed"},
	"propagator": {
		"Diffusion with walls", "Diffusion with holds", "Diffusion with a gradient", "Diffusion of a vector", "Flow normalised",
		"Resource linear", "Resource logistic", "Noise uniform", "Noise gaussian", "Noise salt_pepper", "churn in full", "churn in place",
	},
	"system":  {"walk", "rain"},
	"world":   {"without entities", "with entities", "chacha8", "chacha20", "paranoid", "several workers", "with a handler", "short queue", "reset"},
	"submit":  {"applied", "queue full", "stopped", "unsupported", "bad value"},
	"command": {"move", "spawn", "despawn", "set_field", "custom", "set_parameter", "set_parameter_batch"},
	"event":   {"move", "spawn", "despawn", "set_field", "custom", "set_parameter", "set_parameter_batch"},
	"refused": {
		"expired", "unknown entity", "unknown field", "static field", "outside the space", "capacity full", "not finite", "unsupported",
		"rolled back", "unknown parameter", "bad value",
	},
	"tick": {"published", "replayed", "failed in commands", "failed in a part", "failed in a check", "failed in the recorder", "halted"},
}

func newCoverage() coverage { return coverage{} }

func (c coverage) meet(topic, what string) {
	if c != nil {
		c[topic+": "+what]++
	}
}

func (c coverage) meetIf(ok bool, topic, what string) {
	if ok {
		c.meet(topic, what)
	}
}

func (c coverage) add(d coverage) {
	for k, n := range d {
		c[k] += n
	}
}

// missing lists the expected cases that have not been met.
func (c coverage) missing() (all []string) {
	for topic, cases := range expected {
		for _, what := range cases {
			if c[topic+": "+what] == 0 {
				all = append(all, topic+": "+what)
			}
		}
	}
	for _, k := range kinds {
		if c["propagator: "+k.name] == 0 {
			all = append(all, "propagator: "+k.name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// String lists all counts, a topic a line.
func (c coverage) String() string {
	var keys []string
	for k := range c {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	last := ""
	for _, k := range keys {
		topic, what, _ := strings.Cut(k, ": ")
		if topic != last {
			fmt.Fprintf(&b, "\n%s:", topic)
			last = topic
		}
		fmt.Fprintf(&b, " %s %d;", what, c[k])
	}
	return strings.TrimSpace(b.String())
}

// scenario counts what a world is made of.
func (c coverage) scenario(s *scenario) {
	c.space(s.engine.Space, 0)
	n := s.lattice.Cells()
	c.meetIf(n == 1, "size", "one cell")
	c.meetIf(n > 1 && n <= 50, "size", "up to 50 cells")
	c.meetIf(n > 50 && n <= 400, "size", "up to 400 cells")
	c.meetIf(n > 1024, "size", "above 1024 cells")
	for _, a := range s.lattice.Axes() {
		c.meet("edge", a.Edge.String())
	}
	for i := range s.engine.Fields {
		d := &s.engine.Fields[i]
		c.meet("element", d.Element.String())
		kind, _, _ := strings.Cut(d.Type.String(), "(")
		c.meet("type", kind)
		c.meet("domain", d.Domain.String())
		c.meet("mutability", d.Mutability.String())
		if d.Bounds != nil {
			c.meet("bounds", d.Bounds.Mode.String()+" "+d.Element.String())
		}
	}
	for _, p := range s.engine.Propagators {
		c.propagator(p, s.engine.Fields)
	}
	for _, p := range s.engine.Systems {
		_, walks := p.(walk)
		c.meetIf(walks, "system", "walk")
		c.meetIf(!walks, "system", "rain")
	}
	c.meetIf(s.engine.Capacity == 0, "world", "without entities")
	c.meetIf(s.engine.Capacity > 0, "world", "with entities")
	c.meetIf(s.engine.Generator == rng.ChaCha8, "world", "chacha8")
	c.meetIf(s.engine.Generator == rng.ChaCha20, "world", "chacha20")
	c.meetIf(s.engine.Paranoid, "world", "paranoid")
	c.meetIf(s.engine.Workers > 1, "world", "several workers")
	c.meetIf(len(s.engine.Handlers) > 0, "world", "with a handler")
	c.meetIf(s.engine.QueueSize > 0, "world", "short queue")
}

func (c coverage) space(s space.Space, depth int) {
	parts, ok := s.(space.Product)
	if !ok {
		kind, _, _ := strings.Cut(s.String(), " ")
		c.meet("space", kind)
		if hex, ok := s.(space.Hex); ok {
			c.meet("hexes", hex.Edge.String())
		}
		return
	}
	c.meetIf(depth == 0, "space", "product")
	c.meetIf(depth > 0, "space", "nested product")
	for _, p := range parts {
		c.space(p, depth+1)
	}
}

func (c coverage) propagator(p engine.Propagator, defs []fields.Def) {
	const topic = "propagator"
	c.meet(topic, reflect.TypeOf(p).Name())
	switch p := p.(type) {
	case propagators.Diffusion:
		c.meetIf(p.BlockedBy != nil, topic, "Diffusion with walls")
		c.meetIf(len(p.Hold) > 0, topic, "Diffusion with holds")
		c.meetIf(p.Gradient != nil, topic, "Diffusion with a gradient")
		c.meetIf(defs[p.Field].Type.Components() > 1, topic, "Diffusion of a vector")
	case propagators.Flow:
		c.meetIf(p.Normalise, topic, "Flow normalised")
	case propagators.Resource:
		c.meetIf(p.Logistic, topic, "Resource logistic")
		c.meetIf(!p.Logistic, topic, "Resource linear")
	case propagators.Noise:
		c.meet(topic, "Noise "+p.Kind.String())
	case churn:
		c.meetIf(p.full, topic, "churn in full")
		c.meetIf(!p.full, topic, "churn in place")
	}
}

// tick counts what a tick did.
func (c coverage) tick(receipts []commands.Receipt, err error, replayed bool) {
	for i := range receipts {
		r := &receipts[i]
		topic := "command"
		if r.Event {
			topic = "event"
		}
		c.meet(topic, r.Kind.String())
		c.meetIf(r.Reason != commands.Applied, "refused", r.Reason.String())
		c.meet(r.Kind.String(), r.Reason.String())
	}
	f, failed := errors.AsType[*refworld.Failure](err)
	switch {
	case !failed:
		c.meet("tick", "published")
		c.meetIf(replayed, "tick", "replayed")
	case f.Where == "commands":
		c.meet("tick", "failed in commands")
	case f.Where == "world":
		c.meet("tick", "halted")
	case f.Where == "recorder":
		c.meet("tick", "failed in the recorder")
	case errors.Is(f.Err, errFuse):
		c.meet("tick", "failed in a part")
	default:
		c.meet("tick", "failed in a check")
	}
}
