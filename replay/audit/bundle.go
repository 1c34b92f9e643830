package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/jsonlines"
)

// A bundle begins with BundleMark.
const BundleMark = `{"bundle":`

// The lines of a bundle. docs/AUDIT.md specifies them.
type (
	runLine struct {
		Bundle    int    `json:"bundle"` // 1
		ID        string `json:"run"`
		Created   string `json:"created"`
		Label     string `json:"label"`
		Seed      uint64 `json:"seed,string"`
		RateNum   int64  `json:"rate_num"`
		RateDen   int64  `json:"rate_den"`
		Rules     uint32 `json:"rules_version"`
		Format    int    `json:"state_format"`
		Generator string `json:"rng_alg"`
		Engine    string `json:"engine_version"`
		First     uint64 `json:"first_tick"`
		Parent    string `json:"parent,omitempty"`
		Digest    string `json:"genesis_digest"`
		Genesis   []byte `json:"genesis"`
	}
	inputLine struct {
		Seq     uint64 `json:"seq"`
		Tick    uint64 `json:"tick"`
		Source  string `json:"source"`
		Kind    uint16 `json:"kind"`
		Payload []byte `json:"payload"`
		Prev    string `json:"prev_hash"`
		Hash    string `json:"event_hash"`
	}
	linkLine struct {
		Tick      uint64 `json:"tick"`
		Prev      string `json:"prev_hash"`
		Hash      string `json:"world_hash"`
		InputSeq  uint64 `json:"input_seq"`
		InputHash string `json:"input_hash"`
		StateLen  int64  `json:"state_len"`
		Digests   []byte `json:"section_digests"`
	}
	snapshotLine struct {
		Tick  uint64 `json:"tick"`
		Hash  string `json:"world_hash"`
		State []byte `json:"state"`
	}
	haltLine struct {
		Tick   uint64 `json:"tick"`
		Code   string `json:"code"`
		Detail string `json:"detail"`
		At     string `json:"halted_at"`
	}
	endLine struct {
		Inputs    uint64 `json:"input_events"`
		Links     uint64 `json:"chain_hashes"`
		Snapshots int    `json:"snapshots"`
	}
	bundleLine struct {
		Input    *inputLine    `json:"input_event,omitempty"`
		Link     *linkLine     `json:"chain_hash,omitempty"`
		Snapshot *snapshotLine `json:"snapshot,omitempty"`
		Halt     *haltLine     `json:"halt,omitempty"`
		End      *endLine      `json:"end,omitempty"`
	}
)

// decode reads a line, which holds one object.
func (l *bundleLine) decode(text []byte) error {
	if err := jsonlines.Exact(text, l); err != nil {
		return err
	}
	n := 0
	for _, is := range [...]bool{l.Input != nil, l.Link != nil, l.Snapshot != nil, l.Halt != nil, l.End != nil} {
		if is {
			n++
		}
	}
	if n > 1 {
		return fmt.Errorf("it holds %d objects; a line holds one", n)
	}
	return nil
}

// DigestSize is how many bytes a digest takes: LE16 section and 32 bytes.
const DigestSize = 2 + len(Hash{})

// AppendDigests appends digests as a commitment, a database and a bundle hold them.
func AppendDigests(b []byte, list []Digest) []byte {
	for i := range list {
		b = binary.LittleEndian.AppendUint16(b, list[i].Section)
		b = append(b, list[i].Sum[:]...)
	}
	return b
}

// ParseDigests is the inverse of [AppendDigests]. It appends to a list.
func ParseDigests(list []Digest, b []byte) ([]Digest, error) {
	if len(b)%DigestSize != 0 {
		return list, fmt.Errorf("audit: %d bytes are no digests of sections, of %d bytes each", len(b), DigestSize)
	}
	for ; len(b) > 0; b = b[DigestSize:] {
		list = append(list, Digest{binary.LittleEndian.Uint16(b), Hash(b[2:DigestSize])})
	}
	return list, nil
}

// WriteBundle writes all evidence of a run as a bundle: lines of JSON. It leaves out snapshots that cannot be read, or that do not belong to their ticks if the
// evidence is [Checked.Held], and returns why: an audit can do without them.
func WriteBundle(ctx context.Context, to io.Writer, e Evidence) (left []*EvidenceError, err error) {
	w := bufio.NewWriterSize(to, 64<<10)
	r := e.Run()
	head := runLine{1, r.ID.String(), r.Created.UTC().Format(time.RFC3339Nano), r.Label, r.Seed, r.Rate.Num, r.Rate.Den, r.Rules, r.Format, r.Generator, r.Engine, r.First, "", r.Digest.String(), r.Genesis}
	if r.Parent != (ID{}) {
		head.Parent = r.Parent.String()
	}
	if err := jsonlines.Write(w, head); err != nil {
		return left, err
	}
	ticks, err := e.Snapshots(ctx)
	if err != nil {
		return left, err
	}
	end := endLine{Snapshots: len(ticks)}
	for x, err := range e.Inputs(ctx, 0) {
		if err == nil {
			end.Inputs++
			err = jsonlines.Write(w, bundleLine{Input: &inputLine{x.Seq, x.Tick, ID(x.Source).String(), x.Kind, x.Payload, x.Prev.String(), x.Hash.String()}})
		}
		if err != nil {
			return left, err
		}
	}
	var digests []byte
	for l, err := range e.Links(ctx, 0) {
		if err == nil {
			end.Links++
			digests = AppendDigests(digests[:0], l.Digests)
			err = jsonlines.Write(w, bundleLine{Link: &linkLine{l.Tick, l.Prev.String(), l.Hash.String(), l.InputSeq, l.InputHash.String(), l.StateLen, digests}})
		}
		if err != nil {
			return left, err
		}
	}
	for _, tick := range ticks {
		s, err := e.Snapshot(ctx, tick)
		if refused, ok := errors.AsType[*EvidenceError](err); ok {
			end.Snapshots--
			left = append(left, refused)
			continue
		}
		if err == nil {
			err = jsonlines.Write(w, bundleLine{Snapshot: &snapshotLine{s.Tick, s.Hash.String(), s.State}})
		}
		if err != nil {
			return left, err
		}
	}
	halt, err := e.Halt(ctx)
	if err != nil {
		return left, err
	}
	if halt != nil {
		if err := jsonlines.Write(w, bundleLine{Halt: &haltLine{halt.Tick, halt.Code, halt.Detail, halt.At.UTC().Format(time.RFC3339Nano)}}); err != nil {
			return left, err
		}
	}
	if err := jsonlines.Write(w, bundleLine{End: &end}); err != nil {
		return left, err
	}
	return left, w.Flush()
}

// A BundleError says where a bundle cannot be read.
type BundleError struct {
	Line int // 0: the bundle as a whole
	Err  error
}

// Error implements error.
func (e *BundleError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("audit: %v", e.Err)
	}
	return fmt.Sprintf("audit: line %d: %v", e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *BundleError) Unwrap() error { return e.Err }

// A Bundle is the evidence of a run in a file.
type Bundle struct {
	file      io.ReaderAt
	size      int64
	run       Run
	parts     [2]place // where inputs and links begin
	snapshots map[uint64]place
	ticks     []uint64
	halt      *Halt
	most      int            // bytes of a line with a snapshot
	wrong     *EvidenceError // follows the last link; nil: it has as many rows as its last line says
}

// A place is where a line stands.
type place struct {
	offset int64
	line   int
}

// OpenBundle reads the head and the end of a bundle, and notes where its parts are. It reads inputs, links and snapshots on demand. Its
// error is a [*BundleError], or that of the file. A line takes no more memory than an input needs, or a snapshot whose state has at most
// the size that mostState returns for the genesis document; nil: [MaxState].
func OpenBundle(file io.ReaderAt, size int64, mostState func(genesis []byte) int64) (*Bundle, error) {
	b := &Bundle{file: file, size: size, snapshots: map[uint64]place{}, most: maxLine}
	ended := false
	var counted endLine
	var end *endLine
	for l, err := range b.lines(place{0, 1}) {
		switch {
		case err != nil:
			return nil, err
		case l.line == 1:
			if err = b.head(l.text); err == nil {
				most := int64(MaxState)
				if mostState != nil {
					most = mostState(b.run.Genesis)
				}
				b.most = int(most/3*4) + 1<<10 // in base64
			}
		case ended:
			err = errors.New("something follows the end")
		default:
			end, err = b.scan(l, &counted)
			ended = end != nil
		}
		if err != nil {
			return nil, &BundleError{l.line, err}
		}
	}
	slices.Sort(b.ticks)
	switch {
	case end == nil:
		return nil, &BundleError{0, errors.New("it is cut off: its last line is missing")}
	case *end != counted:
		b.wrong = &EvidenceError{"bundle", "end", fmt.Sprintf("it has %d inputs, %d links and %d snapshots; its last line says %d, %d and %d",
			counted.Inputs, counted.Links, counted.Snapshots, end.Inputs, end.Links, end.Snapshots)}
	}
	return b, nil
}

// A textLine is a line and where it stands.
type textLine struct {
	place
	text []byte
}

// MaxState is how many bytes a state may have to be read.
const MaxState = 1<<31 - 1

// maxLine is the most bytes that a line has: an input with the largest payload, in base64. A snapshot's line has the limit of its state.
const maxLine = commands.MaxPayload/3*4 + 1<<20

// lines lists the lines from a place on.
func (b *Bundle) lines(from place) iter.Seq2[*textLine, error] {
	return func(yield func(*textLine, error) bool) {
		in := bufio.NewReaderSize(io.NewSectionReader(b.file, from.offset, b.size-from.offset), 64<<10)
		l := textLine{place: from}
		for {
			l.text = l.text[:0]
			for {
				part, err := in.ReadSlice('\n')
				l.text = append(l.text, part...)
				most := maxLine
				if bytes.HasPrefix(l.text, snapshotMark) {
					most = b.most
				}
				if len(l.text) > most {
					yield(nil, &BundleError{l.line, fmt.Errorf("it has more than %d bytes, which no such line of this run needs", most)})
					return
				}
				if err == io.EOF && len(l.text) == 0 {
					return
				}
				if err != nil && err != bufio.ErrBufferFull {
					if err == io.EOF {
						err = &BundleError{l.line, errors.New("it is cut off")}
					}
					yield(nil, err)
					return
				}
				if err == nil {
					break
				}
			}
			next := place{l.offset + int64(len(l.text)), l.line + 1}
			if !yield(&l, nil) {
				return
			}
			l.place = next
		}
	}
}

// head reads the first line.
func (b *Bundle) head(text []byte) error {
	var l runLine
	if err := jsonlines.Exact(text, &l); err != nil {
		return err
	}
	if l.Bundle != 1 {
		return fmt.Errorf("it is a bundle of version %d; this program reads version 1", l.Bundle)
	}
	r := Run{Label: l.Label, Seed: l.Seed, Rate: Rate{l.RateNum, l.RateDen}, Rules: l.Rules, Format: l.Format, Generator: l.Generator, Genesis: l.Genesis, Engine: l.Engine, First: l.First}
	var err error
	if r.ID, err = ParseID(l.ID); err != nil {
		return err
	}
	if l.Parent != "" {
		if r.Parent, err = ParseID(l.Parent); err != nil {
			return err
		}
	}
	if r.Created, err = time.Parse(time.RFC3339Nano, l.Created); err != nil {
		return err
	}
	b.run = r
	return parseHashes([]string{l.Digest}, &b.run.Digest)
}

// parseHashes reads hashes, each into its place.
func parseHashes(texts []string, into ...*Hash) (err error) {
	for i, text := range texts {
		if *into[i], err = ParseHash(text); err != nil {
			return err
		}
	}
	return nil
}

// How lines begin.
var (
	inputMark = []byte(`{"input_event":`)
	linkMark  = []byte(`{"chain_hash":`)

	snapshotMark = []byte(`{"snapshot":`)
)

var errEmpty = errors.New("it holds nothing")

// scan notes where a line is. It returns the last one.
func (b *Bundle) scan(l *textLine, n *endLine) (end *endLine, err error) {
	switch {
	case bytes.HasPrefix(l.text, inputMark):
		if n.Inputs++; b.parts[0].line == 0 {
			b.parts[0] = l.place
		}
	case bytes.HasPrefix(l.text, linkMark):
		if n.Links++; b.parts[1].line == 0 {
			b.parts[1] = l.place
		}
	default:
		var x bundleLine
		if err := x.decode(l.text); err != nil {
			return nil, err
		}
		switch {
		case x.Snapshot != nil:
			if _, twice := b.snapshots[x.Snapshot.Tick]; twice {
				return nil, fmt.Errorf("there are two snapshots of tick %d", x.Snapshot.Tick)
			}
			n.Snapshots++
			b.snapshots[x.Snapshot.Tick] = l.place
			b.ticks = append(b.ticks, x.Snapshot.Tick)

		case x.Halt != nil:
			at, err := time.Parse(time.RFC3339Nano, x.Halt.At)
			if err != nil {
				return nil, err
			}
			if b.halt != nil {
				return nil, errors.New("it is the second halt")
			}
			if len(x.Halt.Code) > MaxText || len(x.Halt.Detail) > MaxGenesis {
				return nil, errors.New("its code or its detail is too long")
			}
			if x.Halt.Tick > MaxTick || x.Halt.Code == "" || !json.Valid([]byte(cmp.Or(x.Halt.Detail, "{}"))) {
				return nil, errors.New("it is no halt: its tick is above 2^63-1, it has no code, or its detail is no JSON")
			}
			b.halt = &Halt{x.Halt.Tick, x.Halt.Code, x.Halt.Detail, at}
		case x.End != nil:
			return x.End, nil
		default:
			return nil, errEmpty
		}
	}
	return nil, nil
}

// Run implements [Evidence].
func (b *Bundle) Run() *Run { return &b.run }

// Halt implements [Evidence].
func (b *Bundle) Halt(context.Context) (*Halt, error) { return b.halt, nil }

// Snapshots implements [Evidence].
func (b *Bundle) Snapshots(context.Context) ([]uint64, error) { return b.ticks, nil }

// each calls a function with the lines of a part until the function returns false.
func (b *Bundle) each(ctx context.Context, part place, mark []byte, f func(*bundleLine) (bool, error)) error {
	if part.line == 0 {
		return nil
	}
	for l, err := range b.lines(part) {
		if err != nil {
			return err
		}
		if l.line%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !bytes.HasPrefix(l.text, mark) {
			continue
		}
		var x bundleLine
		if err := x.decode(l.text); err != nil {
			return &BundleError{l.line, err}
		}
		more, err := f(&x)
		if err != nil {
			return &BundleError{l.line, err}
		}
		if !more {
			return nil
		}
	}
	return nil
}

// Inputs implements [Evidence].
func (b *Bundle) Inputs(ctx context.Context, after uint64) iter.Seq2[*Input, error] {
	return func(yield func(*Input, error) bool) {
		var x Input
		if err := b.each(ctx, b.parts[0], inputMark, func(l *bundleLine) (bool, error) {
			in := l.Input
			if in == nil {
				return false, errEmpty
			}
			source, err := ParseID(in.Source)
			if err != nil {
				return false, err
			}
			x.Event = Event{in.Seq, in.Tick, source, in.Kind, in.Payload}
			if err := parseHashes([]string{in.Prev, in.Hash}, &x.Prev, &x.Hash); err != nil {
				return false, err
			}
			return x.Seq <= after && after > 0 || yield(&x, nil), nil
		}); err != nil {
			yield(nil, err)
		}
	}
}

// Links implements [Evidence].
func (b *Bundle) Links(ctx context.Context, from uint64) iter.Seq2[*Link, error] {
	return func(yield func(*Link, error) bool) {
		var x Link
		stopped := false
		if err := b.each(ctx, b.parts[1], linkMark, func(l *bundleLine) (more bool, err error) {
			in := l.Link
			if in == nil {
				return false, errEmpty
			}
			x.Tick, x.InputSeq, x.StateLen = in.Tick, in.InputSeq, in.StateLen
			if x.Digests, err = ParseDigests(x.Digests[:0], in.Digests); err != nil {
				return false, err
			}
			if err := parseHashes([]string{in.Prev, in.Hash, in.InputHash}, &x.Prev, &x.Hash, &x.InputHash); err != nil {
				return false, err
			}
			more = x.Tick < from || yield(&x, nil)
			stopped = !more
			return more, nil
		}); err != nil {
			yield(nil, err)
		} else if b.wrong != nil && !stopped {
			yield(nil, b.wrong)
		}
	}
}

// Snapshot implements [Evidence].
func (b *Bundle) Snapshot(_ context.Context, tick uint64) (s *Snapshot, err error) {
	at, ok := b.snapshots[tick]
	if !ok {
		return nil, &EvidenceError{"snapshots", fmt.Sprintf("tick %d", tick), "there is none"}
	}
	for l, err := range b.lines(at) {
		var x bundleLine
		if err == nil {
			err = x.decode(l.text)
		}
		if err == nil && x.Snapshot == nil {
			err = errEmpty // the file has changed since it was opened
		}
		if err != nil {
			return nil, &BundleError{at.line, err}
		}
		s = &Snapshot{Tick: x.Snapshot.Tick, State: x.Snapshot.State}
		return s, parseHashes([]string{x.Snapshot.Hash}, &s.Hash)
	}
	return nil, io.ErrUnexpectedEOF
}
