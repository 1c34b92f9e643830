package propagators

import (
	"fmt"
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// named returns the instance's name: its own, or that of its kind.
func named(name, kind string) string {
	if name == "" {
		return kind
	}
	return name
}

// A checker collects the first thing that is wrong with a propagator.
type checker struct {
	defs []fields.Def
	err  error
}

// fail keeps the first error, which is about an argument, or about all of them if arg is "".
func (c *checker) fail(arg, format string, args ...any) {
	switch {
	case c.err != nil:
	case arg == "":
		c.err = fmt.Errorf(format, args...)
	default:
		c.err = engine.ArgErrorf(arg, format, args...)
	}
}

// field checks that a field exists, is of float32 and of cells, and returns its
// number of components, or 0 if a check fails.
func (c *checker) field(role string, id fields.ID) int {
	if uint64(id) >= uint64(len(c.defs)) {
		c.fail(role, "%s: field %d does not exist; the number of fields is %d", role, id, len(c.defs))
		return 0
	}
	d := &c.defs[id]
	switch {
	case d.Domain != fields.Cells:
		c.fail(role, "%s: field %q must be a field of cells, not of %v", role, d.Name, d.Domain)
	case d.Element != fields.Float32:
		c.fail(role, "%s: field %q must hold float32, not %v", role, d.Name, d.Element)
	default:
		return d.Type.Components()
	}
	return 0
}

// sized does what field does, and checks the number of components.
func (c *checker) sized(role string, id fields.ID, components int) {
	if n := c.field(role, id); n != 0 && n != components {
		have, need := "components", "are"
		if n == 1 {
			have = "component"
		}
		if components == 1 {
			need = "is"
		}
		c.fail(role, "%s: field %q has %d %s; %d %s needed", role, c.defs[id].Name, n, have, components, need)
	}
}

// real checks that a field to which any numbers are written is not categorical.
func (c *checker) real(role string, id fields.ID) {
	if c.err == nil && c.defs[id].Type.Kind == fields.CategoricalKind {
		c.fail(role, "%s: field %q is categorical and cannot hold what is written to it", role, c.defs[id].Name)
	}
}

// number checks that a parameter is finite, even as a float32, and not below a minimum.
func (c *checker) number(role string, v, least float64) {
	if f := float64(float32(v)); math.IsNaN(f) || math.IsInf(f, 0) {
		c.fail(role, "%s must be finite as a float32, not %v", role, v)
	} else if v < least {
		c.fail(role, "%s must be at least %v, not %v", role, least, v)
	}
}

const maxFloat32 = math.MaxFloat32

// distinct checks that two roles have different fields.
func (c *checker) distinct(role string, a fields.ID, other string, b fields.ID) {
	if a == b && uint64(a) < uint64(len(c.defs)) {
		c.fail(role, "%s and %s are both field %q", role, other, c.defs[a].Name)
	}
}

// optional lists a field that may be absent, for a Spec.
func optional(id *fields.ID) []fields.ID {
	if id == nil {
		return nil
	}
	return []fields.ID{*id}
}

// positive returns v, or 0 ("any") for a limit that is not finite.
func positive(v float64) float64 {
	if v > 0 && !math.IsInf(v, 1) {
		return v
	}
	return 0
}
