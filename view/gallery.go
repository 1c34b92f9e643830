package view

import (
	"errors"
	"fmt"

	"github.com/murksim/murksim/scenarios"
)

// A Gallery is what a session can begin.
type Gallery interface {
	// List lists what there is.
	List() []GalleryItem

	// Begin says how a run of a scenario begins, by its name. An empty seed is the scenario's; other numbers are
	// set by their paths.
	Begin(name, seed string, set map[string]float64) (Start, error)
}

// A GalleryItem is a scenario.
type GalleryItem struct {
	Name     string         `json:"name"`
	About    string         `json:"about,omitempty"`
	Space    string         `json:"space"`
	Seed     string         `json:"seed"`
	Ticks    uint64         `json:"ticks"`
	Settings []SettingAbout `json:"settings,omitempty"`
}

// A SettingAbout is a number of a scenario that a run can begin with another value of.
type SettingAbout struct {
	Path  string   `json:"path"`
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Whole bool     `json:"whole,omitempty"`
	Min   *float64 `json:"min,omitempty"`
	Max   *float64 `json:"max,omitempty"`
}

func aboutSettings(s *scenarios.Scenario) (list []SettingAbout) {
	for _, x := range s.Settings() {
		list = append(list, SettingAbout(x))
	}
	return list
}

// A galleryAnswer is what can be begun.
type galleryAnswer struct {
	Items []GalleryItem `json:"items"`
	Sweep bool          `json:"sweep,omitempty"` // there is a sweep instead
}

func (s *Session) gallery(q *request, a *answer) error {
	switch {
	case s.Sweep != nil && q.Op == "gallery":
		a.head = galleryAnswer{Items: []GalleryItem{}, Sweep: true}
		return nil
	case s.Gallery == nil:
		return errors.New("there is no gallery")
	case q.Op == "gallery":
		a.head = galleryAnswer{Items: s.Gallery.List()}
		return nil
	}
	c, err := s.Gallery.Begin(q.Scenario, q.Seed, q.Set)
	if err != nil {
		return err
	}
	return s.begin(c, nil, a)
}

// NewGalleryItem describes a scenario.
func NewGalleryItem(s *scenarios.Scenario) GalleryItem {
	return GalleryItem{s.Name, s.About, SpaceOf(s.Lattice()).Text, fmt.Sprint(s.Seed), s.Ticks, aboutSettings(s)}
}
