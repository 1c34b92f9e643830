package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
)

// partBlocks say which part of the tick differs first.
func (j *bisectJob) partBlocks() (blocks []words.Block) {
	if j.Found.DifferBefore {
		blocks = append(blocks, words.Block{Label: "part", Head: fmt.Sprintf("none: they differ before tick %s already", words.Number(j.Found.Tick))})
	}
	for i := range j.Found.Parts {
		p := &j.Found.Parts[i]
		what, other := words.Printable(p.Part), words.Printable(p.Other)
		if p.Kind != p.Part {
			what += " (" + words.Printable(p.Kind) + ")"
		}
		b := words.Block{Label: "part", Head: fmt.Sprintf("%s, %d of %d, is the first that differs", what, p.Index, p.Of)}
		switch {
		case len(p.Fields) == 0 && p.Other == "":
			b.Head = fmt.Sprintf("%s, %d of %d, is in a alone", what, p.Index, p.Of)
		case len(p.Fields) == 0 && p.Part == "":
			b.Head = fmt.Sprintf("%s, %d of %d, is in b alone", other, p.Index, p.Of)
		case len(p.Fields) == 0 && p.Part != p.Other:
			b.Head = fmt.Sprintf("part %d of %d is %s in a and %s in b", p.Index, p.Of, what, other)
		case p.Side == "" && j.Unsure:
			b.Head = fmt.Sprintf("%s, %d of %d, or what came before it is the first that differs", what, p.Index, p.Of)
		case p.Side != "":
			b.Head += " between two computations of " + j.letterOrReplay(p.Side)
		}
		blocks = append(blocks, j.partDetails(b, p))
	}
	return blocks
}

func (j *bisectJob) letterOrReplay(side string) string {
	if s := j.Pair[strings.Index("ab", side)]; s.Replay {
		return "the replay"
	}
	return side
}

// partDetails adds the fields to a block, with values if there are any.
func (j *bisectJob) partDetails(b words.Block, p *session.PartDifference) words.Block {
	if p.State == nil {
		if len(p.Fields) > 0 {
			b.Head += ": " + strings.Join(fieldNames(p.Fields), ", ")
		}
		return b
	}
	w, other := j.Worlds(p.Side)
	var n session.Names
	for _, s := range j.Pair {
		if s.Recording != nil {
			n = session.Names{Scenario: s.Recording.Scenario}
		}
	}
	t := stateText{p.State, j.Found.Tick, w, []*engine.World{w, other}, n}
	for i := range t.Fields {
		f := t.field(&t.Fields[i])
		b.Details = append(b.Details, []string{f.Label + "  " + f.Head})
		for _, line := range words.Aligned(f.Details) {
			b.Details = append(b.Details, []string{"  " + line})
		}
	}
	if slices.Contains(p.Fields, engine.WorldRest) {
		b.Details = append(b.Details, []string{restText})
	}
	return b
}
