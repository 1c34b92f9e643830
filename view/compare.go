package view

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/murksim/murksim/replay"
)

// A comparison looks for the first tick of which two recordings have different hashes.
type comparison struct {
	of      []*Recording
	readers [2]*replay.Reader
	frames  [2]replay.Frame
	answer  *differAnswer // nil: it is under way
}

// A differAnswer says where two recordings begin to differ.
type differAnswer struct {
	Tick   uint64 `json:"tick,omitempty"`   // the first that has another hash, or that one of them does not have
	Equal  bool   `json:"equal,omitempty"`  // all hashes are, and both end with the same tick
	Reason string `json:"reason,omitempty"` // why it is not the hash
}

// Comparable returns an error unless two recordings have the same space and fields.
func (r *Recording) Comparable(other *Recording) error {
	a, b := r.About(), other.About()
	if a.Space.Text != b.Space.Text {
		return fmt.Errorf("%s has the space %s, %s has %s; they cannot be compared", r.Name, a.Space.Text, other.Name, b.Space.Text)
	}
	if !slices.EqualFunc(a.Fields, b.Fields, func(x, y FieldAbout) bool {
		return x.Name == y.Name && x.Components == y.Components && x.Entities == y.Entities && slices.Equal(x.Values, y.Values)
	}) {
		return fmt.Errorf("%s and %s have other fields; they cannot be compared", r.Name, other.Name)
	}
	return nil
}

// differ goes on with the comparison until the deadline.
func (s *Session) differ(deadline time.Time) (*differAnswer, error) {
	if s.comparison == nil {
		c, err := compare(s.sources)
		if err != nil {
			return nil, err
		}
		s.comparison = c
	}
	c := s.comparison
	for c.answer == nil {
		for range 1000 {
			if c.answer = c.next(); c.answer != nil {
				return c.answer, nil
			}
		}
		if time.Now().After(deadline) {
			return nil, errNotYet
		}
	}
	return c.answer, nil
}

// compare begins a comparison.
func compare(sources []Source) (*comparison, error) {
	c := &comparison{}
	for _, s := range sources {
		if r, ok := s.(*Recording); ok {
			c.of = append(c.of, r)
		}
	}
	if len(c.of) != 2 {
		return nil, errors.New("there are no two recordings to compare")
	}
	for i, r := range c.of {
		var err error
		if c.readers[i], err = replay.NewReader(io.NewSectionReader(r.Recording, 0, r.Size)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// next compares the next frames; nil: they are equal.
func (c *comparison) next() *differAnswer {
	of := c.of
	var ends [2]bool
	for i, r := range c.readers {
		ends[i] = r.Next(&c.frames[i]) != nil || c.frames[i].Tick > of[i].last
	}
	a, b := &c.frames[0], &c.frames[1]
	switch {
	case ends[0] && ends[1]:
		return &differAnswer{Equal: true}
	case ends[0] || ends[1]:
		i := 0
		if ends[1] {
			i = 1
		}
		return &differAnswer{Tick: of[i].last + 1, Reason: fmt.Sprintf("%s ends with tick %d", of[i].Name, of[i].last)}
	case a.Tick != b.Tick:
		return &differAnswer{Tick: max(a.Tick, b.Tick), Reason: "they begin at different ticks"}
	case a.Hash != b.Hash:
		return &differAnswer{Tick: a.Tick}
	}
	return nil
}
