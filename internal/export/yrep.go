package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios"
)

// A YREP says how a YREP file is written.
type YREP struct {
	Dialect  yrep.Dialect // not [yrep.Auto]
	Protocol string       // version of a server; empty: [yrep.DefaultProtocol]
	Metadata *string      // nil: what the recording is of, as JSON
}

// A namer is the parameters of a component that has a name for every entity.
type namer interface {
	EntityName(u engine.UUID) string
}

// firstTracker is the tracker id of the first entity in a file.
const firstTracker = 128

// A yrepSink writes what the entities of a world do as a YREP file: a frame for each tick, in which stands
// what has changed since the tick before.
type yrepSink struct {
	filesOnly
	plan    *Plan
	mapping *scenarios.YREP
	namer   namer // nil: none
	to      *yrep.Writer
	out     *bufio.Writer

	slots   []player
	next    int32          // tracker
	named   map[string]int // how many have that name and a number
	frame   []yrep.Instruction
	begun   bool // the first state has been seen
	frames  uint64
	total   uint64 // instructions
	heights []int32
	blocks  [][]int32 // of each of the mapping's, the material by cell

	ground, altitude, x, z, health, action *field
	items                                  []*field // of each of the mapping's
	fields                                 []*field // of its blocks
}

// A player is the identity of a slot's entity in the file.
type player struct {
	id      uint64 // 0: none
	tracker int32
	at      [3]float64
	health  float64
	action  int
	held    [yrep.Slots]string
}

// yrepMetadata says what a file was made of.
type yrepMetadata struct {
	Scenario  string  `json:"scenario"`
	Seed      uint64  `json:"seed"`
	TickRate  float64 `json:"tick_rate"`
	FirstTick uint64  `json:"first_tick"` // that of frame 1
}

func openYREP(to File, p *Plan, t Ticks, look Look) (Sink, error) {
	s := p.scenario
	switch {
	case s.Entities == nil:
		return nil, fmt.Errorf("%s has no entities", s.Name)
	case p.named > 0 || p.cells != nil:
		return nil, fmt.Errorf("a .yrep has the whole world; leave out the fields and the region")
	case t.Every != 1:
		return nil, fmt.Errorf("a .yrep has a frame for every tick, not for every %d", t.Every)
	}
	sink := &yrepSink{plan: p, mapping: s.YREP, next: firstTracker, named: map[string]int{}, slots: make([]player, s.Entities.Capacity), out: bufio.NewWriterSize(to, 64<<10)}
	if sink.mapping == nil {
		sink.mapping = &scenarios.YREP{}
	}
	for n := range scenarios.Parts[namer](s) {
		sink.namer = n
		break
	}
	sink.find()
	metadata, err := json.Marshal(yrepMetadata{s.Name, s.Seed, s.TickRate, max(t.From, 1)})
	if look.YREP.Metadata != nil {
		metadata = []byte(*look.YREP.Metadata)
	}
	if err == nil {
		sink.to, err = yrep.NewWriter(sink.out, yrep.Header{Protocol: look.YREP.Protocol, Metadata: metadata}, look.YREP.Dialect)
	}
	return sink, err
}

// find finds the fields that the mapping names.
func (s *yrepSink) find() {
	of := func(ref scenarios.FieldRef) *field {
		i := slices.IndexFunc(s.plan.scenario.Fields, func(f scenarios.Field) bool { return f.Name == string(ref) })
		if i < 0 {
			return nil
		}
		f := s.plan.at(i)
		return &f
	}
	m := s.mapping
	s.ground, s.altitude, s.x, s.z = of(m.Ground), of(m.Altitude), of(m.X), of(m.Z)
	s.health, s.action = of(m.Health), of(m.Action)
	for i := range m.Items {
		s.items = append(s.items, of(m.Items[i].Field))
	}
	for i := range m.Blocks {
		s.fields = append(s.fields, of(m.Blocks[i].Field))
	}
}

// number returns element i of a field in a world.
func (f *field) number(w *engine.World, i int) float64 { return f.def.Value(f.column(w).Bits(i)) }

// Add implements [Sink]. Tick 0 is before the first frame.
func (s *yrepSink) Add(w *engine.World) error {
	s.frame = s.frame[:0]
	if !s.begun {
		s.begin(w)
	}
	s.entities(w)
	s.changes(w)
	if s.begun = true; w.Tick() == 0 {
		return nil
	}
	for i := range s.frame {
		if err := finite(&s.frame[i]); err != nil {
			return fmt.Errorf("tick %d: %w", w.Tick(), err)
		}
	}
	if err := s.to.WriteFrame(s.frame); err != nil {
		return fmt.Errorf("tick %d: %w", w.Tick(), err)
	}
	s.frames++
	s.total += uint64(len(s.frame))
	return nil
}

// finite returns an error unless a position is finite.
func finite(i *yrep.Instruction) error {
	for _, v := range [...]float64{i.X, i.Y, i.Z} {
		if v-v != 0 {
			return fmt.Errorf("tracker %d is at %v, %v, %v; a position must be finite", i.Tracker, i.X, i.Y, i.Z)
		}
	}
	return nil
}

func (s *yrepSink) add(i yrep.Instruction) { s.frame = append(s.frame, i) }

// entities writes the changes of the entities, slot by slot: which are gone, which are new, and what the others
// do.
func (s *yrepSink) entities(w *engine.World) {
	all := w.Entities()
	for slot, id := range all.ID {
		p := &s.slots[slot]
		if p.id != 0 && p.id != id {
			s.end(w, p)
			*p = player{}
		}
		if id == 0 {
			continue
		}
		fresh := p.id == 0
		if fresh {
			p.id, p.tracker = id, s.next
			s.next++
			uuid := yrep.UUID(w.UUID(id))
			s.add(yrep.Instruction{ID: yrep.AddPlayer, Tracker: p.tracker, UUID: uuid, Name: s.nameOf(w, id, all.Kind[slot])})
		}
		s.move(w, p, slot, int(all.Cell[slot]), fresh)
		s.hold(w, p, slot)
		s.act(w, p, slot, fresh)
	}
}

// end writes that an entity is gone.
func (s *yrepSink) end(w *engine.World, p *player) {
	if s.health != nil {
		s.add(yrep.Instruction{ID: yrep.PlayerDeath, Tracker: p.tracker})
		return
	}
	s.add(yrep.Instruction{ID: yrep.RemovePlayer, Tracker: p.tracker, UUID: yrep.UUID(w.UUID(p.id))})
}

// nameOf returns what an entity is called: by the scenario, by the mapping, by a component, or by its kind and
// a number.
func (s *yrepSink) nameOf(w *engine.World, id uint64, kind int32) string {
	if name := s.plan.entityName(id); name != "" {
		return name
	}
	name := s.plan.scenario.KindName(kind)
	if i := slices.IndexFunc(s.mapping.Names, func(n scenarios.YREPName) bool { return string(n.Kind) == name }); i >= 0 {
		name = s.mapping.Names[i].Name
	} else if s.namer != nil {
		return s.namer.EntityName(w.UUID(id))
	}
	s.named[name]++
	return fmt.Sprintf("%s %d", name, s.named[name])
}

// move writes the fields of a position that have changed.
func (s *yrepSink) move(w *engine.World, p *player, slot, cell int, fresh bool) {
	at := s.place(w, cell)
	for k, f := range [...]*field{s.x, s.altitude, s.z} {
		if f != nil {
			at[k] = f.number(w, slot)
		}
	}
	i := yrep.Instruction{ID: yrep.EntityPosition, Tracker: p.tracker, X: at[0], Y: at[1], Z: at[2]}
	for k := range at {
		if fresh || math.Float64bits(at[k]) != math.Float64bits(p.at[k]) {
			i.Flags |= 1 << k
		}
	}
	if fresh {
		i.Flags |= yrep.HasYaw | yrep.HasPitch
	}
	if p.at = at; i.Flags != 0 {
		s.add(i)
	}
}

// place returns where a cell is: its last axis is x, the one before z, and the one before that y, to which the
// ground is added.
func (s *yrepSink) place(w *engine.World, cell int) (at [3]float64) {
	c := s.plan.lattice.Coord(cell)
	for k, to := range [...]int{0, 2, 1} {
		if axis := c.Dim() - 1 - k; axis >= 0 {
			at[to] = float64(c.At(axis))
		}
	}
	if s.ground != nil {
		at[1] += s.ground.number(w, cell)
	}
	return at
}

// hold writes what an entity holds and wears, where that has changed.
func (s *yrepSink) hold(w *engine.World, p *player, slot int) {
	var held [yrep.Slots]string
	for i, item := range s.mapping.Items {
		f := s.items[i]
		if held[item.Slot] == "" && f.number(w, slot*f.components()+item.Component) > 0 {
			held[item.Slot] = item.Item
		}
	}
	for k, item := range held {
		if item != p.held[k] {
			s.add(yrep.Instruction{ID: yrep.PlayerInventory, Tracker: p.tracker, Slot: int8(k), Item: item})
		}
	}
	p.held = held
}

// act writes damage, and what an entity begins to do.
func (s *yrepSink) act(w *engine.World, p *player, slot int, fresh bool) {
	if s.health != nil {
		health := s.health.number(w, slot)
		if !fresh && health < p.health {
			s.add(yrep.Instruction{ID: yrep.PlayerDamage, Tracker: p.tracker})
		}
		p.health = health
	}
	if s.action == nil {
		return
	}
	action := int(s.action.number(w, slot))
	if fresh || action != p.action {
		for _, a := range s.mapping.Actions {
			if action >= len(s.action.values) || a.Value != s.action.values[action] {
				continue
			}
			if a.Swing {
				s.add(yrep.Instruction{ID: yrep.PlayerArmSwing, Tracker: p.tracker})
			}
			if a.Chat != "" {
				s.add(yrep.Instruction{ID: yrep.PlayerChat, Tracker: p.tracker, Message: a.Chat})
			}
		}
	}
	p.action = action
}

// begin keeps the blocks of the first state, with which changes are compared.
func (s *yrepSink) begin(w *engine.World) {
	if len(s.fields) == 0 {
		return
	}
	s.heights = make([]int32, s.plan.lattice.Cells())
	for cell := range s.heights {
		s.heights[cell] = int32(min(max(math.Floor(s.place(w, cell)[1]), math.MinInt32), math.MaxInt32))
	}
	for k := range s.fields {
		list := make([]int32, len(s.heights))
		for cell := range list {
			list[cell] = s.material(w, k, cell)
		}
		s.blocks = append(s.blocks, list)
	}
}

// material returns the material of one of the mapping's blocks on a cell.
func (s *yrepSink) material(w *engine.World, k, cell int) int32 {
	list := s.mapping.Blocks[k].Materials
	v := math.Floor(s.fields[k].number(w, cell))
	return int32(list[int(min(max(v, 0), float64(len(list)-1)))])
}

// changes writes the blocks that have changed.
func (s *yrepSink) changes(w *engine.World) {
	for k, list := range s.blocks {
		if s.fields[k].def.Mutability == fields.Static {
			continue
		}
		for cell, was := range list {
			is := s.material(w, k, cell)
			if is == was {
				continue
			}
			list[cell] = is
			at := s.place(w, cell)
			s.add(yrep.Instruction{
				ID: yrep.BlockChange, At: [3]int32{int32(at[0]), s.heights[cell] + int32(s.mapping.Blocks[k].Level), int32(at[2])},
				Old: yrep.Block{Material: was}, New: yrep.Block{Material: is},
			})
		}
	}
}

// Close implements [Sink].
func (s *yrepSink) Close() error { return s.out.Flush() }

// Summary implements [Sink].
func (s *yrepSink) Summary() string {
	return fmt.Sprintf("%s, %s, %s", plural(int(s.frames), "frame"), plural(int(s.next-firstTracker), "player"), plural(int(s.total), "instruction"))
}
