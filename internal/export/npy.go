package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/murksim/murksim/engine"
)

// npyHeader is the head of a NumPy file, version 1.0: the numbers follow, the last axis
// varying fastest. See numpy.lib.format.
func npyHeader(t encoding, shape []int) []byte {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", t.numpy(), tuple(shape))
	const fixed = 10 // the mark, the version and the length
	pad := 63 - (fixed+len(dict))%64
	dict += strings.Repeat(" ", pad) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(dict)), byte(len(dict)>>8))
	return append(b, dict...)
}

// tuple writes a shape as Python does.
func tuple(shape []int) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = fmt.Sprint(n)
	}
	if len(shape) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// arrayShape is the shape of a field's array.
func (p *Plan) arrayShape(f *field, t Ticks) []int {
	var shape []int
	if !f.static() {
		shape = append(shape, int(t.Count))
	}
	shape = append(shape, p.shape...)
	if n := f.components(); n > 1 {
		shape = append(shape, n)
	}
	return shape
}

func (p *Plan) describe(f *field, t Ticks) string {
	return fmt.Sprintf("%s %s %s", f.name, tuple(p.arrayShape(f, t)), f.typeOf())
}

// An npySink writes one array.
type npySink struct {
	filesOnly
	file  io.Writer
	plan  *Plan
	ticks Ticks
	added uint64
	buf   []byte
}

func openNPY(to File, p *Plan, t Ticks, _ Look) (Sink, error) {
	f := &p.fields[0]
	_, err := to.Write(npyHeader(f.typeOf(), p.arrayShape(f, t)))
	return &npySink{file: to, plan: p, ticks: t}, err
}

// Add implements [Sink].
func (s *npySink) Add(w *engine.World) error {
	f := &s.plan.fields[0]
	if s.added++; f.static() && s.added > 1 {
		return nil
	}
	return s.plan.blocks(f, w, &s.buf, func(b []byte) error {
		_, err := s.file.Write(b)
		return err
	})
}

// blocks converts a field in a world and hands it on in pieces.
func (p *Plan) blocks(f *field, w *engine.World, buf *[]byte, write func([]byte) error) error {
	c := f.column(w)
	for lo := 0; lo < p.count(); lo += block {
		*buf = p.appendBytes((*buf)[:0], f, c, lo, min(lo+block, p.count()))
		if err := write(*buf); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Sink].
func (s *npySink) Close() error { return complete(s.added, s.ticks) }

// Summary implements [Sink].
func (s *npySink) Summary() string { return s.plan.describe(&s.plan.fields[0], s.ticks) }

// complete returns an error for a file whose size was laid out for more ticks.
func complete(added uint64, t Ticks) error {
	if added != t.Count {
		return fmt.Errorf("%d of %d ticks were written", added, t.Count)
	}
	return nil
}
