package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
)

func (j *bisectJob) text() *diffText { return &diffText{&j.Comparison, j.Name} }

// tell prints the result.
func (j *bisectJob) tell() error {
	r := &j.Found
	r.Event, r.OK = "bisect", r.Status == "equal"
	r.A, r.B, r.Notes = &j.Pair[0].BisectView, &j.Pair[1].BisectView, j.Notes
	r.Next = j.nextCommand()
	if j.Alike() {
		j.Complete()
		r.Diff = &j.Result
	} else {
		r.Inputs, r.Tiles = j.Result.Inputs, j.Result.Tiles
	}
	if err := j.app.Result(r, r.OK); err != nil {
		return err
	}
	if !j.JSON && !(j.Quiet && r.OK) {
		lines := []string{j.firstLine()}
		if !j.Quiet && !(r.OK && r.Exact) {
			lines = append(lines, words.LayOut(j.blocks(), mostLines)...)
		}
		if _, err := fmt.Fprintln(j.Out, strings.Join(lines, "\n")); err != nil {
			return err
		}
	}
	if !r.OK {
		return report.Exit(report.StatusDiverged, nil)
	}
	return nil
}

// firstLine says where they differ.
func (j *bisectJob) firstLine() string {
	r := &j.Found
	switch {
	case j.Alike():
		return j.text().headline()
	case r.Status == "equal" && r.Exact:
		return fmt.Sprintf("EQUAL  %s  %s  %s, hash %s", j.Pair[0].Label(), j.Pair[1].Label(), words.Count(r.EqualTick, "tick"), r.A.Hash)
	case r.Status == "equal":
		return fmt.Sprintf("EQUAL at tick %s, hash %s", words.Number(r.EqualTick), r.A.Hash)
	case r.Status == "interval" && r.EqualTick == 0:
		return fmt.Sprintf("DIFFER at tick %s   of no tick before it are there hashes of both", words.Number(r.Tick))
	case r.Status == "interval":
		return fmt.Sprintf("DIFFER at tick %s   tick %s is equal; of none between them are there hashes of both", words.Number(r.Tick), words.Number(r.EqualTick))
	case r.EqualTick == 0:
		return fmt.Sprintf("DIFFER at tick %s", words.Number(r.Tick))
	}
	return fmt.Sprintf("DIFFER at tick %s   tick %s is equal", words.Number(r.Tick), words.Number(r.EqualTick))
}

// blocks are the lines after the first.
func (j *bisectJob) blocks() []words.Block {
	sides, differences := j.pairBlocks, func() []words.Block { return slices.Concat(j.text().inputBlocks(), j.text().tileBlocks()) }
	if j.Alike() {
		sides, differences = j.text().sideBlocks, j.text().differences
	}
	if j.explained != nil {
		differences = func() []words.Block { return j.explained }
	}
	return slices.Concat(sides(), j.fieldBlock(), j.stableBlocks(), j.partBlocks(), differences(), j.text().noteBlocks(), j.askedBlock(), words.NextBlock(j.Found.Next))
}

// nextCommand is a command that tells more, or "".
func (j *bisectJob) nextCommand() string {
	if j.Neither || len(j.Found.Parts) > 0 {
		return ""
	}
	if j.Found.Next != "" {
		return j.Found.Next
	}
	for _, s := range j.Sides {
		file := words.Argument(s.File)
		alone := j.Alike() && j.Pair[1].Replay && j.Found.Status == "ticks"
		visited := s.Visit != nil && s.Err == nil
		switch {
		case alone && j.Unsteady && (j.Phases || !visited):
			return j.text().synctest(s)
		case alone && visited && !j.Phases:
			return fmt.Sprintf("%s bisect %s --phases%s%s", j.Name, file, j.WorkersFlag(), j.Flags(true))
		case !j.Alike() && !j.Pair[0].Replay && s.Replayed != "" && s.Replayed != s.Hash:
			return fmt.Sprintf("%s diff %s%s", j.Name, file, j.Flags(true))
		}
	}
	return ""
}

// pairBlocks say what is compared.
func (j *bisectJob) pairBlocks() (blocks []words.Block) {
	var rows [][]string
	a, b := j.Pair[0], j.Pair[1]
	for _, s := range j.Pair {
		row := []string{s.Label(), "hash " + s.Hash}
		if s.Replay {
			row[0] += ", replayed here"
		} else if s == b && a.Replay {
			row = append(row, "as recorded")
		}
		if d := s.Recording; d != nil && d.Replayed != "" && d.Replayed != s.Hash {
			row = append(row, "replayed "+d.Replayed)
		}
		rows = append(rows, row)
	}
	for i, line := range words.Aligned(rows) {
		blocks = append(blocks, words.Block{Label: string(rune('a' + i)), Head: line})
	}
	return blocks
}

// fieldBlock names the fields that differ by their hashes.
func (j *bisectJob) fieldBlock() []words.Block {
	switch names := fieldNames(j.Found.Fields); len(names) {
	case 0:
		return nil
	case 1:
		return []words.Block{{Label: "field", Head: names[0]}}
	default:
		return []words.Block{{Label: "fields", Head: strings.Join(names, ", ")}}
	}
}

// fieldNames returns the names of fields for people.
func fieldNames(list []string) (names []string) {
	for _, name := range list {
		if name = words.Printable(name); name == engine.WorldRest {
			name = restText
		}
		names = append(names, name)
	}
	return names
}

// restText says what the column world.rest stands for.
const restText = "world.rest (commands, parameters, events or random draws)"

// stableBlocks say whether the tick comes to the same each time.
func (j *bisectJob) stableBlocks() (blocks []words.Block) {
	var alike []string
	for _, s := range j.Pair {
		who := j.Letter(s)
		if s.Replay {
			who = "the replay"
		}
		switch {
		case s.Stable == nil:
		case *s.Stable && s.Repeats[0].Error == "":
			alike = append(alike, who)
		default:
			blocks = append(blocks, stableBlock(fmt.Sprintf("tick %s of %s", words.Number(j.Found.Tick), who), s.Repeats))
		}
	}
	if len(alike) > 0 {
		blocks = append(blocks, stableBlock(fmt.Sprintf("tick %s of %s", words.Number(j.Found.Tick), strings.Join(alike, " and ")), []compare.RepeatView{{Times: compare.Repeats + 1}}))
	}
	return blocks
}

// stableBlock says what the computations of a tick came to, one each time or several.
func stableBlock(what string, repeats []compare.RepeatView) words.Block {
	total := 0
	for _, r := range repeats {
		total += r.Times
	}
	what = fmt.Sprintf("%s, computed %d times", what, total)
	if len(repeats) == 1 {
		return words.Block{Label: "stable", Head: what + map[bool]string{true: ", comes to the same", false: ", fails each time"}[repeats[0].Error == ""]}
	}
	b := words.Block{Label: "unstable", Head: what + ":"}
	for _, r := range repeats {
		came := "hash " + r.Hash
		if r.Error != "" {
			came = words.Printable(r.Error)
		}
		b.Details = append(b.Details, []string{words.Times(r.Times), came})
	}
	return b
}

// askedBlock says how often the programs were asked.
func (j *bisectJob) askedBlock() []words.Block {
	var parts []string
	for _, s := range j.Pair {
		if s.Questions > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", words.Count(uint64(s.Questions), "question"), j.Letter(s)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []words.Block{{Label: "asked", Head: strings.Join(parts, ", ")}}
}
