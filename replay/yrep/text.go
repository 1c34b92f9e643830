package yrep

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/murksim/murksim/internal/jsonlines"
)

// Fields yields the names and values of an instruction's fields, in the order of the payload. Values are
// JSON, as in the JSON lines.
func (i *Instruction) Fields() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		var p printer
		p.fields(i)
		for n, name := range p.names {
			if !yield(name, string(p.value(n))) {
				return
			}
		}
	}
}

// AppendJSON appends the instruction as the JSON lines have it.
func (i *Instruction) AppendJSON(b []byte) []byte { return new(printer).appendTo(b, i) }

// A printer is the [visitor] that prints values as JSON.
type printer struct {
	names  []string
	starts []int // of the values in b
	b      []byte
}

// fields prints the fields of an instruction, in place of those that it held.
func (p *printer) fields(i *Instruction) {
	p.names, p.starts, p.b = p.names[:0], p.starts[:0], p.b[:0]
	if i.Raw != nil {
		p.begin("raw")
		p.b = jsonlines.AppendHex(p.b, i.Raw)
		return
	}
	i.visit(p)
}

// value returns the value of a field.
func (p *printer) value(n int) []byte {
	if n+1 < len(p.starts) {
		return p.b[p.starts[n]:p.starts[n+1]]
	}
	return p.b[p.starts[n]:]
}

// appendTo appends an instruction as an object.
func (p *printer) appendTo(b []byte, i *Instruction) []byte {
	b = append(append(append(b, `{"instruction":"`...), i.ID.String()...), '"')
	p.fields(i)
	for n, name := range p.names {
		b = append(append(append(b, `,"`...), name...), `":`...)
		b = append(b, p.value(n)...)
	}
	return append(b, '}')
}

func (p *printer) begin(name string) {
	p.names = append(p.names, name)
	p.starts = append(p.starts, len(p.b))
}

func (p *printer) int(name string, v int64) {
	p.begin(name)
	p.b = strconv.AppendInt(p.b, v, 10)
}

func (p *printer) int8(name string, v *int8)   { p.int(name, int64(*v)) }
func (p *printer) int32(name string, v *int32) { p.int(name, int64(*v)) }

func (p *printer) float32(name string, v *float32) {
	p.begin(name)
	p.b = jsonlines.AppendFloat32(p.b, *v)
}

func (p *printer) float64(name string, v *float64) {
	p.begin(name)
	p.b = jsonlines.AppendFloat64(p.b, *v)
}

func (p *printer) uuid(name string, v *UUID) {
	p.begin(name)
	p.b = jsonlines.AppendString(p.b, v.String())
}

func (p *printer) text(name string, v *string) {
	p.begin(name)
	p.b = jsonlines.AppendString(p.b, *v)
}

func (p *printer) slot(name string, v *int8) {
	p.begin(name)
	p.b = jsonlines.AppendString(p.b, SlotName(*v))
}

// present prints nothing: the fields that follow say it.
func (p *printer) present(*uint8, []string) {}

func (p *printer) states(v *uint8, names []string) {
	for bit, name := range names {
		p.begin(name)
		p.b = strconv.AppendBool(p.b, *v>>bit&1 != 0)
	}
}

// MarshalJSON returns the state as an object: the entities by their trackers, and the blocks by their places.
func (s *State) MarshalJSON() ([]byte, error) {
	b := fmt.Appendf(nil, `{"after_frame":%d,"entities":{`, s.Frame)
	for n, e := range s.Entities() {
		if n > 0 {
			b = append(b, ',')
		}
		b = e.append(b)
	}
	b = append(b, `},"blocks":{`...)
	first := true
	for at, block := range s.Blocks() {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = fmt.Appendf(b, `"%d,%d,%d":{"material":%d,"data":%d}`, at[0], at[1], at[2], block.Material, block.Data)
	}
	return append(b, `}}`...), nil
}

// append appends the entity with its tracker as the key.
func (e *Entity) append(b []byte) []byte {
	b = fmt.Appendf(b, `"%d":{`, e.Tracker)
	if e.Player {
		b = fmt.Appendf(b, `"kind":"player","uuid":"%s","name":`, e.UUID)
		b = jsonlines.AppendString(b, e.Name)
	} else {
		b = fmt.Appendf(b, `"kind":"item_projectile","launcher_id":%d,"item":`, e.Launcher)
		b = jsonlines.AppendString(b, e.Item)
	}
	b = jsonlines.AppendFloat64(append(b, `,"x":`...), e.X)
	b = jsonlines.AppendFloat64(append(b, `,"y":`...), e.Y)
	b = jsonlines.AppendFloat64(append(b, `,"z":`...), e.Z)
	b = jsonlines.AppendFloat32(append(b, `,"yaw":`...), e.Yaw)
	b = jsonlines.AppendFloat32(append(b, `,"pitch":`...), e.Pitch)
	if e.Player {
		b = fmt.Appendf(b, `,"sneaking":%v,"sprinting":%v,"inventory":{`, e.Sneaking, e.Sprinting)
		for slot, item := range e.Inventory {
			if item == "" {
				continue
			}
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(jsonlines.AppendString(b, slots[slot]), ':')
			b = jsonlines.AppendString(b, item)
		}
		b = append(b, '}')
	}
	return fmt.Appendf(b, `,"alive":%v}`, e.Alive())
}
