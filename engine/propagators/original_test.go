package propagators_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// An original is what the original Murk engine computed for one propagator: hashes of
// its fields, and of gradients and flows of the first of them, after some ticks.
type original struct {
	Recording string
	Space     originalSpace
	Dt        float64
	Lag       uint64 // ticks that the recording took to set the initial values
	Diffusion *struct {
		Rate, Decay float64
		Sources     [][2]float64 // cell, value; cells outside are ignored
		Min, Max    *float64
	}
	Wave   *struct{ Speed, Damping float64 }
	Fields []struct{ Initial string } // little-endian float32 in hex; "": zeros
	Slopes []string
	Want   []struct {
		Tick  uint64
		FNV1a []string
	}
}

type originalSpace struct {
	Type                     string
	Len, Rows, Cols, W, H, D int
	Edge                     string
	Components               []originalSpace
}

func (s *originalSpace) space(t *testing.T) space.Space {
	edge := space.Absorb
	if s.Edge != "" {
		var err error
		if edge, err = space.ParseEdge(s.Edge); err != nil {
			t.Fatal(err)
		}
	}
	switch s.Type {
	case "line1d":
		return space.Line{Length: s.Len, Edge: edge}
	case "ring1d":
		return space.Ring{Length: s.Len}
	case "square4":
		return space.Square4{Rows: s.Rows, Cols: s.Cols, Edge: edge}
	case "square8":
		return space.Square8{Rows: s.Rows, Cols: s.Cols, Edge: edge}
	case "hex2d":
		return space.Hex{Cols: s.Cols, Rows: s.Rows}
	case "fcc12":
		return space.FCC12{W: s.W, H: s.H, D: s.D, Edge: edge}
	case "product":
		var p space.Product
		for i := range s.Components {
			p = append(p, s.Components[i].space(t))
		}
		return p
	}
	t.Fatalf("unknown space %q", s.Type)
	return nil
}

// TestOriginal holds diffusion, wave, gradient and flow to what the original engine
// recorded, in every bit.
func TestOriginal(t *testing.T) {
	data, err := os.ReadFile("testdata/original.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []original
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	hashes := 0
	for i := range all {
		o := &all[i]
		t.Run(fmt.Sprintf("%d_%s", i, o.Recording), func(t *testing.T) { hashes += o.run(t) })
	}
	if len(all) == 0 || hashes == 0 {
		t.Errorf("%d runs, %d hashes compared; want some", len(all), hashes)
	}
	t.Logf("%d runs, %d hashes compared", len(all), hashes)
}

func (o *original) run(t *testing.T) (hashes int) {
	w := newWorld(t, o.config(t))
	if w.Dt() != o.Dt {
		t.Fatalf("dt = %v, want %v", w.Dt(), o.Dt)
	}
	for _, want := range o.Want {
		for w.Tick()+o.Lag < want.Tick {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		for id, hash := range want.FNV1a {
			if got := fmt.Sprintf("0x%016x", w.FieldHash(fields.ID(id))); got != hash {
				t.Errorf("tick %d, field %d: hash %s, want %s", w.Tick(), id, got, hash)
			}
			hashes++
		}
	}
	return hashes
}

func (o *original) config(t *testing.T) engine.Config {
	s := o.Space.space(t)
	cells := lattice(t, s).Cells()
	c := engine.Config{Space: s, TickRate: 1 / o.Dt, Paranoid: true}
	for i, f := range o.Fields {
		c.Fields = append(c.Fields, fields.Def{Name: string(rune('a' + i)), Initial: decodeInitial(t, f.Initial, cells)})
	}
	if d := o.Diffusion; d != nil {
		p := propagators.Diffusion{Rate: d.Rate, Decay: d.Decay}
		for _, v := range d.Sources {
			if int(v[0]) < cells {
				p.Hold = append(p.Hold, propagators.Hold{Cells: []int{int(v[0])}, Value: v[1]})
			}
		}
		if d.Min != nil || d.Max != nil {
			b := &fields.Bounds{Min: -math.MaxFloat32, Max: math.MaxFloat32}
			if d.Min != nil {
				b.Min = *d.Min
			}
			if d.Max != nil {
				b.Max = *d.Max
			}
			c.Fields[0].Bounds = b
		}
		c.Propagators = append(c.Propagators, p)
	} else {
		c.Propagators = append(c.Propagators, propagators.Wave{Velocity: 1, Speed: o.Wave.Speed, Damping: o.Wave.Damping})
	}
	for i, kind := range o.Slopes {
		out := fields.ID(len(c.Fields))
		c.Fields = append(c.Fields, fields.Def{Name: fmt.Sprint("slope ", i), Type: fields.Vector(2)})
		name := fmt.Sprint(kind, i)
		if kind == "gradient" {
			c.Propagators = append(c.Propagators, propagators.Gradient{Name: name, Output: out})
		} else {
			c.Propagators = append(c.Propagators, propagators.Flow{Name: name, Output: out, Normalise: kind == "unit flow"})
		}
	}
	return c
}

func decodeInitial(t *testing.T, s string, cells int) fields.Initial {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float64, cells)
	for i := range len(b) / 4 {
		v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return fields.Values(v)
}
