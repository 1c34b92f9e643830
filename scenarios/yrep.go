package scenarios

import (
	"slices"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
)

// A YREP says what the things of the world are called in a YREP file, a replay of a match in a block world, to
// which a recording can be exported. It does not influence the world. Every entity is a player there.
type YREP struct {
	Names    []YREPName   `yaml:"names" doc:"What the players of a kind are called."`
	Ground   FieldRef     `yaml:"ground" doc:"A field of cells: how high the ground is; left out, 0."`
	Altitude FieldRef     `yaml:"altitude" doc:"An attribute: how high an entity is; left out, as high as the ground."`
	X        FieldRef     `yaml:"x" doc:"An attribute: where an entity is along x; left out, where its cell is."`
	Z        FieldRef     `yaml:"z" doc:"An attribute: the same along z."`
	Health   FieldRef     `yaml:"health" doc:"An attribute whose fall is damage; then an entity that ceases to be dies."`
	Action   FieldRef     `yaml:"action" doc:"A categorical attribute: what an entity does."`
	Actions  []YREPAction `yaml:"actions" doc:"What the values of the action look like."`
	Items    []YREPItem   `yaml:"items" doc:"What players hold and wear."`
	Blocks   []YREPBlock  `yaml:"blocks" doc:"Fields of cells whose changes are changes of blocks."`
}

// A YREPName is what the players of a kind are called.
type YREPName struct {
	Kind Kind   `yaml:"kind,required" doc:"One of the kinds."`
	Name string `yaml:"name,required" doc:"What they are called, before a number of their own."`
}

// A YREPAction is what an entity is seen to do when the action takes a value.
type YREPAction struct {
	Value string `yaml:"value,required" doc:"One of the values of the action."`
	Chat  string `yaml:"chat" doc:"What a player says who begins it."`
	Swing bool   `yaml:"swing" doc:"Whether a player swings the arm who begins it."`
}

// A YREPItem is held, or worn, while an attribute is more than 0.
type YREPItem struct {
	Field     FieldRef `yaml:"field,required" doc:"An attribute; the item is there while it is more than 0."`
	Component int      `yaml:"component" min:"0" doc:"Of a vector: the component, the first being 0."`
	Slot      int      `yaml:"slot" min:"0" max:"4" doc:"0 the main hand, 1 helmet, 2 chestplate, 3 leggings, 4 boots."`
	Item      string   `yaml:"item,required" doc:"The item as that game writes it."`
}

// A YREPBlock is a block on each cell, whose material depends on a field.
type YREPBlock struct {
	Field     FieldRef `yaml:"field,required" doc:"A field of cells, of one component."`
	Level     int      `yaml:"level" doc:"How many blocks above the ground."`
	Materials []int    `yaml:"materials,required" doc:"The number of a material for each value, from 0; the last also for larger ones."`
}

// maxYREP is how long a text of the mapping and its lists may be.
const maxYREP = 1024

func (y *YREP) check(d *decoder, n *document.Node) error {
	if d.s.Entities == nil {
		return n.Errorf("a YREP file is about entities, but the scenario has no \"entities\"")
	}
	for _, ref := range []struct {
		key    string
		field  FieldRef
		domain fields.Domain
		fits   func(t fields.Type) bool
		what   string
	}{
		{"ground", y.Ground, fields.Cells, isScalar, "a scalar field of cells"},
		{"altitude", y.Altitude, fields.Entities, isScalar, "a scalar attribute"},
		{"x", y.X, fields.Entities, isScalar, "a scalar attribute"},
		{"z", y.Z, fields.Entities, isScalar, "a scalar attribute"},
		{"health", y.Health, fields.Entities, isScalar, "a scalar attribute"},
		{"action", y.Action, fields.Entities, func(t fields.Type) bool { return t.Kind == fields.CategoricalKind }, "a categorical attribute"},
	} {
		if ref.field == "" {
			continue
		}
		if f := d.s.field(string(ref.field)); f.def.Domain != ref.domain || !ref.fits(f.def.Type) {
			return n.At(ref.key).Errorf("field %q is %s; %s is needed here", ref.field, f.sort(), ref.what)
		}
	}
	for _, list := range []struct {
		key    string
		length int
	}{{"names", len(y.Names)}, {"actions", len(y.Actions)}, {"items", len(y.Items)}, {"blocks", len(y.Blocks)}} {
		if list.length > maxYREP {
			return n.At(list.key).Errorf("%d %s; at most %d are allowed", list.length, list.key, maxYREP)
		}
	}
	if err := y.checkLists(d, n); err != nil {
		return err
	}
	for i := range y.Names {
		if slices.ContainsFunc(y.Names[:i], func(other YREPName) bool { return other.Kind == y.Names[i].Kind }) {
			return n.Get("names").Kids[i].Errorf("kind %q has a name already", y.Names[i].Kind)
		}
	}
	return nil
}

func isScalar(t fields.Type) bool { return t.Kind == fields.ScalarKind }

// checkLists checks what the lists say of fields.
func (y *YREP) checkLists(d *decoder, n *document.Node) error {
	for i, a := range y.Actions {
		at := n.Get("actions").Kids[i].At("value")
		if y.Action == "" {
			return n.At("actions").Errorf("\"actions\" needs \"action\", the attribute that has these values")
		}
		values := d.s.field(string(y.Action)).Values
		if !slices.Contains(values, a.Value) {
			return at.Errorf("%q has no value %q%s", y.Action, a.Value, document.Suggestion(a.Value, values))
		}
		if slices.ContainsFunc(y.Actions[:i], func(other YREPAction) bool { return other.Value == a.Value }) {
			return at.Errorf("there is an action %q already", a.Value)
		}
	}
	for i, item := range y.Items {
		at := n.Get("items").Kids[i]
		f := d.s.field(string(item.Field))
		switch {
		case f.def.Domain != fields.Entities:
			return at.At("field").Errorf("field %q belongs to cells; an item depends on an attribute of entities", f.Name)
		case item.Component >= f.def.Type.Components():
			return at.At("component").Errorf("component is %d; %q has %d", item.Component, f.Name, f.def.Type.Components())
		}
	}
	for i, b := range y.Blocks {
		at := n.Get("blocks").Kids[i]
		f := d.s.field(string(b.Field))
		switch {
		case f.def.Domain != fields.Cells || f.def.Type.Components() != 1:
			return at.At("field").Errorf("field %q is %s; a field of cells of one component is needed here", f.Name, f.sort())
		case len(b.Materials) == 0 || len(b.Materials) > maxYREP:
			return at.At("materials").Errorf("%d materials; 1 to %d are allowed", len(b.Materials), maxYREP)
		case slices.ContainsFunc(y.Blocks[:i], func(other YREPBlock) bool { return other.Level == b.Level }):
			return at.Errorf("there are blocks of level %d already", b.Level)
		}
	}
	return y.checkTexts(n)
}

// checkTexts checks that no text is too long for its instruction.
func (y *YREP) checkTexts(n *document.Node) error {
	long := func(list string, i int, key, text string) error {
		if len(text) > maxYREP {
			return n.Get(list).Kids[i].At(key).Errorf("a text of %d bytes; at most %d are allowed", len(text), maxYREP)
		}
		return nil
	}
	for i := range y.Names {
		if err := long("names", i, "name", y.Names[i].Name); err != nil {
			return err
		}
	}
	for i := range y.Actions {
		if err := long("actions", i, "chat", y.Actions[i].Chat); err != nil {
			return err
		}
	}
	for i := range y.Items {
		if err := long("items", i, "item", y.Items[i].Item); err != nil {
			return err
		}
	}
	return nil
}
