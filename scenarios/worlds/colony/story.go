package colony

import (
	"fmt"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
)

// A story describes what happens in a colony. It compares the columns before and after
// each tick.
type story struct {
	colony
	clock             colonyClock
	ids, kinds, cells fields.ID
	before            *engine.Snapshot
}

// Story implements [scenarios.StoryTeller].
func (p *colonyAI) Story(b *scenarios.Builder, w *engine.World) scenarios.Story {
	c, err := find(b, "story")
	if err != nil {
		return nil
	}
	s := &story{colony: c, clock: p.colonyClock, before: w.Snapshot()}
	s.ids, s.kinds, s.cells = engine.EntityColumns(len(b.Defs()))
	return s
}

// Observe implements [scenarios.Story], slot by slot.
func (s *story) Observe(w *engine.World) []scenarios.Happening {
	after := w.Snapshot()
	var list []scenarios.Happening
	for slot := range after.Len(s.ids) {
		was, is := uint64(s.before.At(s.ids, slot)), uint64(after.At(s.ids, slot))
		if was != 0 && was != is {
			what, why := s.death(slot)
			list = append(list, s.happening(w, was, s.before, slot, what, why))
		}
		if is == 0 {
			continue
		}
		if is != was && is>>20 > 1 {
			list = append(list, s.happening(w, is, after, slot, s.birth(w, after, slot), ""))
		}
		if what, why := s.deed(after, slot, is == was); what != "" {
			list = append(list, s.happening(w, is, after, slot, what, why))
		}
	}
	s.before.Release()
	s.before = after
	return list
}

func (s *story) happening(w *engine.World, id uint64, view *engine.Snapshot, slot int, what, why string) scenarios.Happening {
	day, minutes := s.clock.at(w.Tick())
	uuid := w.UUID(id)
	return scenarios.Happening{
		Tick: w.Tick(), Day: day, Time: fmt.Sprintf("%02d:%02d", minutes/60, minutes%60), Who: nameOf(uuid), UUID: uuid.String(),
		What: what, Where: w.Lattice().Coord(int(view.At(s.cells, slot))).String(), Why: why,
	}
}

func (s *story) death(slot int) (what, why string) {
	if s.before.At(s.health, slot) == 0 && s.before.At(s.hunger, slot) == most {
		return "starves", fmt.Sprintf("carries %s, energy %.0f", s.amount(s.before, slot, carriedFood), s.before.At(s.energy, slot))
	}
	return fmt.Sprintf("dies, %.0f days old,", s.before.At(s.age, slot)/float64(s.clock.Day)), ""
}

func (s *story) birth(w *engine.World, after *engine.Snapshot, slot int) string {
	parent := func(id fields.ID) string {
		at := int(after.At(id, slot))
		if at < 0 || at >= s.before.Len(s.ids) {
			return "somebody"
		}
		return nameOf(w.UUID(uint64(s.before.At(s.ids, at))))
	}
	return fmt.Sprintf("is born to %s and %s", parent(s.mother), parent(s.father))
}

// deed returns what a colonist begins, or a wall that is finished; empty if nothing is worth a line.
func (s *story) deed(after *engine.Snapshot, slot int, known bool) (what, why string) {
	does := int(after.At(s.action, slot))
	left := float64(0)
	if known {
		left = s.before.At(s.busy, slot)
	}
	if left > 0 {
		if does == build && after.At(s.busy, slot) == 0 {
			return "finishes a wall", ""
		}
		return "", ""
	}
	reason := int(after.At(s.reason, slot))
	why = s.because(after, slot, reason)
	switch {
	case does == idle && reason == tooWeak:
		return "gives up", why
	case does == sleep && !(known && s.before.At(s.action, slot) == sleep):
		return "falls asleep", why
	case does == eat:
		return "eats", why
	case does == gather && reason == needsWood:
		return "cuts wood", why
	case does == gather:
		return "gathers berries", why
	case does == craft:
		return "makes a tool", why
	case does == mine:
		return "digs for stone", why
	case does == build:
		return "begins a wall", why
	case does == speak:
		return "talks to those around", why
	}
	return "", ""
}

// because puts a reason into words, with the numbers behind it.
func (s *story) because(view *engine.Snapshot, slot, reason int) string {
	switch reason {
	case hungry:
		return fmt.Sprintf("hungry (%.0f)", view.At(s.hunger, slot))
	case tired:
		return fmt.Sprintf("tired (%.0f), melatonin %.0f", view.At(s.fatigue, slot), view.At(s.hormones, slot*hormones+melatonin))
	case needsFood:
		return fmt.Sprintf("hungry (%.0f), carries %s", view.At(s.hunger, slot), s.amount(view, slot, carriedFood))
	case needsWood:
		return "carries " + s.amount(view, slot, carriedWood)
	case needsStone:
		return "carries " + s.amount(view, slot, carriedStone)
	case needsTool:
		return "has no tool"
	case wantsWall:
		return "no shelter here"
	case lonely:
		return fmt.Sprintf("lonely (oxytocin %.0f)", view.At(s.hormones, slot*hormones+oxytocin))
	case tooWeak:
		return fmt.Sprintf("too weak (energy %.0f)", view.At(s.energy, slot))
	}
	return ""
}

// amount returns how much of something a colonist carries, such as 2 wood, or no wood.
func (s *story) amount(view *engine.Snapshot, slot, what int) string {
	names := [goods]string{carriedFood: "food", carriedWood: "wood", carriedStone: "stone"}
	if n := view.At(s.carried, slot*goods+what); n >= 1 {
		return fmt.Sprintf("%.0f %s", n, names[what])
	}
	return "no " + names[what]
}

// Label implements [scenarios.Labeller].
func (p *colonyAI) Label(field string) (components []string, cell bool) {
	switch field {
	case "hormones":
		return []string{"cortisol", "oxytocin", "dopamine", "melatonin", "testosterone", "estrogen", "insulin", "thyroid"}, false
	case "carried":
		return []string{"food", "wood", "stone", "tool"}, false
	case "decided":
		return []string{"idle", "eat", "sleep", "move", "gather", "craft", "mine", "build", "speak"}, false
	case "lives":
		return []string{"born", "starved", "died otherwise"}, false
	case "velocity":
		return []string{"rows", "columns"}, false
	}
	return nil, field == "target"
}

// EntityName returns what a colonist is called.
func (p *colonyAI) EntityName(u engine.UUID) string { return nameOf(u) }

// nameOf makes a name of three syllables of a UUID's first three bytes.
func nameOf(u engine.UUID) string {
	const consonants, vowels = "bdfghjklmnprstvz", "aeiou"
	var b strings.Builder
	for _, x := range u[:3] {
		b.WriteByte(consonants[x&15])
		b.WriteByte(vowels[int(x>>4)%len(vowels)])
	}
	name := b.String()
	return strings.ToUpper(name[:1]) + name[1:]
}
