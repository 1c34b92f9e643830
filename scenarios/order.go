package scenarios

import (
	"reflect"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/scenarios/document"
)

// Order reads what a person orders while a world runs: an object of JSON with the keys of a command in a
// scenario, but for those that say when, which is the given tick, and a spawn's name. It returns the commands to
// be submitted. Priority 0 is the system's.
func (s *Scenario) Order(text []byte, tick uint64) ([]commands.Command, error) {
	n, err := document.ParseJSON("the command", text)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"tick", "every", "from", "until"} {
		if at := n.Get(key); at != nil {
			return nil, at.Errorf("an order has no %q: it is done in the next tick", key)
		}
	}
	if n.Kind == document.Mapping {
		n.Kids = append(n.Kids, &document.Node{Raw: "tick"}, &document.Node{Raw: "1"})
	}
	c, err := s.ReadCommand(n)
	if err != nil {
		return nil, err
	}
	if c.Priority == commands.PrioritySystem {
		return nil, n.At("priority").Errorf("priority 0 is the system's")
	}
	if c.ExpiresAfter != nil {
		for i := range c.orders {
			c.orders[i].Expires = tick + *c.ExpiresAfter
		}
	}
	return c.orders, nil
}

// ReadCommand reads a command as "commands" of the scenario has them, which does not become a part of it: it may name entities, and names none.
func (s *Scenario) ReadCommand(n *document.Node) (*Command, error) {
	own := *s
	own.orders = 0
	c, d := new(Command), decoder{s: &own}
	if err := d.decode(n, reflect.ValueOf(c).Elem()); err != nil {
		return nil, err
	}
	switch e := c.entity(); {
	case c.named():
		return nil, n.Get("spawn").At("name").Errorf("a name is given in a scenario only; leave it out")
	case e != nil && e.Name != "":
		if _, err := own.resolve(e); err != nil {
			return nil, err
		}
		c.orders = nil
		if err := c.order(&own, n); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Names reports whether the command calls an entity by the name that the scenario gives it.
func (c *Command) Names() bool {
	e := c.entity()
	return e != nil && e.Name != ""
}
