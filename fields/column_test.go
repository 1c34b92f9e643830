package fields_test

import (
	"testing"

	"github.com/murksim/murksim/fields"
)

func TestColumn(t *testing.T) {
	for _, e := range elements {
		c := fields.NewColumn(e, 3)
		c.SetBits(1, 0x4000_0001)
		d := c.Clone()
		if c.Len() != 3 || !d.Equal(&c) || d.Bits(1) != 0x4000_0001 {
			t.Errorf("%s: a clone holds %x, want %x", e, d.Bits(1), c.Bits(1))
		}
		d.SetBits(0, 1)
		if d.Equal(&c) || c.Bits(0) != 0 {
			t.Errorf("%s: a write to the clone reaches the column, or Equal does not see it", e)
		}
		c.CopyFrom(&d)
		if !d.Equal(&c) {
			t.Errorf("%s: a copied column differs", e)
		}
		short := fields.NewColumn(e, 2)
		if short.Equal(&c) {
			t.Errorf("%s: columns of 2 and 3 elements are equal", e)
		}
	}
}
