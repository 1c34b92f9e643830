package minewars

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/murksim/murksim/internal/jsonlines"
)

// LinesMark is what a game as JSON lines begins with.
const LinesMark = `{"minewars":`

const (
	linesVersion = 1
	terrains     = "~*^."   // by their codes
	asStored     = "stored" // a block that is not compressed although ours would be
	maxLine      = 1 << 20
)

// A headLine is the first of the JSON lines: the initialization sequence, and the bytes of blocks that our
// encoder would write otherwise.
type headLine struct {
	Version  int      `json:"minewars"`
	Carrier  string   `json:"carrier"` // "file" or "stream"
	Grid     string   `json:"grid"`    // "hex" or "square"
	TickRate uint8    `json:"tick_rate"`
	Radius   uint8    `json:"radius"`
	Players  int      `json:"players"`
	Names    []string `json:"names,omitzero"`
	Cities   []string `json:"cities"`
	Map      string   `json:"map"`
	MapBlock string   `json:"map_block,omitempty"`
	Block    string   `json:"frame_block,omitempty"`
}

// A frameLine is any other line.
type frameLine struct {
	Tick     uint64              `json:"tick"`
	Delta    uint16              `json:"delta"`
	Kind     string              `json:"kind"`
	Mask     uint8               `json:"mask"`
	Messages []string            `json:"messages,omitzero"` // for all that take part
	Views    map[string][]string `json:"views,omitzero"`    // by view
}

// kind names the kind of a frame for people.
func (f *Frame) kind() string {
	switch {
	case f.Filler():
		return "filler"
	case f.Homogeneous():
		return "homogeneous"
	}
	return "heterogeneous"
}

// A LineWriter writes a game as JSON lines.
type LineWriter struct{ w *bufio.Writer }

// NewLineWriter returns a writer of the game that r reads, and writes its first line.
func NewLineWriter(w io.Writer, r *Reader) (*LineWriter, error) {
	s := &r.start
	h := headLine{
		Version: linesVersion, Carrier: "file", Grid: "hex", TickRate: s.TickRate, Radius: s.Radius, Players: s.Players, Names: s.Names,
		MapBlock: blockText(r.stored.mapBlock, packMap(s.Map), nil),
	}
	if r.stored.network {
		h.Carrier = "stream"
	} else {
		h.Block = blockText(r.stored.frames, r.stored.raw, s.dictionary())
	}
	if s.Grid == Square {
		h.Grid = "square"
	}
	for _, c := range s.Cities {
		h.Cities = append(h.Cities, c.String())
	}
	tiles := make([]byte, len(s.Map))
	for i, t := range s.Map {
		tiles[i] = terrains[t]
	}
	h.Map = string(tiles)
	l := &LineWriter{bufio.NewWriter(w)}
	return l, l.line(h)
}

// blockText returns what says how a block is stored; nothing if our encoder would store it so.
func blockText(stored, raw, dict []byte) string {
	ours := compress(nil, raw, dict)
	if len(ours) >= len(raw) {
		ours = raw
	}
	switch {
	case bytes.Equal(stored, ours):
		return ""
	case bytes.Equal(stored, raw):
		return asStored
	}
	return hex.EncodeToString(stored)
}

func (l *LineWriter) line(v any) error { return jsonlines.Write(l.w, v) }

// Write writes a frame.
func (l *LineWriter) Write(f *Frame) error {
	line := frameLine{Tick: f.Tick, Delta: f.Delta, Kind: f.kind(), Mask: f.Mask}
	if f.Homogeneous() {
		line.Messages = texts(f.Lists[0])
		return l.line(line)
	}
	line.Views = map[string][]string{}
	for v := range MaxPlayers + 1 {
		if f.Mask>>v&1 != 0 {
			line.Views[strconv.Itoa(v)] = texts(f.For(v))
		}
	}
	return l.line(line)
}

func texts(messages []Message) []string {
	list := make([]string, len(messages))
	for i := range messages {
		list[i] = messages[i].String()
	}
	return list
}

// Flush writes what is left.
func (l *LineWriter) Flush() error { return l.w.Flush() }

// A Conversion says what [Convert] has converted.
type Conversion struct {
	ToLines          bool
	Stream           bool // from or to a network stream
	Frames, Messages uint64
}

// Convert reads a game, or the JSON lines of one, whichever src holds, and writes the other. There and
// back gives the same bytes. Lines are written up to the first frame that is damaged; of damaged
// lines nothing is made but of a network stream.
func Convert(dst io.Writer, src io.Reader, stream bool) (c Conversion, err error) {
	in := bufio.NewReader(src)
	jsonlines.SkipMark(in)
	head, err := in.Peek(len(LinesMark))
	if err != nil && err != io.EOF {
		return c, err
	}
	if string(head) == LinesMark {
		return c, fromLines(dst, in, &c)
	}
	c.ToLines, c.Stream = true, stream
	return c, toLines(dst, in, &c)
}

func toLines(dst io.Writer, src io.Reader, c *Conversion) error {
	open := NewReader
	if c.Stream {
		open = NewStreamReader
	}
	r, err := open(src, Options{})
	if err != nil {
		return err
	}
	l, err := NewLineWriter(dst, r)
	if err != nil {
		return err
	}
	var f Frame
	for {
		if err := r.Next(&f); err != nil {
			if err == io.EOF {
				err = nil
			}
			return errors.Join(l.Flush(), err)
		}
		c.count(&f)
		if err := l.Write(&f); err != nil {
			return err
		}
	}
}

func (c *Conversion) count(f *Frame) {
	c.Frames++
	for _, list := range f.Lists {
		c.Messages += uint64(len(list))
	}
}

// A lineReader reads JSON lines.
type lineReader struct{ in *jsonlines.Reader }

// next decodes the next line that is not empty.
func (r *lineReader) next(v any) error {
	err := r.in.Next(v)
	if wrong, ok := err.(jsonlines.Error); ok {
		return r.fail(ErrLine, "%v", wrong)
	}
	return err
}

func (r *lineReader) fail(kind Kind, format string, args ...any) error {
	e := unwritable(kind, format, args...)
	e.Line = r.in.Line
	return e
}

// about places an error of a value in the line.
func (r *lineReader) about(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Line = r.in.Line
	}
	return err
}

// message places an error of a message in the line.
func (r *lineReader) message(text string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Offset, e.Detail = -1, fmt.Sprintf("%q: %s", text, e.Detail)
	}
	return r.about(err)
}

func fromLines(dst io.Writer, src io.Reader, c *Conversion) error {
	r := &lineReader{jsonlines.NewReader(src, maxLine)}
	var h headLine
	if err := r.next(&h); err != nil {
		return err
	}
	s, stored, err := r.head(&h)
	if err != nil {
		return err
	}
	c.Stream = h.Carrier == "stream"
	var b []byte // the frames of a file, or the bytes of a stream that are not yet written
	if c.Stream {
		if b, err = appendStart(nil, s, stored.mapBlock); err != nil {
			return r.about(err)
		}
	}
	for tick := uint64(0); ; c.Frames++ {
		if c.Stream {
			if _, err := dst.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
		var line frameLine
		if err := r.next(&line); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		tick += uint64(line.Delta)
		n := 0
		if b, n, err = r.frame(b, &line, &s, tick); err != nil {
			return err
		}
		c.Messages += uint64(n)
		if len(b) > maxFrames {
			return r.fail(ErrTooLarge, "a file has at most 65,535 bytes of frames")
		}
	}
	if c.Stream {
		return nil
	}
	if h.Block != "" {
		if stored.frames, err = r.block(h.Block, b, s.dictionary()); err != nil {
			return err
		}
	}
	file, err := appendFile(nil, s, b, stored)
	if err != nil {
		return r.about(err)
	}
	_, err = dst.Write(file)
	return err
}

// head mirrors NewLineWriter.
func (r *lineReader) head(h *headLine) (s Start, stored storedBlocks, err error) {
	s = Start{TickRate: h.TickRate, Radius: h.Radius, Players: h.Players, Names: h.Names}
	switch {
	case h.Version != linesVersion:
		return s, stored, r.fail(ErrLine, "minewars must be %d, not %d", linesVersion, h.Version)
	case h.Carrier != "file" && h.Carrier != "stream":
		return s, stored, r.fail(ErrLine, `carrier must be "file" or "stream", not %q`, h.Carrier)
	case h.Grid != "hex" && h.Grid != "square":
		return s, stored, r.fail(ErrLine, `grid must be "hex" or "square", not %q`, h.Grid)
	case h.Grid == "square":
		s.Grid = Square
	}
	for _, c := range h.Cities {
		p, m := textReader{}, Message{}
		if p.tile(&m, c); p.err != nil {
			return s, stored, r.about(p.err)
		}
		s.Cities = append(s.Cities, m.Tiles...)
	}
	for i, c := range []byte(h.Map) {
		t := strings.IndexByte(terrains, c)
		if t < 0 {
			return s, stored, r.fail(ErrLine, "tile %d of the map is %q, none of %q", i+1, c, terrains)
		}
		s.Map = append(s.Map, Terrain(t))
	}
	if err := s.check(); err != nil {
		return s, stored, r.about(err)
	}
	if h.MapBlock != "" {
		stored.mapBlock, err = r.block(h.MapBlock, packMap(s.Map), nil)
	}
	return s, stored, err
}

// block mirrors blockText. A block that does not hold the bytes that it should is an error.
func (r *lineReader) block(text string, raw, dict []byte) ([]byte, error) {
	if text == asStored {
		return append([]byte{}, raw...), nil
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) >= len(raw) {
		return nil, r.fail(ErrLine, "a block must be %q, or fewer bytes than it stands for, as hexadecimal digits", asStored)
	}
	if got, err := decompress(b, len(raw), dict); err != nil || !bytes.Equal(got, raw) {
		return nil, r.fail(ErrLine, "the block of line 1 does not hold what the lines say; leave map_block and frame_block out")
	}
	return b, nil
}

// frame mirrors [LineWriter.Write].
func (r *lineReader) frame(b []byte, line *frameLine, s *Start, tick uint64) (_ []byte, messages int, err error) {
	f := Frame{Delta: line.Delta, Tick: tick, Mask: line.Mask}
	if line.Tick != tick {
		return b, 0, r.fail(ErrLine, "tick %d, but with a delta of %d it is tick %d", line.Tick, line.Delta, tick)
	}
	views := 0
	if f.Homogeneous() {
		f.Lists = make([][]Message, 1)
		if f.Lists[0], err = r.messages(line.Messages, s); err != nil {
			return b, 0, err
		}
	} else {
		for v := range MaxPlayers + 1 {
			texts, ok := line.Views[strconv.Itoa(v)]
			if f.Mask>>v&1 == 0 || !ok {
				continue
			}
			list, err := r.messages(texts, s)
			if err != nil {
				return b, 0, err
			}
			f.Lists = append(f.Lists, list)
		}
		views = bits.OnesCount8(f.Mask)
	}
	if len(line.Views) != views || !f.Homogeneous() && (len(f.Lists) != views || line.Messages != nil) || f.kind() != line.Kind {
		return b, 0, r.fail(ErrLine, "kind %q, mask %d and what the views learn do not fit together", line.Kind, line.Mask)
	}
	from := len(b)
	b, e := f.append(b)
	switch {
	case e != nil:
	case f.Mask == 0:
		e = unwritable(ErrEmptyMask, "the mask names no view")
	default:
		_, _, e = frameSize(b[from:], s.Players)
	}
	if e != nil {
		e.Offset, e.Tick = -1, tick
		return b[:from], 0, r.about(e)
	}
	for _, list := range f.Lists {
		messages += len(list)
	}
	return b, messages, nil
}

// messages parses the messages of a view.
func (r *lineReader) messages(texts []string, s *Start) (list []Message, err error) {
	for _, text := range texts {
		m, err := ParseMessage(text)
		if err != nil {
			return nil, r.message(text, err)
		}
		p := payload{start: s}
		if e := p.known(&m, 0); e != nil {
			return nil, r.message(text, e)
		}
		list = append(list, m)
	}
	return list, nil
}
