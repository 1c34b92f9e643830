//go:build !amd64

package statehash

import "github.com/murksim/murksim/fields"

func side(h *[lanes]uint64, c *[lanes]fields.Column) { sidePlain(h, c) }
