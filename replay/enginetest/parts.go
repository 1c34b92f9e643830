package enginetest

import (
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A part is what a part of a tick left: hashes of what it may write.
type part struct {
	Kind, Name string
	Fields     []uint64
	Rest       uint64 // of parameters, events and random draws
}

// watch lets the run keep the parts of its latest tick. What comes after the last system is
// the same if all before it is, but for events that handlers take; so are the commands with
// which a tick begins if they are the same ones and there are no handlers.
func (r *run) watch(c *engine.Config) {
	writes := writesOf(r.world, c)
	rest := fields.ID(len(r.world.Defs()) - 1)
	for id := range rest {
		if len(c.Handlers) > 0 {
			writes[engine.PartCommands] = append(writes[engine.PartCommands], id)
		}
	}
	r.world.WatchParts(func(p *engine.Part) {
		ids := writes[p.Name]
		if p.Kind == engine.PartChecks || p.Kind == engine.PartEvents || len(ids) == 0 && p.Kind == engine.PartCommands {
			return
		}
		x := part{Kind: p.Kind, Name: p.Name, Rest: p.FieldHash(rest)}
		for _, id := range ids {
			x.Fields = append(x.Fields, p.FieldHash(id))
		}
		r.Parts = append(r.Parts, x)
	})
}

// writesOf returns what each propagator and system may write, by its name.
func writesOf(w *engine.World, c *engine.Config) map[string][]fields.ID {
	writes := make(map[string][]fields.ID)
	for _, p := range c.Propagators {
		spec := p.Spec(w.Lattice())
		writes[spec.Name] = written(&spec)
	}
	for _, s := range c.Systems {
		spec := s.Spec(w.Lattice())
		writes[spec.Name] = written(&spec)
	}
	return writes
}

// firstPart returns the first part of a tick that is another one in a second computation of
// it. If their orders differ, only fields are compared, which parts that change places do not
// share.
func firstPart(list, others []part, order bool) (kind, name string) {
	if len(list) == 0 || len(others) == 0 {
		return "", ""
	}
	for i := range list {
		a := &list[i]
		k := slices.IndexFunc(others, func(b part) bool { return a.Kind == b.Kind && a.Name == b.Name })
		if k < 0 || !slices.Equal(a.Fields, others[k].Fields) || !order && a.Rest != others[k].Rest {
			return a.Kind, a.Name
		}
	}
	if order {
		return "", ""
	}
	return engine.PartEvents, engine.PartEvents
}
