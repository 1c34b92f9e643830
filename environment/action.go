package environment

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
)

// The sorts of effects.
const (
	doNothing = iota
	doMove
	doSet
	doParam
	doCustom
)

// A effect is what one choice or control does.
type effect struct {
	name  string
	sort  int
	dir   int // doMove
	field fields.ID
	own   bool    // doSet: an attribute of the agent, not a field of its cell
	key   uint32  // doParam: the parameter; doCustom: the type
	data  []byte  // doCustom
	value float64 // of a choice

	from, to float32 // of a control
}

// addActions lists the effects of the environment.
func (m *model) addActions(b *scenarios.Builder) {
	a, ways := &m.env.Actions, m.lattice.Directions()
	moves := a.Moves
	if a.Moves {
		if a.Stay {
			m.choices = append(m.choices, effect{name: "stay"})
		}
		for i := range ways {
			m.choices = append(m.choices, effect{name: ways[i].Name, sort: doMove, dir: i})
		}
	}
	for i := range a.Choices {
		c := &a.Choices[i]
		d := m.effect(b, c.Set, c.Param, c.Custom)
		for dir := range ways {
			if ways[dir].Name == c.Move {
				d, moves = effect{name: c.Move, sort: doMove, dir: dir}, true
				break
			}
		}
		if c.Stay {
			d.name = "stay"
		}
		if c.Name != "" {
			d.name = c.Name
		}
		m.choices = append(m.choices, d)
	}
	for i := range a.Controls {
		c := &a.Controls[i]
		d := m.effect(b, c.Set, c.Param, c.Custom)
		d.from, d.to = float32(c.From), float32(c.To)
		if c.Name != "" {
			d.name = c.Name
		}
		m.controls = append(m.controls, d)
	}
	if moves {
		m.ways = newWays(m.lattice)
	}
}

// effect makes the effect of the one part that is not nil.
func (m *model) effect(b *scenarios.Builder, set *scenarios.Assignment, param *scenarios.Tuning, custom *scenarios.Calling) (d effect) {
	var value *float64
	switch {
	case set != nil:
		d = effect{name: string(set.Field), sort: doSet, field: b.Field(set.Field)}
		d.own = b.Defs()[d.field].Domain == fields.Entities
		value = set.Value
	case param != nil:
		d = effect{name: string(param.Name), sort: doParam}
		d.key, _ = b.Parameter(param.Name)
		value = param.Value
	case custom != nil:
		data, err := hex.DecodeString(custom.Data)
		if err != nil {
			panic("environment: data that was checked is not hexadecimal")
		}
		d = effect{name: fmt.Sprintf("custom %d", custom.Type), sort: doCustom, key: custom.Type, data: data}
	}
	if value != nil {
		d.value = *value
		d.name = fmt.Sprintf("%s=%v", d.name, *value)
	}
	return d
}

// act appends the command of a effect of an agent to the list; v is the number of a control,
// or the value of a choice. Nothing is appended if the way leads nowhere.
func (l *lane) act(d *effect, agent int, v float64) {
	m, at := l.m, l.agents[agent].Cell
	switch d.sort {
	case doMove:
		l.wanted[agent] = true
		if to := m.ways.from(at, d.dir); to >= 0 {
			l.list = append(l.list, commands.Move(m.ids[agent], m.lattice.Coord(int(to))))
		}
	case doSet:
		where := commands.EntityCoord(l.number(agent))
		if !d.own {
			where = m.lattice.Coord(int(at))
		}
		l.list = append(l.list, commands.SetField(where, uint32(d.field), float32(v)))
	case doParam:
		l.list = append(l.list, commands.SetParameter(d.key, v))
	case doCustom:
		from := len(l.data)
		l.data = append(binary.LittleEndian.AppendUint64(l.data, l.number(agent)), d.data...)
		if m.controls != nil {
			l.data = binary.LittleEndian.AppendUint32(l.data, math.Float32bits(float32(v)))
		}
		l.list = append(l.list, commands.Custom(d.key, l.data[from:len(l.data):len(l.data)]))
	}
}

// number returns what an agent is called in custom commands: an entity's id, a cell's rank.
func (l *lane) number(agent int) uint64 {
	if l.m.ids != nil {
		return l.m.ids[agent]
	}
	return uint64(l.m.cells[agent])
}
