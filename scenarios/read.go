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
	if begin := root.Get("begin"); begin != nil {
		e := begin.Errorf(noBegin)
		e.Hint = "run SCENARIO --state FILE begins at a saved state"
		return nil, e
	}
	s := &Scenario{}
	d := decoder{registry: r, s: s}
	return s, d.decode(root, reflect.ValueOf(s).Elem())
}

// noBegin is what is wrong with a scenario that has the key of a recording's descriptor.
const noBegin = `"begin" is not a key of a scenario; only recordings have it, last in their descriptor`

// CheckCommands returns an error if the document has commands that end before they begin.
// [Registry.Decode] takes them, because recordings may have such.
func (s *Scenario) CheckCommands() error {
	for i := range s.Commands {
		c := &s.Commands[i]
		if first, key := c.first(); c.Until != 0 && first > c.Until {
			return c.at.At(key).Errorf("the command is never done: its first tick is %d, the last %d", first, c.Until)
		}
	}
	return nil
}

// Unreached returns how many of the document's commands are for ticks after the scenario's
// last, and the first such tick.
func (s *Scenario) Unreached() (commands int, tick uint64) {
	for i := range s.Commands {
		if first, _ := s.Commands[i].first(); first > s.Ticks {
			if commands++; tick == 0 || first < tick {
				tick = first
			}
		}
	}
	return commands, tick
}
