package view

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/scenarios"
)

// A comparison looks for the first tick at which two recordings have different hashes or commands.
type comparison struct {
	of      [2]*Recording
	first   uint64 // the tick before the first one that both can have
	tick    uint64 // the last tick compared so far
	readers [2]replay.Source
	frames  [2]replay.Frame
	begun   bool          // the state at which one begins and that of the other one in its tick are equal, or there is no such tick
	answer  *differAnswer // nil: still comparing
}

// A differAnswer says where two recordings start to differ.
type differAnswer struct {
	Tick   uint64 `json:"tick,omitempty"`   // the first with different hashes or commands, or that one of them lacks; 0: none
	Equal  bool   `json:"equal,omitempty"`  // all hashes, commands and scenarios are equal, and both end at the same tick
	Open   bool   `json:"open,omitempty"`   // a run is still going: equal so far
	Reason string `json:"reason,omitempty"` // why they are not equal, unless the hashes differ
}

// Comparable returns an error unless two recordings have the same space and fields.
func (r *Recording) Comparable(other *Recording) error {
	a, b := r.About(), other.About()
	if a.Space.Text != b.Space.Text {
		return fmt.Errorf("%s has the space %s, %s has %s; they cannot be compared", r.Name, a.Space.Text, other.Name, b.Space.Text)
	}
	if !slices.EqualFunc(a.Fields, b.Fields, func(x, y FieldAbout) bool {
		return x.Name == y.Name && x.Components == y.Components && x.Entities == y.Entities && slices.Equal(x.Values, y.Values)
	}) || !slices.EqualFunc(r.scenario.Fields, other.scenario.Fields, func(x, y scenarios.Field) bool { return x.Def().Element == y.Def().Element }) {
		return fmt.Errorf("%s and %s have other fields; they cannot be compared", r.Name, other.Name)
	}
	return nil
}

// differ continues the comparison until the deadline.
func (s *Session) differ(q *request, deadline time.Time) (*differAnswer, error) {
	c, err := s.compared(q)
	if err != nil {
		return nil, err
	}
	for c.answer == nil {
		if c.answer, err = c.begins(deadline); c.answer != nil || err != nil {
			return c.answer, err
		}
		for range 1000 {
			if a := c.next(); a != nil {
				if !a.Open {
					c.answer = a
				}
				return a, nil
			}
		}
		if time.Now().After(deadline) {
			return nil, errNotYet
		}
	}
	return c.answer, nil
}

// compared returns the comparison of the two recordings that a request names.
func (s *Session) compared(q *request) (*comparison, error) {
	var of [2]*Recording
	for i, n := range [...]int{q.Source, q.With} {
		x, err := s.source(n)
		if err != nil {
			return nil, err
		}
		ok := false
		if of[i], ok = x.(*Recording); !ok || q.With == q.Source {
			return nil, errors.New("two recordings can be compared, and nothing else")
		}
	}
	c := s.comparisons[of]
	if c == nil {
		var err error
		if c, err = compare(of); err != nil {
			return nil, err
		}
		s.comparisons[of] = c
	}
	return c, nil
}

// compare starts a comparison.
func compare(of [2]*Recording) (*comparison, error) {
	if err := of[0].Comparable(of[1]); err != nil {
		return nil, err
	}
	c := &comparison{of: of}
	for i, r := range of {
		var err error
		if c.readers[i], err = r.frames(); err != nil {
			return nil, err
		}
		c.first = max(c.first, r.first)
	}
	c.tick = c.first
	return c, nil
}

// begins compares the state at which one recording begins with that of the other one in its tick, as soon as the other one has it. Neither of them has a frame
// of that state, of both. It returns nil if the states are equal, or cannot be compared yet.
func (c *comparison) begins(deadline time.Time) (*differAnswer, error) {
	later := c.of[0]
	if c.of[1].first > later.first {
		later = c.of[1]
	}
	switch {
	case c.begun:
		return nil, nil
	case c.of[0].first == c.of[1].first: // see ofOneState
		c.begun = true
		return nil, nil
	case min(c.of[0].end(), c.of[1].end()) < c.first:
		return nil, nil
	}
	var states [2][]byte
	for i, r := range c.of {
		err := r.history.to(c.first, deadline)
		if err == errNotYet {
			return nil, err
		}
		if err == nil {
			states[i], err = r.history.player.World.Save(nil)
		}
		if err != nil {
			return &differAnswer{Reason: fmt.Sprintf("the state of %s in tick %d, where the other one begins, cannot be computed: %s", r.Name, c.first, plain(err))}, nil
		}
	}
	found, err := diff.States(later.history.player.World, states[0], states[1])
	if err != nil {
		return nil, err
	}
	for _, d := range found.Differences {
		if !strings.HasPrefix(d.Path, "/meta/") { // which says who computed it
			return &differAnswer{Tick: c.first, Reason: later.Name + " begins there at another state"}, nil
		}
	}
	c.begun = true
	return nil, nil
}

// next reads the next frames and compares them. It returns nil if they are equal so far. It ignores ticks at the start
// that only one recording has.
func (c *comparison) next() *differAnswer {
	var ended [2]bool
	var ends [2]uint64
	problems := [2]error{c.of[0].problem, c.of[1].problem}
	for i, r := range c.of {
		last, open := r.last, false
		if r.Live != nil {
			now := r.Live.state()
			if last, open = now.Last, !now.Ended; r.Live.grows && now.Error != "" {
				problems[i] = errors.New(now.Error)
			}
		}
		ends[i] = last
		if ended[i] = c.tick >= last; ended[i] && open {
			return &differAnswer{Equal: true, Open: true}
		}
	}
	for i, r := range c.of {
		if ended[i] && problems[i] != nil {
			return &differAnswer{Reason: fmt.Sprintf("%s cannot be read after tick %d, up to which nothing differs: %s",
				r.Name, c.tick, plain(problems[i]))}
		}
	}
	switch i := slices.Index(ended[:], true); {
	case i >= 0 && c.tick == c.first && (ends[0] != c.first || ends[1] != c.first):
		return &differAnswer{Reason: "there is no tick that both have"}
	case ended[0] && ended[1] && !c.ofOneWorld():
		return &differAnswer{Reason: "all ticks are equal, the scenarios are not"}
	case ended[0] && ended[1] && !c.ofOneState():
		return &differAnswer{Reason: "all ticks are equal, the states at which the recordings begin are not"}
	case ended[0] && ended[1]:
		return &differAnswer{Equal: true}
	case i >= 0:
		return &differAnswer{Tick: c.tick + 1, Reason: fmt.Sprintf("%s ends with tick %d", c.of[i].Name, c.tick)}
	}
	behind := false
	for i, r := range c.readers {
		f := &c.frames[i]
		if f.Tick > c.tick {
			continue
		}
		if err := r.Next(f); err != nil {
			return &differAnswer{Tick: c.tick + 1, Reason: fmt.Sprintf("%s cannot be read: %v", c.of[i].Name, err)}
		}
		behind = behind || f.Tick <= c.tick // this one starts earlier than the other
	}
	if behind {
		return nil
	}
	c.tick++
	others := !diff.SameRecords(c.frames[0].Records, c.frames[1].Records)
	switch same := c.frames[0].Hash == c.frames[1].Hash; {
	case same && others:
		return &differAnswer{Tick: c.tick, Reason: "other commands, the same hash"}
	case others:
		return &differAnswer{Tick: c.tick, Reason: "other commands"}
	case !same:
		return &differAnswer{Tick: c.tick}
	}
	return nil
}

// ofOneWorld reports whether both recordings have the same scenario and seed, wherever they begin.
func (c *comparison) ofOneWorld() bool {
	a, b := &c.of[0].head, &c.of[1].head
	return a.Seed == b.Seed && bytes.Equal(a.World(), b.World())
}

// ofOneState reports whether both recordings begin at one state, unless they begin at different ticks: then begins compares them.
func (c *comparison) ofOneState() bool {
	a, errA := c.of[0].head.Begin()
	b, errB := c.of[1].head.Begin()
	return errA == nil && errB == nil && (a == nil || b == nil || a.Tick != b.Tick || a.SHA256 == b.SHA256)
}
