package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// A Parent is the tick of another run at which a fork begins. The fork's genesis document names it, and so do all its states and hashes.
type Parent struct {
	Run  ID
	Tick uint64 // of the state with which the fork begins
	Hash Hash   // of the parent's link of that tick
}

// The parts of a parent in a genesis document. A quote inside a text has a backslash before it, so that none is a part of a text.
const (
	parentKey = `,"parent":{"run":"`
	tickKey   = `","tick":`
	hashKey   = `,"hash":"`
	parentEnd = `"}}` // of the whole document
)

// Describe returns the genesis document of a fork: the descriptor of the world, which must be [replay.Extensible], with one key more.
func (p *Parent) Describe(world []byte) ([]byte, error) {
	if !replay.Extensible(world) {
		return nil, fmt.Errorf("audit: a fork names its parent in its genesis document: %w", replay.ErrExtend)
	}
	d := append(bytes.Clone(world[:len(world)-1]), parentKey...) // but for the brace
	d = strconv.AppendUint(append(append(d, p.Run.String()...), tickKey...), p.Tick, 10)
	return append(append(append(d, hashKey...), p.Hash.String()...), parentEnd...), nil
}

// SplitGenesis returns the descriptor of the world that a genesis document holds, and the parent that it names; nil: the run is not a fork.
func SplitGenesis(genesis []byte) (world []byte, p *Parent, err error) {
	at := bytes.LastIndex(genesis, []byte(parentKey))
	if at < 0 {
		return genesis, nil, nil
	}
	text := bytes.TrimSuffix(genesis[at+len(parentKey):], []byte(parentEnd))
	run, rest, _ := bytes.Cut(text, []byte(tickKey))
	tick, hash, _ := bytes.Cut(rest, []byte(hashKey))
	p = new(Parent)
	var wrong [3]error
	p.Run, wrong[0] = ParseID(string(run))
	p.Tick, wrong[1] = strconv.ParseUint(string(tick), 10, 64)
	p.Hash, wrong[2] = ParseHash(string(hash))
	world = append(bytes.Clone(genesis[:at]), '}')
	again, err := p.Describe(world)
	if errors.Join(wrong[:]...) != nil || err != nil || !bytes.Equal(again, genesis) {
		return nil, nil, errors.New("audit: the parent that the genesis document names is not as a fork writes it")
	}
	return world, p, nil
}

// checkKeys refuses a descriptor with a key of its own that would be taken for that of a fork, or of a recording which begins at a state.
func checkKeys(descriptor []byte, tick uint64) error {
	world, p, err := SplitGenesis(descriptor)
	key := ""
	switch h := (&replay.Header{Descriptor: world}); {
	case err != nil, p != nil && p.Tick != tick:
		key = "parent"
	case len(h.World()) != len(world):
		key = "begin"
	default:
		return nil
	}
	return fmt.Errorf("audit: the descriptor of the world has a key %q, which would be taken for murksim's own; give it another name", key)
}

// Meta returns section 1 of a state, which ends with the digest of the genesis document.
func Meta(state []byte) ([]byte, error) {
	s, err := engine.ReadState(state)
	if err != nil {
		return nil, err
	}
	return s.Sections[0], nil
}

// Under changes a state in place to that of the same world under a genesis document with another digest, as in a fork.
func Under(state []byte, genesis Hash) error {
	meta, err := Meta(state)
	if err == nil && len(meta) >= len(genesis) {
		copy(meta[len(meta)-len(genesis):], genesis[:])
	}
	return err
}

// MetaSum returns the SHA-256 that section 1 of a state has under a genesis document with another digest.
func MetaSum(meta []byte, genesis Hash) Hash {
	d := sha256.New()
	d.Write(meta[:max(len(meta)-len(genesis), 0)])
	d.Write(genesis[:])
	return Hash(d.Sum(nil))
}
