package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/scenarios/document"
)

const (
	mostLines = 20      // after the headline
	mostUlps  = 1 << 16 // that say something: more is another number, not another rounding
)

// A diffText puts a comparison into words.
type diffText struct {
	*compare.Comparison
	program string // for commands that are recommended
}

// lines are the report for people: a headline, then at most mostLines lines.
func (j *diffText) lines() []string {
	if j.Result.OK {
		return []string{j.headline()}
	}
	blocks := slices.Concat(j.sideBlocks(), j.differences(), j.noteBlocks(), words.NextBlock(j.Result.Next))
	return append([]string{j.headline()}, words.LayOut(blocks, mostLines)...)
}

// differences say in what the two sides differ.
func (j *diffText) differences() []words.Block {
	blocks := slices.Concat(j.headerBlock(), j.inputBlocks(), j.tileBlocks())
	if j.Result.State != nil {
		t := j.stateText(j.Result.State)
		blocks = slices.Concat(blocks, t.blocks(), j.equalBlock())
	}
	return slices.Concat(blocks, j.laterBlock())
}

func (j *diffText) stateText(r *diff.Report) *stateText {
	a, b := j.Sides[0], j.Sides[len(j.Sides)-1]
	return &stateText{r, j.Result.Tick, a.Visit.World, []*engine.World{a.Visit.World, b.Visit.World}, session.Names{Scenario: a.Scenario}}
}

func (j *diffText) noteBlocks() (blocks []words.Block) {
	for _, note := range j.Notes {
		blocks = append(blocks, words.Block{Label: "note", Head: note})
	}
	return blocks
}

// next is a command that tells more, or "".
func (j *diffText) next() string {
	r := &j.Result
	for _, s := range j.Sides {
		switch {
		case j.Unsteady && !s.Begins():
			return j.synctest(s)
		case r.Status != "ticks" || s.Visit == nil || s.Err != nil:
			return ""
		case len(j.Sides) == 1 || s.Replayed != s.Hash:
			return fmt.Sprintf("%s bisect %s --phases%s", j.program, words.Argument(s.File), j.Flags(true))
		}
	}
	if r.CommandsDiffer > 0 || r.State == nil || r.State.Tick < r.Tick { // no part of the tick is at fault
		return ""
	}
	return fmt.Sprintf("%s bisect %s %s --phases%s", j.program, words.Argument(j.Sides[0].File), words.Argument(j.Sides[1].File), j.Flags(true))
}

// synctest is the command that tests the world of a recording, or "" if it begins at a state: synctest begins at the first tick.
func (j *diffText) synctest(s *compare.Side) string {
	if s.Begins() {
		return ""
	}
	return fmt.Sprintf("%s synctest %s", j.program, words.Argument(s.File))
}

func (j *diffText) headline() string {
	r, a := &j.Result, &j.Sides[0].SideView
	alone := len(j.Sides) == 1
	switch {
	case r.Status == "equal" && alone:
		return fmt.Sprintf("EQUAL  %s  %s, hash %s; the replay gives the same", document.FileName(a.File), words.Count(a.Ticks, "tick"), a.Hash)
	case r.Status == "equal":
		return fmt.Sprintf("EQUAL  %s  %s  %s, hash %s", document.FileName(a.File), document.FileName(r.B.File), words.Count(a.Ticks, "tick"), a.Hash)
	case r.Status == "header":
		return fmt.Sprintf("DIFFER in their scenarios alone   all %s are equal", words.Count(a.Ticks, "tick"))
	case r.Status == "length" && j.Common == 0:
		return "DIFFER in " + j.extent() + "   there is no tick that both have"
	case r.Status == "length":
		return fmt.Sprintf("DIFFER in %s   the %s that both have are equal", j.extent(), words.Count(r.Equal, "tick"))
	}
	before := ""
	if r.Equal > 0 {
		before = "   " + r.Before()
	}
	return fmt.Sprintf("DIFFER at tick %s%s", words.Number(r.Tick), before)
}

// extent says how the ticks of two recordings differ if their common ticks are equal.
func (j *diffText) extent() string {
	a, b := j.Sides[0], j.Sides[1]
	begin, end := a.First != b.First, a.First+a.Ticks != b.First+b.Ticks
	switch {
	case begin && end:
		return "where they begin and end"
	case begin:
		return "where they begin"
	}
	return "length"
}

// sideBlocks say what is compared.
func (j *diffText) sideBlocks() (blocks []words.Block) {
	var rows [][]string
	for _, s := range j.Sides {
		row := []string{document.FileName(s.File), words.Count(s.Ticks, "tick")}
		if s.First > 1 {
			row[1] += ", from tick " + words.Number(s.First) + " on"
		}
		if s.Ticks > 0 {
			row = append(row, "hash "+s.Hash)
		}
		if len(j.Sides) == 1 {
			row = []string{"recorded " + s.Hash}
		}
		if s.Replayed != "" && s.Replayed != s.Hash {
			row = append(row, "replayed "+s.Replayed)
		}
		rows = append(rows, row)
	}
	for i, line := range words.Aligned(rows) {
		label := string(rune('a' + i))
		if len(j.Sides) == 1 {
			label = "hash"
		}
		blocks = append(blocks, words.Block{Label: label, Head: line})
		if err := j.Sides[i].Damage; err != nil {
			blocks = append(blocks, words.Block{Label: "", Head: words.InWords(err).Error()})
		}
	}
	return blocks
}

func (j *diffText) headerBlock() (blocks []words.Block) {
	for i, h := range j.Result.Header {
		const most = 5
		if i == most {
			return append(blocks, words.Block{Label: "", Head: fmt.Sprintf("and %d more", len(j.Result.Header)-most)})
		}
		b := words.Block{Label: "scenario", Head: words.Printable(h.Key) + ": " + orNotSet(h.A, h.B) + " and " + orNotSet(h.B, h.A)}
		if i > 0 {
			b.Label = ""
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// orNotSet returns a value of a scenario, of a long one the part where it begins to differ from another; or says that it is not set.
func orNotSet(value, other string) string {
	if value == "" {
		return "(not set)"
	}
	const before = 16 // characters that are shown of what is the same
	a, b, same := []rune(value), []rune(other), 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if from := same - before; from > 0 && document.Shorten(value) == document.Shorten(other) {
		return "…" + document.Shorten(string(a[from:]))
	}
	return document.Shorten(value)
}

// inputBlocks say which commands differ, and which equal commands had other results.
func (j *diffText) inputBlocks() (blocks []words.Block) {
	r := &j.Result
	if e := r.Inputs; e != nil {
		blocks = append(blocks, words.Block{
			Label: "commands", Head: fmt.Sprintf("command %d of tick %s is not the scenario's", e.Command, words.Number(e.Tick)),
			Details: [][]string{{"recorded", words.Printable(e.Recorded)}, {"scenario", words.Printable(e.Given)}},
		})
	}
	if r.CommandsDiffer > 0 {
		b := words.Block{Label: "commands", Head: differ(r.CommandsDiffer) + " in tick " + words.Number(r.Tick)}
		for _, p := range r.Commands {
			x, metaA, _ := strings.Cut(p.A, "  ")
			y, metaB, _ := strings.Cut(p.B, "  ")
			if x == y { // only what stands beside them differs
				x, y = x+"  "+metaA, y+"  "+metaB
			}
			for i, what := range []string{x, y} {
				if what != "" {
					b.Details = append(b.Details, []string{string(rune('a'+i)) + "  " + words.Printable(what)})
				}
			}
		}
		blocks = append(blocks, b)
	}
	if r.ReceiptsDiffer > 0 {
		b := words.Block{Label: "receipts", Head: differ(r.ReceiptsDiffer)}
		for _, v := range r.Receipts {
			b.Details = append(b.Details, []string{words.Printable(v.Command) + ": " + v.A + " and " + v.B})
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func differ(n int) string {
	if n == 1 {
		return "1 differs"
	}
	return words.Number(uint64(n)) + " differ"
}

// A stateText puts what differs between two states into words.
type stateText struct {
	*diff.Report
	first  uint64 // tick that differs
	world  *engine.World
	worlds []*engine.World // of both sides
	names  session.Names
}

func (t *stateText) blocks() (blocks []words.Block) {
	if label := "tick " + words.Number(t.Tick); t.Tick < t.first {
		blocks = append(blocks, words.Block{Label: label, Head: "they differ before the first tick, in what they begin with:"})
	} else if t.Tick > t.first {
		blocks = append(blocks, words.Block{Label: label, Head: "the next of which the index has the state, recorded and replayed:"})
	}
	for i := range t.Fields {
		blocks = append(blocks, t.field(&t.Fields[i]))
	}
	if e := t.Entities; e.Added+e.Removed > 0 {
		b := words.Block{Label: "entities", Head: entitiesText(e)}
		for i := range t.Differences {
			d := &t.Differences[i]
			if id, ok := entityOf(d.Path); ok && d.Kind != diff.Changed {
				side := map[diff.Kind]string{diff.Added: "b", diff.Removed: "a"}[d.Kind]
				b.Details = append(b.Details, []string{"only in " + side, t.entity(id), d.A + d.B})
			}
		}
		blocks = append(blocks, b)
	}
	for _, part := range []struct{ label, prefix string }{
		{"slots", ""}, {"parameters", "/parameters/"}, {"arrivals", "/arrival"}, {"events", "/events/"}, {"random", "/random/"},
	} {
		if b := t.part(part.label, part.prefix); b.Head != "" {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func entitiesText(e diff.Entities) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{e.Removed, "only in a"}, {e.Added, "only in b"}, {e.Changed, "of both changed"}} {
		if p.n > 0 {
			parts = append(parts, words.Number(uint64(p.n))+" "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}

// entity names an entity: a name that the scenario gives, or its kind and id.
func (t *stateText) entity(id uint64) string {
	name := t.names.Entity(id)
	if name != fmt.Sprintf("entity %d", id) {
		return name
	}
	for _, w := range t.worlds {
		slot, ok := w.Slot(id)
		if s := t.names.Scenario; ok && s != nil && s.Entities != nil {
			if kind := int(w.Entities().Kind[slot]); kind >= 0 && kind < len(s.Entities.Kinds) {
				return fmt.Sprintf("%s %d", s.Entities.Kinds[kind], id)
			}
		}
	}
	return name
}

// field says how many values of a field differ, and lists the first cells or entities.
func (t *stateText) field(f *diff.Field) words.Block {
	b := words.Block{Label: fieldLabel(f.Name), Head: fmt.Sprintf("%s of %s %s", words.Number(uint64(f.Differ)), words.Number(uint64(f.Of)), f.Domain)}
	if m := &f.Most; m.Delta != "" && !t.named(f.Name) {
		b.Head += fmt.Sprintf(", by up to %s", strings.TrimLeft(m.Delta, "+-"))
		if f.Differ > 1 {
			b.Head += " " + t.where(m, true)
		}
	}
	for i := range t.Differences {
		d := &t.Differences[i]
		if d.Field != f.Name {
			continue
		}
		row := []string{t.where(d, false), t.value(f.Name, d.A), t.value(f.Name, d.B)}
		if !t.named(f.Name) {
			row = append(row, d.Delta)
		}
		if d.Ulps > 0 && d.Ulps < mostUlps && len(row) == 4 {
			row = append(row, words.Count(uint64(d.Ulps), "ulp"))
		}
		b.Details = append(b.Details, row)
	}
	return b
}

// labels are the labels of lines that are not about a field.
var labels = []string{
	"a", "arrivals", "asked", "b", "commands", "differ", "entities", "equal", "events", "field", "fields", "hash", "inputs", "later", "next",
	"note", "parameters", "part", "random", "receipts", "scenario", "slots", "stable", "unstable",
}

// fieldLabel is the label of a line about a field, which no other line has.
func fieldLabel(name string) string {
	if slices.Contains(labels, name) {
		return "field " + name
	}
	return name
}

// where names the cell or entity of a difference, and which component.
func (t *stateText) where(d *diff.Difference, sentence bool) string {
	preposition := ""
	place := ""
	if d.Cell != nil {
		preposition, place = "at ", words.CoordText(d.Cell)
	} else if id, ok := entityOf(d.Path); ok {
		preposition, place = "of ", t.entity(id)
	} else {
		preposition, place = "of ", strings.Replace(strings.TrimPrefix(d.Path, "/"), "slots/", "free slot ", 1)
		place, _, _ = strings.Cut(place, "/")
	}
	if !strings.HasSuffix(d.Path, "/"+d.Field) { // of a vector
		place += " component " + d.Path[strings.LastIndex(d.Path, "/")+1:]
	}
	if sentence {
		return preposition + place
	}
	return place
}

// entityOf returns the entity of a path.
func entityOf(path string) (id uint64, ok bool) {
	rest, ok := strings.CutPrefix(path, "/entities/")
	digits, _, _ := strings.Cut(rest, "/")
	id, err := strconv.ParseUint(digits, 10, 64)
	return id, ok && err == nil
}

// named reports whether the numbers of a field stand for something, such as categories.
func (t *stateText) named(field string) bool {
	id := t.id(field)
	return id >= 0 && t.world.Defs()[id].Type.Kind == fields.CategoricalKind || strings.HasPrefix(field, "entity.")
}

func (t *stateText) id(field string) int {
	return slices.IndexFunc(t.world.Defs(), func(d fields.Def) bool { return d.Name == field })
}

// value writes a value of a field: a category by its name, a cell by its coordinate.
func (t *stateText) value(field, v string) string {
	n, err := strconv.ParseInt(v, 10, 32)
	id := t.id(field)
	switch {
	case err != nil || id < 0:
	case field == engine.EntityCell && n >= 0 && n < int64(t.world.Lattice().Cells()):
		return fmt.Sprint(t.world.Lattice().Coord(int(n)))
	case t.named(field):
		return t.names.Value(uint32(id), float32(n))
	}
	return v
}

// part lists the differences of a section; without a prefix, those of slots.
func (t *stateText) part(label, prefix string) words.Block {
	b := words.Block{Label: label}
	for i := range t.Differences {
		d := &t.Differences[i]
		switch {
		case prefix == "" && strings.HasSuffix(d.Path, "/slot"):
			id, _ := entityOf(d.Path)
			b.Details = append(b.Details, []string{t.entity(id), d.A, d.B})
		case prefix != "" && strings.HasPrefix(d.Path, prefix):
			name := strings.TrimPrefix(d.Path, prefix)
			if key, err := strconv.ParseUint(name, 10, 32); err == nil && prefix == "/parameters/" {
				name = t.names.Parameter(uint32(key))
			}
			b.Details = append(b.Details, []string{name, words.OrNone(d.A), words.OrNone(d.B)})
		}
	}
	switch n := len(b.Details); {
	case n == 1:
		b.Head, b.Details = strings.TrimSpace(b.Details[0][0]+": "+b.Details[0][1]+" and "+b.Details[0][2]), nil
		b.Head = strings.TrimPrefix(b.Head, ": ")
		if label == "arrivals" {
			b.Head = "the next command gets the number " + b.Head
		}
	case n > 1:
		b.Head = differ(n)
		if n == diff.MaxDifferences {
			b.Head += " at least"
		}
	}
	return b
}

// equalBlock says which parts of the tick are equal.
func (j *diffText) equalBlock() []words.Block {
	r := j.Result.State
	switch {
	case len(j.Sides) == 1:
		return nil
	case len(r.Sections) == 0 && j.Result.CommandsDiffer+j.Result.ReceiptsDiffer == 0: // so a recorded hash is wrong
		return []words.Block{{Label: "equal", Head: "all that this build computes for the tick"}}
	}
	var equal []string
	add := func(what string, is bool) {
		if is {
			equal = append(equal, what)
		}
	}
	w := j.Sides[0].Visit.World
	cells := 0
	for _, d := range w.Defs()[:len(w.Defs())-1] { // but for world.rest
		if d.Domain == fields.Cells && !slices.ContainsFunc(r.Fields, func(f diff.Field) bool { return f.Name == d.Name }) {
			cells++
		}
	}
	add("commands", r.Tick == j.Result.Tick && j.Result.CommandsDiffer == 0)
	add("receipts", r.Tick == j.Result.Tick && j.Result.CommandsDiffer+j.Result.ReceiptsDiffer == 0)
	add(words.Count(uint64(cells), "field"), cells > 0)
	add("entities", r.Tick > 0 && len(w.Entities().ID) > 0 && r.Entities == diff.Entities{})
	add("parameters", !slices.Contains(r.Sections, "parameters"))
	add("events", !slices.Contains(r.Sections, "events"))
	add("random draws", !slices.Contains(r.Sections, "random"))
	if len(equal) == 0 {
		return nil
	}
	head := strings.Join(equal, ", ")
	if r.Tick < j.Result.Tick {
		head = "at tick " + words.Number(r.Tick) + ": " + head
	}
	return []words.Block{{Label: "equal", Head: head}}
}

// tileBlocks say in which tiles a recorded tick differs from its replay.
func (j *diffText) tileBlocks() (blocks []words.Block) {
	for _, f := range j.Result.Tiles {
		b := words.Block{Label: fieldLabel(f.Field), Head: "differs in the index, unchecked"}
		if f.Field == engine.WorldRest {
			b.Head = "differs in the index, unchecked: commands, parameters, events or random draws"
			blocks = append(blocks, b)
			continue
		}
		if f.Differ > 0 {
			b.Head = fmt.Sprintf("%s of %s in the index, unchecked", words.Number(uint64(f.Differ)), words.Count(uint64(f.Of), "tile"))
		}
		for _, t := range f.Tiles {
			where := fmt.Sprintf("elements %s to %s", words.Number(uint64(t.From)), words.Number(uint64(t.To)))
			if t.FirstCell != nil {
				where = fmt.Sprintf("cells %s to %s", words.CoordText(t.FirstCell), words.CoordText(t.LastCell))
			}
			b.Details = append(b.Details, []string{fmt.Sprintf("tile %d", t.Tile), where})
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// laterBlock says how the ticks after the first one compare.
func (j *diffText) laterBlock() []words.Block {
	r := &j.Result
	if len(j.Sides) < 2 || r.Tick == 0 {
		return nil
	}
	after, differing := j.Common-r.Equal-1, r.Differing-1
	var text string
	switch {
	case after == 0:
		return nil
	case differing == after:
		text = fmt.Sprintf("the %s after it differ, too", words.Count(after, "tick"))
		if after == 1 {
			text = "the tick after it differs, too"
		}
	case differing == 0:
		text = fmt.Sprintf("the %s after it are equal", words.Count(after, "tick"))
		if after == 1 {
			text = "the tick after it is equal"
		}
	default:
		text = fmt.Sprintf("%s of the %s after it differ", words.Number(differing), words.Count(after, "tick"))
	}
	return []words.Block{{Label: "later", Head: text}}
}
