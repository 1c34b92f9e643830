package minewars

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
)

// names are those of the players in a story: the values of the column owner.
var names = [...]string{"nobody", "green", "orange", "blue", "pink", "yellow", "navy"}

// nameOf returns the name of a player.
func nameOf(p int) string { return names[min(max(p, 0), len(names)-1)] }

// A story tells who takes cities, who steps on mines, and who goes out of the game. It compares the columns
// before and after each tick.
type story struct {
	teller
	owner    []int64 // before the tick
	tripped  []int64 // likewise
	standing [len(names)]int64
	stunned  [len(names)]int64
}

// Label implements [scenarios.Labeller].
func (p *gameParams) Label(field string) (components []string, cell bool) {
	return nil, field == "target" || field == "site" || field == "place"
}

// Story implements [scenarios.StoryTeller].
func (p *gameParams) Story(b *scenarios.Builder, w *engine.World) scenarios.Story {
	g, err := newGame(p, b, "")
	if err != nil {
		return nil
	}
	s := &story{teller: teller{game: g}}
	s.read(w)
	s.remember()
	return s
}

func (s *story) remember() {
	s.owner = append(s.owner[:0], s.column[colOwner]...)
	s.tripped = append(s.tripped[:0], s.column[colTripped]...)
	for p := 1; p <= s.Players; p++ {
		if slot := s.slot(kindPlayer, p); slot >= 0 {
			s.standing[p], s.stunned[p] = s.at(colStanding, slot), s.at(colStunned, slot)
		}
	}
}

// Observe implements [scenarios.Story]: cities in their order, then players in theirs. Tiles and cities are
// named as orders and messages name them.
func (s *story) Observe(w *engine.World) []scenarios.Happening {
	s.read(w)
	var list []scenarios.Happening
	tell := func(p, slot int, what string, where int, why string) {
		at := s.tileOf(where)
		list = append(list, scenarios.Happening{Tick: w.Tick(), Who: nameOf(p), UUID: w.UUID(s.all.ID[slot]).String(), What: what,
			Where: fmt.Sprintf("[%d, %d]", at.Y, at.X), Why: why})
	}
	for c := 1; c <= s.Cities; c++ {
		city := s.slot(kindCity, c)
		if city < 0 {
			continue
		}
		at := int(s.all.Cell[city])
		was, is := s.owner[at]>>16, s.at(colOwner, at)
		if is == was || is < 1 || is > int64(s.Players) {
			continue
		}
		p := int(is)
		slot := s.slot(kindPlayer, p)
		switch {
		case slot < 0:
		case was == 0 && w.Tick() == 1:
			tell(p, slot, fmt.Sprintf("begins with city %d", c-1), at, "")
		case was >= 1 && was <= int64(s.Players):
			tell(p, slot, fmt.Sprintf("conquers city %d", c-1), at, "it was "+nameOf(int(was))+"'s")
		default:
			tell(p, slot, fmt.Sprintf("takes city %d", c-1), at, "")
		}
	}
	for p := 1; p <= s.Players; p++ {
		if slot := s.slot(kindPlayer, p); slot >= 0 {
			s.fate(p, slot, tell)
		}
	}
	s.remember()
	return list
}

// fate tells what has become of a player.
func (s *story) fate(p, slot int, tell func(p, slot int, what string, where int, why string)) {
	home := int(s.all.Cell[slot])
	standing, stunned := s.at(colStanding, slot), s.at(colStunned, slot)
	switch {
	case standing == s.standing[p]:
	case standing == lost:
		left := "1 is left"
		if n := s.left(); n != 1 {
			left = fmt.Sprintf("%d are left", n)
		}
		tell(p, slot, "is out of the game; the first city was", home, left)
	case standing == won:
		tell(p, slot, "wins the game; the first city was", home, fmt.Sprintf("%d tiles", s.count(p)))
	}
	if stunned != 0 && stunned != s.stunned[p] {
		for _, cell := range s.tiles {
			if s.tripped[cell]>>16 == int64(p) && s.at(colTripped, int(cell)) == 0 {
				home = int(cell)
			}
		}
		tell(p, slot, "is stunned by a mine", home, "")
	}
}

// left counts the players who are in the game.
func (s *story) left() (n int) {
	for p := 1; p <= s.Players; p++ {
		if slot := s.slot(kindPlayer, p); slot >= 0 && s.at(colStanding, slot) != lost {
			n++
		}
	}
	return n
}

// count returns the number of a player's tiles.
func (s *story) count(p int) (n int) {
	for _, cell := range s.tiles {
		if s.at(colOwner, int(cell)) == int64(p) {
			n++
		}
	}
	return n
}
