package scenarios

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Names are what a scenario calls the fields, kinds, parameters and entities that commands
// know by number. Without a scenario there are none.
type Names struct {
	Scenario *Scenario // may be nil
}

// Field returns a field of the scenario; nil if it has none of that number.
func (n Names) Field(id uint32) *Field {
	if n.Scenario == nil || uint64(id) >= uint64(len(n.Scenario.Fields)) {
		return nil
	}
	return &n.Scenario.Fields[id]
}

// Parameter returns a parameter's name, or "parameter" and its key.
func (n Names) Parameter(key uint32) string {
	if n.Scenario != nil {
		for _, p := range n.Scenario.AllParameters() {
			if p.Key == key {
				return p.Name
			}
		}
	}
	return fmt.Sprintf("parameter %d", key)
}

// Entity returns an entity's name, or "entity" and its id.
func (n Names) Entity(id uint64) string {
	if n.Scenario == nil {
		return fmt.Sprintf("entity %d", id)
	}
	return n.Scenario.EntityName(id)
}

// Value returns a field's value: that of a category by its name.
func (n Names) Value(id uint32, v float32) string {
	names := []string(nil)
	if f := n.Field(id); f != nil {
		names = f.Values
	} else if n.Scenario != nil && n.Scenario.Entities != nil {
		if _, kind, _ := engine.EntityColumns(len(n.Scenario.Fields)); uint64(id) == uint64(kind) {
			names = n.Scenario.Entities.Kinds
		}
	}
	if v >= 0 && v < float32(len(names)) && v == float32(int(v)) {
		return names[int(v)]
	}
	return fmt.Sprint(v)
}

// attribute returns the name of what a Spawn sets.
func (n Names) attribute(id uint32) string {
	if f := n.Field(id); f != nil {
		return f.Name
	}
	if n.Scenario != nil && n.Scenario.Entities != nil {
		if _, kind, _ := engine.EntityColumns(len(n.Scenario.Fields)); uint64(id) == uint64(kind) {
			return "kind"
		}
	}
	return fmt.Sprintf("field %d", id)
}

// Describe says what a command does: "set wall at [63, 10] to open".
func (n Names) Describe(c *commands.Command) string {
	switch c.Kind {
	case commands.KindMove:
		return fmt.Sprintf("move %s to %v", n.Entity(c.Entity), c.Coord)
	case commands.KindSpawn:
		var parts []string
		for v := range c.FieldValues() {
			parts = append(parts, n.attribute(v.Field)+" "+n.Value(v.Field, v.Value))
		}
		return strings.TrimSuffix(fmt.Sprintf("spawn at %v: %s", c.Coord, strings.Join(parts, ", ")), ": ")
	case commands.KindDespawn:
		return "despawn " + n.Entity(c.Entity)
	case commands.KindSetField:
		return n.describeSet(c)
	case commands.KindSetParameter:
		return fmt.Sprintf("set %s to %v", n.Parameter(c.ID), c.Float64())
	case commands.KindSetParameterBatch:
		var parts []string
		for p := range c.Parameters() {
			parts = append(parts, fmt.Sprintf("%s to %v", n.Parameter(p.Key), p.Value))
		}
		return "set " + strings.Join(parts, ", ")
	}
	return n.describeCustom(c)
}

// DescribeBriefly is Describe for a command whose data may be long, of which it says the beginning.
func (n Names) DescribeBriefly(c *commands.Command) string {
	const most = 240 // bytes; holds whole attributes of a spawn, whole parameters
	if len(c.Data) <= most {
		return n.Describe(c)
	}
	cut := *c
	cut.Data = c.Data[:most]
	return n.Describe(&cut) + " …"
}

func (n Names) describeCustom(c *commands.Command) string {
	switch c.ID {
	case commands.LaterType:
		due, later, err := commands.DecodeLater(c.Data)
		if err == nil && later.Kind != commands.KindCustom { // an event that schedules one stays as it is
			return fmt.Sprintf("at tick %d %s", due, n.Describe(&later))
		}
	case commands.CancelType:
		if event, err := commands.DecodeCancel(c.Data); err == nil {
			return fmt.Sprintf("cancel event %d", event)
		}
	}
	return strings.TrimSpace(fmt.Sprintf("custom command of type %d %s", c.ID, hex.EncodeToString(c.Data)))
}

func (n Names) describeSet(c *commands.Command) string {
	f, what, at := n.Field(c.ID), fmt.Sprintf("field %d", c.ID), c.Coord
	if f == nil {
		return fmt.Sprintf("set %s at %v to %v", what, at, c.Float32())
	}
	what = f.Name
	if last := at.Dim() - 1; f.Type.Kind == fields.VectorKind && last >= 0 {
		what, at = fmt.Sprintf("%s[%d]", what, at.At(last)), at.Slice(0, last)
	}
	place := fmt.Sprintf("at %v", at)
	if f.Domain == "entities" && at.Dim() == 2 {
		place = "of " + n.Entity(entityAt(at))
	}
	return fmt.Sprintf("set %s %s to %s", what, place, n.Value(c.ID, c.Float32()))
}

// entityAt returns the id that commands.EntityCoord made a coordinate of.
func entityAt(at space.Coord) uint64 { return uint64(uint32(at.At(0)))<<32 | uint64(uint32(at.At(1))) }
