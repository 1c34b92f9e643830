package scenarios

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// A FieldRef is the name of a field.
type FieldRef string

func (r *FieldRef) decode(d *decoder, n *document.Node) error {
	name, err := n.Text()
	if err != nil {
		return err
	}
	if d.s.field(name) == nil {
		return n.Errorf("there is no field %q%s", name, document.Suggestion(name, d.s.fieldNames()))
	}
	*r = FieldRef(name)
	return nil
}

// id returns a field's id.
func (s *Scenario) id(r FieldRef) fields.ID {
	return fields.ID(slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == string(r) }))
}

const anySort = "a field of cells" // of float32, of any type

var sortPattern = regexp.MustCompile(`^(a vector of [1-9][0-9]*|a (scalar|categorical) field|a field of (cells|fixed-point numbers)|an attribute of entities)$`)

// isSort reports whether a text is a sort of fields that a tag "is" can require.
func isSort(what string) bool { return sortPattern.MatchString(what) }

// checkRef checks that a field is of the sort that a key requires.
func (d *decoder) checkRef(n *document.Node, what string, v reflect.Value) error {
	f := d.s.field(v.String())
	anyCells := what == anySort && f != nil && f.Domain == "cells" && f.Element == "float32"
	if f == nil || anyCells || f.sort() == what {
		return nil
	}
	return n.Errorf("field %q is %s; %s is needed here", f.Name, f.sort(), what)
}

// A ParamRef is the name of a parameter.
type ParamRef string

func (r *ParamRef) decode(d *decoder, n *document.Node) error {
	name, err := n.Text()
	if err != nil {
		return err
	}
	if _, ok := d.s.param(name); !ok {
		return n.Errorf("there is no parameter %q%s", name, document.Suggestion(name, parameters(d.s.AllParameters()).names()))
	}
	*r = ParamRef(name)
	return nil
}

// A Cell is the coordinate of a cell of the space.
type Cell struct{ space.Coord }

func (c *Cell) decode(d *decoder, n *document.Node) error {
	if n.Kind != document.List {
		return n.Errorf("%s stands where a coordinate such as %s belongs", n.What(), d.s.sample())
	}
	if len(n.Kids) != d.s.lattice.Dim() {
		return n.Errorf("a coordinate on %s has %d components, such as %s; this one has %d",
			d.s.lattice.Kind(), d.s.lattice.Dim(), d.s.sample(), len(n.Kids))
	}
	c.Coord = space.Coord{}
	for _, k := range n.Kids {
		i, err := k.Int(math.MinInt32, math.MaxInt32)
		if err != nil {
			return err
		}
		c.Coord = c.Coord.Append(int32(i))
	}
	if _, ok := d.s.lattice.Rank(c.Coord); !ok {
		return n.Errorf("%v is no cell of %v", c.Coord, d.s.lattice.Space())
	}
	return nil
}

func (c Cell) appendJSON(b []byte) []byte {
	b = append(b, '[')
	for i := range c.Dim() {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(c.At(i)), 10)
	}
	return append(b, ']')
}

// sample returns a coordinate for messages: "[row, col]".
func (s *Scenario) sample() string {
	var names []string
	for _, a := range s.lattice.Axes() {
		names = append(names, a.Name)
	}
	return fmt.Sprintf("[%s]", strings.Join(names, ", "))
}
