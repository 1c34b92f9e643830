package scenarios

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
)

// Begin lists the commands of the first tick, as CommandsAt(1) does. It returns an error that
// points at a population for which occupancy has no room, wherever random places fall; a
// recording with such a population can be replayed. step is that of [Scenario.Make].
func (s *Scenario) Begin(step func(share float64) error) ([]commands.Command, error) {
	m := &making{all: s.spawnWork + 1, step: step}
	if s.Entities != nil && s.Entities.Occupancy > 0 {
		m.all += s.spawnWork
		if err := s.checkRoom(m); err != nil {
			return nil, err
		}
	}
	list := s.commandsAt(1, m)
	return list, m.ended
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
