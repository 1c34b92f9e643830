package scenarios

import (
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// Begin lists the commands of the first tick, as CommandsAt(1) does. It returns an error that
// points at a population for which occupancy has no room, wherever random places fall; a
// recording with such a population can be replayed. step is that of [Scenario.Make].
func (s *Scenario) Begin(step func(share float64) error) ([]commands.Command, error) {
	m := &making{all: s.spawnWork + 1, step: step}
	if s.Entities != nil && s.Entities.Occupancy > 0 {
		m.all += s.spawnWork
		for i := range s.Entities.Spawn {
			if p := &s.Entities.Spawn[i]; p.Count == 0 { // crowd goes through its region
				m.all += p.steps(s.lattice)
			}
		}
		if err := s.checkRoom(m); err != nil {
			return nil, err
		}
	}
	list := s.commandsAt(1, m)
	return list, m.ended
}

// A crowd is how many of the first population stand on each cell; nil: any number may.
type crowd struct {
	most     int32
	standing []int32 // by cell
}

// crowd returns that of the populations that have one on each cell of a region.
func (s *Scenario) crowd(m *making) *crowd {
	if s.Entities.Occupancy == 0 || !slices.ContainsFunc(s.Entities.Spawn, func(p population) bool { return p.Count > 0 }) {
		return nil
	}
	c := &crowd{int32(min(s.Entities.Occupancy, engine.MaxEntities)), make([]int32, s.lattice.Cells())}
	for i := range s.Entities.Spawn {
		p := &s.Entities.Spawn[i]
		if p.Count > 0 {
			continue
		}
		if m.add(p.steps(s.lattice)) != nil {
			return c
		}
		places, cellOf := p.places(s.lattice)
		for place := range places {
			c.standing[cellOf(place)]++
		}
	}
	return c
}

// enter counts what is spawned.
func (c *crowd) enter(l *space.Lattice, spawns []commands.Command) {
	if c == nil {
		return
	}
	for i := range spawns {
		if cell, ok := l.Rank(spawns[i].Coord); ok && spawns[i].Kind == commands.KindSpawn {
			c.standing[cell]++
		}
	}
}

// room returns whether another one may stand at a place of a region; nil if any number may.
func (c *crowd) room(cellOf func(place int) int) func(place int) bool {
	if c == nil {
		return nil
	}
	return func(place int) bool { return c.standing[cellOf(place)] < c.most }
}

// A lottery draws places one after another, each among those that are free then.
type lottery struct {
	draws  rng.Bulk
	places int
	free   func(place int) bool // nil: all are
	left   []int32              // once hardly any was: those that were free then, but for some that are not any more
}

// draw draws the n-th place. It is the first free one of index n, n + 2³² and so on; once none of 64 is, the free places are listed, and
// from then on drawn from the list, out of which those that are no longer free are taken as they are met. If none is free, it is that of index n.
func (x *lottery) draw(n int) (place int) {
	const tries = 64
	at := func(again uint64, most int) int { return int(x.draws.Below(uint64(n)+again<<32, uint32(most))) }
	if x.left == nil {
		for again := range uint64(tries) {
			if place = at(again, x.places); x.free == nil || x.free(place) {
				return place
			}
		}
		x.left = []int32{}
		for place := range x.places {
			if x.free(place) {
				x.left = append(x.left, int32(place))
			}
		}
	}
	for again := uint64(tries); len(x.left) > 0; again++ {
		i, last := at(again, len(x.left)), len(x.left)-1
		if place = int(x.left[i]); x.free(place) {
			return place
		}
		x.left[i], x.left = x.left[last], x.left[:last]
	}
	return at(0, x.places)
}

// checkRoom checks that no cell must hold more entities than occupancy allows: first of the
// populations that have one on each cell, then in the regions of those at random places.
func (s *Scenario) checkRoom(m *making) error {
	most, all := int64(min(s.Entities.Occupancy, engine.MaxEntities)), int64(0)
	standing := make([]int32, s.lattice.Cells()) // by cell
	for _, random := range []bool{false, true} {
		for i := range s.Entities.Spawn {
			p := &s.Entities.Spawn[i]
			if random != (p.Count > 0) {
				continue
			}
			if err := m.add(p.steps(s.lattice)); err != nil {
				return err
			}
			places, cellOf := p.places(s.lattice)
			room := int64(0)
			for place := range places {
				cell := cellOf(place)
				if !random {
					standing[cell]++
					all++
				}
				if room += most - int64(standing[cell]); int64(standing[cell]) > most {
					return p.at.Errorf("with this population %d entities stand on cell %v; occupancy is %d", standing[cell], s.lattice.Coord(cell), most)
				}
			}
			if all += int64(p.Count); room < int64(p.Count) {
				return p.at.Errorf("this population has %d entities; with occupancy %d its region has room for %d", p.Count, most, room)
			}
			if room := int64(len(standing)) * most; all > room {
				return p.at.Errorf("with this population there are %d entities; with occupancy %d the world has room for %d", all, most, room)
			}
		}
	}
	return nil
}
