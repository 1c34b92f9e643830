package scenarios

import "github.com/murksim/murksim/fields"

// Setup is what the header of a recording with this descriptor must say of the
// scenario's world. It makes neither the world nor its initial values.
func (s *Scenario) Setup(descriptor []byte) fields.Setup {
	c := s.config()
	return c.Setup(s.lattice.Cells(), descriptor)
}
