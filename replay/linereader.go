package replay

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
)

// A lineReader is a [Source] that reads a recording from JSON lines, within the same
// limits as a [Reader], and with memory for one frame. Spaces, the order of keys and the way
// a number is written do not matter. It refuses unknown keys and values that the format
// cannot hold. It belongs to one goroutine.
type lineReader struct {
	head Header

	s     *scanner
	frame int // being read
	// Of the command being read; the memory is reused:
	values  []byte // entries of a spawn or a batch
	raw     []byte // what stands in hexadecimal
	encoded []byte // its payload
}

// newLineReader reads the header, the first line of r. It reads ahead.
func newLineReader(r io.Reader) (*lineReader, error) {
	l := &lineReader{s: newScanner(r)}
	l.header()
	if l.s.err != nil {
		return nil, l.s.err
	}
	return l, nil
}

// Head implements [Source].
func (l *lineReader) Head() *Header { return &l.head }

// header mirrors appendHeaderLine.
func (l *lineReader) header() {
	s, h := l.s, &l.head
	s.more()
	at := s.at
	h.line = at.line
	seen := s.object("the header, an object,", headerKeys, func(key int) {
		what := headerKeys[key]
		switch what {
		case "murk":
			at := s.here()
			if v := s.uint(math.MaxUint8, what); s.err == nil && v != version {
				s.fail(at, ErrVersion, "version %d; this program writes version %d", v, version)
			}
		case "toolchain":
			h.Build.Toolchain = string(s.string(MaxString, what))
		case "target":
			h.Build.Target = string(s.string(MaxString, what))
		case "engine_version":
			h.Build.Version = string(s.string(MaxString, what))
		case "compiler_flags":
			h.Build.Flags = string(s.string(MaxString, what))
		case "seed":
			h.Seed = s.uint(math.MaxUint64, what)
		case "config_hash":
			h.ConfigHash = s.hash(what)
		case "field_count":
			h.FieldCount = uint32(s.uint(math.MaxUint32, what))
		case "cell_count":
			h.CellCount = s.uint(math.MaxUint64, what)
		case "descriptor":
			h.Descriptor = slices.Clone(s.string(MaxBytes, what))
		case "descriptor_hex":
			h.Descriptor = s.hex(nil, MaxBytes, what)
		}
	})
	other := keySet(headerKeys, "descriptor_hex")
	if seen&other != 0 {
		other = keySet(headerKeys, "descriptor")
	}
	s.require(at, "the header", headerKeys, seen, keySet(headerKeys, headerKeys...)&^other)
	s.endLine()
	s.text = nil // it may have held a long descriptor
}

// Next reads the next line into f and reuses its memory. At the end of the input it returns
// io.EOF; every other error is final: a [*LineError], or one that wraps the error of the
// underlying reader.
func (l *lineReader) Next(f *Frame) error {
	f.reset()
	s := l.s
	if !s.more() && s.err == nil {
		return io.EOF
	}
	at := s.at
	seen := s.object("a frame, an object,", frameKeys, func(key int) {
		switch frameKeys[key] {
		case "tick":
			f.Tick = s.uint(math.MaxUint64, "tick")
		case "hash":
			f.Hash = s.hash("hash")
		case "commands":
			s.array("commands, an array of objects,", func() { l.record(f) })
		}
	})
	s.require(at, "the frame", frameKeys, seen, keySet(frameKeys, frameKeys...))
	s.endLine()
	for i := range f.Records {
		f.Records[i].at = place{0, at.line, f.Tick, l.frame, uint32(i + 1), uint32(len(f.Records))}
	}
	f.Position = Position{Frame: l.frame, Line: at.line}
	l.frame++
	return s.err
}

// A member is a command as its keys give it, before they are checked against each other.
type member struct {
	commands.Command
	at     spot
	seen   uint32 // which keys it has
	value  float
	naming string // what its values name: "field" or "parameter"
	tag    uint8
}

// record mirrors [LineWriter.appendRecord].
func (l *lineReader) record(f *Frame) {
	s := l.s
	n := member{at: s.here()}
	if len(f.Records) == MaxCommands {
		s.fail(n.at, ErrLimit, "a frame has more than %d commands", MaxCommands)
	}
	n.Expires = commands.NoExpiry
	l.values, l.raw = l.values[:0], l.raw[:0]
	n.seen = s.object("a command, an object,", commandKeys, func(key int) { l.value(&n, key) })
	payload := l.payload(&n)
	if s.err != nil {
		return
	}
	if len(payload) > MaxFrame-len(f.payload) {
		s.fail(n.at, ErrLimit, "payloads of more than %d bytes in a frame", MaxFrame)
		return
	}
	start := len(f.payload)
	f.payload = append(f.payload, payload...)
	n.HasSource = n.seen&sourceKey != 0
	n.HasSeq = n.seen&seqKey != 0
	f.Records = append(f.Records, Record{Tag: n.tag, Payload: f.payload[start:len(f.payload):len(f.payload)], Meta: n.Meta})
}

// value reads the value of a command's key.
func (l *lineReader) value(n *member, key int) {
	s, c := l.s, &n.Command
	switch what := commandKeys[key]; what {
	case "kind":
		c.Kind = s.kind()
	case "entity":
		c.Entity = s.uint(math.MaxUint64, what)
	case "coord":
		s.coord(c)
	case "field", "type", "parameter":
		c.ID = uint32(s.uint(math.MaxUint32, what))
	case "values":
		s.array("values, an array of objects,", func() { l.entry(n) })
	case "data":
		c.Data = s.hex(l.raw[:0], MaxBytes, what)
		l.raw = c.Data
	case "value":
		n.value = s.float(what)
	case "payload_type":
		n.tag = uint8(s.uint(math.MaxUint8, what))
	case "payload":
		l.raw = s.hex(l.raw[:0], MaxBytes, what)
	case "priority":
		c.Priority = uint8(s.uint(math.MaxUint8, what))
	case "source":
		c.Source = s.uint(math.MaxUint64, what)
	case "source_seq":
		c.SourceSeq = s.uint(math.MaxUint64, what)
	case "expires_after":
		c.Expires = s.uint(math.MaxUint64, what)
	case "arrival":
		c.Arrival = s.uint(math.MaxUint64, what)
	}
}

// entry reads one of the values of a spawn or a batch.
func (l *lineReader) entry(n *member) {
	s := l.s
	at := s.here()
	var id uint32
	var v float
	seen := s.object("a value, an object,", entryKeys, func(key int) {
		if what := entryKeys[key]; what == "value" {
			v = s.float(what)
		} else {
			id = uint32(s.uint(math.MaxUint32, what))
		}
	})
	naming, must := "field", fieldEntry
	if seen&parameterEntry&^fieldEntry != 0 {
		naming, must = "parameter", parameterEntry
	}
	s.require(at, "the value of a "+naming, entryKeys, seen, must)
	if n.naming != "" && n.naming != naming {
		s.fail(at, ErrMalformed, "fields and parameters are mixed")
	}
	n.naming = naming
	l.values = binary.LittleEndian.AppendUint32(l.values, id)
	if naming == "field" {
		l.values = binary.LittleEndian.AppendUint32(l.values, s.single(v))
	} else {
		l.values = binary.LittleEndian.AppendUint64(l.values, s.double(v))
	}
	if len(l.values) > MaxBytes {
		s.fail(at, ErrLimit, "values of more than %d bytes", MaxBytes)
	}
}

// Which keys belong together.
var (
	sourceKey, seqKey = keySet(commandKeys, "source"), keySet(commandKeys, "source_seq")

	fieldEntry     = keySet(entryKeys, "field", "value")
	parameterEntry = keySet(entryKeys, "parameter", "value")

	mustMeta = keySet(commandKeys, "priority", "arrival")
	mayMeta  = keySet(commandKeys, "source", "source_seq", "expires_after")
	rawKeys  = keySet(commandKeys, "payload_type", "payload")
	kindKey  = keySet(commandKeys, "kind")
	kindKeys = [...]uint32{
		commands.KindMove:              keySet(commandKeys, "kind", "entity", "coord"),
		commands.KindSpawn:             keySet(commandKeys, "kind", "coord", "values"),
		commands.KindDespawn:           keySet(commandKeys, "kind", "entity"),
		commands.KindSetField:          keySet(commandKeys, "kind", "coord", "field", "value"),
		commands.KindCustom:            keySet(commandKeys, "kind", "type", "data"),
		commands.KindSetParameter:      keySet(commandKeys, "kind", "parameter", "value"),
		commands.KindSetParameterBatch: keySet(commandKeys, "kind", "values"),
	}
)

// payload returns the payload of a command whose keys were read, and sets its tag.
func (l *lineReader) payload(n *member) []byte {
	s, c := l.s, &n.Command
	seen := n.seen &^ mayMeta
	if seen&rawKeys != 0 {
		s.require(n.at, "a command with a payload of bytes", commandKeys, seen, rawKeys|mustMeta)
		return l.raw
	}
	if seen&kindKey == 0 {
		s.fail(n.at, ErrMalformed, `the command has no "kind"`)
	}
	s.require(n.at, "a "+c.Kind.String(), commandKeys, seen, kindKeys[c.Kind]|mustMeta)
	n.tag = uint8(c.Kind)
	switch c.Kind {
	case commands.KindSetField:
		c.Bits = uint64(s.single(n.value))
	case commands.KindSetParameter:
		c.Bits = s.double(n.value)
	case commands.KindSpawn:
		c.Data = l.valuesOf(n, "field")
	case commands.KindSetParameterBatch:
		c.Data = l.valuesOf(n, "parameter")
	}
	if s.err == nil && c.PayloadSize() > MaxBytes {
		s.fail(n.at, ErrLimit, "payload of %d bytes, the limit is %d", c.PayloadSize(), MaxBytes)
	}
	if s.err != nil {
		return nil
	}
	l.encoded = c.AppendPayload(l.encoded[:0])
	return l.encoded
}

// valuesOf returns the values of a command, which must name fields or parameters.
func (l *lineReader) valuesOf(n *member, naming string) []byte {
	if n.naming != "" && n.naming != naming {
		l.s.fail(n.at, ErrMalformed, "the values of a %s name a %s each, not a %s", n.Kind, naming, n.naming)
	}
	return l.values
}

// kind reads the name of a kind of command.
func (s *scanner) kind() commands.Kind {
	at := s.here()
	name := s.string(maxKey, "kind")
	var known []string
	for k := commands.KindMove; k <= commands.KindSetParameterBatch; k++ {
		if string(name) == k.String() {
			return k
		}
		known = append(known, k.String())
	}
	s.fail(at, ErrMalformed, "kind %q is unknown%s", name, didYouMean(string(name), known))
	return 0
}

// maxComponents is space.MaxDim: no command's payload has more components.
const maxComponents = 12

// coord reads a command's coordinate.
func (s *scanner) coord(c *commands.Command) {
	s.array("coord, an array of whole numbers,", func() {
		at := s.here()
		v := s.int32("a component")
		if c.Coord.Dim() == maxComponents {
			s.fail(at, ErrLimit, "coord has more than %d components", maxComponents)
			return
		}
		c.Coord = c.Coord.Append(v)
	})
}

// keySet returns a set of keys as bits.
func keySet(all []string, keys ...string) (set uint32) {
	for _, k := range keys {
		set |= 1 << slices.Index(all, k)
	}
	return set
}

// require fails if an object does not have exactly the required keys.
func (s *scanner) require(at spot, what string, keys []string, seen, must uint32) {
	for i, k := range keys {
		switch bit := uint32(1) << i; {
		case must&^seen&bit != 0:
			s.fail(at, ErrMalformed, "%s has no %q", what, k)
		case seen&^must&bit != 0:
			s.fail(at, ErrMalformed, "%s cannot have %q", what, k)
		}
	}
}

// didYouMean returns a hint that names the known word nearest to an unknown one, or "".
func didYouMean(word string, known []string) string {
	best, at := max(1, len(word)/3)+1, ""
	for _, k := range known {
		if d := distance(word, k); d < best {
			best, at = d, k
		}
	}
	if at == "" {
		return "; known are " + strings.Join(known, ", ")
	}
	return fmt.Sprintf("; did you mean %q?", at)
}

// distance returns how many letters to insert, delete or change to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, corner+1, row[j]+1)
		}
	}
	return row[len(b)]
}
