package checkpoint

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
)

// MaxSize is how many bytes a signed checkpoint has at most.
const MaxSize = 1 << 16

// maxSignatures is the most signatures that a checkpoint has: package note reads no more.
const maxSignatures = 100

// A line with a signature begins with signatureMark, an em dash.
const signatureMark = "— "

// A Note is a checkpoint with its signatures.
type Note struct {
	Checkpoint
	file       []byte
	signatures []note.Signature
	ends       []int // of the lines with them, in the file
}

// Read reads a signed checkpoint. It checks no signature; [Note.Verify] does. An error is an [*Error].
func Read(file []byte) (*Note, error) {
	lines := strings.Split(string(file), "\n")
	wrong := func(i int, format string, args ...any) (*Note, error) {
		return nil, &Error{i + 1, fmt.Sprintf(format, args...)}
	}
	if !strings.HasPrefix(lines[0], Mark) {
		return wrong(0, "%q is not how a signature begins, which is %s and the id of a run", short(lines[0]), Mark)
	}
	for i, line := range lines {
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' }) {
			return wrong(i, "it has a character of control, or is not UTF-8; lines end with a line feed alone")
		}
	}
	last := len(lines) - 1
	switch {
	case len(file) > MaxSize:
		return wrong(0, "the file has %d bytes; a signature has at most %d", len(file), MaxSize)
	case last < textLines+2:
		return wrong(last, "the file is cut off; it has four lines, an empty one, and a line for each signature")
	case lines[last] != "":
		return wrong(last, "it does not end with a line feed: the file is cut off")
	case last-textLines-1 > maxSignatures:
		return wrong(last, "there are more than %d signatures", maxSignatures)
	}
	n := &Note{file: bytes.Clone(file)}
	var err error
	if n.Checkpoint, err = parse(lines); err != nil {
		return nil, err
	}
	if lines[textLines] != "" {
		return wrong(textLines, "%q is one line too many; the four lines of a checkpoint end with an empty one", short(lines[textLines]))
	}
	end := len(n.Text()) + 1
	for i, line := range lines[:last] {
		if i <= textLines {
			continue
		}
		s, ok := parseSignature(line)
		if !ok {
			return wrong(i, "%q is no signature; it must be an em dash, the name of a key and base64, with a space between each two", short(line))
		}
		if slices.ContainsFunc(n.signatures, func(o note.Signature) bool { return o.Name == s.Name && o.Hash == s.Hash }) {
			return wrong(i, "it is the second signature of one key, %s+%08x; remove one of them", short(s.Name), s.Hash)
		}
		end += len(line) + 1
		n.signatures, n.ends = append(n.signatures, s), append(n.ends, end)
	}
	return n, nil
}

// parseSignature reads a line with a signature.
func parseSignature(line string) (s note.Signature, ok bool) {
	line, ok = strings.CutPrefix(line, signatureMark)
	name, text, found := strings.Cut(line, " ")
	b, err := base64.StdEncoding.DecodeString(text)
	if !ok || !found || CheckName(name) != nil || err != nil || len(b) < 5 || base64.StdEncoding.EncodeToString(b) != text {
		return s, false
	}
	return note.Signature{Name: name, Hash: binary.BigEndian.Uint32(b), Base64: text}, true
}

// File returns the file that was read: the text, an empty line, and the signatures.
func (n *Note) File() []byte { return n.file }

// Names are the names of the keys in the order of their signatures, whether these are good or not.
func (n *Note) Names() (names []string) {
	for _, s := range n.signatures {
		names = append(names, s.Name)
	}
	return names
}

// Through finds the beginning of the file that has this SHA-256 and ends with a signature, and returns how many signatures it has. It
// returns 0 if there is none.
func (n *Note) Through(sum [sha256.Size]byte) int {
	for i, end := range n.ends {
		if sha256.Sum256(n.file[:end]) == sum {
			return i + 1
		}
	}
	return 0
}

// A SignatureError reports a key that has not signed.
type SignatureError struct {
	Key   *Key
	Wrong bool // a signature claims to be of the key
}

// Error implements error.
func (e *SignatureError) Error() string {
	if e.Wrong {
		return fmt.Sprintf("checkpoint: the signature of %s is not that of its key for this text", e.Key.name)
	}
	return fmt.Sprintf("checkpoint: there is no signature of %s by the key %s", e.Key.name, e.Key)
}

// A Signed is a signature that is good.
type Signed struct {
	Key  *Key
	At   time.Time // of a cosignature; else zero
	Line int       // from 0
}

// Verify checks that each of the keys has signed, and returns the signatures in the order of the keys, which must all be different. An
// error is a [*SignatureError].
func (n *Note) Verify(keys ...*Key) ([]Signed, error) {
	var known []note.Verifier
	for _, k := range keys {
		known = append(known, k)
	}
	opened, err := note.Open(n.file, note.VerifierList(known...))
	if _, unsigned := err.(*note.UnverifiedNoteError); err != nil && !unsigned {
		if e, bad := err.(*note.InvalidSignatureError); bad {
			if i := slices.IndexFunc(keys, func(k *Key) bool { return k.name == e.Name && k.KeyHash() == e.Hash }); i >= 0 {
				return nil, &SignatureError{keys[i], true}
			}
		}
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if opened == nil {
		opened = new(note.Note)
	}
	var list []Signed
	for _, k := range keys {
		is := func(s note.Signature) bool { return s.Name == k.name && s.Hash == k.KeyHash() }
		if !slices.ContainsFunc(opened.Sigs, is) {
			return nil, &SignatureError{k, false}
		}
		s := Signed{Key: k, Line: slices.IndexFunc(n.signatures, is)}
		if k.kind == cosigns {
			b, err := base64.StdEncoding.DecodeString(n.signatures[s.Line].Base64)
			if err != nil {
				return nil, err
			}
			s.At = time.Unix(int64(binary.BigEndian.Uint64(b[4:])), 0).UTC()
		}
		list = append(list, s)
	}
	return list, nil
}

// Sign signs a checkpoint, and returns the file.
func (c *Checkpoint) Sign(private ed25519.PrivateKey) ([]byte, error) {
	k, err := c.Key(private.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: c.Text()}, &signer{k, private, time.Time{}})
}

// Cosign adds the cosignature of a witness, made at a time. It returns the file and the key with which others can check it. An earlier
// cosignature by the same key and name is replaced; the signatures after it move up.
func (n *Note) Cosign(name string, private ed25519.PrivateKey, at time.Time) (file []byte, k *Key, err error) {
	if k, err = newKey(name, cosigns, private.Public().(ed25519.PublicKey)); err != nil {
		return nil, nil, err
	}
	file, err = note.Sign(&note.Note{Text: n.Text(), UnverifiedSigs: n.signatures}, &signer{k, private, at})
	if err != nil {
		return nil, nil, err
	}
	again, err := Read(file) // which checks the limits
	if err != nil {
		return nil, nil, err
	}
	_, err = again.Verify(k)
	return file, k, err
}
