package view

import (
	"errors"
	"fmt"
)

// A Sweep is a sweep that a page shows, job by job. Package view/sweeps implements it.
type Sweep interface {
	// AnswerSweep answers an operation with an object, and with a picture if one was requested.
	AnswerSweep(op string, q *SweepQuery) (head any, picture []byte, err error)

	// Recordings opens what was recorded of a job: the one recording kept, or the two of a job with two different results.
	Recordings(job int) ([]*Recording, error)
}

// A SweepQuery holds the parameters of a request about a sweep.
type SweepQuery struct {
	Sort   string   `json:"sort"`   // rows: a column; "": job
	Down   bool     `json:"down"`   // rows: in descending order
	Status string   `json:"status"` // rows: a status, "not ok" or "differs"; "": all
	From   int      `json:"from"`   // rows: number of the first, from 0
	Count  int      `json:"count"`  // rows: maximum number
	Stats  []string `json:"stats"`  // plot: statistics; none: the first informative one
	By     []string `json:"by"`     // plot: one or two parameters; none: those that vary
	Job    int      `json:"job"`    // open
}

// An openAnswer gives the source numbers of a job's recordings.
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

// open opens the recordings of a job, in addition to what is already open.
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
