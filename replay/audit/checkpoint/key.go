package checkpoint

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The types of signatures, by their numbers at C2SP.
const (
	signs   = 1 // Ed25519 over the text
	cosigns = 4 // Ed25519 over a time and the text
)

// latest is the last second of a cosignature that can be written as a date.
const latest = 253402300799 // 9999-12-31T23:59:59Z

// A Key checks signatures: it is a name, a type and a public key of Ed25519 that [CheckKey] accepts. C2SP calls it a verifier key.
type Key struct {
	name   string
	kind   byte
	public ed25519.PublicKey
}

// Key is the key of the run, whose public key is this one.
func (c *Checkpoint) Key(public ed25519.PublicKey) (*Key, error) {
	return newKey(c.Origin(), signs, public)
}

func newKey(name string, kind byte, public ed25519.PublicKey) (*Key, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := CheckKey(public); err != nil {
		return nil, err
	}
	return &Key{name, kind, public}, nil
}

// CheckName returns an error for what cannot be the name of a key.
func CheckName(name string) error {
	odd := func(r rune) bool { return r == '+' || r < ' ' || unicode.IsSpace(r) }
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("checkpoint: %q is no name of a key; it must be UTF-8 without spaces, plus signs and control characters, such as witness.example.com/w1", short(name))
	}
	return nil
}

// ParseKey reads a verifier key: NAME+HASH+KEY, as in witness.example.com/w1+8d66cf3f+BJr….
func ParseKey(text string) (*Key, error) {
	name, rest, _ := strings.Cut(text, "+")
	_, coded, _ := strings.Cut(rest, "+")
	b, err := base64.StdEncoding.DecodeString(coded)
	if err != nil || len(b) < 1 {
		return nil, fmt.Errorf("checkpoint: %q is no verifier key; one looks like NAME+HASH+KEY", short(text))
	}
	if b[0] != signs && b[0] != cosigns || len(b) != 1+ed25519.PublicKeySize {
		return nil, fmt.Errorf("checkpoint: the verifier key of %q is of type %d with %d bytes; this program checks signatures of type 1 and cosignatures of type 4, both with 32 bytes", short(name), b[0], len(b)-1)
	}
	k, err := newKey(name, b[0], b[1:])
	if err == nil && k.String() != text {
		err = fmt.Errorf("checkpoint: the verifier key of %q was changed: with the right hash it is %s", short(name), k)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// String returns the verifier key, which [ParseKey] reads.
func (k *Key) String() string {
	return fmt.Sprintf("%s+%08x+%s", k.name, k.KeyHash(), base64.StdEncoding.EncodeToString(append([]byte{k.kind}, k.public...)))
}

// Is reports whether a key has this public key, under whatever name.
func (k *Key) Is(public ed25519.PublicKey) bool { return k.public.Equal(public) }

// Same reports whether two keys have the same public key, by whatever names.
func (k *Key) Same(other *Key) bool { return k.Is(other.public) }

// Name is the name of the key. Name, KeyHash and Verify make it one that package note takes.
func (k *Key) Name() string { return k.name }

// KeyHash is the number of the key, which stands in its signatures.
func (k *Key) KeyHash() uint32 {
	sum := sha256.Sum256(append(append([]byte(k.name), '\n', k.kind), k.public...))
	return binary.BigEndian.Uint32(sum[:])
}

// Verify reports whether a signature of a text is by the key.
func (k *Key) Verify(text, signature []byte) bool {
	if k.kind == cosigns {
		if len(signature) != 8+ed25519.SignatureSize {
			return false
		}
		at := binary.BigEndian.Uint64(signature)
		if at > latest {
			return false
		}
		text, signature = cosigned(at, text), signature[8:]
	}
	return ed25519.Verify(k.public, text, signature)
}

// cosigned returns the message that a witness signs at a time, in seconds since 1970.
func cosigned(at uint64, text []byte) []byte {
	b := strconv.AppendUint([]byte("cosignature/v1\ntime "), at, 10)
	return append(append(b, '\n'), text...)
}

// A signer signs for package note.
type signer struct {
	*Key
	private ed25519.PrivateKey
	at      time.Time // of a cosignature
}

func (s *signer) Sign(text []byte) ([]byte, error) {
	if s.kind == signs {
		return ed25519.Sign(s.private, text), nil
	}
	at := s.at.Unix()
	if at < 0 || at > latest {
		return nil, fmt.Errorf("checkpoint: the time %s is before 1970 or after 9999; set the clock", s.at)
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(at))
	return append(b, ed25519.Sign(s.private, cosigned(uint64(at), text))...), nil
}
