package audit

import (
	"crypto/ed25519"
	"encoding/binary"
)

// A Checkpoint is a claim: that a run had a hash at a tick, and had taken these inputs by then. Who has signed it cannot claim others later. The
// world hash alone is that of the states: it does not cover what changes none, such as the source of a command.
type Checkpoint struct {
	Run    ID
	Tick   uint64
	Hash   Hash // H(T)
	Inputs Hash // E of the last input of the tick or one before it
}

// message is what is signed: a text that says what it is, the run, the tick and both hashes.
func (c *Checkpoint) message() []byte {
	b := append([]byte("murksim checkpoint 1\n"), c.Run[:]...)
	b = binary.LittleEndian.AppendUint64(b, c.Tick)
	return append(append(b, c.Hash[:]...), c.Inputs[:]...)
}

// Sign signs a checkpoint with an Ed25519 key.
func (c *Checkpoint) Sign(key ed25519.PrivateKey) []byte { return ed25519.Sign(key, c.message()) }

// Signed reports whether a signature is that of a key for the checkpoint.
func (c *Checkpoint) Signed(key ed25519.PublicKey, signature []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, c.message(), signature)
}
