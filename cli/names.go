package cli

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// names are what a scenario calls the fields, kinds and parameters that commands
// know by number. Without a scenario there are none.
type names struct {
	scenario *scenarios.Scenario // may be nil
}

// field is a field's name, or "" if the scenario has no field of that number.
func (n names) field(id uint32) string {
	if n.scenario == nil || uint64(id) >= uint64(len(n.scenario.Fields)) {
		return ""
	}
	return n.scenario.Fields[id].Name
}

// ofEntities says whether a field belongs to entities.
func (n names) ofEntities(id uint32) bool {
	return n.field(id) != "" && n.scenario.Fields[id].Domain == "entities"
}

// parameter is a parameter's name, or "".
func (n names) parameter(key uint32) string {
	if n.scenario == nil {
		return ""
	}
	for _, p := range n.scenario.Parameters {
		if p.Key == key {
			return p.Name
		}
	}
	return ""
}

// attribute names a value that a spawned entity is given: its kind, by its name, or
// a field. What has no name keeps its number.
func (n names) attribute(id uint32, value float32) (string, any) {
	if n.scenario != nil && n.scenario.Entities != nil {
		_, kind, _ := engine.EntityColumns(len(n.scenario.Fields))
		kinds := n.scenario.Entities.Kinds
		if uint64(id) == uint64(kind) && value >= 0 && value < float32(len(kinds)) && value == float32(int(value)) {
			return "entity.kind", kinds[int(value)] // no field has a name with a dot
		}
	}
	return orNumber(n.field(id), id), jsonFloat(float64(value))
}

func orNumber(name string, id uint32) string {
	if name == "" {
		return fmt.Sprint(id)
	}
	return name
}

// entityAt is the entity that a coordinate names in a command to a field of
// entities, and what is left of the coordinate.
func entityAt(at space.Coord) (id string, rest []int32) {
	c := at.AppendTo(nil)
	if len(c) < 2 {
		return "", c
	}
	return fmt.Sprint(uint64(uint32(c[0]))<<32 | uint64(uint32(c[1]))), c[2:]
}
