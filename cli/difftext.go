package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

const (
	mostLines   = 20      // after the headline
	mostDetails = 8       // of a block
	mostUlps    = 1 << 16 // that say something: more is another number, not another rounding
)

// A block is a line of a report, and others that explain it as far as there is room. Their texts
// may be those of a file or a program.
type block struct {
	label, head string
	details     [][]string // cells of a table
}

// text is the report for people: a headline, then at most mostLines lines.
func (j *diffJob) text() []string {
	if j.result.OK {
		return []string{j.headline()}
	}
	blocks := slices.Concat(j.sideBlocks(), j.differences(), j.noteBlocks(), nextBlock(j.result.Next))
	return append([]string{j.headline()}, layOut(blocks, mostLines)...)
}

// differences say in what the two sides differ.
func (j *diffJob) differences() []block {
	blocks := slices.Concat(j.headerBlock(), j.inputBlocks(), j.tileBlocks())
	if j.result.State != nil {
		t := j.stateText(j.result.State)
		blocks = slices.Concat(blocks, t.blocks(), j.equalBlock())
	}
	return slices.Concat(blocks, j.laterBlock())
}

func (j *diffJob) stateText(r *diff.Report) *stateText {
	a, b := j.sides[0], j.sides[len(j.sides)-1]
	return &stateText{r, j.result.Tick, a.visit.World, []*engine.World{a.visit.World, b.visit.World}, names{Scenario: a.scenario}}
}

func (j *diffJob) noteBlocks() (blocks []block) {
	for _, note := range j.notes {
		blocks = append(blocks, block{label: "note", head: note})
	}
	return blocks
}

// next is a command that tells more, or "".
func (j *diffJob) next() string {
	r := &j.result
	for _, s := range j.sides {
		switch {
		case r.Status != "ticks" || s.visit == nil || s.err != nil || s.hashAlone:
			return ""
		case r.Inputs != nil:
			return fmt.Sprintf("%s verify %s --inputs", j.name, argument(s.File))
		case len(j.sides) == 1 || s.Replayed != s.Hash:
			return fmt.Sprintf("%s bisect %s --phases", j.name, argument(s.File))
		}
	}
	if r.CommandsDiffer > 0 || r.State == nil || r.State.Tick < r.Tick { // no part of the tick is at fault
		return ""
	}
	return fmt.Sprintf("%s bisect %s %s --phases", j.name, argument(j.sides[0].File), argument(j.sides[1].File))
}

func nextBlock(command string) []block {
	if command == "" {
		return nil
	}
	return []block{{label: "next", head: command}}
}

func (j *diffJob) headline() string {
	r, a := &j.result, &j.sides[0].sideView
	alone := len(j.sides) == 1
	switch {
	case r.Status == "equal" && alone:
		return fmt.Sprintf("EQUAL  %s  %s, hash %s; the replay gives the same", document.FileName(a.File), count(a.Ticks, "tick"), a.Hash)
	case r.Status == "equal":
		return fmt.Sprintf("EQUAL  %s  %s  %s, hash %s", document.FileName(a.File), document.FileName(r.B.File), count(a.Ticks, "tick"), a.Hash)
	case r.Status == "header":
		return fmt.Sprintf("DIFFER in their scenarios alone   all %s are equal", count(a.Ticks, "tick"))
	case r.Status == "length" && j.common == 0:
		return "DIFFER in " + j.extent() + "   there is no tick that both have"
	case r.Status == "length":
		return fmt.Sprintf("DIFFER in %s   the %s that both have are equal", j.extent(), count(r.Equal, "tick"))
	}
	before := ""
	if n := count(r.Equal, "tick"); r.Equal == 1 {
		before = "   the tick before it is equal"
	} else if r.Equal > 1 {
		before = "   the " + n + " before it are equal"
	}
	return fmt.Sprintf("DIFFER at tick %s%s", number(r.Tick), before)
}

// extent says how two recordings whose common ticks are equal differ in their ticks.
func (j *diffJob) extent() string {
	a, b := j.sides[0], j.sides[1]
	begin, end := a.first != b.first, a.first+a.Ticks != b.first+b.Ticks
	switch {
	case begin && end:
		return "where they begin and end"
	case begin:
		return "where they begin"
	}
	return "length"
}

// sideBlocks say what is compared.
func (j *diffJob) sideBlocks() (blocks []block) {
	var rows [][]string
	for _, s := range j.sides {
		row := []string{document.FileName(s.File), count(s.Ticks, "tick")}
		if s.first > 1 {
			row[1] += ", from tick " + number(s.first) + " on"
		}
		if s.Ticks > 0 {
			row = append(row, "hash "+s.Hash)
		}
		if len(j.sides) == 1 {
			row = []string{"recorded " + s.Hash}
		}
		if s.Replayed != "" && s.Replayed != s.Hash {
			row = append(row, "replayed "+s.Replayed)
		}
		rows = append(rows, row)
	}
	for i, line := range aligned(rows) {
		label := string(rune('a' + i))
		if len(j.sides) == 1 {
			label = "hash"
		}
		blocks = append(blocks, block{label: label, head: line})
		if err := j.sides[i].damage; err != nil {
			blocks = append(blocks, block{label: "", head: inWords(err).Error()})
		}
	}
	return blocks
}

func (j *diffJob) headerBlock() (blocks []block) {
	for i, h := range j.result.Header {
		const most = 5
		if i == most {
			return append(blocks, block{label: "", head: fmt.Sprintf("and %d more", len(j.result.Header)-most)})
		}
		b := block{label: "scenario", head: printable(h.Key) + ": " + orNotSet(h.A) + " and " + orNotSet(h.B)}
		if i > 0 {
			b.label = ""
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// orNotSet is a value of a scenario.
func orNotSet(value string) string {
	if value == "" {
		return "(not set)"
	}
	return document.Shorten(value)
}

// inputBlocks say which commands differ, and what came of the same ones.
func (j *diffJob) inputBlocks() (blocks []block) {
	r := &j.result
	if e := r.Inputs; e != nil {
		blocks = append(blocks, block{
			label: "commands", head: fmt.Sprintf("command %d of tick %s is not the scenario's", e.Command, number(e.Tick)),
			details: [][]string{{"recorded", printable(e.Recorded)}, {"scenario", printable(e.Given)}},
		})
	}
	if r.CommandsDiffer > 0 {
		b := block{label: "commands", head: differ(r.CommandsDiffer) + " in tick " + number(r.Tick)}
		for _, p := range r.Commands {
			x, metaA, _ := strings.Cut(p.A, "  ")
			y, metaB, _ := strings.Cut(p.B, "  ")
			if x == y { // only what stands beside them differs
				x, y = x+"  "+metaA, y+"  "+metaB
			}
			for i, what := range []string{x, y} {
				if what != "" {
					b.details = append(b.details, []string{string(rune('a'+i)) + "  " + printable(what)})
				}
			}
		}
		blocks = append(blocks, b)
	}
	if r.ReceiptsDiffer > 0 {
		b := block{label: "receipts", head: differ(r.ReceiptsDiffer)}
		for _, v := range r.Receipts {
			b.details = append(b.details, []string{printable(v.Command) + ": " + v.A + " and " + v.B})
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func differ(n int) string {
	if n == 1 {
		return "1 differs"
	}
	return number(uint64(n)) + " differ"
}

// A stateText puts what differs between two states into words.
type stateText struct {
	*diff.Report
	first  uint64 // tick that differs
	world  *engine.World
	worlds []*engine.World // of both sides
	names  names
}

func (t *stateText) blocks() (blocks []block) {
	if label := "tick " + number(t.Tick); t.Tick < t.first {
		blocks = append(blocks, block{label: label, head: "they differ before the first tick, in what they begin with:"})
	} else if t.Tick > t.first {
		blocks = append(blocks, block{label: label, head: "the next of which the index has the state, recorded and replayed:"})
	}
	for i := range t.Fields {
		blocks = append(blocks, t.field(&t.Fields[i]))
	}
	if e := t.Entities; e.Added+e.Removed > 0 {
		b := block{label: "entities", head: entitiesText(e)}
		for i := range t.Differences {
			d := &t.Differences[i]
			if id, ok := entityOf(d.Path); ok && d.Kind != diff.Changed {
				side := map[diff.Kind]string{diff.Added: "b", diff.Removed: "a"}[d.Kind]
				b.details = append(b.details, []string{"only in " + side, t.entity(id), d.A + d.B})
			}
		}
		blocks = append(blocks, b)
	}
	for _, part := range []struct{ label, prefix string }{
		{"slots", ""}, {"parameters", "/parameters/"}, {"arrivals", "/arrival"}, {"events", "/events/"}, {"random", "/random/"},
	} {
		if b := t.part(part.label, part.prefix); b.head != "" {
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
			parts = append(parts, number(uint64(p.n))+" "+p.what)
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

// field says how much of a field differs, and lists the first cells or entities.
func (t *stateText) field(f *diff.Field) block {
	b := block{label: fieldLabel(f.Name), head: fmt.Sprintf("%s of %s %s", number(uint64(f.Differ)), number(uint64(f.Of)), f.Domain)}
	if m := &f.Most; m.Delta != "" && !t.named(f.Name) {
		b.head += fmt.Sprintf(", by up to %s", strings.TrimLeft(m.Delta, "+-"))
		if f.Differ > 1 {
			b.head += " " + t.where(m, true)
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
			row = append(row, count(uint64(d.Ulps), "ulp"))
		}
		b.details = append(b.details, row)
	}
	return b
}

// labels are those of the lines that are not about a field.
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
		preposition, place = "at ", coordText(d.Cell)
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

func coordText(cell []int32) string {
	c, err := space.MakeCoord(cell)
	if err != nil {
		return fmt.Sprint(cell)
	}
	return fmt.Sprint(c)
}

// entityOf returns the entity of a path.
func entityOf(path string) (id uint64, ok bool) {
	rest, ok := strings.CutPrefix(path, "/entities/")
	digits, _, _ := strings.Cut(rest, "/")
	id, err := strconv.ParseUint(digits, 10, 64)
	return id, ok && err == nil
}

// named reports whether the numbers of a field stand for something else.
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

// part lists the differences of a section; those of slots if there is no prefix.
func (t *stateText) part(label, prefix string) block {
	b := block{label: label}
	for i := range t.Differences {
		d := &t.Differences[i]
		switch {
		case prefix == "" && strings.HasSuffix(d.Path, "/slot"):
			id, _ := entityOf(d.Path)
			b.details = append(b.details, []string{t.entity(id), d.A, d.B})
		case prefix != "" && strings.HasPrefix(d.Path, prefix):
			name := strings.TrimPrefix(d.Path, prefix)
			if key, err := strconv.ParseUint(name, 10, 32); err == nil && prefix == "/parameters/" {
				name = t.names.Parameter(uint32(key))
			}
			b.details = append(b.details, []string{name, orNone(d.A), orNone(d.B)})
		}
	}
	switch n := len(b.details); {
	case n == 1:
		b.head, b.details = strings.TrimSpace(b.details[0][0]+": "+b.details[0][1]+" and "+b.details[0][2]), nil
		b.head = strings.TrimPrefix(b.head, ": ")
		if label == "arrivals" {
			b.head = "the next command gets the number " + b.head
		}
	case n > 1:
		b.head = differ(n)
		if n == diff.MaxDifferences {
			b.head += " at least"
		}
	}
	return b
}

func orNone(v string) string {
	if v == "" {
		return "none"
	}
	return document.Shorten(v)
}

// equalBlock says what of the tick is equal.
func (j *diffJob) equalBlock() []block {
	r := j.result.State
	switch {
	case len(j.sides) == 1:
		return nil
	case len(r.Sections) == 0 && j.result.CommandsDiffer+j.result.ReceiptsDiffer == 0: // so a recorded hash is wrong
		return []block{{label: "equal", head: "all that this build computes for the tick"}}
	}
	var equal []string
	add := func(what string, is bool) {
		if is {
			equal = append(equal, what)
		}
	}
	w := j.sides[0].visit.World
	cells := 0
	for _, d := range w.Defs()[:len(w.Defs())-1] { // but for world.rest
		if d.Domain == fields.Cells && !slices.ContainsFunc(r.Fields, func(f diff.Field) bool { return f.Name == d.Name }) {
			cells++
		}
	}
	add("commands", r.Tick == j.result.Tick && j.result.CommandsDiffer == 0)
	add("receipts", r.Tick == j.result.Tick && j.result.CommandsDiffer+j.result.ReceiptsDiffer == 0)
	add(count(uint64(cells), "field"), cells > 0)
	add("entities", r.Tick > 0 && len(w.Entities().ID) > 0 && r.Entities == diff.Entities{})
	add("parameters", !slices.Contains(r.Sections, "parameters"))
	add("events", !slices.Contains(r.Sections, "events"))
	add("random draws", !slices.Contains(r.Sections, "random"))
	if len(equal) == 0 {
		return nil
	}
	head := strings.Join(equal, ", ")
	if r.Tick < j.result.Tick {
		head = "at tick " + number(r.Tick) + ": " + head
	}
	return []block{{label: "equal", head: head}}
}

// tileBlocks say in which tiles a recorded tick differs from its replay.
func (j *diffJob) tileBlocks() (blocks []block) {
	for _, f := range j.result.Tiles {
		b := block{label: fieldLabel(f.Field), head: "differs in the index, unchecked"}
		if f.Field == engine.WorldRest {
			b.head = "differs in the index, unchecked: commands, parameters, events or random draws"
			blocks = append(blocks, b)
			continue
		}
		if f.Differ > 0 {
			b.head = fmt.Sprintf("%s of %s in the index, unchecked", number(uint64(f.Differ)), count(uint64(f.Of), "tile"))
		}
		for _, t := range f.Tiles {
			where := fmt.Sprintf("elements %s to %s", number(uint64(t.From)), number(uint64(t.To)))
			if t.FirstCell != nil {
				where = fmt.Sprintf("cells %s to %s", coordText(t.FirstCell), coordText(t.LastCell))
			}
			b.details = append(b.details, []string{fmt.Sprintf("tile %d", t.Tile), where})
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// laterBlock says how the ticks after the first one compare.
func (j *diffJob) laterBlock() []block {
	r := &j.result
	if len(j.sides) < 2 || r.Tick == 0 {
		return nil
	}
	after, differing := j.common-r.Equal-1, r.Differing-1
	var text string
	switch {
	case after == 0:
		return nil
	case differing == after:
		text = fmt.Sprintf("the %s after it differ, too", count(after, "tick"))
		if after == 1 {
			text = "the tick after it differs, too"
		}
	case differing == 0:
		text = fmt.Sprintf("the %s after it are equal", count(after, "tick"))
		if after == 1 {
			text = "the tick after it is equal"
		}
	default:
		text = fmt.Sprintf("%s of the %s after it differ", number(differing), count(after, "tick"))
	}
	return []block{{label: "later", head: text}}
}

// layOut writes as many of the blocks as there is room for: first their heads, then the
// details of each in turn.
func layOut(blocks []block, room int) (lines []string) {
	more := 0
	if len(blocks) > room {
		more = len(blocks) - room + 1
		blocks = blocks[:room-1]
	}
	wide := 8
	for _, b := range blocks {
		wide = max(wide, min(utf8.RuneCountInString(b.label), 20))
	}
	shown := make([]int, len(blocks))
	left := room - len(blocks) - min(more, 1)
	for given := true; given && left > 0; {
		given = false
		for i := range blocks {
			if shown[i] < min(len(blocks[i].details), mostDetails) && left > 0 {
				shown[i], left, given = shown[i]+1, left-1, true
			}
		}
	}
	for i, b := range blocks {
		lines = append(lines, clean(fmt.Sprintf("  %-*s  %s", wide, b.label, b.head)))
		for _, row := range aligned(b.details[:shown[i]]) {
			lines = append(lines, clean(strings.Repeat(" ", wide+6)+row))
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more; --json has them", more))
	}
	return lines
}

// aligned aligns the cells of rows.
func aligned(rows [][]string) (lines []string) {
	var wide []int
	for _, row := range rows {
		for k, cell := range row {
			if k == len(wide) {
				wide = append(wide, 0)
			}
			wide[k] = max(wide[k], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for k, cell := range row {
			b.WriteString(cell)
			if k < len(row)-1 {
				b.WriteString(strings.Repeat(" ", wide[k]-utf8.RuneCountInString(cell)+2))
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}
