package fields_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/vectors"
)

// A number is a 64-bit integer, written in decimal or as 0x and hex digits.
type number uint64

func (n *number) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := strconv.ParseUint(s, 0, 64)
	*n = number(v)
	return err
}

// A hexBytes is bytes, written as hex digits.
type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(b []byte) (err error) {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*h, err = hex.DecodeString(s)
	return err
}

type hashVectors struct {
	Schema       string
	Offset       number `json:"fnv_offset_basis"`
	Prime        number `json:"fnv_prime"`
	SnapshotHash []struct {
		Note       string
		FieldCount int `json:"field_count"`
		Fields     []struct {
			Field int
			Bytes hexBytes `json:"f32_le_hex"`
		}
		Hash number
	} `json:"snapshot_hash"`
	ConfigHash []struct {
		Seed       number
		DtBits     number   `json:"dt_bits"`
		Fields     uint32   `json:"field_count"`
		Cells      number   `json:"cell_count"`
		Descriptor hexBytes `json:"space_descriptor_hex"`
		Hash       number
	} `json:"config_hash"`
}

func TestVectorsHash(t *testing.T) {
	folder := vectors.Path("murk/hash")
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	snapshots, configs := 0, 0
	for _, file := range files {
		b, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var v hashVectors
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil || v.Schema != "murk-hash-vectors-1" {
			t.Fatalf("%s: not a file of hash vectors (schema %q, error %v)", file.Name(), v.Schema, err)
		}
		v.check(t)
		snapshots, configs = snapshots+len(v.SnapshotHash), configs+len(v.ConfigHash)
	}
	if snapshots == 0 || configs == 0 {
		t.Errorf("%d snapshot hashes and %d config hashes in %s, want some of each", snapshots, configs, folder)
	}
	t.Logf("murk/hash: %d files, %d snapshot hashes, %d config hashes", len(files), snapshots, configs)
}

func (v *hashVectors) check(t *testing.T) {
	t.Helper()
	if got := uint64(fields.NewHash()); got != uint64(v.Offset) {
		t.Errorf("hash of nothing = %016x, want %016x", got, v.Offset)
	}
	if got := uint64(fields.Hash(1).Bytes([]byte{0})); got != uint64(v.Prime) {
		t.Errorf("prime = %x, want %x", got, v.Prime)
	}
	for _, s := range v.SnapshotHash {
		columns := make([]*fields.Column, s.FieldCount)
		for _, f := range s.Fields {
			if f.Field >= len(columns) {
				continue // a field beyond the count takes no part
			}
			c := fields.NewColumn(fields.Float32, len(f.Bytes)/4)
			for i := range c.Float32 {
				c.Float32[i] = math.Float32frombits(binary.LittleEndian.Uint32(f.Bytes[4*i:]))
			}
			columns[f.Field] = &c
		}
		if got := fields.SnapshotHash(columns); got != uint64(s.Hash) {
			t.Errorf("%s: SnapshotHash = %016x, want %016x", s.Note, got, s.Hash)
		}
	}
	for _, c := range v.ConfigHash {
		s := fields.Setup{Seed: uint64(c.Seed), Dt: math.Float64frombits(uint64(c.DtBits)), Fields: c.Fields, Cells: uint64(c.Cells), Descriptor: c.Descriptor}
		if got := s.Hash(); got != uint64(c.Hash) {
			t.Errorf("%+v: Hash = %016x, want %016x", s, got, c.Hash)
		}
	}
}

// plainHash is FNV-1a as it is defined: byte by byte.
func plainHash(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return h
}

// elementBytes are a column's elements, little-endian, as the hash takes them.
func elementBytes(c *fields.Column, e fields.Element) (b []byte) {
	for i := range c.Len() {
		if e.Size() == 4 {
			b = binary.LittleEndian.AppendUint32(b, uint32(c.Bits(i)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, c.Bits(i))
		}
	}
	return b
}

var elements = []fields.Element{fields.Float32, fields.Fixed, fields.Int32, fields.Uint64}

// TestHash holds the fast hashes equal to the plain one, on values with zero
// bytes and zero words in every place.
func TestHash(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	value := func() (v uint64) {
		for range 8 {
			v <<= 8
			if random.IntN(2) == 0 {
				v |= random.Uint64() & 0xff
			}
		}
		return v
	}
	for range 1000 {
		h, v := fields.Hash(random.Uint64()), value()
		if random.IntN(4) == 0 {
			v &= 0xffffffff << (32 * random.IntN(2))
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		if got, want := uint64(h.Uint64(v)), plainHash(uint64(h), b[:]); got != want {
			t.Fatalf("Hash(%x).Uint64(%x) = %016x, want %016x", uint64(h), v, got, want)
		}
		if got, want := uint64(h.Uint32(uint32(v))), plainHash(uint64(h), b[:4]); got != want {
			t.Fatalf("Hash(%x).Uint32(%x) = %016x, want %016x", uint64(h), uint32(v), got, want)
		}
	}
	for _, e := range elements {
		for n := range 40 {
			c := fields.NewColumn(e, n)
			for i := range n {
				c.SetBits(i, value()*uint64(random.IntN(2)))
			}
			h := random.Uint64()
			if got, want := uint64(fields.Hash(h).Column(&c)), plainHash(h, elementBytes(&c, e)); got != want {
				t.Errorf("hash of %d %s = %016x, want %016x", n, e, got, want)
			}
			index := []byte{byte(n), 1, 0, 0}
			if got, want := uint64(fields.Hash(h).Field(fields.ID(256+n), &c)), plainHash(plainHash(h, index), elementBytes(&c, e)); got != want {
				t.Errorf("hash of a field of %d %s = %016x, want %016x", n, e, got, want)
			}
		}
	}
	if got, want := uint64(fields.NewHash().Field(7, nil)), uint64(fields.NewHash().Uint32(7)); got != want {
		t.Errorf("hash of a nil field = %016x, want that of its index, %016x", got, want)
	}
}

func BenchmarkHash(b *testing.B) {
	for _, e := range elements {
		b.Run(e.String(), func(b *testing.B) {
			c := fields.NewColumn(e, 1<<16)
			for i := range c.Len() {
				c.SetBits(i, uint64(i)*0x9e3779b97f4a7c15)
			}
			b.SetBytes(int64(c.Len() * e.Size()))
			h := fields.NewHash()
			for b.Loop() {
				h = h.Column(&c)
			}
			if h == fields.NewHash() {
				b.Fatal("nothing was hashed")
			}
		})
	}
}
