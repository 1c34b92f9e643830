package audit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
)

// blockLinks is how many links one digest of a [Checked] covers, where it does not keep their hashes.
const blockLinks = 256

// note keeps what [Checked.Held] compares links with.
func (f *Checked) note(l *Link) {
	if len(f.Hashes) < f.keep {
		f.Hashes = append(f.Hashes, LinkHashes{l.Hash, l.InputHash})
		return
	}
	if f.noted%blockLinks == 0 {
		f.blocks = append(f.blocks, Hash{})
	}
	last := &f.blocks[len(f.blocks)-1]
	*last, f.noted = l.after(last), f.noted+1
}

// after returns the digest of links up to this one.
func (l *Link) after(before *Hash) Hash {
	b := append(make([]byte, 0, 3*sha256.Size+8), before[:]...)
	b = append(append(b, l.Hash[:]...), l.InputHash[:]...)
	return sha256.Sum256(binary.LittleEndian.AppendUint64(b, l.InputSeq))
}

// Held returns evidence that yields only the links and snapshots that were checked, even if the source has changed since: a file may be
// replaced, and a database may find another row than it lists. A changed one is an [*EvidenceError]. It has no link that was not
// checked. It does not check inputs: the caller that computes with them compares their hash with that of a link.
func (f *Checked) Held(e Evidence) Evidence { return &held{e, f} }

type held struct {
	Evidence
	found *Checked
}

// Links implements [Evidence].
func (h *held) Links(ctx context.Context, from uint64) iter.Seq2[*Link, error] {
	return func(yield func(*Link, error) bool) {
		first := h.Run().First
		from = max(from, first)
		begin, kept := from, first+uint64(len(h.found.Hashes))
		if from > kept { // the block of links that it is in is read from its beginning
			begin = kept + (from-kept)/blockLinks*blockLinks
		}
		next := begin // tick
		var digest Hash
		var block []Link
		for l, err := range h.Evidence.Links(ctx, begin) {
			if next > h.found.Tick {
				return
			}
			if err == nil {
				err = h.same(l, next)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if next < kept {
				if next++; !yield(l, nil) {
					return
				}
				continue
			}
			digest = l.after(&digest)
			link := *l
			link.Digests = slices.Clone(l.Digests)
			block = append(block, link)
			n := next - kept
			if next++; len(block) < blockLinks && next <= h.found.Tick {
				continue
			}
			if digest != h.found.blocks[n/blockLinks] {
				yield(nil, changed(block[0].Tick, "it, or one of those that follow it, is not what it was when it was checked"))
				return
			}
			for i := range block {
				if block[i].Tick >= from && !yield(&block[i], nil) {
					return
				}
			}
			digest, block = Hash{}, block[:0]
		}
		if next <= h.found.Tick {
			yield(nil, changed(next, "it is missing; it was there when it was checked"))
		}
	}
}

// same checks that a link is the one that was checked, by its tick, by what its hash covers, and by the hashes that are kept.
func (h *held) same(l *Link, tick uint64) error {
	if l.Tick != tick {
		return changed(tick, "it is missing; it was there when it was checked")
	}
	if is := l.hash(); is != l.Hash {
		return changed(tick, "its hash is %s; that of what it holds is %s", l.Hash, is)
	}
	i := tick - h.Run().First
	if i >= uint64(len(h.found.Hashes)) {
		return nil
	}
	switch was := h.found.Hashes[i]; {
	case was.World != l.Hash:
		return changed(tick, "its hash is %s; it was %s when it was checked", l.Hash, was.World)
	case was.Inputs != l.InputHash:
		return changed(tick, "its inputs have the hash %s; it was %s when they were checked", l.InputHash, was.Inputs)
	}
	return nil
}

func changed(tick uint64, format string, args ...any) error {
	return &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", tick), fmt.Sprintf(format, args...)}
}

// Snapshot implements [Evidence].
func (h *held) Snapshot(ctx context.Context, tick uint64) (*Snapshot, error) {
	s, err := h.Evidence.Snapshot(ctx, tick)
	if err != nil {
		return nil, err
	}
	l, err := LinkAt(ctx, h, tick)
	if err == nil {
		err = s.check(l)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}
