package fields_test

import (
	"bytes"
	"testing"

	"github.com/murksim/murksim/fields"
)

func TestColumn(t *testing.T) {
	for _, e := range elements {
		c := fields.NewColumn(e, 3)
		c.SetBits(1, 0x4000_0001)
		d := c.Clone()
		equal := func() bool { return bytes.Equal(c.AppendBytes(nil), d.AppendBytes(nil)) }
		if c.Len() != 3 || c.Size() != 3*e.Size() || !equal() || d.Bits(1) != 0x4000_0001 {
			t.Errorf("%s: a clone holds %x, want %x; %d bytes", e, d.Bits(1), c.Bits(1), c.Size())
		}
		d.SetBits(0, 1)
		if equal() || c.Bits(0) != 0 {
			t.Errorf("%s: a write to the clone reaches the column", e)
		}
		c.CopyFrom(&d)
		if !equal() {
			t.Errorf("%s: a copied column differs", e)
		}
		d.Clear()
		d.SetBytes(c.AppendBytes(nil))
		if !equal() {
			t.Errorf("%s: a column set from bytes differs", e)
		}
		s := c.Slice(1, 2)
		if s.Len() != 1 || s.Bits(0) != 0x4000_0001 {
			t.Errorf("%s: a slice of %d elements holds %x, want 1 and %x", e, s.Len(), s.Bits(0), c.Bits(1))
		}
		if s.SetBits(0, 2); c.Bits(1) != 2 {
			t.Errorf("%s: a write to a slice does not reach the column", e)
		}
	}
}
