package view

import (
	"errors"
	"slices"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// A search looks in which states of a recording a condition holds, tick by tick from where the recording begins. It compares each tick, as [index.Find]
// does, so what it finds was so in the run that was recorded.
type search struct {
	text      string
	statement *scenarios.Statement
	next      uint64 // the tick whose state is looked at next
	spans     []foundSpan
	held      uint64 // states
	unknown   uint64 // states in which the condition has no value, and so does not hold
	reason    string // in the first of them
	err       error  // why no later state is looked at
}

// A foundSpan is some ticks one after the other, in all of which the condition holds.
type foundSpan struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Found string `json:"found"` // what its terms come to in the first of them
}

// A findAnswer is what a search has found so far.
type findAnswer struct {
	Wrong     *wrongAnswer `json:"wrong,omitempty"`     // the condition cannot be understood; then there is nothing else
	Condition string       `json:"condition,omitempty"` // as it was understood
	Next      uint64       `json:"next"`                // the states before this tick have been looked at
	Done      bool         `json:"done,omitempty"`      // there are no others so far
	Held      uint64       `json:"held"`
	Unknown   uint64       `json:"unknown,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Error     string       `json:"error,omitempty"` // why no later state is looked at
	From      int          `json:"from"`            // the number of the first span of the answer
	Spans     []foundSpan  `json:"spans"`
}

// A wrongAnswer says what is wrong with a condition, and where: in the part of its text that is between before and after.
type wrongAnswer struct {
	Reason string `json:"reason"`
	Before string `json:"before"`
	Meant  string `json:"meant"`
	After  string `json:"after"`
}

const (
	mostSearches  = 4    // that a recording remembers
	mostSpans     = 1000 // in an answer
	longCondition = 4096 // bytes
)

// answerFind continues a search until the deadline, and answers with what it has found that the page does not have yet.
func (r *Recording) answerFind(q *request, a *answer, deadline time.Time) error {
	if len(q.Condition) > longCondition {
		return errors.New("the condition is too long")
	}
	s, err := r.searched(q.Condition)
	if e, ok := errors.AsType[*scenarios.StatementError](err); ok {
		at, end := min(max(e.At, 0), len(e.Text)), min(max(e.End, 0), len(e.Text))
		a.head = findAnswer{Wrong: &wrongAnswer{e.Reason, e.Text[:at], e.Text[at:max(at, end)], e.Text[max(at, end):]}, Spans: []foundSpan{}}
		return nil
	} else if err != nil {
		return err
	}
	for s.err == nil && s.next <= r.end() {
		if err := r.asked.to(s.next, deadline); err == errNotYet {
			break
		} else if err != nil {
			s.err = err
		} else if s.err = s.look(r); s.err == nil {
			s.next++
		}
		if time.Now().After(deadline) {
			break
		}
	}
	head := findAnswer{Condition: s.statement.String(), Next: s.next, Done: s.err != nil || s.next > r.end(), Held: s.held, Unknown: s.unknown, Reason: s.reason}
	if head.Done && r.Live == nil {
		r.asked.player = nil // its world is not needed any more
	}
	if s.err != nil {
		head.Error = plain(s.err)
	}
	head.From = min(max(q.Since-1, 0), len(s.spans)) // the last one that the page has may be longer now
	head.Spans = append([]foundSpan{}, s.spans[head.From:]...)
	if len(head.Spans) > mostSpans {
		head.Next, head.Done, head.Spans = head.Spans[mostSpans].First, false, head.Spans[:mostSpans]
	}
	a.head = head
	return nil
}

// searched returns the search for a condition. The error is a [*scenarios.StatementError].
func (r *Recording) searched(text string) (*search, error) {
	if i := slices.IndexFunc(r.searches, func(s *search) bool { return s.text == text }); i >= 0 {
		return r.searches[i], nil
	}
	statement, err := r.scenario.Statement(text)
	if err != nil {
		return nil, err
	}
	if len(r.searches) == mostSearches {
		r.searches = slices.Delete(r.searches, 0, 1)
	}
	s := &search{text: text, statement: statement, next: r.first}
	r.searches = append(r.searches, s)
	return s, nil
}

// look looks at the state of the next tick, which the cursor is at.
func (s *search) look(r *Recording) error {
	if r.asked.wrong(s.next) {
		return r.asked.mismatch(s.next)
	}
	w := r.asked.player.World
	if err := s.names(r, w, r.asked.player.Frame()); err != nil {
		return err
	}
	if s.next == r.first {
		s.statement.Start(w)
	}
	held, err := s.statement.Holds(w)
	if err != nil {
		if s.unknown++; s.unknown == 1 {
			s.reason = err.Error()
		}
		return nil
	}
	if !held {
		return nil
	}
	s.held++
	if n := len(s.spans); n > 0 && s.spans[n-1].Last+1 == s.next {
		s.spans[n-1].Last = s.next
		return nil
	}
	s.spans = append(s.spans, foundSpan{s.next, s.next, s.statement.Found()})
	return nil
}

// names returns an error if an entity that the condition names is another one than that of the scenario, or may be.
func (s *search) names(r *Recording, w *engine.World, f *replay.Frame) error {
	switch {
	case !s.statement.Names():
		return nil
	case s.next == r.first && r.first > 0:
		return r.scenario.CheckKinds(w)
	case s.next == r.first || s.next > r.scenario.LastNamed():
		return nil
	}
	var list []commands.Command
	list, err := f.Commands(list)
	if err != nil {
		return err
	}
	return r.scenario.CheckNames(s.next, list)
}
