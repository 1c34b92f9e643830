package refworld_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/internal/refworld"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A scenario is a random world, described for the engine and for the reference.
type scenario struct {
	*rand.Rand
	engine  engine.Config
	ref     refworld.Config
	lattice *space.Lattice
	ticks   int
	written map[fields.ID]bool // by a propagator or system; looked up only
	names   int
	final   uint64 // the engine's hash after the last tick
	fault   *fault // planted in the reference; nil: none
}

// newScenario makes the world that a random source gives.
func newScenario(r *rand.Rand) *scenario {
	s := &scenario{Rand: r, ticks: 3 + r.IntN(10), written: map[fields.ID]bool{}}
	s.lattice = s.randomLattice()
	c := engine.Config{
		Space:     s.lattice.Space(),
		TickRate:  pick(r, 0, 1, 20, 60, 0.3),
		Seed:      r.Uint64() >> (r.IntN(3) * 31),
		Generator: rng.Generator(r.IntN(2)),
		QueueSize: pick(r, 0, 0, 0, 0, 5), MaxFailures: pick(r, 0, 0, 1, 2, -1),
		Workers:  r.IntN(5),
		Paranoid: r.IntN(3) == 0,
		Capacity: pick(r, 0, 1, 2, 5, 20),
	}
	s.engine = c
	for range 2 + r.IntN(7) {
		s.engine.Fields = append(s.engine.Fields, s.randomField())
	}
	s.ref = refworld.Config{
		Space: c.Space, Fields: s.engine.Fields, Capacity: c.Capacity, Dt: c.Dt(), Seed: c.Seed, Generator: c.Generator,
		QueueSize: c.QueueSize, Failures: cmp.Or(c.MaxFailures, 3), Parameters: map[uint32]float64{},
	}
	if c.QueueSize == 0 {
		s.ref.QueueSize = engine.DefaultQueue
	}
	for _, p := range []engine.Parameter{{Key: fuse, Name: "fuse"}, {Key: gain, Name: "gain", Value: 0.25}, {Key: 0, Value: -1}, {Key: math.MaxUint32}} {
		s.engine.Parameters = append(s.engine.Parameters, p)
		s.ref.Parameters[p.Key] = p.Value
	}
	r.Shuffle(len(s.engine.Parameters), func(i, j int) {
		p := s.engine.Parameters
		p[i], p[j] = p[j], p[i]
	})
	for range r.IntN(7) {
		s.addPropagator()
	}
	for range r.IntN(3) {
		s.addSystem()
	}
	if r.IntN(4) > 0 {
		p := puppet{s.engine.Fields, s.cell()}
		s.engine.Handlers = append(s.engine.Handlers, p)
		s.ref.Handlers = append(s.ref.Handlers, p.twin())
	}
	return s
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randomLattice is a tiny space as a rule, so that edges are everywhere, now and then
// one of hundreds of cells, and seldom one whose runs are longer than any loop is unrolled.
func (s *scenario) randomLattice() *space.Lattice {
	most, size := 100, 6
	switch {
	case s.IntN(100) == 0:
		n := 1025 + s.IntN(1000)
		l, _ := pick[space.Space](s.Rand, space.Ring{Length: n}, space.Line{Length: n, Edge: space.Clamp},
			space.Square4{Rows: 2, Cols: n}, space.Product{space.Line{Length: n}, space.Ring{Length: 2}}).Build()
		return l
	case s.IntN(6) == 0:
		most, size = 400, 30
	}
	for {
		if l, err := s.randomSpace(func() int { return 1 + s.IntN(size) }, 0).Build(); err == nil && l.Cells() <= most {
			return l
		}
	}
}

func (s *scenario) randomSpace(size func() int, depth int) space.Space {
	edge := space.Edge(s.IntN(3))
	kinds := 8
	if depth == 3 {
		kinds = 6
	}
	switch s.IntN(kinds) {
	case 0:
		return space.Line{Length: size(), Edge: edge}
	case 1:
		return space.Ring{Length: size()}
	case 2:
		return space.Square4{Rows: size(), Cols: size(), Edge: edge}
	case 3:
		return space.Square8{Rows: size(), Cols: size(), Edge: edge}
	case 4:
		return space.Hex{Cols: size(), Rows: size(), Edge: edge}
	case 5:
		if edge == space.Wrap { // even sizes only
			return space.FCC12{W: 2 * (1 + s.IntN(3)), H: 2 * (1 + s.IntN(2)), D: 2 * (1 + s.IntN(2)), Edge: edge}
		}
		return space.FCC12{W: size(), H: size(), D: size(), Edge: edge}
	}
	var p space.Product
	for range 1 + s.IntN(3) {
		p = append(p, s.randomSpace(func() int { return 1 + s.IntN(4) }, depth+1))
	}
	return p
}

func (s *scenario) randomField() fields.Def {
	d := fields.Def{
		Name:       fmt.Sprintf("field %d", len(s.engine.Fields)),
		Type:       pick(s.Rand, fields.Scalar, fields.Scalar, fields.Scalar, fields.Vector(2), fields.Vector(1+s.IntN(4)), fields.Categorical(1+s.IntN(5))),
		Element:    pick(s.Rand, 0, 0, 0, 0, fields.Element(s.IntN(4))),
		Mutability: pick(s.Rand, fields.PerTick, fields.PerTick, fields.PerTick, fields.Sparse, fields.Sparse, fields.Static),
	}
	if s.engine.Capacity > 0 && s.IntN(4) == 0 {
		d.Domain = fields.Entities
		if d.Mutability == fields.Static {
			d.Mutability = fields.Sparse
		}
	}
	initial := func() float64 { return s.storable(&d) }
	if n := s.lattice.Cells() * d.Type.Components(); d.Domain == fields.Cells && s.IntN(3) > 0 {
		values := make([]float64, n)
		for i := range values {
			values[i] = initial()
		}
		d.Initial = fields.Values(values)
	} else if s.IntN(2) == 0 {
		d.Initial = fields.Fill(initial())
	}
	if (d.Element == fields.Float32 || d.Element == fields.Fixed) && d.Type.Kind != fields.CategoricalKind && s.IntN(5) < 2 {
		low := pick(s.Rand, 0, -1, -0.3, -1e9, s.Float64())
		d.Bounds = &fields.Bounds{Min: low, Max: low + pick(s.Rand, 1, 0.1, 3, 1e5), Mode: fields.BoundMode(s.IntN(4))}
		if d.Check() != nil {
			d.Bounds = nil
		}
	}
	return d
}

// storable is a random value that a field can store.
func (s *scenario) storable(d *fields.Def) float64 {
	switch {
	case d.Type.Kind == fields.CategoricalKind:
		return float64(s.IntN(d.Type.N))
	case d.Element == fields.Int32:
		return float64(s.Int32() - s.Int32())
	case d.Element == fields.Uint64:
		return float64(s.Uint64() >> (1 + s.IntN(63)))
	}
	return pick(s.Rand, 0, 1, s.Float64(), s.Float64()*2-1, s.NormFloat64()*100, math.Copysign(0, -1))
}

// find picks a field that a propagator may use, or reports that there is none.
func (s *scenario) find(ok func(id fields.ID, d *fields.Def) bool) (fields.ID, bool) {
	var all []fields.ID
	for i := range s.engine.Fields {
		if ok(fields.ID(i), &s.engine.Fields[i]) {
			all = append(all, fields.ID(i))
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	return pick(s.Rand, all...), true
}

// cells says whether a field is of cells and float32, with n components if n > 0.
func cells(d *fields.Def, n int) bool {
	return d.Domain == fields.Cells && d.Element == fields.Float32 && (n == 0 || d.Type.Components() == n)
}

func (s *scenario) readable(n int) (fields.ID, bool) {
	return s.find(func(_ fields.ID, d *fields.Def) bool { return cells(d, n) })
}

// writable finds a field for any numbers.
func (s *scenario) writable(n int, full bool, not ...fields.ID) (fields.ID, bool) {
	return s.find(func(id fields.ID, d *fields.Def) bool {
		return cells(d, n) && d.Mutability != fields.Static && !(full && s.written[id]) && !slices.Contains(not, id) &&
			d.Type.Kind != fields.CategoricalKind
	})
}

// spoilable finds a field, now and then a category, which does not survive arithmetic.
func (s *scenario) spoilable() (fields.ID, bool) {
	if s.IntN(20) > 0 {
		return s.writable(0, false)
	}
	return s.find(func(_ fields.ID, d *fields.Def) bool { return cells(d, 0) && d.Mutability != fields.Static })
}

// maybe finds a field of one component to be read, other than not.
func (s *scenario) maybe(not fields.ID) *fields.ID {
	if id, ok := s.readable(1); ok && id != not && s.IntN(2) == 0 {
		return &id
	}
	return nil
}

func (s *scenario) name(kind string) string {
	s.names++
	return fmt.Sprintf("%s %d", kind, s.names)
}

func (s *scenario) add(p engine.Propagator, twin refworld.Part) {
	s.engine.Propagators = append(s.engine.Propagators, p)
	s.ref.Parts = append(s.ref.Parts, twin)
	for _, id := range slices.Concat(twin.Full, twin.Incremental) {
		s.written[id] = true
	}
}

func (s *scenario) addSystem() {
	var p interface {
		engine.System
		twin() refworld.Part
	}
	trail, ok := s.writable(0, false)
	if s.engine.Capacity > 0 && s.IntN(3) > 0 {
		k := walk{name: s.name("walk"), child: s.spawn(), untidy: s.IntN(3) == 0}
		k.id, k.kind, k.cell = engine.EntityColumns(len(s.engine.Fields))
		if ok && s.IntN(2) == 0 {
			k.trail = &trail
		}
		if id, ok := s.find(func(_ fields.ID, d *fields.Def) bool {
			return d.Domain == fields.Entities && d.Element == fields.Float32 && d.Type.Kind != fields.CategoricalKind
		}); ok {
			k.attribute = &id
		}
		p = k
	} else if ok {
		p = rain{name: s.name("rain"), field: trail, on: fields.ID(s.IntN(len(s.engine.Fields))), extra: s.IntN(2) == 0}
	} else {
		return
	}
	s.engine.Systems = append(s.engine.Systems, p)
	twin := p.twin()
	s.ref.Parts = append(s.ref.Parts, twin)
	for _, id := range twin.Incremental {
		s.written[id] = true
	}
}

func (s *scenario) cell() space.Coord { return s.lattice.Coord(s.IntN(s.lattice.Cells())) }

// coord is a cell, or now and then no cell.
func (s *scenario) coord() space.Coord {
	at := s.cell()
	if s.IntN(7) > 0 {
		return at
	}
	i := s.IntN(at.Dim())
	switch s.IntN(5) {
	case 0:
		return space.Coord{}
	case 1:
		return at.Slice(0, at.Dim()-1)
	case 2:
		return at.Append(0)
	}
	var wrong space.Coord
	for k := range at.Dim() {
		v := at.At(k)
		if k == i {
			v = pick(s.Rand, -1, v+1, math.MinInt32, math.MaxInt32, 6)
		}
		wrong = wrong.Append(v)
	}
	return wrong
}

// value is a number for a SetField or an attribute: mostly a plain one.
func (s *scenario) value() float32 {
	switch s.IntN(12) {
	case 0:
		return pick(s.Rand, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)),
			math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 1<<31, 1<<63, 1<<47, -(1 << 47), 1<<24+2)
	case 1, 2, 3, 4, 5:
		return float32(s.IntN(6) - 1)
	case 6:
		return float32(s.NormFloat64() * 1e5)
	}
	return s.Float32()*4 - 2
}

// field is a field's id, or now and then none for users.
func (s *scenario) field() uint32 {
	if s.IntN(10) > 0 {
		return uint32(s.IntN(len(s.engine.Fields)))
	}
	return pick(s.Rand, uint32(len(s.engine.Fields)+s.IntN(5)), math.MaxUint32)
}

func (s *scenario) isField(id uint32) bool { return uint64(id) < uint64(len(s.engine.Fields)) }

func (s *scenario) spawn() commands.Command {
	var values []commands.FieldValue
	for range s.IntN(3) {
		id := s.field()
		for range 4 { // most fields are none of entities
			if s.isField(id) && s.engine.Fields[id].Domain == fields.Cells {
				id = s.field()
			}
		}
		for range 1 + s.IntN(2)*s.IntN(4) { // of the components of a vector, more or fewer
			values = append(values, commands.FieldValue{Field: id, Value: s.value()})
		}
	}
	return commands.Spawn(s.coord(), values...)
}

// command is a random command for the world as it is now.
func (s *scenario) command(ids []uint64, tick uint64) commands.Command {
	var c commands.Command
	switch s.IntN(18) {
	case 16:
		c = commands.Later(tick+uint64(s.IntN(5)), s.command(ids, tick+2))
		if s.IntN(8) == 0 {
			c.Data = c.Data[:s.IntN(len(c.Data))]
		}
	case 17:
		c = commands.Cancel((tick-uint64(s.IntN(4)))<<20 | uint64(1+s.IntN(4)))
	case 0, 1:
		c = commands.Move(s.entity(ids), s.coord())
	case 2, 3, 4:
		c = s.spawn()
	case 5:
		c = commands.Despawn(s.entity(ids))
	case 6:
		c = commands.SetParameter(s.key(), s.number())
	case 7:
		var all []commands.Parameter
		for range s.IntN(4) {
			all = append(all, commands.Parameter{Key: s.key(), Value: s.number()})
		}
		c = commands.SetParameterBatch(all...)
	case 8, 9:
		data := make([]byte, s.IntN(12))
		for i := range data {
			data[i] = byte(s.IntN(puppetRefuses))
		}
		if n := len(data); n > 0 && s.IntN(5) == 0 {
			data[n-1] = pick[byte](s.Rand, puppetRefuses, puppetRefuses, puppetPanics)
		}
		c = commands.Custom(pick[uint32](s.Rand, puppetType, puppetType, puppetType, unknown), data)
	default:
		c = s.setField(ids)
	}
	s.addMeta(&c, tick)
	return c
}

func (s *scenario) setField(ids []uint64) commands.Command {
	id, at := s.field(), s.coord()
	if !s.isField(id) {
		return commands.SetField(at, id, s.value())
	}
	d := &s.engine.Fields[id]
	if d.Domain == fields.Entities && s.IntN(10) > 0 {
		at = commands.EntityCoord(s.entity(ids))
	}
	if d.Type.Kind == fields.VectorKind && s.IntN(10) > 0 && at.Dim() < space.MaxDim {
		at = at.Append(int32(s.IntN(d.Type.N+1) - s.IntN(2)))
	}
	v := s.value()
	if s.IntN(3) == 0 {
		v = float32(s.storable(d))
	}
	if b := d.Bounds; b != nil && s.IntN(3) == 0 {
		v = float32(pick(s.Rand, b.Min, b.Max, b.Max+1, b.Min-0.4, 2*b.Max, b.Max+3e8))
	}
	return commands.SetField(at, id, v)
}

func (s *scenario) entity(ids []uint64) uint64 {
	if len(ids) > 0 && s.IntN(8) > 0 {
		return pick(s.Rand, ids...)
	}
	return pick[uint64](s.Rand, 0, 1<<20|1, 2<<20|1, s.Uint64())
}

func (s *scenario) key() uint32 {
	return pick[uint32](s.Rand, gain, gain, gain, 0, math.MaxUint32, math.MaxUint32, unknown)
}

func (s *scenario) number() float64 {
	if s.IntN(8) == 0 {
		return pick(s.Rand, math.NaN(), math.Inf(1), 1e300, math.Copysign(0, -1))
	}
	return s.Float64()
}

// addMeta gives a command random metadata, plain as often as not.
func (s *scenario) addMeta(c *commands.Command, tick uint64) {
	if s.IntN(2) == 0 {
		return
	}
	c.Priority = pick[uint8](s.Rand, 0, 0, 1, 1, 1, 2, 255)
	c.HasSource, c.HasSeq = s.IntN(2) == 0, s.IntN(2) == 0
	c.Source = pick[uint64](s.Rand, 0, 1, 2, math.MaxUint64) // stays without meaning where HasSource is false
	c.SourceSeq = pick[uint64](s.Rand, 0, 1, 2, 3, math.MaxUint64)
	c.Expires = pick[uint64](s.Rand, math.MaxUint64, math.MaxUint64, 0, tick-1, tick, tick+1)
	c.Arrival = s.Uint64N(3)
}

// commands are the inputs of a tick.
func (s *scenario) commands(ids []uint64, tick uint64) (all []commands.Command) {
	for range pick(s.Rand, 0, 0, 1, 2, 4, 8, 16) {
		c := s.command(ids, tick)
		all = append(all, c)
		if s.IntN(12) == 0 {
			all = append(all, c)
		}
		if s.IntN(60) == 0 {
			all = append(all, pick(s.Rand,
				commands.Command{Kind: 7}, commands.Command{Kind: 255, Data: []byte{1}},
				commands.Command{Kind: commands.KindSpawn, Data: make([]byte, 9)},
				commands.Command{Kind: commands.KindSetParameterBatch, Data: make([]byte, 8)}))
		}
	}
	if s.IntN(12) == 0 {
		all = append(all, commands.SetParameter(fuse, float64(1+s.IntN(fuseLast))))
	}
	return all
}
