package rng

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/chacha20"
)

// A Generator is the algorithm behind every [Stream] of a world. The zero value is the default.
type Generator uint8

const (
	ChaCha8  Generator = iota // C2SP chacha8rand: math/rand/v2.ChaCha8
	ChaCha20                  // RFC 8439, zero nonce, counter from 0; draws are LE64
)

var generatorNames = [...]string{ChaCha8: "chacha8", ChaCha20: "chacha20"}

// String returns the name that [ParseGenerator] takes.
func (g Generator) String() string {
	if int(g) < len(generatorNames) {
		return generatorNames[g]
	}
	return fmt.Sprintf("Generator(%d)", uint8(g))
}

// A GeneratorError refuses the name of a generator.
type GeneratorError struct{ Name string }

func (e *GeneratorError) Error() string {
	return fmt.Sprintf("rng: unknown generator %q, want one of %q", e.Name, generatorNames)
}

// ParseGenerator returns the generator called name, or a [*GeneratorError].
func ParseGenerator(name string) (Generator, error) {
	for g, known := range generatorNames {
		if name == known {
			return Generator(g), nil
		}
	}
	return 0, &GeneratorError{name}
}

// chaCha20 hands out the key stream of one seed, eight bytes a draw. It ends, and
// panics, after 2**35 draws.
type chaCha20 struct {
	cipher *chacha20.Cipher
	unread int // bytes of block
	block  [256]byte
}

// open starts anew. The cipher cannot be rekeyed: this is the one allocation of a stream.
func (c *chaCha20) open(seed *StreamSeed) {
	var nonce [chacha20.NonceSize]byte
	cipher, err := chacha20.NewUnauthenticatedCipher(seed[:], nonce[:])
	if err != nil {
		panic(err) // both lengths are right by their types
	}
	c.cipher, c.unread = cipher, 0
}

func (c *chaCha20) uint64() uint64 {
	if c.unread == 0 {
		clear(c.block[:])
		c.cipher.XORKeyStream(c.block[:], c.block[:])
		c.unread = len(c.block)
	}
	v := binary.LittleEndian.Uint64(c.block[len(c.block)-c.unread:])
	c.unread -= 8
	return v
}
