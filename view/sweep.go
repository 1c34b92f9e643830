package view

import (
	"errors"
	"fmt"
)

// A Sweep is a sweep that a page shows, job by job; package view/sweeps has it.
type Sweep interface {
	// AnswerSweep answers an operation: an object, and a picture if it was asked for one.
	AnswerSweep(op string, q *SweepQuery) (head any, picture []byte, err error)

	// Recordings opens what was recorded of a job: the recording that was kept, or the two of a job that came to different ends.
	Recordings(job int) ([]*Recording, error)
}

// A SweepQuery is what a page asks about a sweep, beside the operation.
type SweepQuery struct {
	Sort   string   `json:"sort"`   // rows: a column; "": job
	Down   bool     `json:"down"`   // rows: from the greatest on
	Status string   `json:"status"` // rows: a status, or not ok, or differs; "": all
	From   int      `json:"from"`   // rows: the first, from 0
	Count  int      `json:"count"`  // rows: how many at most
	Stats  []string `json:"stats"`  // plot: statistics; none: the first that tells something
	By     []string `json:"by"`     // plot: one parameter or two; none: what differs
	Job    int      `json:"job"`    // open
}

// An openAnswer says where the recordings of a job are.
type openAnswer struct {
	Sources []int `json:"sources"`
}

// sweep answers an operation about the sweep.
func (s *Session) sweep(q *request, a *answer) error {
	if s.Sweep == nil {
		return errors.New("there is no sweep")
	}
	if q.Op == "open" {
		return s.open(q, a)
	}
	head, picture, err := s.Sweep.AnswerSweep(q.Op, &q.Query)
	if a.head = head; picture != nil {
		a.begin("picture", "u8", len(picture))
		a.data = append(a.data, picture...)
	}
	return err
}

// open opens the recordings of a job, beside what is open already.
func (s *Session) open(q *request, a *answer) error {
	list, err := s.Sweep.Recordings(q.Query.Job)
	if err != nil {
		return err
	}
	head := &openAnswer{Sources: []int{}}
	var before Source
	for _, r := range list {
		need, err := r.scenario.Memory()
		if err == nil {
			need *= WorldsOfSource
			err = s.makeRoom(r.Name, need, before)
		}
		if err != nil {
			return fmt.Errorf("job %d: %w", q.Query.Job, err)
		}
		head.Sources = append(head.Sources, len(s.sources))
		s.add(r, need, true)
		before = r
	}
	a.head = head
	return nil
}
