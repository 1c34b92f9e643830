package cli

import (
	"fmt"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
)

// A chainText puts a comparison of chains into words.
type chainText struct{ *compare.Chains }

// text is the report for people: a headline, what is compared, and at most 20 differences.
func (d *chainText) text() string {
	const most = 20 // differences
	lines := append([]string{d.headline()}, words.LayOut(d.blocks(), 1000)...)
	if s := d.Result.State; s != nil {
		for i := range s.Differences[:min(most, len(s.Differences))] {
			lines = append(lines, words.Clean("  "+s.Differences[i].String()))
		}
		if more := s.Count - min(most, len(s.Differences)); more > 0 {
			lines = append(lines, fmt.Sprintf("  and %s more", words.Number(uint64(more))))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// severity names how grave a difference is; "": it is not known.
func severity(r *compare.Result) string {
	switch {
	case r.State == nil || r.State.Count == 0:
		return ""
	case r.State.Observable:
		return "observable"
	}
	return "sub-threshold"
}

func (d *chainText) headline() string {
	r, before := &d.Result, ""
	if r.EqualBefore != nil {
		before = fmt.Sprintf("   tick %s %s", words.Number(r.Tick-1), map[bool]string{true: "is equal", false: "differs, too"}[*r.EqualBefore])
	}
	switch {
	case r.OK:
		return fmt.Sprintf("EQUAL at tick %s%s", words.Number(r.Tick), before)
	case r.Status == "length":
		return "DIFFER in length   the ticks that both have are equal"
	case severity(r) == "":
		return fmt.Sprintf("DIFFER at tick %s%s", words.Number(r.Tick), before)
	}
	return fmt.Sprintf("DIFFER at tick %s%s   %s, %s", words.Number(r.Tick), before, words.Count(uint64(r.State.Count), "difference"), severity(r))
}

// blocks are the lines between the headline and the differences.
func (d *chainText) blocks() (blocks []words.Block) {
	r := &d.Result
	var rows [][]string
	for _, v := range []*compare.SideView{&r.A, r.B} {
		what := map[bool]string{true: "calculated", false: "committed"}[v.Replay]
		row := []string{what, "hash " + v.Hash, words.Size(v.StateLen), "murksim " + words.Printable(v.Engine), "state: " + words.OrNone(v.State)}
		if v.Error != "" {
			row = []string{what, "cannot be computed"}
		}
		rows = append(rows, row)
	}
	for i, line := range words.Aligned(rows) {
		blocks = append(blocks, words.Block{Label: string(rune('a' + i)), Head: line})
	}
	var equal, other []string
	for _, s := range r.Sections {
		switch {
		case s.Equal == nil:
		case *s.Equal:
			equal = append(equal, s.Section)
		default:
			other = append(other, s.Section)
		}
	}
	add := func(label, head string) {
		if head != "" {
			blocks = append(blocks, words.Block{Label: label, Head: head})
		}
	}
	of := &diffText{&compare.Comparison{Result: *r}, ""}
	blocks = append(blocks, of.headerBlock()...)
	blocks = append(blocks, of.inputBlocks()...)
	add("differ", strings.Join(other, ", "))
	add("equal", strings.Join(equal, ", "))
	if r.B.Stable != nil {
		blocks = append(blocks, stableBlock("b", r.B.Repeats))
	}
	if s := r.Stream; s != nil {
		add("random", fmt.Sprintf("the first stream that differs is %s %d: %s and %s", s.Name, uint64(s.Number), words.OrNone(s.A), words.OrNone(s.B)))
	}
	if r.State != nil {
		t := &stateText{r.State, r.Tick, d.World, []*engine.World{d.World}, session.Names{Scenario: d.Scenario}}
		for i := range r.State.Fields {
			b := t.field(&r.State.Fields[i])
			add(b.Label, b.Head)
		}
		add("entities", entitiesText(r.State.Entities))
	}
	if n := len(r.TickInputs); n > 0 {
		b := words.Block{Label: "inputs", Head: words.Number(uint64(n)) + " of the tick"}
		for _, in := range r.TickInputs {
			b.Details = append(b.Details, []string{fmt.Sprintf("seq %d", in.Seq), words.Printable(in.Command)})
		}
		blocks = append(blocks, b)
	}
	if label, text, ok := strings.Cut(d.Begins, " "); ok {
		add(label, strings.TrimSpace(text))
	}
	for _, note := range r.Notes {
		add("note", note)
	}
	return blocks
}
