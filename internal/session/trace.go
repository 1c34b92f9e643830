package session

import (
	"bytes"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/diff"
)

// A KeptTick holds what is needed to compute a tick of a world again.
type KeptTick struct {
	State  []byte // before it; nil for a world that cannot be saved
	Rest   uint64
	Inputs []commands.Command
}

// KeepTick keeps the state of a world.
func KeepTick(w *engine.World) *KeptTick {
	k := new(KeptTick)
	if state, err := w.Save(nil); err == nil {
		k.State, k.Rest = state, w.Column(fields.ID(len(w.Defs()) - 1)).Uint64[0]
	}
	return k
}

// Take keeps the inputs of the next tick.
func (k *KeptTick) Take(inputs []commands.Command) {
	for _, c := range inputs {
		c.Data = bytes.Clone(c.Data)
		k.Inputs = append(k.Inputs, c)
	}
}

// OtherFields names the fields whose hashes differ, of those that both have.
func OtherFields(a, b []FieldHash) (names []string) {
	for _, f := range a {
		if k := slices.IndexFunc(b, func(g FieldHash) bool { return g.Name == f.Name }); k >= 0 && b[k].Hash != f.Hash {
			names = append(names, f.Name)
		}
	}
	return names
}

// A FieldHash is the FNV-1a hash of a field's elements.
type FieldHash struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
}

// A PartView is what a world held after a part of a tick.
type PartView struct {
	Part   string      `json:"part"` // its name
	Kind   string      `json:"kind"` // see [engine.PartCommands]
	Hash   string      `json:"hash"`
	Fields []FieldHash `json:"fields"`
}

// A Trace is what a world held after each part of a tick: the hashes, and of what may have to
// be shown the values.
type Trace struct {
	Parts   []PartView
	columns []map[int]*fields.Column // that changed, by part and field; nil if the values are not kept
	Base    *Trace                   // nil: columns are compared with the part before; else with the same part of the base
	apart   bool                     // from the base
	Bytes   int                      // of the columns
	Limit   int                      // from which on no more columns are kept
}

// MostTraced is how much a trace keeps of columns, in bytes.
const MostTraced = 256 << 20

// Look is called with each part: see [engine.World.WatchParts].
func (t *Trace) Look(w *engine.World) func(*engine.Part) {
	return func(p *engine.Part) {
		view := PartView{Part: p.Name, Kind: p.Kind, Hash: words.Hash16(p.Hash())}
		columns := make(map[int]*fields.Column)
		var with []FieldHash // with which it is compared
		if t.Base == nil && len(t.Parts) > 0 {
			with = t.Parts[len(t.Parts)-1].Fields
		} else if t.Base != nil && len(t.Parts) < len(t.Base.Parts) {
			with = t.Base.Parts[len(t.Parts)].Fields
		}
		for i, d := range w.Defs() {
			f := FieldHash{d.Name, words.Hash16(p.FieldHash(fields.ID(i)))}
			view.Fields = append(view.Fields, f)
			if with != nil && with[i] == f {
				continue
			}
			columns[i] = nil
			if !t.apart && t.Bytes < t.Limit {
				c := p.Column(fields.ID(i))
				columns[i] = &c
				t.Bytes += c.Len() * d.Element.Size()
			}
		}
		t.Parts, t.columns = append(t.Parts, view), append(t.columns, columns)
		t.apart = t.apart || t.Base != nil && len(columns) > 0
	}
}

// Column returns a field as a part left it. It is not known behind the first part that differs
// from the base, nor if the trace was full when the part changed it.
func (t *Trace) Column(part, field int) (c fields.Column, ok bool) {
	for ; part >= 0; part-- {
		kept, changed := t.columns[part][field]
		switch {
		case kept != nil:
			return *kept, true
		case changed:
			return c, false
		case t.Base != nil:
			return t.Base.Column(part, field)
		}
	}
	return c, false
}

// Changing names the parts that changed a field.
func (t *Trace) Changing(field string) (names []string) {
	for i := range t.Parts {
		if i > 0 && slices.Contains(OtherFields(t.Parts[i].Fields, t.Parts[i-1].Fields), field) {
			names = append(names, t.Parts[i].Part)
		}
	}
	return names
}

// Traced runs a tick and returns its trace, which has values only as far as they differ from
// a base, if there is one.
func Traced(w *engine.World, base *Trace, tick func() error) (*Trace, error) {
	t := &Trace{Base: base, Limit: MostTraced}
	w.WatchParts(t.Look(w))
	defer w.WatchParts(nil)
	return t, tick()
}

// A PartDifference is the first part of a tick that differs.
type PartDifference struct {
	Side   string       `json:"side,omitempty"`  // a or b: between two of its computations; else between the sides
	Part   string       `json:"part,omitempty"`  // of a; left out if it has no more
	Other  string       `json:"other,omitempty"` // of b, where no field is known to differ; left out if it has no more
	Kind   string       `json:"kind,omitempty"`
	Index  int          `json:"index"`            // from 1
	Of     int          `json:"of"`               // parts
	Fields []string     `json:"fields,omitempty"` // that differ
	State  *diff.Report `json:"state,omitempty"`
}

// FirstPart returns the first part in which two ticks differ, or nil.
func FirstPart(a, b []PartView) *PartDifference {
	for i := range max(len(a), len(b)) {
		d := &PartDifference{Index: i + 1, Of: max(len(a), len(b))}
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
		if d.Fields = OtherFields(a[i].Fields, b[i].Fields); len(d.Fields) > 0 {
			return d
		}
		if a[i].Hash != b[i].Hash {
			d.Other = d.Part
			return d
		}
	}
	return nil
}

// Values compares the values of the fields that differ, if both traces have all of them.
func (d *PartDifference) Values(w *engine.World, tick uint64, a, b *Trace) {
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
		x[i], known = a.Column(d.Index-1, i)
		if y[i], also = b.Column(d.Index-1, i); !known || !also {
			return
		}
	}
	d.State = diff.Columns(w, tick, x, y)
}
