package export

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/engine"
)

// An mcapSink writes a channel of messages for each field, or one of the entities, by the
// specification of MCAP version 0 (https://mcap.dev/spec). Messages are JSON.
type mcapSink struct {
	filesOnly
	out  *mcapWriter
	plan *Plan
	dt   float64

	messages int
	body     []byte // of a message
	raw      []byte // a field's numbers
	added    int
}

const (
	fieldSchema = `{"title":"murksim.Field","type":"object","properties":{` +
		`"tick":{"type":"integer"},"time":{"type":"number","description":"seconds"},` +
		`"dtype":{"type":"string","enum":["float32","float64","int32"]},` +
		`"shape":{"type":"array","items":{"type":"integer"}},` +
		`"data":{"type":"string","contentEncoding":"base64","description":"little-endian, the last axis varying fastest"}},` +
		`"required":["tick","time","dtype","shape","data"]}`
	entitySchema = `{"title":"murksim.Entities","type":"object","properties":{` +
		`"tick":{"type":"integer"},"time":{"type":"number","description":"seconds"},` +
		`"entities":{"type":"array","items":{"type":"object","properties":{` +
		`"id":{"type":["integer","string"]},"name":{"type":"string"},"kind":{"type":"string"},"rank":{"type":"integer"},` +
		`"cell":{"type":"array","items":{"type":"integer"}},"attributes":{"type":"object"}},` +
		`"required":["id","kind","rank","cell","attributes"]}}},` +
		`"required":["tick","time","entities"]}`
)

func openMCAP(to File, p *Plan, _ Ticks, _ Look) (Sink, error) {
	out, err := newMCAPWriter(bufio.NewWriterSize(to, 256<<10))
	if err != nil {
		return nil, err
	}
	s := &mcapSink{out: out, plan: p, dt: 1 / p.scenario.TickRate}
	out.begin("murksim")
	if p.entities {
		out.schema(1, "murksim.Entities", entitySchema)
		out.channel(1, 1, "/entities", nil)
	} else {
		out.schema(1, "murksim.Field", fieldSchema)
		for i := range p.fields {
			notes, err := p.fields[i].notes()
			if err != nil {
				return nil, err
			}
			out.channel(uint16(i+1), 1, "/"+p.fields[i].name, notes)
		}
	}
	out.metadata("murksim", []pair{
		{"scenario", p.scenario.Name}, {"seed", fmt.Sprint(p.scenario.Seed)},
		{"space", p.lattice.Space().String()}, {"tick_rate", strconv.FormatFloat(p.scenario.TickRate, 'g', -1, 64)},
	})
	return s, out.err
}

// notes are what a channel says of its field.
func (f *field) notes() (list []pair, err error) { return notesOf(f.def.Unit, f.values) }

func notesOf(unit string, values []string) (list []pair, err error) {
	if unit != "" {
		list = append(list, pair{"unit", unit})
	}
	if len(values) > 0 {
		names, err := json.Marshal(values)
		if err != nil {
			return nil, err
		}
		list = append(list, pair{"values", string(names)})
	}
	return list, nil
}

// Add implements [Sink].
func (s *mcapSink) Add(w *engine.World) error {
	s.added++
	if s.plan.entities {
		s.entities(w)
		s.send(1, w.Tick())
		return s.out.err
	}
	for i := range s.plan.fields {
		if f := &s.plan.fields[i]; !f.static() || s.added == 1 {
			s.field(f, w)
			s.send(uint16(i+1), w.Tick())
		}
	}
	return s.out.err
}

func (s *mcapSink) send(channel uint16, tick uint64) {
	s.messages++
	s.out.message(channel, uint32(s.added-1), s.nanoseconds(tick), append(s.body, '}'))
}

// nanoseconds is the time of a tick; the latest that can be written if it is later.
func (s *mcapSink) nanoseconds(tick uint64) uint64 {
	t := math.Round(float64(tick) * s.dt * 1e9)
	if t >= math.MaxInt64 {
		return math.MaxInt64
	}
	return uint64(t)
}

// head begins a message.
func (s *mcapSink) head(tick uint64) {
	s.body = strconv.AppendUint(append(s.body[:0], `{"tick":`...), tick, 10)
	s.body = strconv.AppendFloat(append(s.body, `,"time":`...), float64(tick)*s.dt, 'g', -1, 64)
}

func (s *mcapSink) field(f *field, w *engine.World) {
	s.head(w.Tick())
	shape := s.plan.shape
	if n := f.components(); n > 1 {
		shape = append(append([]int(nil), shape...), n)
	}
	s.body = fmt.Appendf(s.body, `,"dtype":%q,"shape":%s,"data":"`, f.typeOf(), strings.ReplaceAll(fmt.Sprint(shape), " ", ","))
	s.raw = s.plan.appendBytes(s.raw[:0], f, f.column(w), 0, s.plan.count())
	s.body = append(base64.StdEncoding.AppendEncode(s.body, s.raw), '"')
}

func (s *mcapSink) entities(w *engine.World) {
	const exact = 1 << 53 // above that, JavaScript and others round integers
	s.head(w.Tick())
	s.body = append(s.body, `,"entities":[`...)
	all, first := w.Entities(), true
	for slot, id := range all.ID {
		if id == 0 || !s.plan.has(all.Cell[slot]) {
			continue
		}
		if !first {
			s.body = append(s.body, ',')
		}
		first = false
		if id > exact {
			s.body = fmt.Appendf(s.body, `{"id":"%d"`, id)
		} else {
			s.body = fmt.Appendf(s.body, `{"id":%d`, id)
		}
		if name := s.plan.entityName(id); name != "" {
			s.body = fmt.Appendf(s.body, `,"name":%q`, name)
		}
		c := s.plan.lattice.Coord(int(all.Cell[slot]))
		s.body = fmt.Appendf(s.body, `,"kind":%q,"rank":%d,"cell":[`, s.plan.scenario.KindName(all.Kind[slot]), all.Cell[slot])
		for k := range c.Dim() {
			if k > 0 {
				s.body = append(s.body, ',')
			}
			s.body = strconv.AppendInt(s.body, int64(c.At(k)), 10)
		}
		s.body = append(s.body, ']')
		s.body = append(s.body, `,"attributes":{`...)
		s.attributes(w, slot)
		s.body = append(s.body, "}}"...)
	}
	s.body = append(s.body, ']')
}

// attributes appends an entity's numbers; those of a vector as an array.
func (s *mcapSink) attributes(w *engine.World, slot int) {
	for i := range s.plan.fields {
		f := &s.plan.fields[i]
		if i > 0 {
			s.body = append(s.body, ',')
		}
		s.body = fmt.Appendf(s.body, `%q:`, f.name)
		n, c := f.components(), f.column(w)
		if n > 1 {
			s.body = append(s.body, '[')
		}
		for k := range n {
			if k > 0 {
				s.body = append(s.body, ',')
			}
			bits := 64
			if f.typeOf() == float32s {
				bits = 32
			}
			s.body = strconv.AppendFloat(s.body, f.def.Value(c.Bits(slot*n+k)), 'g', -1, bits)
		}
		if n > 1 {
			s.body = append(s.body, ']')
		}
	}
}

// Close implements [Sink].
func (s *mcapSink) Close() error { return s.out.close() }

// Summary implements [Sink].
func (s *mcapSink) Summary() string {
	return plural(s.messages, "message") + " in " + plural(len(s.out.channels), "channel")
}

// An mcapWriter writes the records of an MCAP file: chunks of messages, each compressed and with
// an index, and a summary at the end, from which a reader finds any of them. It keeps its first
// error.
type mcapWriter struct {
	out *bufio.Writer
	z   *zstd.Encoder
	err error
	at  uint64 // bytes written
	crc uint32 // of all of them

	schemas, channels, infos [][]byte // records, for the summary
	chunk                    []byte   // records that wait
	index                    map[uint16][]byte
	first, last              uint64 // times of the chunk
	chunks                   [][]byte
	counts                   []uint64 // of messages, by channel, from 1
	total                    uint64
	start, end               uint64 // times of all messages
}

// Opcodes of records.
const (
	opHeader, opFooter, opSchema, opChannel, opMessage, opChunk, opMessageIndex  = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07
	opChunkIndex, opStatistics, opMetadata, opMetadataIndex, opOffset, opDataEnd = 0x08, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f
)

const mcapMagic = "\x89MCAP0\r\n"

// mcapChunk is how many bytes a chunk has at least, but for the last.
const mcapChunk = 1 << 20

type pair struct{ key, value string }

func newMCAPWriter(out *bufio.Writer) (*mcapWriter, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	return &mcapWriter{out: out, z: z, index: map[uint16][]byte{}}, err
}

func u16(b []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(b, v) }
func u32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func u64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }
func str(b []byte, s string) []byte { return append(u32(b, uint32(len(s))), s...) }

// pairs appends a map of strings, in the order given.
func pairs(b []byte, list []pair) []byte {
	var body []byte
	for _, p := range list {
		body = str(str(body, p.key), p.value)
	}
	return append(u32(b, uint32(len(body))), body...)
}

// record appends a record: its opcode, its length and what it holds.
func record(b []byte, op byte, body []byte) []byte {
	return append(u64(append(b, op), uint64(len(body))), body...)
}

// write writes bytes and returns where they begin.
func (w *mcapWriter) write(b []byte) (at uint64) {
	at = w.at
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
	w.crc = crc32.Update(w.crc, crc32.IEEETable, b)
	w.at += uint64(len(b))
	return at
}

func (w *mcapWriter) begin(library string) {
	w.write([]byte(mcapMagic))
	w.write(record(nil, opHeader, str(str(nil, ""), library)))
}

func (w *mcapWriter) schema(id uint16, name, text string) {
	r := record(nil, opSchema, str(str(str(u16(nil, id), name), "jsonschema"), text))
	w.schemas = append(w.schemas, r)
	w.write(r)
}

// channel adds a channel; they are numbered from 1.
func (w *mcapWriter) channel(id, schema uint16, topic string, notes []pair) {
	r := record(nil, opChannel, pairs(str(str(u16(u16(nil, id), schema), topic), "json"), notes))
	w.channels = append(w.channels, r)
	w.counts = append(w.counts, 0)
	w.write(r)
}

func (w *mcapWriter) metadata(name string, list []pair) {
	r := record(nil, opMetadata, pairs(str(nil, name), list))
	at := w.write(r)
	w.infos = append(w.infos, record(nil, opMetadataIndex, str(u64(u64(nil, at), uint64(len(r))), name)))
}

// message adds a message to the chunk.
func (w *mcapWriter) message(channel uint16, sequence uint32, time uint64, body []byte) {
	if len(w.chunk) == 0 {
		w.first, w.last = time, time
	}
	if w.total == 0 {
		w.start, w.end = time, time
	}
	w.first, w.last = min(w.first, time), max(w.last, time)
	w.start, w.end = min(w.start, time), max(w.end, time)
	w.index[channel] = u64(u64(w.index[channel], time), uint64(len(w.chunk)))
	head := u64(u64(u32(u16(nil, channel), sequence), time), time)
	w.chunk = u64(append(w.chunk, opMessage), uint64(len(head)+len(body)))
	w.chunk = append(append(w.chunk, head...), body...)
	w.counts[channel-1]++
	w.total++
	if len(w.chunk) >= mcapChunk {
		w.flush()
	}
}

// flush writes the chunk and the indexes of its messages.
func (w *mcapWriter) flush() {
	if len(w.chunk) == 0 {
		return
	}
	packed := w.z.EncodeAll(w.chunk, nil)
	const compression = "zstd"
	body := u32(u64(u64(u64(nil, w.first), w.last), uint64(len(w.chunk))), crc32.ChecksumIEEE(w.chunk))
	body = append(u64(str(body, compression), uint64(len(packed))), packed...)
	r := record(nil, opChunk, body)
	at := w.write(r)
	var offsets []byte
	begin := w.at
	for channel := uint16(1); int(channel) <= len(w.channels); channel++ {
		if entries := w.index[channel]; len(entries) > 0 {
			index := append(u32(u16(nil, channel), uint32(len(entries))), entries...)
			offsets = u64(u16(offsets, channel), w.write(record(nil, opMessageIndex, index)))
			w.index[channel] = entries[:0]
		}
	}
	body = u64(u64(u64(u64(nil, w.first), w.last), at), uint64(len(r)))
	body = append(u32(body, uint32(len(offsets))), offsets...)
	body = str(u64(body, w.at-begin), compression)
	w.chunks = append(w.chunks, record(nil, opChunkIndex, u64(u64(body, uint64(len(packed))), uint64(len(w.chunk)))))
	w.chunk = w.chunk[:0]
}

// close writes the end of the data, the summary and the footer.
func (w *mcapWriter) close() error {
	w.flush()
	w.write(record(nil, opDataEnd, u32(nil, w.crc)))
	start := w.at
	w.crc = 0
	var offsets []byte
	for _, group := range []struct {
		op      byte
		records [][]byte
	}{
		{opSchema, w.schemas}, {opChannel, w.channels}, {opStatistics, [][]byte{w.statistics()}},
		{opChunkIndex, w.chunks}, {opMetadataIndex, w.infos},
	} {
		at := w.at
		for _, r := range group.records {
			w.write(r)
		}
		if len(group.records) > 0 {
			offsets = record(offsets, opOffset, u64(u64([]byte{group.op}, at), w.at-at))
		}
	}
	at := w.write(offsets)
	footer := u64(u64(u64([]byte{opFooter}, 20), start), at)
	w.write(footer)
	w.write(u32(nil, w.crc))
	w.write([]byte(mcapMagic))
	if w.err != nil {
		return w.err
	}
	return w.out.Flush()
}

func (w *mcapWriter) statistics() []byte {
	b := u32(u16(u64(nil, w.total), uint16(len(w.schemas))), uint32(len(w.channels)))
	b = u32(u32(b, 0), uint32(len(w.infos))) // attachments, metadata
	b = u64(u64(u32(b, uint32(len(w.chunks))), w.start), w.end)
	b = u32(b, uint32(10*len(w.counts)))
	for i, n := range w.counts {
		b = u64(u16(b, uint16(i+1)), n)
	}
	return record(nil, opStatistics, b)
}
