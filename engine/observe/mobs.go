package observe

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/wire"
	"github.com/murksim/murksim/space"
)

// A FormatError locates bytes that are not a spec in the format MOBS.
type FormatError struct {
	Offset int64 // of the first byte that could not be used
	Entry  int   // being read; -1: none
	Kind   FormatKind
	Detail string
}

// Error implements error.
func (e *FormatError) Error() string {
	if e.Entry < 0 {
		return fmt.Sprintf("observe: %s at byte %d: %s", e.Kind, e.Offset, e.Detail)
	}
	return fmt.Sprintf("observe: %s at byte %d (entry %d): %s", e.Kind, e.Offset, e.Entry, e.Detail)
}

// Unwrap returns the kind.
func (e *FormatError) Unwrap() error { return e.Kind }

// A FormatKind says what is wrong with bytes, and is its own sentinel.
type FormatKind string

// Error implements error.
func (k FormatKind) Error() string { return string(k) }

// The kinds of format errors.
const (
	ErrMagic     FormatKind = "not MOBS"
	ErrVersion   FormatKind = "unknown version"
	ErrTruncated FormatKind = "input ends early"
	ErrMalformed FormatKind = "malformed input"
)

const (
	mobsMagic   = "MOBS"
	mobsVersion = 1
)

// The tags of regions.
const (
	allTag = iota
	diskTag
	rectTag
	neighboursTag
	cellsTag
	agentDiskTag
	agentRectTag
)

// AppendMOBS appends a spec in the format MOBS, which holds neither names nor rules. What the original
// does not have cannot be written; nor can what no reader would take, such as a negative radius. The error
// is an [*Error].
func AppendMOBS(b []byte, s Spec) ([]byte, error) {
	if len(s.Entries) > math.MaxUint16 {
		return nil, failf(ErrLimit, "%d entries; MOBS holds %d", len(s.Entries), math.MaxUint16)
	}
	b = append(b, mobsMagic...)
	b = binary.LittleEndian.AppendUint16(b, mobsVersion)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s.Entries)))
	for i := range s.Entries {
		e := &s.Entries[i]
		fault, why := ErrRules, ""
		if b, fault, why = appendEntry(b, e); why != "" {
			return nil, &Error{Entry: i, Name: e.Name, Fault: fault, Detail: why}
		}
	}
	return b, nil
}

// appendEntry mirrors (*mobsDecoder).entry. It says why an entry cannot be written.
func appendEntry(b []byte, e *Entry) (_ []byte, fault Fault, why string) {
	switch {
	case e.Source.Count || e.Source.Kinds != nil || e.Source.Others:
		return b, ErrRules, "MOBS holds fields of cells only"
	case e.Transform.kind > normalize:
		return b, ErrRules, "MOBS holds identity and normalize only"
	case e.Element != Float32:
		return b, ErrRules, "MOBS holds float32 only"
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(e.Source.Field))
	tag, params, why := mobsRegion(&e.Region)
	if why != "" {
		return b, ErrRegion, why
	}
	b = append(b, tag)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(params)))
	for _, v := range params {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	b = append(b, byte(e.Transform.kind))
	if e.Transform.kind == normalize {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(e.Transform.min))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(e.Transform.max))
	}
	b = append(b, byte(e.Element), byte(e.Pool.Kernel))
	p := &e.Pool
	switch {
	case *p == Pool{}:
		return b, "", ""
	case p.Kernel < Mean || p.Kernel > Sum || !fits(p.Size, 1) || !fits(p.Stride, 1):
		return b, ErrPool, fmt.Sprintf("MOBS cannot hold kernel %d, size %d, stride %d", p.Kernel, p.Size, p.Stride)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Size))
	return binary.LittleEndian.AppendUint32(b, uint32(p.Stride)), "", ""
}

// fits reports whether MOBS can hold a number that is at least low.
func fits(v, low int) bool { return v >= low && int64(v) <= math.MaxInt32 }

// mobsRegion returns the tag and parameters of a region, or why it cannot be written.
func mobsRegion(r *Region) (tag byte, params []int32, why string) {
	switch r.kind {
	case allCells:
		return allTag, nil, ""
	case self:
		return 0, nil, "MOBS has no region of the agent itself"
	case agentDisk, agentRect:
		for _, h := range r.half {
			if !fits(h, 0) {
				return 0, nil, fmt.Sprintf("MOBS cannot hold a reach of %d", h)
			}
			params = append(params, int32(h))
		}
		tag = agentRectTag
		if r.kind == agentDisk {
			tag = agentDiskTag
		}
		if len(params) == 0 || len(params) > math.MaxUint16 {
			return 0, nil, fmt.Sprintf("MOBS cannot hold %d half extents", len(params))
		}
		return tag, params, ""
	}
	switch r := r.fixed.(type) {
	case space.Disk:
		return mobsDisk(diskTag, r.Center, r.Radius)
	case space.Neighbours:
		return mobsDisk(neighboursTag, r.Center, r.Depth)
	case space.Rect:
		if r.Min.Dim() == 0 || r.Min.Dim() != r.Max.Dim() {
			return 0, nil, fmt.Sprintf("MOBS cannot hold a rectangle from %v to %v", r.Min, r.Max)
		}
		return rectTag, r.Max.AppendTo(r.Min.AppendTo(nil)), ""
	case space.Cells:
		return mobsCells(r)
	}
	return 0, nil, fmt.Sprintf("MOBS has no region %T", r.fixed)
}

func mobsDisk(tag byte, center space.Coord, radius int) (byte, []int32, string) {
	if center.Dim() == 0 || !fits(radius, 0) {
		return 0, nil, fmt.Sprintf("MOBS cannot hold a disk of radius %d around %v", radius, center)
	}
	return tag, append(center.AppendTo(nil), int32(radius)), ""
}

func mobsCells(cells space.Cells) (byte, []int32, string) {
	const most = math.MaxUint16 - 2
	if len(cells) == 0 || cells[0].Dim() == 0 || len(cells) > most/cells[0].Dim() {
		return 0, nil, fmt.Sprintf("MOBS cannot hold a list of %d cells", len(cells))
	}
	dim := cells[0].Dim()
	params := []int32{int32(dim), int32(len(cells))}
	for _, c := range cells {
		if c.Dim() != dim {
			return 0, nil, fmt.Sprintf("MOBS cannot hold %v beside %v", c, cells[0])
		}
		params = c.AppendTo(params)
	}
	return cellsTag, params, ""
}

// DecodeMOBS reads a spec that [AppendMOBS] or the original has written. Its rules are Murksim and its
// entries have no names; set Rules to Murk019 to observe as the original does. It reports
// an error, a [*FormatError], for input that ends early, has bytes left over, or says
// something in another way than AppendMOBS does. Whether the spec fits a lattice, [Compile] finds.
func DecodeMOBS(b []byte) (Spec, error) {
	d := mobsDecoder{Decoder: wire.Of(b), at: -1}
	s := d.spec()
	if d.err == nil {
		if d.End(); d.Err() != nil {
			d.at = -1
			d.wire()
		}
	}
	if d.err != nil {
		return Spec{}, d.err
	}
	return s, nil
}

// A mobsDecoder keeps its first error.
type mobsDecoder struct {
	*wire.Decoder
	at  int // the entry being read; -1: none
	err error
}

// wire takes over the error of the cursor, if there is one.
func (d *mobsDecoder) wire() {
	if e, ok := d.Err().(*wire.Error); ok && d.err == nil {
		kind := ErrMalformed
		if e.Kind == wire.ErrTruncated {
			kind = ErrTruncated
		}
		d.err = &FormatError{Offset: e.Offset, Entry: d.at, Kind: kind, Detail: e.Detail}
	}
}

// bad records what is wrong with a value that begins at an offset.
func (d *mobsDecoder) bad(offset int64, kind FormatKind, format string, args ...any) {
	if d.wire(); d.err == nil {
		d.err = &FormatError{Offset: offset, Entry: d.at, Kind: kind, Detail: fmt.Sprintf(format, args...)}
	}
}

func (d *mobsDecoder) spec() (s Spec) {
	if head := d.Window(0); len(head) >= len(mobsMagic) && string(head[:len(mobsMagic)]) != mobsMagic {
		d.bad(0, ErrMagic, "it begins with %q", head[:len(mobsMagic)])
		return s
	}
	d.Bytes(len(mobsMagic), "magic number")
	if v := d.Uint16("version"); v != mobsVersion {
		d.bad(int64(len(mobsMagic)), ErrVersion, "%d; this is version %d", v, mobsVersion)
		return s
	}
	n := d.Uint16("number of entries")
	d.wire()
	for i := 0; i < int(n) && d.err == nil; i++ {
		d.at = i
		s.Entries = append(s.Entries, d.entry())
		d.wire()
	}
	return s
}

// entry reads one entry.
func (d *mobsDecoder) entry() (e Entry) {
	e.Source.Field = fields.ID(d.Uint32("field"))
	e.Region = d.region()
	at := d.Offset()
	switch tag := d.Uint8("transform"); tag {
	case byte(identity):
	case byte(normalize):
		low := math.Float64frombits(d.Uint64("minimum"))
		e.Transform = Normalize(low, math.Float64frombits(d.Uint64("maximum")))
	default:
		d.bad(at, ErrMalformed, "there is no transform %d", tag)
	}
	at = d.Offset()
	if v := d.Uint8("element"); v != byte(Float32) {
		d.bad(at, ErrMalformed, "there is no element %d", v)
	}
	at = d.Offset()
	e.Pool.Kernel = Kernel(d.Uint8("pool"))
	switch {
	case e.Pool.Kernel > Sum:
		d.bad(at, ErrMalformed, "there is no kernel %d", e.Pool.Kernel)
	case e.Pool.Kernel != NoPool:
		e.Pool.Size = d.size("size of the pool")
		e.Pool.Stride = d.size("stride of the pool")
	}
	return e
}

// size reads a number from 1 to 2^31-1.
func (d *mobsDecoder) size(what string) int {
	at := d.Offset()
	v := d.Uint32(what)
	if v < 1 || v > math.MaxInt32 {
		d.bad(at, ErrMalformed, "%s must be 1 to %d, not %d", what, math.MaxInt32, v)
		return 0
	}
	return int(v)
}

// region mirrors mobsRegion.
func (d *mobsDecoder) region() Region {
	at := d.Offset()
	tag := d.Uint8("region")
	n := int(d.Uint16("number of parameters"))
	b := d.Bytes(4*n, "parameters")
	if d.wire(); d.err != nil {
		return Region{}
	}
	params := make([]int32, n)
	for i := range params {
		params[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	r, why := regionOf(tag, params)
	if why != "" {
		d.bad(at, ErrMalformed, "%s", why)
	}
	return r
}

// regionOf returns the region with a tag and parameters, or what is wrong with them.
func regionOf(tag uint8, params []int32) (r Region, why string) {
	n := len(params)
	switch tag {
	case allTag:
		if n != 0 {
			return r, "the region of all cells has no parameters"
		}
		return Region{}, ""
	case diskTag, neighboursTag:
		if n < 2 || n-1 > space.MaxDim || params[n-1] < 0 {
			return r, "a disk has the coordinates of a cell and a radius of at least 0"
		}
		center, radius := space.At(params[:n-1]...), int(params[n-1])
		if tag == diskTag {
			return Fixed(space.Disk{Center: center, Radius: radius}), ""
		}
		return Fixed(space.Neighbours{Center: center, Depth: radius}), ""
	case rectTag:
		if n < 2 || n%2 != 0 || n/2 > space.MaxDim {
			return r, "a rectangle has the coordinates of two cells"
		}
		return Fixed(space.Rect{Min: space.At(params[:n/2]...), Max: space.At(params[n/2:]...)}), ""
	case cellsTag:
		return cellsOf(params)
	case agentDiskTag, agentRectTag:
		half := make([]int, n)
		for i, v := range params {
			if half[i] = int(v); v < 0 {
				return r, "a region around an agent reaches at least 0 steps"
			}
		}
		switch {
		case tag == agentRectTag && n > 0:
			return AgentRect(half...), ""
		case tag == agentDiskTag && n == 1:
			return AgentDisk(half[0]), ""
		}
		return r, "a region around an agent has a radius, or half extents"
	}
	return r, fmt.Sprintf("there is no region %d", tag)
}

// cellsOf mirrors mobsCells.
func cellsOf(params []int32) (r Region, why string) {
	if len(params) < 3 || params[0] < 1 || params[0] > space.MaxDim || int64(params[0])*int64(params[1]) != int64(len(params)-2) {
		return r, "a list of cells has the number of coordinates of each, that of cells, and all coordinates"
	}
	dim := int(params[0])
	var cells space.Cells
	for c := params[2:]; len(c) > 0; c = c[dim:] {
		cells = append(cells, space.At(c[:dim]...))
	}
	return Fixed(cells), ""
}
