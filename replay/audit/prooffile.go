package audit

import (
	"bytes"
	"fmt"
	"math"

	"github.com/murksim/murksim/internal/jsonlines"
)

// The file of a proof begins with ProofMark.
const ProofMark = `{"proof":`

// A proof as a file. docs/AUDIT.md specifies it.
type (
	proofFile struct {
		Proof    int        `json:"proof"` // 1
		Field    string     `json:"field,omitempty"`
		Cell     []int32    `json:"cell,omitempty"`
		Entity   uint64     `json:"entity,omitempty"`
		Tick     uint64     `json:"tick"`
		Prev     string     `json:"prev_hash"`
		StateLen int64      `json:"state_len"`
		Sections []string   `json:"section_digests"`
		Meta     []byte     `json:"meta"`
		Genesis  []byte     `json:"genesis"`
		Columns  int        `json:"columns"`
		Parts    []partFile `json:"parts"`
	}
	partFile struct {
		Column   int      `json:"column"`
		Element  uint8    `json:"element"`
		Elements int      `json:"elements"`
		Tile     int      `json:"tile"`
		Bytes    []byte   `json:"bytes"`
		TilePath []string `json:"tile_path"`
		Path     []string `json:"path"`
	}
)

// File returns a proof as a file: an object of JSON on a line.
func (p *Proof) File() ([]byte, error) {
	f := proofFile{
		Proof: 1, Field: p.Subject.Field, Cell: p.Subject.Cell, Entity: p.Subject.Entity, Tick: p.Tick, Prev: p.Prev.String(), StateLen: p.StateLen,
		Sections: hashTexts(p.Sections[:]), Meta: p.Meta, Genesis: p.Genesis, Columns: p.Columns,
	}
	for _, t := range p.Parts {
		f.Parts = append(f.Parts, partFile{t.Column, t.Element, t.Elements, t.Tile, t.Bytes, hashTexts(t.TilePath), hashTexts(t.Path)})
	}
	var b bytes.Buffer
	err := jsonlines.Write(&b, f)
	return b.Bytes(), err
}

// ReadProof reads what [Proof.File] returns. It does not check it: see [Proof.Hash]. It takes no more memory than a small multiple of the file's length.
func ReadProof(text []byte) (*Proof, error) {
	var f proofFile
	if err := jsonlines.Exact(bytes.TrimSpace(text), &f); err != nil {
		return nil, fmt.Errorf("audit: a proof: %w", err)
	}
	p := &Proof{Subject: Subject{f.Field, f.Cell, f.Entity}, Tick: f.Tick, StateLen: f.StateLen, Meta: f.Meta, Genesis: f.Genesis, Columns: f.Columns}
	const most = math.MaxInt32 // columns and tiles; bytes of a column come to less than 2^63
	switch {
	case f.Proof != 1:
		return nil, fmt.Errorf("audit: it is a proof of version %d; this program reads version 1", f.Proof)
	case f.Columns < 1 || f.Columns > most:
		return nil, fmt.Errorf("audit: a proof: columns must be 1 to %d, not %d", most, f.Columns)
	case f.StateLen < 0:
		return nil, fmt.Errorf("audit: a proof: state_len must be 0 or more, not %d", f.StateLen)
	case len(f.Sections) != len(p.Sections):
		return nil, fmt.Errorf("audit: a proof: section_digests must be %d, not %d", len(p.Sections), len(f.Sections))
	case (f.Field == "") == (f.Entity == 0) || (f.Field == "") != (len(f.Cell) == 0):
		return nil, fmt.Errorf("audit: a proof is about a field and a cell, or about an entity")
	}
	sections, err := readHashes(f.Sections)
	if err == nil {
		copy(p.Sections[:], sections)
		err = parseHashes([]string{f.Prev}, &p.Prev)
	}
	if err != nil {
		return nil, err
	}
	for i, x := range f.Parts {
		if x.Column < 0 || x.Column >= f.Columns || x.Elements < 1 || x.Elements > most || x.Tile < 0 || x.Tile > most || len(x.Bytes) > TileBytes {
			return nil, fmt.Errorf("audit: a proof: part %d: no column has such a tile: column %d, tile %d of %d elements, %d bytes", i, x.Column, x.Tile, x.Elements, len(x.Bytes))
		}
		t := Part{Column: x.Column, Element: x.Element, Elements: x.Elements, Tile: x.Tile, Bytes: x.Bytes}
		if t.TilePath, err = readHashes(x.TilePath); err == nil {
			t.Path, err = readHashes(x.Path)
		}
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		p.Parts = append(p.Parts, t)
	}
	return p, nil
}

// hashTexts writes hashes in hexadecimal.
func hashTexts(hashes []Hash) []string {
	texts := make([]string, len(hashes))
	for i, h := range hashes {
		texts[i] = h.String()
	}
	return texts
}

// readHashes is the inverse of hashTexts.
func readHashes(texts []string) ([]Hash, error) {
	hashes := make([]Hash, len(texts))
	for i := range texts {
		if err := parseHashes(texts[i:i+1], &hashes[i]); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}
