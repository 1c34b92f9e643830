package export

import (
	"bufio"
	"cmp"
	"compress/lzw"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"

	"github.com/murksim/murksim/engine"
)

// A gifSink writes a film that begins again at its end. Package image/gif wants all pictures at
// once; this writes each as it comes, and of each only the part that differs from the one before.
type gifSink struct {
	filesOnly
	out     *bufio.Writer
	painter *painter
	delay   uint16 // hundredths of a second
	before  []uint8
	frames  int
}

const defaultRate = 20 // frames a second

func openGIF(to File, p *Plan, t Ticks, look Look) (Sink, error) {
	const side, fastest = 512, 50 // pixels, frames a second that programs show
	if err := p.whole("a film"); err != nil {
		return nil, err
	}
	look.Rate = cmp.Or(look.Rate, defaultRate)
	if !(look.Rate >= 0.01 && look.Rate <= fastest) {
		return nil, fmt.Errorf("a GIF has 0.01 to %d frames a second, not %v", fastest, look.Rate)
	}
	painter, err := newPainter(p, look, side, 1, p.filmRows(t))
	if err != nil {
		return nil, err
	}
	s := &gifSink{out: bufio.NewWriterSize(to, 64<<10), painter: painter, delay: uint16(math.Round(100 / look.Rate))}
	return s, s.header()
}

// header writes what comes before the first frame: the size, one table of colours for all
// frames, and that the film begins again. See the GIF89a specification, sections 17 to 26.
func (s *gifSink) header() error {
	m := s.painter.figure.Image()
	b := append([]byte("GIF89a"), 0, 0, 0, 0, 0xf7, 0, 0) // a global table of 256 colours
	binary.LittleEndian.PutUint16(b[6:], uint16(m.Rect.Dx()))
	binary.LittleEndian.PutUint16(b[8:], uint16(m.Rect.Dy()))
	for i := range 256 {
		c := color.RGBA{}
		if i < len(m.Palette) {
			c = m.Palette[i].(color.RGBA)
		}
		b = append(b, c.R, c.G, c.B)
	}
	_, err := s.out.Write(append(b, "!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"...))
	return err
}

// Add implements [Sink].
func (s *gifSink) Add(w *engine.World) error {
	s.painter.next(w)
	m := s.painter.figure.Image()
	part := m.Rect
	if s.frames > 0 {
		part = changed(m, s.before)
	}
	s.frames++
	s.before = append(s.before[:0], m.Pix...)
	b := []byte{'!', 0xf9, 4, 1 << 2, byte(s.delay), byte(s.delay >> 8), 0, 0, ','} // the frame stays until it is drawn over
	for _, v := range []int{part.Min.X, part.Min.Y, part.Dx(), part.Dy()} {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	const bits = 8 // of a pixel
	if _, err := s.out.Write(append(b, 0, bits)); err != nil {
		return err
	}
	blocks := &blockWriter{w: s.out}
	z := lzw.NewWriter(blocks, lzw.LSB, bits)
	for y := part.Min.Y; y < part.Max.Y; y++ {
		if _, err := z.Write(m.Pix[m.PixOffset(part.Min.X, y):m.PixOffset(part.Max.X, y)]); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return blocks.end()
}

// changed returns the box of pixels that are not as they were; one pixel if all are.
func changed(m *image.Paletted, before []uint8) image.Rectangle {
	box := image.Rectangle{}
	width := m.Rect.Dx()
	for y := range m.Rect.Dy() {
		row, old := m.Pix[y*m.Stride:y*m.Stride+width], before[y*m.Stride:y*m.Stride+width]
		first := 0
		for first < width && row[first] == old[first] {
			first++
		}
		if first == width {
			continue
		}
		last := width
		for row[last-1] == old[last-1] {
			last--
		}
		box = box.Union(image.Rect(first, y, last, y+1))
	}
	if box.Empty() {
		return image.Rect(0, 0, 1, 1)
	}
	return box
}

// A blockWriter writes bytes in blocks of up to 255, each after its length.
type blockWriter struct {
	w     io.Writer
	block [256]byte
	n     int
}

// Write implements [io.Writer].
func (b *blockWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		k := copy(b.block[1+b.n:], p[n:])
		n, b.n = n+k, b.n+k
		if b.n == 255 {
			if err := b.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (b *blockWriter) flush() error {
	b.block[0] = byte(b.n)
	_, err := b.w.Write(b.block[:1+b.n])
	b.n = 0
	return err
}

// end writes the last block, and an empty one after it.
func (b *blockWriter) end() error {
	if b.n > 0 {
		if err := b.flush(); err != nil {
			return err
		}
	}
	return b.flush()
}

// Close implements [Sink].
func (s *gifSink) Close() error {
	if err := s.out.WriteByte(';'); err != nil {
		return err
	}
	return s.out.Flush()
}

// Summary implements [Sink].
func (s *gifSink) Summary() string {
	size := s.painter.figure.Image().Rect.Size()
	return fmt.Sprintf("%s, %d×%d", plural(s.frames, "frame"), size.X, size.Y)
}
