package scenarios

import (
	"reflect"
	"strconv"

	"github.com/murksim/murksim/scenarios/document"
)

// Decode reads a scenario from a document. Errors in it are of the type
// [*document.Error].
func (r *Registry) Decode(root *document.Node) (*Scenario, error) {
	if form := root.Get("murksim"); form != nil && form.IsNumber() && form.Raw != strconv.Itoa(formVersion) {
		return nil, form.Errorf("the scenario is of form %s; this murksim knows form %d", document.Shorten(form.Raw), formVersion)
	}
	s := &Scenario{}
	d := decoder{registry: r, s: s}
	return s, d.decode(root, reflect.ValueOf(s).Elem())
}

// CheckReached returns an error if the document has commands or expectations for
// ticks that the scenario never comes to, unless its number of ticks comes from
// another source, or commands that end before they begin. [Registry.Decode] takes
// them, because recordings may have such.
func (s *Scenario) CheckReached() error {
	ticks := s.at.Get("ticks")
	replaced := ticks != nil && ticks.Source != s.at.Source
	never := func(tick uint64) bool { return tick > s.Ticks && !replaced }
	for i := range s.Commands {
		c := &s.Commands[i]
		first, key := c.first()
		switch at := c.at.At(key); {
		case c.Until != 0 && first > c.Until:
			return at.Errorf("the command is never done: its first tick is %d, the last %d", first, c.Until)
		case never(first):
			return at.Errorf("tick %d is never reached: the scenario has %d ticks", first, s.Ticks)
		}
	}
	for i := range s.Expect {
		if e := &s.Expect[i]; never(e.Tick) {
			return e.at.At("tick").Errorf("tick %d is never reached: the scenario has %d ticks", e.Tick, s.Ticks)
		}
	}
	return nil
}
