package replay

import (
	"fmt"
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/jsonlines"
)

// The keys of the lines; JSONL.md says what they hold.
var (
	headerKeys = []string{
		"murk", "toolchain", "target", "engine_version", "compiler_flags", "seed", "config_hash", "field_count", "cell_count",
		"descriptor", "descriptor_hex",
	}
	frameKeys   = []string{"tick", "hash", "commands"}
	commandKeys = []string{
		"kind", "entity", "coord", "field", "values", "type", "data", "parameter", "value", "payload_type", "payload",
		"priority", "source", "source_seq", "expires_after", "arrival",
	}
	entryKeys = []string{"field", "parameter", "value"}
)

// A LineWriter writes a recording as JSON lines, which JSONL.md specifies: the header,
// then one line per frame. It keeps its first error and writes nothing after it. It belongs
// to one goroutine.
type LineWriter struct {
	w    io.Writer
	done int64 // bytes written
	buf  []byte
	raw  uint64 // commands written as bytes, because a readable form would not give the same
	err  error
}

// NewLineWriter begins a recording with its header, which is written with the first
// frames. It refuses a header that [Open] would not accept.
func NewLineWriter(w io.Writer, h Header) (*LineWriter, error) {
	if err := checkHeader(&h); err != nil {
		return nil, err
	}
	return &LineWriter{w: w, buf: appendHeaderLine(nil, &h)}, nil
}

// CopyFrame appends a frame as a [Reader] returned it. An error is final.
func (w *LineWriter) CopyFrame(f *Frame) error {
	b := append(w.buf, `{"tick":`...)
	b = appendNumber(b, f.Tick)
	b = appendHashKey(b, `,"hash":"`, f.Hash)
	b = append(b, `,"commands":[`...)
	for i := range f.Records {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.appendRecord(b, &f.Records[i])
		if w.buf = b; len(b) >= flushSize {
			w.Flush()
			b = w.buf
		}
	}
	w.buf = append(b, "]}\n"...)
	if w.err != nil || len(w.buf) >= flushSize {
		return w.Flush()
	}
	return nil
}

// Flush writes what is buffered.
func (w *LineWriter) Flush() error {
	if w.err == nil && len(w.buf) > 0 {
		var n int
		if n, w.err = w.w.Write(w.buf); w.err != nil {
			w.err = fmt.Errorf("replay: writing at byte %d: %w", w.done, w.err)
		}
		w.done += int64(n)
	}
	w.buf = w.buf[:0]
	return w.err
}

func appendHeaderLine(b []byte, h *Header) []byte {
	b = append(b, `{"murk":`...)
	b = strconv.AppendInt(b, version, 10)
	b = jsonlines.AppendString(append(b, `,"toolchain":`...), h.Build.Toolchain)
	b = jsonlines.AppendString(append(b, `,"target":`...), h.Build.Target)
	b = jsonlines.AppendString(append(b, `,"engine_version":`...), h.Build.Version)
	b = jsonlines.AppendString(append(b, `,"compiler_flags":`...), h.Build.Flags)
	b = appendNumber(append(b, `,"seed":`...), h.Seed)
	b = appendHashKey(b, `,"config_hash":"`, h.ConfigHash)
	b = appendNumber(append(b, `,"field_count":`...), uint64(h.FieldCount))
	b = appendNumber(append(b, `,"cell_count":`...), h.CellCount)
	if isText(h.Descriptor) {
		b = jsonlines.AppendString(append(b, `,"descriptor":`...), string(h.Descriptor))
	} else {
		b = jsonlines.AppendHex(append(b, `,"descriptor_hex":`...), h.Descriptor)
	}
	return append(b, "}\n"...)
}

// isText reports whether bytes are readable text: UTF-8 without control characters, except
// line ends and tabs.
func isText(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		b = b[size:]
	}
	return true
}

// appendRecord mirrors [lineReader.record].
func (w *LineWriter) appendRecord(b []byte, r *Record) []byte {
	if c, err := r.Command(); err == nil { // then it encodes to the same bytes
		b = append(b, `{"kind":"`...)
		b = append(b, c.Kind.String()...)
		b = appendPayload(append(b, '"'), &c)
	} else {
		w.raw++
		b = appendNumber(append(b, `{"payload_type":`...), uint64(r.Tag))
		b = jsonlines.AppendHex(append(b, `,"payload":`...), r.Payload)
	}
	b = appendNumber(append(b, `,"priority":`...), uint64(r.Priority))
	if r.HasSource {
		b = appendNumber(append(b, `,"source":`...), r.Source)
	}
	if r.HasSeq {
		b = appendNumber(append(b, `,"source_seq":`...), r.SourceSeq)
	}
	if r.Expires != commands.NoExpiry {
		b = appendNumber(append(b, `,"expires_after":`...), r.Expires)
	}
	b = appendNumber(append(b, `,"arrival":`...), r.Arrival)
	return append(b, '}')
}

func appendPayload(b []byte, c *commands.Command) []byte {
	switch c.Kind {
	case commands.KindMove:
		b = appendNumber(append(b, `,"entity":`...), c.Entity)
		b = appendCoord(b, c)
	case commands.KindSpawn:
		b = append(appendCoord(b, c), `,"values":[`...)
		for v := range c.FieldValues() {
			b = appendNumber(append(b, `{"field":`...), uint64(v.Field))
			b = append(jsonlines.AppendFloat32(append(b, `,"value":`...), v.Value), `},`...)
		}
		b = closeArray(b)
	case commands.KindDespawn:
		b = appendNumber(append(b, `,"entity":`...), c.Entity)
	case commands.KindSetField:
		b = appendCoord(b, c)
		b = appendNumber(append(b, `,"field":`...), uint64(c.ID))
		b = jsonlines.AppendFloat32(append(b, `,"value":`...), c.Float32())
	case commands.KindCustom:
		b = appendNumber(append(b, `,"type":`...), uint64(c.ID))
		b = jsonlines.AppendHex(append(b, `,"data":`...), c.Data)
	case commands.KindSetParameter:
		b = appendNumber(append(b, `,"parameter":`...), uint64(c.ID))
		b = jsonlines.AppendFloat64(append(b, `,"value":`...), c.Float64())
	case commands.KindSetParameterBatch:
		b = append(b, `,"values":[`...)
		for p := range c.Parameters() {
			b = appendNumber(append(b, `{"parameter":`...), uint64(p.Key))
			b = append(jsonlines.AppendFloat64(append(b, `,"value":`...), p.Value), `},`...)
		}
		b = closeArray(b)
	}
	return b
}

// closeArray ends an array whose elements each end with a comma.
func closeArray(b []byte) []byte {
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}

func appendCoord(b []byte, c *commands.Command) []byte {
	b = append(b, `,"coord":[`...)
	for i := range c.Coord.Dim() {
		b = append(strconv.AppendInt(b, int64(c.Coord.At(i)), 10), ',')
	}
	return closeArray(b)
}

// appendNumber writes v, as a string if it is more than JSON's numbers hold exactly.
func appendNumber(b []byte, v uint64) []byte {
	if v <= maxWhole {
		return strconv.AppendUint(b, v, 10)
	}
	return append(strconv.AppendUint(append(b, '"'), v, 10), '"')
}

func appendHashKey(b []byte, key string, v uint64) []byte {
	return append(jsonlines.AppendDigits(append(b, key...), v, 16), '"')
}
