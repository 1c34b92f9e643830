package scenarios

import (
	"fmt"
	"iter"

	"github.com/murksim/murksim/engine"
)

// A StoryTeller is the parameters of a component that can tell what happens in the
// scenario's world. It returns nil if there is nothing to tell of.
type StoryTeller interface {
	Story(b *Builder, w *engine.World) Story
}

// A Story describes what happens in a world. It only looks and changes nothing.
type Story interface {
	// Observe returns what happened in the tick just computed. Each tick must be observed.
	Observe(w *engine.World) []Happening
}

// A Happening is a line of a story.
type Happening struct {
	Tick  uint64 `json:"tick"`
	Day   uint64 `json:"day,omitempty"`  // from 1; 0 in a world without days
	Time  string `json:"time,omitempty"` // of the day: "14:06"
	Who   string `json:"who"`
	UUID  string `json:"uuid"`
	What  string `json:"what"`
	Where string `json:"where"` // a coordinate
	Why   string `json:"why,omitempty"`
}

// String returns the line for people.
func (h *Happening) String() string {
	when := fmt.Sprintf("tick %d", h.Tick)
	if h.Day != 0 {
		when = fmt.Sprintf("day %d, %s", h.Day, h.Time)
	}
	s := fmt.Sprintf("%s  %s %s at %s", when, h.Who, h.What, h.Where)
	if h.Why != "" {
		s += ": " + h.Why
	}
	return s
}

// Story begins the story of the scenario's world; nil if none of its components has one.
func (s *Scenario) Story(w *engine.World) Story {
	for t, b := range Parts[StoryTeller](s) {
		if story := t.Story(b, w); story != nil {
			return story
		}
	}
	return nil
}

// A Labeller is the parameters of a component that says what people are to read of a field that it uses: the names of a vector's components,
// and whether a number is the rank of a cell. Of other fields it says nothing.
type Labeller interface {
	Label(field string) (components []string, cell bool)
}

// Label returns what a component says about a field.
func (s *Scenario) Label(field string) (components []string, cell bool) {
	for l := range Parts[Labeller](s) {
		if components, cell = l.Label(field); components != nil || cell {
			return components, cell
		}
	}
	return nil, false
}

// Parts goes over the parameters of the scenario's components that are a T, which a program
// may define for what it wants of them: those of systems, then of propagators. The Builder is the
// one to make things of them with.
func Parts[T any](s *Scenario) iter.Seq2[T, *Builder] {
	return func(yield func(T, *Builder) bool) {
		b := &Builder{s: s}
		for _, list := range [...][]Instance{s.Systems, s.Propagators} {
			for i := range list {
				if t, ok := list[i].params.(T); ok && !yield(t, b) {
					return
				}
			}
		}
	}
}
