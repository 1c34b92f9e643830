//go:build !amd64

package fields

func side(h *[lanes]uint64, c *[lanes]Column) { sidePlain(h, c) }
