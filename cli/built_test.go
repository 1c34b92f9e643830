package cli

import (
	"fmt"
	"os"
	"strconv"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// The program tag plays a world that it builds in Go, without a scenario: two players who heat cells and claim them.
// "tag play FILE SEED TICKS" records it; with a fourth argument its second player does something else in that tick.

const (
	tagHeat fields.ID = iota
	tagOwner
	tagGround
	tagSpeed
)

func tagMain() {
	if len(os.Args) > 4 && os.Args[1] == "play" {
		if err := tagPlay(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	Main(Program{Name: "tag", Build: tagBuild})
}

// tagBuild is a [replay.Builder].
func tagBuild(h *replay.Header) (*engine.World, error) {
	if string(h.Descriptor) == "panic" {
		panic("a header that nobody wrote")
	}
	if string(h.Descriptor) != "tag 1" {
		return nil, fmt.Errorf("the world %.40q is none of tag's", h.Descriptor)
	}
	return engine.New(engine.Config{
		Space: space.Square4{Rows: 6, Cols: 8}, Seed: h.Seed, Capacity: 8, Kinds: []string{"runner", "catcher"},
		Fields: []fields.Def{
			tagHeat:   {Name: "heat", Unit: "K", Bounds: &fields.Bounds{Min: 0, Max: 400}, Initial: fields.Fill(20)},
			tagOwner:  {Name: "owner", Type: fields.Categorical(3), Values: []string{"none", "red", "blue"}},
			tagGround: {Name: "ground", Type: fields.Categorical(4), Element: fields.Int32, Mutability: fields.Static, Initial: fields.Fill(2)},
			tagSpeed:  {Name: "speed", Type: fields.Vector(2), Domain: fields.Entities},
		},
		Parameters:  []engine.Parameter{{Key: 3, Name: "gain", Value: 1.5}},
		Propagators: []engine.Propagator{tagGlow{}},
		Systems:     []engine.System{tagRun{}},
	})
}

type tagGlow struct{}

// Spec implements [engine.Propagator].
func (tagGlow) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "glow", Incremental: engine.Fields(tagHeat)}
}

// Step implements [engine.Propagator].
func (tagGlow) Step(c *engine.Context) error {
	heat := c.Next(tagHeat)
	cell := int(c.Stream(0).Uint64() % uint64(len(heat)))
	heat[cell] += float32(c.Parameter(3))
	if heat[0] > 100 && os.Getenv("TAG_FAULT") != "" { // another program than the one that recorded
		heat[1]++
	}
	return nil
}

type tagRun struct{}

// Spec implements [engine.System].
func (tagRun) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "run", Incremental: engine.Fields(tagSpeed)}
}

// Update implements [engine.System].
func (tagRun) Update(c *engine.SystemContext) error {
	speed := c.Next(tagSpeed)
	for slot, id := range c.Entities().ID {
		if id != 0 {
			speed[2*slot]++
		}
	}
	return nil
}

func tagPlay(args []string) (err error) {
	seed, _ := strconv.ParseUint(args[1], 10, 64)
	ticks, _ := strconv.ParseUint(args[2], 10, 64)
	h := replay.Header{Seed: seed, Descriptor: []byte("tag 1")}
	w, err := tagBuild(&h)
	if err != nil {
		return err
	}
	f, err := os.Create(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := replay.NewRecorder(f, w, h.Descriptor)
	if err != nil {
		return err
	}
	w.Record(r)
	for tick := uint64(1); tick <= ticks; tick++ {
		at := space.At(int32(tick%6), int32(tick%8))
		if len(args) > 3 && args[3] == strconv.FormatUint(tick, 10) {
			at = space.At(5, 0)
		}
		for _, c := range []commands.Command{
			commands.SetField(at, uint32(tagOwner), float32(1+tick%2)),
			commands.SetField(space.At(0, 0), uint32(tagHeat), float32(4*tick)),
		} {
			c.Priority = 1
			if _, err := w.Submit(c); err != nil {
				return err
			}
		}
		if tick <= 2 {
			_, kind, _ := engine.EntityColumns(int(tagSpeed) + 1)
			if _, err := w.Submit(commands.Spawn(at, commands.FieldValue{Field: uint32(kind), Value: float32(tick - 1)})); err != nil {
				return err
			}
		}
		if _, err := w.Step(); err != nil {
			return err
		}
	}
	return r.Flush()
}
