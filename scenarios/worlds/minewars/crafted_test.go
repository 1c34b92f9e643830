package minewars_test

import (
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	stream "github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/space"
)

// TestAnyStateIsPlayed holds that no value which a command can write stops the world, and that no message
// about it names what does not exist.
func TestAnyStateIsPlayed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		playAnything(t, rnd)
	}
}

// playAnything plays 300 ticks with commands that write anything anywhere.
func playAnything(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	p := open(t, "space.cols=21", "space.rows=21", "entities.capacity=40", "systems.0.minewars.cities=7")
	host := p.host()
	story := p.s.Story(p.w)
	values := []float32{-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 17, 100, 220, 1e6, 1e12, -1e12, 0.5}
	var u stream.Update
	for range 300 {
		var list []commands.Command
		for range rnd.IntN(12) {
			id := fields.ID(rnd.IntN(len(p.w.Defs()) - 4))
			at := p.w.Lattice().Coord(rnd.IntN(p.w.Lattice().Cells()))
			all := p.w.Entities().ID
			entity := all[rnd.IntN(len(all))]
			if p.w.Defs()[id].Domain == fields.Entities {
				at = commands.EntityCoord(entity)
			}
			c := commands.SetField(at, uint32(id), values[rnd.IntN(len(values))])
			switch rnd.IntN(40) {
			case 0:
				c = commands.Despawn(entity)
			case 1:
				c = commands.Move(entity, space.At(int32(rnd.IntN(21)), int32(rnd.IntN(21))))
			case 2:
				c = commands.Spawn(space.At(int32(rnd.IntN(21)), int32(rnd.IntN(21))),
					commands.FieldValue{Field: uint32(p.id("entity.kind")), Value: float32(rnd.IntN(2))},
					commands.FieldValue{Field: uint32(p.id("number")), Value: float32(rnd.IntN(9))})
			case 3:
				c = commands.Custom(0x4d57, []byte{byte(rnd.IntN(8)), byte(rnd.IntN(10)), byte(rnd.IntN(20) - 10), byte(rnd.IntN(20) - 10)})
			}
			list = append(list, c)
		}
		p.step(list...)
		story.Observe(p.w)
		u.Reset(p.w.Tick())
		if err := host.Tell(p.w, &u); err != nil {
			t.Fatal(err)
		}
		for v, messages := range u.Views {
			for _, m := range messages {
				p.checkMessage(v, &m, host.Start())
			}
		}
	}
}

// checkMessage checks that a message can be written down.
func (p *play) checkMessage(v stream.View, m *stream.Message, start stream.Start) {
	p.t.Helper()
	ofPlayer := m.Op == stream.Eliminated || m.Op == stream.Stunned || m.Op == stream.Recovered || m.Op == stream.Owner
	ofItem := m.Op == stream.Explosion || m.Op == stream.Removed || m.Op == stream.Placed
	switch {
	case ofPlayer && (m.Player < 1 || int(m.Player) > start.Players),
		int(m.City) >= len(start.Cities), m.Number > 6, ofItem && m.Item > stream.Decoy,
		m.Op == stream.Production && (m.Started > stream.RoadItem || m.Finished > stream.RoadItem && m.Finished != stream.Cancelled),
		len(m.Tiles) > stream.MaxTiles, !ofPlayer && m.Op != stream.Production && m.Op != stream.Resources && len(m.Tiles) == 0:
		p.t.Fatalf("tick %d, view %d: message %+v", p.w.Tick(), v, *m)
	}
	roads := 0
	if m.Op == stream.Production {
		if m.Finished == stream.RoadItem {
			roads++
		}
		if m.Started == stream.RoadItem {
			roads++
		}
		if len(m.Tiles) != roads {
			p.t.Fatalf("tick %d, view %d: message %+v names %d tiles, want %d", p.w.Tick(), v, *m, len(m.Tiles), roads)
		}
	}
	for _, tile := range m.Tiles {
		y, x, r := int(tile.Y), int(tile.X), p.radius()
		if max(y, -y, x, -x, y+x, -y-x) > r {
			p.t.Fatalf("tick %d, view %d: message %+v names a tile off the map", p.w.Tick(), v, *m)
		}
	}
}
