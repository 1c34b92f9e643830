package export

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"

	"github.com/murksim/murksim/engine"
)

// An npzSink writes an array for each field into a zip archive, none of it compressed. The
// arrays grow side by side, each in its place: their sizes are known before the first tick.
type npzSink struct {
	filesOnly
	file    File
	plan    *Plan
	ticks   Ticks
	added   uint64
	fields  []*member
	numbers *member // of the ticks
	cells   *member // coordinates; nil if the shape says where cells are
	buf     []byte
}

// A member is a file in a zip archive.
type member struct {
	name string
	size int64 // in all
	at   int64 // where the local header begins
	next int64 // where the next bytes go
	crc  uint32
	wait []byte // not yet written
}

const zipExtra = 20 // bytes: both sizes, for archives above 4 GiB

func (m *member) headerSize() int64 { return 30 + int64(len(m.name)) + zipExtra }

func openNPZ(to File, p *Plan, t Ticks, _ Look) (Sink, error) {
	s := &npzSink{file: to, plan: p, ticks: t}
	end := int64(0)
	add := func(name string, typ encoding, shape []int) (*member, error) {
		head := npyHeader(typ, shape)
		m := &member{name: name + ".npy", at: end, size: int64(len(head))}
		bytes := int64(typ.size())
		for _, n := range shape {
			bytes *= int64(n)
		}
		m.size += bytes
		m.next = m.at + m.headerSize()
		end = m.next + m.size
		return m, s.write(m, head)
	}
	var err error
	for i := range p.fields {
		f := &p.fields[i]
		m, failed := add(f.name, f.typeOf(), p.arrayShape(f, t))
		if failed != nil {
			return nil, failed
		}
		s.fields = append(s.fields, m)
	}
	if s.numbers, err = add(p.free("tick"), uint64s, []int{int(t.Count)}); err != nil {
		return nil, err
	}
	if p.listed {
		if s.cells, err = add(p.free("coord"), int32s, []int{p.count(), p.lattice.Dim()}); err != nil {
			return nil, err
		}
		err = s.coordinates()
	}
	return s, err
}

// free returns a name that no field has.
func (p *Plan) free(name string) string {
	for i := range p.fields {
		for _, n := range p.fields[i].names() {
			if strings.EqualFold(n, name) || strings.EqualFold(p.fields[i].name, name) {
				return p.free(name + "_")
			}
		}
	}
	return name
}

func (s *npzSink) coordinates() error {
	var b []byte
	for i := range s.plan.count() {
		c := s.plan.lattice.Coord(s.plan.rank(i))
		b = b[:0]
		for k := range c.Dim() {
			b = binary.LittleEndian.AppendUint32(b, uint32(c.At(k)))
		}
		if err := s.write(s.cells, b); err != nil {
			return err
		}
	}
	return nil
}

// write appends bytes to a member.
func (s *npzSink) write(m *member, b []byte) error {
	const most = 256 << 10 // bytes that wait for each member
	m.crc = crc32.Update(m.crc, crc32.IEEETable, b)
	if len(m.wait)+len(b) > most {
		if err := s.flush(m); err != nil {
			return err
		}
	}
	if len(b) > most {
		return s.writeAt(m, b)
	}
	m.wait = append(m.wait, b...)
	return nil
}

func (s *npzSink) flush(m *member) error {
	err := s.writeAt(m, m.wait)
	m.wait = m.wait[:0]
	return err
}

func (s *npzSink) writeAt(m *member, b []byte) error {
	if _, err := s.file.Seek(m.next, io.SeekStart); err != nil {
		return err
	}
	n, err := s.file.Write(b)
	m.next += int64(n)
	return err
}

// Add implements [Sink].
func (s *npzSink) Add(w *engine.World) error {
	s.added++
	if err := s.write(s.numbers, binary.LittleEndian.AppendUint64(nil, w.Tick())); err != nil {
		return err
	}
	for i, m := range s.fields {
		f := &s.plan.fields[i]
		if f.static() && s.added > 1 {
			continue
		}
		if err := s.plan.blocks(f, w, &s.buf, func(b []byte) error { return s.write(m, b) }); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Sink]. It writes the headers, which have checksums of what follows them,
// and the directory.
func (s *npzSink) Close() error {
	if err := complete(s.added, s.ticks); err != nil {
		return err
	}
	all := append(append([]*member(nil), s.fields...), s.numbers)
	if s.cells != nil {
		all = append(all, s.cells)
	}
	var directory []byte
	end := int64(0)
	for _, m := range all {
		if err := s.flush(m); err != nil {
			return err
		}
		end = m.next
		if _, err := s.file.Seek(m.at, io.SeekStart); err != nil {
			return err
		}
		if _, err := s.file.Write(m.local()); err != nil {
			return err
		}
		directory = m.appendEntry(directory)
	}
	if _, err := s.file.Seek(end, io.SeekStart); err != nil {
		return err
	}
	_, err := s.file.Write(appendZipEnd(directory, end, len(all)))
	return err
}

// Summary implements [Sink].
func (s *npzSink) Summary() string {
	var parts []string
	for i := range s.plan.fields {
		parts = append(parts, s.plan.describe(&s.plan.fields[i], s.ticks))
	}
	return strings.Join(parts, ", ")
}

// The marks and lengths of a zip archive are those of APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.
const (
	zipVersion = 45         // that can read sizes of 64 bits
	zipLarge   = 0xffffffff // the size stands in the extra field
	zipDate    = 1<<5 | 1   // 1 January 1980: the same run makes the same bytes
)

// common appends what the header of a member and its entry in the directory share.
func (m *member) common(b []byte, extra int) []byte {
	b = binary.LittleEndian.AppendUint16(b, zipVersion)
	b = append(b, 0, 8, 0, 0) // the name is UTF-8; not compressed
	b = append(b, 0, 0)       // midnight
	b = binary.LittleEndian.AppendUint16(b, zipDate)
	b = binary.LittleEndian.AppendUint32(b, m.crc)
	b = binary.LittleEndian.AppendUint32(b, zipLarge)
	b = binary.LittleEndian.AppendUint32(b, zipLarge)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(m.name)))
	return binary.LittleEndian.AppendUint16(b, uint16(extra))
}

// sizes appends the extra field with both sizes.
func (m *member) sizes(b []byte, more int) []byte {
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(16+more))
	b = binary.LittleEndian.AppendUint64(b, uint64(m.size))
	return binary.LittleEndian.AppendUint64(b, uint64(m.size))
}

func (m *member) local() []byte {
	b := m.common([]byte("PK\x03\x04"), zipExtra)
	return m.sizes(append(b, m.name...), 0)
}

func (m *member) appendEntry(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, "PK\x01\x02"...), zipVersion)
	b = m.common(b, zipExtra+8)
	b = append(b, make([]byte, 10)...) // no comment, disk 0, no attributes
	b = binary.LittleEndian.AppendUint32(b, zipLarge)
	b = m.sizes(append(b, m.name...), 8)
	return binary.LittleEndian.AppendUint64(b, uint64(m.at))
}

// appendZipEnd appends the end of the archive to its directory.
func appendZipEnd(directory []byte, at int64, members int) []byte {
	size, n := uint64(len(directory)), uint64(members)
	b := append(directory, "PK\x06\x06"...)
	b = binary.LittleEndian.AppendUint64(b, 44) // bytes that follow
	b = binary.LittleEndian.AppendUint16(b, zipVersion)
	b = binary.LittleEndian.AppendUint16(b, zipVersion)
	b = append(b, make([]byte, 8)...) // disks
	for _, v := range []uint64{n, n, size, uint64(at)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = append(b, "PK\x06\x07\x00\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint64(b, uint64(at)+size)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = append(b, "PK\x05\x06\x00\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint16(b, uint16(n))
	b = binary.LittleEndian.AppendUint16(b, uint16(n))
	b = binary.LittleEndian.AppendUint32(b, zipLarge)
	b = binary.LittleEndian.AppendUint32(b, zipLarge)
	return append(b, 0, 0)
}
