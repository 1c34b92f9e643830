package minewars

// What the tests look at from outside.
var (
	SeaHash     = seaHash
	SeaHashFrom = seaHashFrom
	Diffuse     = diffuse
	PackMap     = packMap
	Compress    = compress
	Decompress  = decompress
	Beginning   = beginning
)

// Dictionary returns the dictionary of a game.
func Dictionary(s Start) []byte { return s.dictionary() }

// RawFrames returns the frames of a file, decompressed.
func (r *Reader) RawFrames() []byte { return r.stored.raw }

// DecodeMessage decodes one message, of a game of anything.
func DecodeMessage(b []byte) (Message, error) {
	p := payload{b: b}
	m, err := p.message()
	if err != nil {
		return m, err
	}
	return m, nil
}

// AppendMessage appends a message as it is.
func AppendMessage(b []byte, m *Message) ([]byte, error) {
	if err := m.check(); err != nil {
		return b, err
	}
	return appendMessage(b, m), nil
}
