package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/murksim/murksim/engine"
)

// A Begin is the saved state at which a recording begins that does not begin at genesis: the
// last key of its descriptor. DESCRIPTOR.md specifies it.
type Begin struct {
	Tick   uint64 // of the state; the first frame is of the next one
	SHA256 [sha256.Size]byte
	State  []byte // nil if the recording does not hold it, only its SHA-256
}

// MaxBeginState is the size of the largest state that a recording holds, in bytes.
const MaxBeginState = 1 << 20

// NewBegin returns the begin of a recording at a state that [engine.World.Save] returned. It
// keeps a state of up to [MaxBeginState] bytes, as a slice of its argument; see also [Begin.Describe].
func NewBegin(state []byte) (*Begin, error) {
	s, err := engine.ReadState(state)
	if err != nil {
		return nil, err
	}
	b := &Begin{Tick: s.Tick, SHA256: sha256.Sum256(state)}
	if len(state) <= MaxBeginState {
		b.State = state
	}
	return b, nil
}

// The parts of a begin in a descriptor. A quote inside a text has a backslash before it, so
// none of them can be a part of a text.
const (
	beginKey = `,"begin":{"tick":`
	sumKey   = `,"sha256":"`
	stateKey = `","state":"`
	beginEnd = `"}}` // of the whole descriptor
)

// Describe returns the descriptor of a recording that begins so: the descriptor of the world,
// a JSON object with at least one key, and the begin as one more. A state with which it would be
// larger than [MaxBytes] is left out, and then State is nil, as that of a large one is.
func (b *Begin) Describe(world []byte) ([]byte, error) {
	if !Extensible(world) {
		return nil, fmt.Errorf("replay: a recording says in its descriptor at which state it begins: %w", ErrExtend)
	}
	d := append(bytes.Clone(world[:len(world)-1]), beginKey...)
	d = strconv.AppendUint(d, b.Tick, 10)
	d = hex.AppendEncode(append(d, sumKey...), b.SHA256[:])
	if len(d)+len(stateKey)+base64.StdEncoding.EncodedLen(len(b.State))+len(beginEnd) > MaxBytes {
		b.State = nil
	}
	if b.State != nil {
		d = base64.StdEncoding.AppendEncode(append(d, stateKey...), b.State)
	}
	return append(d, beginEnd...), nil
}

// ErrExtend reports a descriptor that is not [Extensible].
var ErrExtend = errors.New("the descriptor of the world must be a JSON object with keys, and nothing behind it; change that in the program")

// Extensible reports whether a descriptor is a JSON object that can have one key more at its end: it has keys, and nothing stands before
// or behind it.
func Extensible(descriptor []byte) bool {
	last := len(descriptor) - 1
	return last > 0 && descriptor[0] == '{' && descriptor[last] == '}' && json.Valid(append(descriptor[:last:last], `,"more":0}`...))
}

// A beginText is a begin as it stands in a descriptor.
type beginText struct {
	at               int // where it begins, with its comma
	tick, sum, state []byte
}

// beginText finds the begin in the descriptor, or returns nil if there is none. It looks at no
// value.
func (h *Header) beginText() *beginText {
	at := bytes.LastIndex(h.Descriptor, []byte(beginKey))
	if at <= 0 {
		return nil
	}
	t := &beginText{at: at}
	var found bool
	if t.tick, t.sum, found = bytes.Cut(h.Descriptor[at+len(beginKey):], []byte(sumKey)); !found {
		return nil
	}
	if t.sum, found = bytes.CutSuffix(t.sum, []byte(beginEnd)); !found {
		return nil
	}
	t.sum, t.state, _ = bytes.Cut(t.sum, []byte(stateKey))
	if bytes.ContainsAny(t.tick, `"{}`) || bytes.ContainsRune(t.sum, '"') || bytes.ContainsRune(t.state, '"') {
		return nil // a key of something else, deeper in the descriptor
	}
	return t
}

// World returns the descriptor of the recording's world: the whole one, or that without the
// state at which the recording begins. States of the world belong to it; see
// [engine.World.Save].
func (h *Header) World() []byte {
	t := h.beginText()
	if t == nil {
		return h.Descriptor
	}
	return append(bytes.Clone(h.Descriptor[:t.at]), '}')
}

// Begin returns the state at which the recording begins, or nil if that is genesis. It is
// checked against its tick and SHA-256; the error is a [*FormatError].
func (h *Header) Begin() (*Begin, error) {
	t := h.beginText()
	if t == nil {
		return nil, nil
	}
	fail := func(format string, args ...any) error {
		e := &FormatError{Offset: headerSize(h) + int64(t.at) + 1, Line: h.line, Frame: HeaderFrame, Kind: ErrMalformed, Detail: "begin: " + fmt.Sprintf(format, args...)}
		if e.Line != 0 {
			e.Offset = 0
		}
		return e
	}
	tick, ok := t.number()
	if !ok {
		return nil, fail("%.40q is not a tick", t.tick)
	}
	b := &Begin{Tick: tick}
	if n, err := hex.Decode(b.SHA256[:], t.sum[:min(len(t.sum), 2*sha256.Size)]); err != nil || n != sha256.Size {
		return nil, fail("%.80q is not a SHA-256 of 64 hexadecimal digits", t.sum)
	}
	if len(t.state) > base64.StdEncoding.EncodedLen(MaxBeginState) {
		return nil, fail("a state has at most %d bytes", MaxBeginState)
	}
	if t.state != nil {
		if err := b.read(t.state); err != nil {
			return nil, fail("%v", err)
		}
	}
	if again, err := b.Describe(h.World()); err != nil || !bytes.Equal(again, h.Descriptor) {
		return nil, fail("it is not in canonical form")
	}
	return b, nil
}

// number returns the tick, which has 43 bits in a state.
func (t *beginText) number() (tick uint64, ok bool) {
	tick, err := strconv.ParseUint(string(t.tick), 10, 43)
	return tick, err == nil
}

// read decodes the state, and checks it.
func (b *Begin) read(text []byte) (err error) {
	state, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if err != nil {
		return errors.New("its state is not base64")
	}
	is, err := NewBegin(state)
	switch {
	case err != nil && sha256.Sum256(state) == b.SHA256:
		return err
	case err != nil || is.SHA256 != b.SHA256:
		return fmt.Errorf("its state has the SHA-256 %x, not %x", sha256.Sum256(state), b.SHA256)
	case is.Tick != b.Tick:
		return fmt.Errorf("its state is of tick %d, not %d", is.Tick, b.Tick)
	case is.State == nil:
		return fmt.Errorf("a state has at most %d bytes", MaxBeginState)
	}
	b.State = is.State
	return nil
}

// after returns the tick after which the frames begin; 0 where it cannot be read.
func (h *Header) after() (tick uint64) {
	if t := h.beginText(); t != nil {
		tick, _ = t.number()
	}
	return tick
}

// ErrBegin reports a world that is not in the state at which a recording begins.
var ErrBegin = errors.New("replay: the recording begins at another state")

// check checks that a world is in that state.
func (b *Begin) check(w *engine.World, descriptor []byte) error {
	if w.Tick() != b.Tick {
		return fmt.Errorf("%w: the world is at tick %d; the recording begins at the state of tick %d", ErrBegin, w.Tick(), b.Tick)
	}
	state, err := w.Save(descriptor)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(state); sum != b.SHA256 {
		return fmt.Errorf("%w: the world's has the SHA-256 %x; that of the recording is %x", ErrBegin, sum, b.SHA256)
	}
	return nil
}
