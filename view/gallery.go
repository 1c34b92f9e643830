package view

import (
	"errors"
	"fmt"

	"github.com/murksim/murksim/scenarios"
)

// A Gallery lists the scenarios that a session can start.
type Gallery interface {
	// List returns the scenarios.
	List() []GalleryItem

	// Begin returns how to start a run of the named scenario. An empty seed means the scenario's own. Set gives
	// other numbers new values, by path.
	Begin(name, seed string, set map[string]float64) (Start, error)
}

// A GalleryItem describes a scenario.
type GalleryItem struct {
	Name     string         `json:"name"`
	About    string         `json:"about,omitempty"`
	Space    string         `json:"space"`
	Seed     string         `json:"seed"`
	Ticks    uint64         `json:"ticks"`
	Settings []SettingAbout `json:"settings,omitempty"`
}

// A SettingAbout is a number in a scenario that a run may start with a different value.
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

// A galleryAnswer lists what can be started.
type galleryAnswer struct {
	Items []GalleryItem `json:"items"`
	Sweep bool          `json:"sweep,omitempty"` // the session shows a sweep instead
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
