package serve

import "testing"

// TestEmptyWrite: a write of nothing, such as a library may make, is none.
func TestEmptyWrite(t *testing.T) {
	c := &conn{}
	c.joined.Store(true)
	if n, err := c.Write(nil); n != 0 || err != nil {
		t.Errorf("an empty write gives %d, %v", n, err)
	}
}
