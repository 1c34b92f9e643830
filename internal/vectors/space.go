package vectors

import (
	"fmt"

	"github.com/murksim/murksim/space"
)

// A Space describes a space in the vectors of the original engine.
type Space struct {
	Type                     string
	Len, Rows, Cols, W, H, D int
	Edge                     string
	Components               []Space
}

// Space returns what s describes.
func (s *Space) Space() (space.Space, error) {
	edge := space.Absorb
	if s.Edge != "" {
		var err error
		if edge, err = space.ParseEdge(s.Edge); err != nil {
			return nil, err
		}
	}
	switch s.Type {
	case "line1d":
		return space.Line{Length: s.Len, Edge: edge}, nil
	case "ring1d":
		return space.Ring{Length: s.Len}, nil
	case "square4":
		return space.Square4{Rows: s.Rows, Cols: s.Cols, Edge: edge}, nil
	case "square8":
		return space.Square8{Rows: s.Rows, Cols: s.Cols, Edge: edge}, nil
	case "hex2d":
		return space.Hex{Rows: s.Rows, Cols: s.Cols}, nil
	case "fcc12":
		return space.FCC12{W: s.W, H: s.H, D: s.D, Edge: edge}, nil
	case "product":
		var parts space.Product
		for i := range s.Components {
			part, err := s.Components[i].Space()
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
		return parts, nil
	}
	return nil, fmt.Errorf("vectors: unknown space type %q", s.Type)
}
