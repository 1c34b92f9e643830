package faults

import (
	"math"
	"runtime"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

const one = 1 << 16 // in fixed-point numbers

// A maker replaces the newborn entity, at the end of its tick, by one with the next
// ordinal of the tick: another id, and another UUID.
type maker struct {
	Fault
	defs []fields.Def
	kind fields.ID
}

func (p *plot) identity() {
	_, kind, _ := engine.EntityColumns(len(p.c.Fields))
	p.c.Systems = append(p.c.Systems, maker{p.Fault, p.c.Fields, kind})
}

// Spec implements [engine.System].
func (m maker) Spec(*space.Lattice) engine.Spec {
	s := engine.Spec{Name: "maker"}
	for id, d := range m.defs {
		if d.Domain == fields.Entities {
			s.Now = append(s.Now, fields.ID(id))
		}
	}
	return s
}

// Update implements [engine.System].
func (m maker) Update(c *engine.SystemContext) error {
	slot, ok := c.Slot(m.Entity)
	if !ok || c.Tick() != m.Tick {
		return nil
	}
	all := c.Entities()
	values := []commands.FieldValue{{Field: uint32(m.kind), Value: float32(all.Kind[slot])}}
	for id, d := range m.defs {
		if d.Domain == fields.Entities && d.Type.Components() == 1 {
			v := float32(d.Value(c.NowColumn(fields.ID(id)).Bits(slot)))
			values = append(values, commands.FieldValue{Field: uint32(id), Value: v})
		}
	}
	at := c.Lattice().Coord(int(all.Cell[slot]))
	if _, err := c.Schedule(c.Tick(), commands.Despawn(m.Entity)); err != nil {
		return err
	}
	_, err := c.Schedule(c.Tick(), commands.Spawn(at, values...))
	return err
}

// tie lets who is as hungry as tired sleep where it would eat, and eat where it would
// sleep.
func (p *plot) tie() {
	const eat, sleep = 1 * one, 2 * one
	action := p.column("action")
	p.wrap("ai", engine.Fields(action), func(c *engine.SystemContext, next func() error) error {
		if err := next(); err != nil || c.Tick() != p.Tick {
			return err
		}
		if slot, ok := c.Slot(p.Entity); ok {
			does := c.NextColumn(action).Fixed
			does[slot] = eat + sleep - does[slot]
		}
		return nil
	})
}

// slow is a machine that takes its time.
func slow(c *engine.SystemContext, next func() error) error {
	time.Sleep(time.Duration(c.Tick()%3) * time.Millisecond)
	return next()
}

// now is something of the clock, never 0.
func now() int64 { return time.Now().UnixNano()&0xffff | 1 }

var calls int64

// called counts its calls in a package variable, which every world of the process shares.
func called() int64 {
	calls++
	return calls
}

// bySum adds up floats in as many parts as there are processors.
func bySum() int64 {
	parts := make([]float32, runtime.GOMAXPROCS(0))
	for i := range 4096 {
		parts[i%len(parts)] += 1 / float32(1+i)
	}
	var sum float32
	for _, part := range parts {
		sum += part
	}
	return int64(math.Float32bits(sum) & 0xffff)
}

// feast makes the feast, the last system, go wrong.
func (p *plot) feast(order string) {
	f := p.c.Systems[len(p.c.Systems)-1].(Feast)
	f.Order, f.From = order, p.Tick
	p.c.Systems[len(p.c.Systems)-1] = f
}
