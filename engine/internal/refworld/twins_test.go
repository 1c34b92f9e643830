package refworld_test

import (
	"errors"
	"math"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/internal/refworld"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Propagators, systems and a handler written twice: once on the engine's contract,
// once on the reference's.

// fuse is the parameter that makes parts fail, in the ways below. The tick that sets
// it fails and takes it back.
const fuse = 1 << 20

const (
	fuseError    = 1
	fusePanic    = 2
	fuseNaN      = 3
	fuseInfinity = 4
	fuseBadCell  = 5
	fuseFreeSlot = 6
	fuseLast     = 7 // blows nothing
)

// gain is a parameter that parts compute with; unknown is no parameter and no type id.
const (
	gain    = 3
	unknown = 99
)

var errFuse = errors.New("the fuse has blown")

// mix adds a share of one field, what came of another and a random number to a third:
//
//	out = out/2 + gain·a - b/4 + U
//
// and on every third element how many such there were before, counted in scratch memory.
type mix struct {
	name      string
	a, b, out fields.ID
	stream    uint64
}

func (m mix) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{
		Name: m.name, Prev: engine.Fields(m.a), Now: engine.Fields(m.b), Incremental: engine.Fields(m.out), Scratch: 3,
	}
}

func (m mix) Step(c *engine.Context) error {
	a, b, out := c.Prev(m.a), c.Now(m.b), c.Next(m.out)
	na, nb, n := c.Components(m.a), c.Components(m.b), c.Components(m.out)
	s, k := c.Stream(m.stream), float32(c.Parameter(gain))
	for i := range out {
		cell := i / n
		out[i] = out[i]/2 + float32(k*a[cell*na]) - b[cell*nb]/4 + s.Float32()
		if count := &c.Scratch()[i%3]; i%3 == 2 {
			out[i] += *count
			*count++
		}
	}
	switch c.Parameter(fuse) {
	case fuseError:
		return c.Fail(0, "blown")
	case fusePanic:
		panic("blown")
	case fuseNaN:
		out[s.Below(uint64(len(out)))] = float32(math.NaN())
	case fuseInfinity:
		out[s.Below(uint64(len(out)))] = float32(math.Inf(-1))
	}
	return nil
}

func (m mix) twin() refworld.Part {
	return refworld.Part{Name: m.name, Incremental: []fields.ID{m.out}, Run: func(t *refworld.Tick) error {
		a, b, out, s := t.Prev(m.a), t.Now(m.b), t.Next(m.out), t.Stream(m.stream)
		for i, p := range out.Places() {
			v := out.Float(p.At, p.Part) / 2
			v += float32(float32(t.Parameter(gain)) * a.Float(p.At, 0))
			v -= b.Float(p.At, 0) / 4
			v += s.Float32()
			if i%3 == 2 {
				v += float32(i / 3)
			}
			out.SetFloat(p.At, p.Part, v)
		}
		bad := float32(math.NaN())
		switch t.Parameter(fuse) {
		case fuseError, fusePanic:
			return errFuse
		case fuseInfinity:
			bad = float32(math.Inf(-1))
			fallthrough
		case fuseNaN:
			p := out.Places()[s.Below(uint64(len(out.Places())))]
			out.SetFloat(p.At, p.Part, bad)
		}
		return nil
	}}
}

// churn multiplies the bits of a field of any element but float32 by an odd number
// and adds the cell's rank, in full or in place.
type churn struct {
	name  string
	field fields.ID
	full  bool
	gap   uint64 // what the product is divided by, to stay in range
}

func (u churn) Spec(*space.Lattice) engine.Spec {
	s := engine.Spec{Name: u.name, Parallel: true, Prev: engine.Fields(u.field)}
	if u.full {
		s.Full = engine.Fields(u.field)
	} else {
		s.Incremental = engine.Fields(u.field)
	}
	return s
}

func (u churn) next(bits uint64, rank int) uint64 {
	return (bits*6364136223846793005 + uint64(rank)) >> u.gap
}

func (u churn) Step(c *engine.Context) error {
	prev, next, n := c.PrevColumn(u.field), c.NextColumn(u.field), c.Components(u.field)
	lo, hi := c.Range()
	for i := lo * n; i < hi*n; i++ {
		next.SetBits(i, u.next(prev.Bits(i), i/n))
	}
	return nil
}

func (u churn) twin(element fields.Element) refworld.Part {
	p := refworld.Part{Name: u.name, Run: func(t *refworld.Tick) error {
		for _, p := range t.Prev(u.field).Places() {
			bits := u.next(t.Prev(u.field).Bits(p.At, p.Part), t.Rank(p.At))
			if element == fields.Int32 {
				bits &= 1<<32 - 1
			}
			t.Next(u.field).SetBits(p.At, p.Part, bits)
		}
		return nil
	}}
	if u.full {
		p.Full = []fields.ID{u.field}
	} else {
		p.Incremental = []fields.ID{u.field}
	}
	return p
}

// walk moves every entity to a random neighbour, changes its kind and an attribute,
// marks where it went with how many stood there, and now and then schedules its end,
// a jump, a child or an order.
type walk struct {
	name             string
	id, kind, cell   fields.ID
	attribute, trail *fields.ID // of float32
	child            commands.Command
	untidy           bool // also writes the attribute in free slots, which a spawn must not inherit
}

func (k walk) writes() []fields.ID {
	ids := engine.Fields(k.kind, k.cell)
	for _, id := range []*fields.ID{k.attribute, k.trail} {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	return ids
}

func (k walk) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: k.name, Incremental: k.writes()}
}

func (k walk) Update(c *engine.SystemContext) error {
	e, s, bulk := c.Entities(), c.Stream(0), c.EntityBulk(1)
	kind, cell := c.NextColumn(k.kind).Int32, c.NextColumn(k.cell).Int32
	for slot, id := range e.ID {
		if id == 0 {
			if c.Parameter(fuse) == fuseFreeSlot {
				cell[slot] = 0
			}
			if k.untidy && k.attribute != nil {
				c.Next(*k.attribute)[slot*c.Components(*k.attribute)] = float32(slot)
			}
			continue
		}
		if at, ok := c.Slot(id); !ok || at != slot {
			return errors.New("Slot is wrong")
		}
		if to := c.Lattice().AppendNeighbours(nil, int(e.Cell[slot])); len(to) > 0 {
			cell[slot] = to[s.Below(uint64(len(to)))]
		}
		if c.Parameter(fuse) == fuseBadCell {
			cell[slot] = int32(c.Lattice().Cells())
			continue
		}
		kind[slot] = (kind[slot] + int32(bulk.Below(id, 7))) % 1000
		if k.attribute != nil {
			n := c.Components(*k.attribute)
			for part := range n {
				c.Next(*k.attribute)[slot*n+part] += bulk.Float32(id) * 2
			}
		}
		if k.trail != nil {
			n := c.Components(*k.trail)
			c.Next(*k.trail)[int(cell[slot])*n] += float32(len(c.AppendAt(nil, int(cell[slot]))))
		}
		own := c.Stream(id)
		due, cmd := k.order(c.Tick(), id, own.Below(24), own.Below(3), c.Lattice().Coord(int(cell[slot])))
		if due > 0 {
			c.Schedule(due, cmd)
		}
	}
	return nil
}

// order is what an entity schedules by two random numbers.
func (k walk) order(tick, id, what, delay uint64, at space.Coord) (due uint64, cmd commands.Command) {
	due = tick + delay // 0: the end of this tick
	switch what {
	case 0:
		cmd = commands.Despawn(id)
	case 1:
		cmd = commands.Move(id, at)
	case 2, 3:
		cmd = k.child
		cmd.Coord = at
	case 4:
		cmd = commands.SetParameter(gain, float64(id%5)/4).From(id, tick)
	case 5:
		cmd = commands.Custom(puppetType, []byte{byte(id), byte(tick), 2, 9})
		cmd.Expires = tick + 1
	case 6:
		cmd = commands.Spawn(at)
		cmd.Data = []byte{1} // no frame can hold it
	case 7:
		cmd = commands.SetParameterBatch(commands.Parameter{Key: gain, Value: 1}, commands.Parameter{Key: uint32(id % 2)})
	default:
		return 0, cmd
	}
	cmd.Priority = byte(what % 2)
	return due, cmd
}

func (k walk) twin() refworld.Part {
	return refworld.Part{Name: k.name, Incremental: k.writes(), Run: func(t *refworld.Tick) error {
		s, bulk := t.Stream(0), t.EntityBulk(1)
		kind, cell := t.Next(k.kind), t.Next(k.cell)
		for slot := range t.Slots() {
			at, id := space.At(int32(slot)), t.ID(slot)
			if id == 0 {
				if t.Parameter(fuse) == fuseFreeSlot {
					cell.SetBits(at, 0, 0)
				}
				if k.untidy && k.attribute != nil {
					t.Next(*k.attribute).SetFloat(at, 0, float32(slot))
				}
				continue
			}
			rank := int(t.Now(k.cell).Bits(at, 0))
			if rank >= len(t.Cells()) {
				return errFuse // another walk's; the engine's lattice panics
			}
			here := t.Cells()[rank]
			if ways := t.Moves(here); len(ways) > 0 {
				here = ways[s.Below(uint64(len(ways)))].To
			}
			cell.SetBits(at, 0, uint64(t.Rank(here)))
			if t.Parameter(fuse) == fuseBadCell {
				cell.SetBits(at, 0, uint64(len(t.Cells())))
				continue
			}
			was := int32(uint32(kind.Bits(at, 0)))
			kind.SetBits(at, 0, uint64(uint32((was+int32(bulk.Below(id, 7)))%1000)))
			if k.attribute != nil {
				f := t.Next(*k.attribute)
				for part := range f.Parts() {
					f.SetFloat(at, part, f.Float(at, part)+bulk.Float32(id)*2)
				}
			}
			if k.trail != nil {
				f := t.Next(*k.trail)
				f.SetFloat(here, 0, f.Float(here, 0)+float32(len(t.At(here))))
			}
			own := t.Stream(id)
			due, cmd := k.order(t.Number, id, own.Below(24), own.Below(3), here)
			if due > 0 {
				t.Schedule(due, cmd)
			}
		}
		return nil
	}}
}

// rain wets a random cell, by a bulk draw on a stream that is also drawn from, and
// schedules writes to come.
type rain struct {
	name  string
	field fields.ID // of float32
	on    fields.ID // of cells, any element; written by events
	extra bool      // draw after the bulk draw, too
}

func (w rain) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: w.name, Incremental: engine.Fields(w.field)}
}

func (w rain) Update(c *engine.SystemContext) error {
	s := c.Stream(0)
	cell := int(s.Below(uint64(c.Lattice().Cells())))
	drop := c.Bulk(0).Float32(uint64(cell))
	if w.extra {
		drop += s.Float32()
	}
	c.Next(w.field)[cell*c.Components(w.field)] += drop
	due, cmd := w.order(c.Tick(), cell, c.Lattice().Coord(cell), len(c.Entities().ID), drop)
	c.Schedule(due, cmd)
	return nil
}

func (w rain) order(tick uint64, rank int, at space.Coord, slots int, drop float32) (due uint64, cmd commands.Command) {
	if rank%2 == 0 {
		at = at.Append(int32(rank % 3)) // right for some vectors, wrong for others
	}
	cmd = commands.SetField(at, uint32(w.on), float32(int(drop*float32(2+slots))))
	cmd.Priority = byte(rank % 3)
	if rank%5 == 0 {
		cmd.Expires = tick + 1
	}
	return tick + uint64(rank%4), cmd
}

func (w rain) twin() refworld.Part {
	return refworld.Part{Name: w.name, Incremental: []fields.ID{w.field}, Run: func(t *refworld.Tick) error {
		s := t.Stream(0)
		rank := s.Below(uint64(len(t.Cells())))
		drop := t.Bulk(0).Float32(rank)
		if w.extra {
			drop += s.Float32()
		}
		at := t.Cells()[rank]
		t.Next(w.field).SetFloat(at, 0, t.Next(w.field).Float(at, 0)+drop)
		t.Schedule(w.order(t.Number, int(rank), at, t.Slots(), drop))
		return nil
	}}
}

const puppetType = 7

// hands are what the puppet acts with, in either world. A field's elements are
// counted in the order of its column.
type hands interface {
	Tick() uint64
	Elements(id fields.ID) int
	Get(id fields.ID, i int) float64
	Set(id fields.ID, i int, v float64) commands.Reason
	Apply(commands.Command) (uint64, commands.Reason)
	Schedule(due uint64, c commands.Command) commands.Reason
	Cancel(event uint64) bool
	Slot(id uint64) (int, bool)
	Draw(stream, below uint64) uint64
}

// A puppet does what its data says, byte by byte, and may refuse or panic at the end.
type puppet struct {
	defs []fields.Def // user fields
	at   space.Coord
}

const puppetPanics, puppetRefuses = 255, 254

func (p puppet) act(h hands, data []byte) commands.Reason {
	var made uint64
	for i, b := range data {
		field := fields.ID(int(b) / 8 % (len(p.defs) + 1))
		switch b % 8 {
		case 0:
			if n := h.Elements(field); n > 0 {
				v := h.Get(field, i%n)
				if h.Set(field, i%n, v+float64(b)) == commands.NotFinite {
					return commands.NotFinite
				}
			}
		case 1:
			h.Set(field, int(h.Draw(uint64(i), 9))-1, float64(h.Draw(0, 4))-1)
		case 2:
			if id, reason := h.Apply(commands.Spawn(p.at)); reason == commands.Applied {
				made = id
			}
		case 3:
			h.Apply(commands.Move(made, p.at))
		case 4:
			h.Schedule(h.Tick()+uint64(b%3), commands.Custom(puppetType, data[i+1:]))
		case 5:
			if _, reason := h.Apply(commands.Custom(puppetType, nil)); reason != commands.Unsupported {
				return reason
			}
			h.Apply(commands.SetParameter(gain, float64(b)/8))
		case 6:
			if b == puppetRefuses {
				return commands.BadValue
			}
			if slot, ok := h.Slot(made); ok && slot%2 == 1 {
				h.Apply(commands.Despawn(made))
			}
		case 7:
			if b == puppetPanics {
				panic("puppet")
			}
			if h.Cancel((h.Tick()-uint64(b/8%3))<<20 | uint64(b/64+1)) {
				h.Apply(commands.SetParameter(gain, -1))
			}
		}
	}
	return commands.Applied
}

func (p puppet) Type() uint32 { return puppetType }

func (p puppet) Handle(c *engine.HandlerContext, data []byte) commands.Reason {
	return p.act(engineHands{c, p}, data)
}

type engineHands struct {
	*engine.HandlerContext
	p puppet
}

func (h engineHands) Elements(id fields.ID) int { return h.p.elements(id) }

func (h engineHands) Draw(stream, below uint64) uint64 { return h.Stream(stream).Below(below) }

func (h engineHands) Schedule(due uint64, c commands.Command) commands.Reason {
	if _, err := h.HandlerContext.Schedule(due, c); err != nil {
		return err.(commands.Reason)
	}
	return commands.Applied
}

// elements are the elements of cell 0 or slot 0: those that surely exist.
func (p puppet) elements(id fields.ID) int {
	if int(id) >= len(p.defs) {
		return 0
	}
	return p.defs[id].Type.Components()
}

func (p puppet) twin() refworld.Handler {
	return refworld.Handler{Type: puppetType, Handle: func(h *refworld.Handling, data []byte) (reason commands.Reason, err error) {
		defer func() {
			if v := recover(); v == "puppet" {
				err = errors.New("the puppet panics")
			} else if v != nil {
				panic(v)
			}
		}()
		return p.act(refHands{h, p}, data), nil
	}}
}

type refHands struct {
	*refworld.Handling
	p puppet
}

func (h refHands) Elements(id fields.ID) int { return h.p.elements(id) }

func (h refHands) Draw(stream, below uint64) uint64 { return h.Stream(stream).Below(below) }

func (h refHands) place(id fields.ID, i int) refworld.Place {
	if all := h.Places(id); i >= 0 && i < len(all) {
		return all[i]
	}
	return refworld.Place{Part: -1}
}

func (h refHands) Get(id fields.ID, i int) float64 { return h.Handling.Get(id, h.place(id, i)) }

func (h refHands) Set(id fields.ID, i int, v float64) commands.Reason {
	return h.Handling.Set(id, h.place(id, i), v)
}
