package cli

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// names are what a scenario calls the fields, kinds, parameters and entities that commands
// know by number. Without a scenario there are none.
type names struct {
	scenario *scenarios.Scenario // may be nil
}

// field returns a field of the scenario; nil if it has none of that number.
func (n names) field(id uint32) *scenarios.Field {
	if n.scenario == nil || uint64(id) >= uint64(len(n.scenario.Fields)) {
		return nil
	}
	return &n.scenario.Fields[id]
}

// parameter returns a parameter's name, or "parameter" and its key.
func (n names) parameter(key uint32) string {
	if n.scenario != nil {
		for _, p := range n.scenario.Parameters {
			if p.Key == key {
				return p.Name
			}
		}
	}
	return fmt.Sprintf("parameter %d", key)
}

// entity returns an entity's name, or "entity" and its id.
func (n names) entity(id uint64) string {
	if n.scenario == nil {
		return fmt.Sprintf("entity %d", id)
	}
	return n.scenario.EntityName(id)
}

// value returns a field's value: that of a category by its name.
func (n names) value(id uint32, v float32) string {
	names := []string(nil)
	if f := n.field(id); f != nil {
		names = f.Values
	} else if n.scenario != nil && n.scenario.Entities != nil {
		if _, kind, _ := engine.EntityColumns(len(n.scenario.Fields)); uint64(id) == uint64(kind) {
			names = n.scenario.Entities.Kinds
		}
	}
	if v >= 0 && v < float32(len(names)) && v == float32(int(v)) {
		return names[int(v)]
	}
	return fmt.Sprint(v)
}

// attribute returns the name of what a Spawn sets.
func (n names) attribute(id uint32) string {
	if f := n.field(id); f != nil {
		return f.Name
	}
	if n.scenario != nil && n.scenario.Entities != nil {
		if _, kind, _ := engine.EntityColumns(len(n.scenario.Fields)); uint64(id) == uint64(kind) {
			return "kind"
		}
	}
	return fmt.Sprintf("field %d", id)
}

// describe says what a command does: "set wall at [63, 10] to open".
func (n names) describe(c *commands.Command) string {
	switch c.Kind {
	case commands.KindMove:
		return fmt.Sprintf("move %s to %v", n.entity(c.Entity), c.Coord)
	case commands.KindSpawn:
		var parts []string
		for v := range c.FieldValues() {
			parts = append(parts, n.attribute(v.Field)+" "+n.value(v.Field, v.Value))
		}
		return strings.TrimSuffix(fmt.Sprintf("spawn at %v: %s", c.Coord, strings.Join(parts, ", ")), ": ")
	case commands.KindDespawn:
		return "despawn " + n.entity(c.Entity)
	case commands.KindSetField:
		return n.describeSet(c)
	case commands.KindSetParameter:
		return fmt.Sprintf("set %s to %v", n.parameter(c.ID), c.Float64())
	case commands.KindSetParameterBatch:
		var parts []string
		for p := range c.Parameters() {
			parts = append(parts, fmt.Sprintf("%s to %v", n.parameter(p.Key), p.Value))
		}
		return "set " + strings.Join(parts, ", ")
	}
	return strings.TrimSpace(fmt.Sprintf("custom command of type %d %s", c.ID, hex.EncodeToString(c.Data)))
}

func (n names) describeSet(c *commands.Command) string {
	f, what, at := n.field(c.ID), fmt.Sprintf("field %d", c.ID), c.Coord
	if f == nil {
		return fmt.Sprintf("set %s at %v to %v", what, at, c.Float32())
	}
	what = f.Name
	if last := at.Dim() - 1; f.Type.Kind == fields.VectorKind && last >= 0 {
		what, at = fmt.Sprintf("%s[%d]", what, at.At(last)), at.Slice(0, last)
	}
	place := fmt.Sprintf("at %v", at)
	if f.Domain == "entities" && at.Dim() == 2 {
		place = "of " + n.entity(entityAt(at))
	}
	return fmt.Sprintf("set %s %s to %s", what, place, n.value(c.ID, c.Float32()))
}

// entityAt returns the id that commands.EntityCoord made a coordinate of.
func entityAt(at space.Coord) uint64 { return uint64(uint32(at.At(0)))<<32 | uint64(uint32(at.At(1))) }

// describeRecord says what a recorded command does, and in which order it comes.
func (n names) describeRecord(r *replay.Record) string {
	what := ""
	if c, err := r.Command(); err == nil {
		what = n.describe(&c)
	} else {
		what = fmt.Sprintf("payload of type %d, %s: %v", r.Tag, hex.EncodeToString(r.Payload), err)
	}
	parts := []string{what, fmt.Sprintf("priority %d", r.Priority)}
	if r.HasSource {
		parts = append(parts, fmt.Sprintf("source %d", r.Source))
	}
	if r.HasSeq {
		parts = append(parts, fmt.Sprintf("source sequence %d", r.SourceSeq))
	}
	if r.Expires != commands.NoExpiry {
		parts = append(parts, "expires after tick "+number(r.Expires))
	}
	return strings.Join(slices.Concat(parts, []string{fmt.Sprintf("arrival %d", r.Arrival)}), "  ")
}
