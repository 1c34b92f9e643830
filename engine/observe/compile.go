package observe

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// The limits of a plan.
const (
	maxCells      = 1 << 30 // of a lattice
	maxPlaces     = 1 << 24 // of a region
	maxElements   = 1 << 26 // of an observation
	maxCategories = 1 << 16
)

// leastValid is the share of valid cells below which the original refuses a region.
const leastValid = 0.35

// Compile makes the plan of a spec for worlds on a lattice with these fields: all of a world, as
// [engine.World.Defs] returns them, or those of its configuration. For each region around agents a
// plan holds some tens of megabytes at most. The error is an [*Error].
func Compile(s Spec, l *space.Lattice, defs []fields.Def) (*Plan, error) {
	if l == nil {
		return nil, &Error{Entry: -1, Fault: ErrRegion, Detail: "the lattice is nil"}
	}
	if s.Rules != engine.Murksim && s.Rules != engine.Murk019 {
		return nil, &Error{Entry: -1, Fault: ErrRules, Detail: fmt.Sprintf("there are no rules %v", s.Rules)}
	}
	if l.Cells() > maxCells {
		return nil, &Error{Entry: -1, Fault: ErrLimit, Detail: fmt.Sprintf("%v has more than %d cells", l.Space(), maxCells)}
	}
	if len(s.Entries) == 0 {
		return nil, &Error{Entry: -1, Fault: ErrEmpty, Detail: "an observation needs at least one"}
	}
	c := compiler{lattice: l, defs: defs, original: s.Rules == engine.Murk019}
	c.plan = &Plan{grid: newGrid(l), element: s.Entries[0].Element, original: c.original}
	c.plan.kind, c.plan.cell = entityColumns(defs)
	for i := range s.Entries {
		c.at, c.entry = i, &s.Entries[i]
		if err := c.checkEntry(); err != nil {
			return nil, err
		}
	}
	for i := range s.Entries {
		c.at, c.entry = i, &s.Entries[i]
		if err := c.compile(); err != nil {
			return nil, err
		}
	}
	return c.plan, nil
}

// entityColumns returns the ids of the engine's columns that tell the kinds and cells of entities.
func entityColumns(defs []fields.Def) (kind, cell fields.ID) {
	for i := range defs {
		if defs[i].Name == engine.EntityID {
			_, kind, cell = engine.EntityColumns(i)
			return kind, cell
		}
	}
	_, kind, cell = engine.EntityColumns(len(defs))
	return kind, cell
}

// A compiler makes a plan, entry by entry.
type compiler struct {
	lattice  *space.Lattice
	defs     []fields.Def
	original bool
	plan     *Plan
	at       int // index of the entry
	entry    *Entry
}

func (c *compiler) errorf(fault Fault, format string, args ...any) error {
	e := &Error{Entry: c.at, Name: c.entry.Name, Fault: fault, Detail: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			e.Err = err
		}
	}
	return e
}

// checkEntry checks what needs no lattice.
func (c *compiler) checkEntry() error {
	e, t := c.entry, &c.entry.Transform
	switch {
	case e.Element > Float16:
		return c.errorf(ErrElement, "there is no element %d", e.Element)
	case e.Element != c.plan.element:
		return c.errorf(ErrElement, "it is %v, and that of the entries before is %v; all must have the same", e.Element, c.plan.element)
	case t.kind == normalize && (t.min-t.min != 0 || t.max-t.max != 0):
		return c.errorf(ErrTransform, "normalize: min and max must be finite, not %v and %v", t.min, t.max)
	case (t.kind == normalize || t.kind == clip) && !(t.min <= t.max):
		return c.errorf(ErrTransform, "min must be at most max, but %v is not at most %v", t.min, t.max)
	case t.kind == normalize && !c.original && math.IsInf(t.max-t.min, 0):
		return c.errorf(ErrTransform, "normalize: max - min must be finite, not that of %v and %v", t.min, t.max)
	case t.kind == oneHot && (t.n < 1 || t.n > maxCategories):
		return c.errorf(ErrTransform, "one-hot: the number of categories must be 1 to %d, not %d", maxCategories, t.n)
	}
	if c.original {
		return c.checkOriginal()
	}
	return nil
}

// checkOriginal refuses what the original does not have.
func (c *compiler) checkOriginal() error {
	e := c.entry
	switch {
	case e.Source.Count || e.Source.Kinds != nil || e.Source.Others:
		return c.errorf(ErrRules, "it observes fields of cells only")
	case e.Region.kind == self:
		return c.errorf(ErrRules, "it has no region of the agent itself; use AgentDisk(0)")
	case e.Transform.kind > normalize:
		return c.errorf(ErrRules, "it transforms by identity or normalize only")
	case e.Element != Float32:
		return c.errorf(ErrRules, "its elements are float32 only")
	}
	return nil
}

// compile appends the entry to the plan.
func (c *compiler) compile() error {
	e := entry{around: -1, step: 1, transform: c.entry.Transform, others: c.entry.Source.Others}
	var err error
	if e.source, err = c.source(); err != nil {
		return err
	}
	shape, err := c.region(&e)
	if err != nil {
		return err
	}
	if e.places, err = c.volume(shape); err != nil {
		return err
	}
	if c.entry.Pool != (Pool{}) {
		if e.pool, err = c.pooling(shape); err != nil {
			return err
		}
		shape = []int{e.pool.outRows, e.pool.outCols}
	}
	if err := c.channels(&e); err != nil {
		return err
	}
	e.spatial = 1
	for _, n := range shape {
		e.spatial *= n
	}
	p := c.plan
	if uint64(e.spatial)*uint64(e.channels) > uint64(maxElements-p.length) {
		return c.errorf(ErrLimit, "with %d channels of %d elements the observation has more than %d", e.channels, e.spatial, maxElements)
	}
	e.part = Part{
		Name: c.entry.Name, Shape: shape, Offset: p.length, Len: e.spatial * e.channels, MaskOffset: p.maskLen, MaskLen: e.spatial,
	}
	if e.leads {
		e.part.Shape = append([]int{e.channels}, shape...)
	}
	e.perAgent = c.entry.Region.around() || e.others
	e.part.Low, e.part.High = math.Inf(-1), math.Inf(1)
	if e.source >= 0 {
		s := &p.sources[e.source]
		e.part.Low, e.part.High = e.bounds(s, p.element)
		p.slots = p.slots || e.others || s.own
		e.plain = s.layer < 0 && s.element == fields.Float32 || s.layer >= 0 && s.attribute < 0
		e.plain = e.plain && e.pool == nil && e.transform.kind <= normalize && p.element == Float32
		e.copied = e.plain && s.pitch == 1 && e.step == 1 && e.transform.kind == identity
	}
	p.length, p.maskLen, p.agents = p.length+e.part.Len, p.maskLen+e.spatial, p.agents || e.perAgent
	p.entries = append(p.entries, e)
	return nil
}

// volume returns the number of places in a shape.
func (c *compiler) volume(shape []int) (int, error) {
	n := uint64(1)
	for _, extent := range shape {
		if n *= uint64(extent); n > maxPlaces {
			return 0, c.errorf(ErrLimit, "the region has more than %d places", maxPlaces)
		}
	}
	return int(n), nil
}

// channels finds how many elements the entry has for each place.
func (c *compiler) channels(e *entry) error {
	e.channels = 1
	vector := false
	if e.source >= 0 {
		s := &c.plan.sources[e.source]
		e.channels, vector = s.components, s.vector
	}
	e.leads = vector
	if e.transform.kind != oneHot {
		return nil
	}
	if vector {
		return c.errorf(ErrTransform, "one-hot: the source must not be a vector")
	}
	e.channels, e.leads = e.transform.n, true
	return nil
}

// A source is what entries read: a column of cells, a layer of what entities have, or a
// column of slots.
type source struct {
	def        *fields.Def // nil: a count
	field      fields.ID
	element    fields.Element
	components int
	vector     bool // it gives the parts an axis of components
	layer      int  // index; -1: a column
	attribute  int  // the field of a layer, or -1: a count
	own        bool // the column is one of slots
	pitch      int  // elements of the column for each cell or slot
}

// bounds returns the least and greatest value of the source.
func (s *source) bounds() (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	switch {
	case s.def == nil:
		low = 0
	case s.layer >= 0:
	case s.def.Type.Kind == fields.CategoricalKind:
		return 0, float64(s.def.Type.N - 1)
	case s.def.Bounds != nil:
		low, high = s.def.Bounds.Min, s.def.Bounds.Max
		if b, ok := s.def.Bits(low); ok { // as the column stores it
			low = s.def.Value(b)
		}
		if b, ok := s.def.Bits(high); ok {
			high = s.def.Value(b)
		}
	case s.element == fields.Uint64:
		low = 0
	}
	return low, high
}

// source returns the index of the entry's source, which it adds if there is none like it.
func (c *compiler) source() (int, error) {
	src := &c.entry.Source
	s := source{layer: -1, attribute: -1, components: 1, pitch: 1}
	if src.Count && !c.population() {
		return 0, c.errorf(ErrSource, "the world has no entities to count")
	}
	if src.Kinds != nil && len(src.Kinds) == 0 {
		return 0, c.errorf(ErrSource, "the list of kinds is empty; nil stands for all")
	}
	if src.Count {
		s.layer = c.layer(-1, nil)
		return c.add(s), nil
	}
	if uint64(src.Field) >= uint64(len(c.defs)) {
		if c.original {
			return -1, nil // found when the plan is executed, as there
		}
		return 0, c.errorf(ErrField, "there is no field %d; there are %d", src.Field, len(c.defs))
	}
	s.def, s.field = &c.defs[src.Field], src.Field
	s.element, s.components, s.vector = s.def.Element, s.def.Type.Components(), s.def.Type.Kind == fields.VectorKind
	s.pitch = s.components
	switch {
	case s.def.Domain == fields.Cells && (src.Kinds != nil || src.Others):
		return 0, c.errorf(ErrSource, "kinds and others are for entities, and %q is a field of cells", s.def.Name)
	case c.original && (s.def.Domain != fields.Cells || s.element != fields.Float32):
		return 0, c.errorf(ErrRules, "%q is not a field of cells of float32", s.def.Name)
	case c.original:
		s.components, s.pitch, s.vector = 1, 1, false // element number rank, whatever that belongs to
	case s.def.Domain == fields.Cells:
	case c.entry.Region.kind == self:
		if s.own = true; src.Kinds != nil || src.Others {
			return 0, c.errorf(ErrSource, "kinds and others do not apply to the agent's own value")
		}
	default:
		s.attribute = int(src.Field)
		s.layer = c.layer(s.attribute, s.def)
	}
	return c.add(s), nil
}

// population reports whether the fields are those of a world with entities, as far as they tell.
func (c *compiler) population() bool {
	all := slices.ContainsFunc(c.defs, func(d fields.Def) bool { return d.Name == engine.WorldRest })
	return !all || slices.ContainsFunc(c.defs, func(d fields.Def) bool { return d.Name == engine.EntityID })
}

func (c *compiler) add(s source) int {
	p := c.plan
	if i := slices.Index(p.sources, s); i >= 0 {
		return i
	}
	p.sources = append(p.sources, s)
	return len(p.sources) - 1
}

// layer returns the index of the layer of an attribute, or -1 for the number of entities.
func (c *compiler) layer(attribute int, def *fields.Def) int {
	p, kinds := c.plan, slices.Clone(c.entry.Source.Kinds)
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	for i := range p.layers {
		if l := &p.layers[i]; l.attribute == attribute && slices.Equal(l.kinds, kinds) {
			return i
		}
	}
	l := layer{attribute: attribute, kinds: kinds, components: 1}
	if def != nil {
		l.def, l.components = def, def.Type.Components()
	}
	p.layers = append(p.layers, l)
	return len(p.layers) - 1
}

// region fills in where the entry's cells are, and returns the region's shape.
func (c *compiler) region(e *entry) ([]int, error) {
	r := &c.entry.Region
	switch r.kind {
	case self:
		e.own = true
		return []int{}, nil
	case agentDisk, agentRect:
		return c.around(e)
	}
	fixed := r.fixed
	if r.kind == allCells {
		fixed = space.All{}
	}
	if n, known := c.regionSize(fixed); known && n > maxPlaces {
		return nil, c.errorf(ErrLimit, "the region has more than %d places", maxPlaces)
	}
	plan, err := c.lattice.Compile(fixed)
	if err != nil {
		return nil, c.errorf(ErrRegion, "%v", err)
	}
	if ratio := float64(len(plan.Ranks)) / float64(len(plan.ValidMask)); c.original && !(ratio >= leastValid) {
		return nil, c.errorf(ErrCoverage, "%.3f of the region are valid; at least %v must be", ratio, leastValid)
	}
	if len(plan.ValidMask) > maxPlaces {
		return nil, c.errorf(ErrLimit, "the region has more than %d places", maxPlaces)
	}
	e.fixed = fixedTable(plan)
	return plan.BoundingShape, nil
}

// regionSize returns how many cells a region may have, if that is known before it is made.
func (c *compiler) regionSize(r space.Region) (n uint64, known bool) {
	cells := uint64(c.lattice.Cells())
	switch r := r.(type) {
	case space.All:
		return cells, true
	case space.Disk:
		return c.diskSize(r.Radius, cells), true
	case space.Neighbours:
		return c.diskSize(r.Depth, cells), true
	case space.Rect:
		n = 1
		for i := range min(r.Min.Dim(), r.Max.Dim()) {
			if d := int64(r.Max.At(i)) - int64(r.Min.At(i)); d > 0 {
				n = min(n*uint64(d+1), 1<<31)
			}
		}
		return min(n, cells), true
	}
	return 0, false
}

// diskSize bounds the number of cells in a disk.
func (c *compiler) diskSize(radius int, cells uint64) uint64 {
	n := uint64(1)
	for range c.lattice.Dim() {
		n = min(n*(2*min(uint64(max(radius, 0)), 1<<30)+1), cells)
	}
	return n
}

// around compiles a region around the agent.
func (c *compiler) around(e *entry) ([]int, error) {
	r, dim := &c.entry.Region, c.lattice.Dim()
	half := r.half
	if r.kind == agentDisk {
		half = slices.Repeat(half, dim)
	}
	if len(half) != dim {
		return nil, c.errorf(ErrRegion, "half extents are %d; a cell of %v has %d coordinates", len(half), c.lattice.Space(), dim)
	}
	places := uint64(1)
	for _, h := range half {
		if h < 0 {
			return nil, c.errorf(ErrRegion, "it must reach at least 0 steps, not %d", h)
		}
		if places *= 2*min(uint64(h), 1<<31) + 1; places > maxPlaces {
			return nil, c.errorf(ErrLimit, "the box around the agent has more than %d places", maxPlaces)
		}
	}
	b := boxSpec{half: half, radius: -1, wraps: true}
	if r.kind == agentDisk {
		b.radius = r.half[0]
	}
	if c.original {
		b.byComponent = true
		b.wraps = c.plan.grid.plane && c.plan.grid.shift == 0
		if !c.plan.grid.plane {
			b.radius = -1
		}
	}
	return c.addAround(e, &b)
}

// addAround gives the entry a region around the agent, which is made unless there is one like it.
func (c *compiler) addAround(e *entry, b *boxSpec) ([]int, error) {
	p := c.plan
	e.around = slices.IndexFunc(p.arounds, func(a *around) bool { return a.radius == b.radius && slices.Equal(a.spec, b.half) })
	if e.around < 0 {
		a, err := newAround(&p.grid, b)
		if err != nil {
			return nil, c.errorf(ErrLimit, "%v", err)
		}
		e.around = len(p.arounds)
		p.arounds = append(p.arounds, a)
	}
	a := p.arounds[e.around]
	e.step = a.step
	return slices.Clone(a.shape), nil
}

// pooling checks the entry's pool against the region's shape.
func (c *compiler) pooling(shape []int) (*pooling, error) {
	p := c.entry.Pool
	switch {
	case p.Kernel < Mean || p.Kernel > Sum:
		return nil, c.errorf(ErrPool, "there is no kernel %d", p.Kernel)
	case c.original && !c.entry.Region.around():
		return nil, c.errorf(ErrPool, "the original pools regions around agents only")
	case len(shape) != 2:
		return nil, c.errorf(ErrPool, "the region has %d axes; it must have 2", len(shape))
	case p.Size < 1 || p.Stride < 1:
		return nil, c.errorf(ErrPool, "size and stride must be at least 1, not %d and %d", p.Size, p.Stride)
	case p.Size > shape[0] || p.Size > shape[1]:
		return nil, c.errorf(ErrPool, "a window of %d×%d does not fit into a region of %d×%d", p.Size, p.Size, shape[0], shape[1])
	}
	return &pooling{
		kernel: p.Kernel, size: p.Size, stride: p.Stride, cols: shape[1], narrow: c.original,
		outRows: (shape[0]-p.Size)/p.Stride + 1, outCols: (shape[1]-p.Size)/p.Stride + 1,
	}, nil
}

var errRows = errors.New("its rows are too many")
