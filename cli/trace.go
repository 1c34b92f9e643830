package cli

import (
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/diff"
)

// A partView is what a world held after a part of a tick.
type partView struct {
	Part   string      `json:"part"` // its name
	Kind   string      `json:"kind"` // see [engine.PartCommands]
	Hash   string      `json:"hash"`
	Fields []fieldHash `json:"fields"`
}

// A trace is what a world held after each part of a tick: the hashes, and of what may have to
// be shown the values.
type trace struct {
	parts   []partView
	columns []map[int]*fields.Column // that changed, by part and field; nil if the values are not kept
	base    *trace                   // nil: columns are compared with the part before; else with the same part of the base
	apart   bool                     // from the base
	bytes   int                      // of the columns
	limit   int                      // from which on no more columns are kept
}

// mostTraced is how much a trace keeps of columns, in bytes.
const mostTraced = 256 << 20

// look is called with each part: see [engine.World.WatchParts].
func (t *trace) look(w *engine.World) func(*engine.Part) {
	return func(p *engine.Part) {
		view := partView{Part: p.Name, Kind: p.Kind, Hash: words.Hash16(p.Hash())}
		columns := make(map[int]*fields.Column)
		var with []fieldHash // with which it is compared
		if t.base == nil && len(t.parts) > 0 {
			with = t.parts[len(t.parts)-1].Fields
		} else if t.base != nil && len(t.parts) < len(t.base.parts) {
			with = t.base.parts[len(t.parts)].Fields
		}
		for i, d := range w.Defs() {
			f := fieldHash{d.Name, words.Hash16(p.FieldHash(fields.ID(i)))}
			view.Fields = append(view.Fields, f)
			if with != nil && with[i] == f {
				continue
			}
			columns[i] = nil
			if !t.apart && t.bytes < t.limit {
				c := p.Column(fields.ID(i))
				columns[i] = &c
				t.bytes += c.Len() * d.Element.Size()
			}
		}
		t.parts, t.columns = append(t.parts, view), append(t.columns, columns)
		t.apart = t.apart || t.base != nil && len(columns) > 0
	}
}

// column returns a field as a part left it. It is not known behind the first part that differs
// from the base, nor if the trace was full when the part changed it.
func (t *trace) column(part, field int) (c fields.Column, ok bool) {
	for ; part >= 0; part-- {
		kept, changed := t.columns[part][field]
		switch {
		case kept != nil:
			return *kept, true
		case changed:
			return c, false
		case t.base != nil:
			return t.base.column(part, field)
		}
	}
	return c, false
}

// changing names the parts that changed a field.
func (t *trace) changing(field string) (names []string) {
	for i := range t.parts {
		if i > 0 && slices.Contains(otherFields(t.parts[i].Fields, t.parts[i-1].Fields), field) {
			names = append(names, t.parts[i].Part)
		}
	}
	return names
}

// traced runs a tick and returns its trace, which has values only as far as they differ from
// a base, if there is one.
func traced(w *engine.World, base *trace, tick func() error) (*trace, error) {
	t := &trace{base: base, limit: mostTraced}
	w.WatchParts(t.look(w))
	defer w.WatchParts(nil)
	return t, tick()
}

// A partDifference is the first part of a tick that differs.
type partDifference struct {
	Side   string       `json:"side,omitempty"`  // a or b: between two of its computations; else between the sides
	Part   string       `json:"part,omitempty"`  // of a; left out if it has no more
	Other  string       `json:"other,omitempty"` // of b, where no field is known to differ; left out if it has no more
	Kind   string       `json:"kind,omitempty"`
	Index  int          `json:"index"`            // from 1
	Of     int          `json:"of"`               // parts
	Fields []string     `json:"fields,omitempty"` // that differ
	State  *diff.Report `json:"state,omitempty"`
}

// firstPart returns the first part in which two ticks differ, or nil.
func firstPart(a, b []partView) *partDifference {
	for i := range max(len(a), len(b)) {
		d := &partDifference{Index: i + 1, Of: max(len(a), len(b))}
		if i < len(a) {
			d.Part, d.Kind = a[i].Part, a[i].Kind
		}
		if i >= len(a) || i >= len(b) || a[i].Part != b[i].Part || a[i].Kind != b[i].Kind {
			if i < len(b) {
				d.Other = b[i].Part
				if d.Other == d.Part {
					d.Other += " (" + b[i].Kind + ")"
				}
			}
			return d
		}
		if d.Fields = otherFields(a[i].Fields, b[i].Fields); len(d.Fields) > 0 {
			return d
		}
		if a[i].Hash != b[i].Hash {
			d.Other = d.Part
			return d
		}
	}
	return nil
}

// values compares the values of the fields that differ, if both traces have all of them.
func (d *partDifference) values(w *engine.World, tick uint64, a, b *trace) {
	defs := w.Defs()
	if n := len(defs); defs[n-1].Name == engine.WorldRest {
		defs = defs[:n-1]
	}
	ofEntities := slices.ContainsFunc(defs, func(f fields.Def) bool {
		return f.Domain == fields.Entities && slices.Contains(d.Fields, f.Name)
	})
	x, y := make([]fields.Column, len(defs)), make([]fields.Column, len(defs))
	for i := range defs {
		if !slices.Contains(d.Fields, defs[i].Name) && !(ofEntities && defs[i].Domain == fields.Entities) {
			continue
		}
		var known, also bool
		x[i], known = a.column(d.Index-1, i)
		if y[i], also = b.column(d.Index-1, i); !known || !also {
			return
		}
	}
	d.State = diff.Columns(w, tick, x, y)
}
