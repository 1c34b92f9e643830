package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/document"
)

// A bisectResult is what bisect prints with --json.
type bisectResult struct {
	Event        string                   `json:"event"` // "bisect"
	OK           bool                     `json:"ok"`
	Status       string                   `json:"status"` // equal, ticks, interval, length or header
	A            *bisectView              `json:"a"`
	B            *bisectView              `json:"b"`
	Exact        bool                     `json:"exact"`                // every tick up to it was compared
	EqualTick    uint64                   `json:"equal_tick,omitempty"` // the last before it that was compared; 0: none was
	Tick         uint64                   `json:"tick,omitempty"`       // that differs
	Fields       []string                 `json:"fields,omitempty"`     // that differ by their hashes
	Parts        []session.PartDifference `json:"parts,omitempty"`      // of the tick, that differ first
	Inputs       *session.InputsError     `json:"inputs,omitempty"`
	DifferBefore bool                     `json:"differ_before,omitempty"` // the tick already, so that no part of it is at fault
	Tiles        []tilesView              `json:"tiles,omitempty"`
	Diff         *diffResult              `json:"diff,omitempty"`
	Notes        []string                 `json:"notes,omitempty"`
	Next         string                   `json:"next,omitempty"` // a command that tells more
}

// A bisectView is one of the sides.
type bisectView struct {
	File      string       `json:"file,omitempty"`
	Replay    bool         `json:"replay,omitempty"` // a replay of the file
	Command   string       `json:"command,omitempty"`
	Hash      string       `json:"hash,omitempty"` // of the tick that differs, or else of the last
	Questions int          `json:"questions,omitempty"`
	Stable    *bool        `json:"stable,omitempty"` // whether the tick comes to the same each time
	Repeats   []repeatView `json:"repeats,omitempty"`
	Error     string       `json:"error,omitempty"` // why the file could not be read to its end
}

// tell prints the result.
func (j *bisectJob) tell() error {
	r := &j.found
	r.Event, r.OK = "bisect", r.Status == "equal"
	r.A, r.B, r.Notes = &j.pair[0].bisectView, &j.pair[1].bisectView, j.notes
	r.Next = j.nextCommand()
	if j.compared() {
		j.complete()
		r.Diff = &j.result
	} else {
		r.Inputs, r.Tiles = j.result.Inputs, j.result.Tiles
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
	r := &j.found
	switch {
	case j.compared():
		return j.headline()
	case r.Status == "equal" && r.Exact:
		return fmt.Sprintf("EQUAL  %s  %s  %s, hash %s", j.pair[0].label(), j.pair[1].label(), words.Count(r.EqualTick, "tick"), r.A.Hash)
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

// label is how a side was given.
func (s *bisectSide) label() string {
	if s.program != nil {
		return words.Printable(s.Command)
	}
	return document.FileName(s.File)
}

// blocks are the lines after the first.
func (j *bisectJob) blocks() []words.Block {
	sides, differences := j.pairBlocks, func() []words.Block { return slices.Concat(j.inputBlocks(), j.tileBlocks()) }
	if j.compared() {
		sides, differences = j.sideBlocks, j.differences
	}
	if j.explained != nil {
		differences = func() []words.Block { return j.explained }
	}
	return slices.Concat(sides(), j.fieldBlock(), j.stableBlocks(), j.partBlocks(), differences(), j.noteBlocks(), j.askedBlock(), words.NextBlock(j.found.Next))
}

// nextCommand is a command that tells more, or "".
func (j *bisectJob) nextCommand() string {
	if j.neither {
		return ""
	}
	for _, s := range j.sides {
		switch {
		case j.result.Inputs != nil:
			return fmt.Sprintf("%s verify %s --inputs%s", j.Name, words.Argument(s.File), j.Flags(false))
		case j.found.Next == "" && !j.compared() && !j.pair[0].Replay && s.Replayed != "" && s.Replayed != s.Hash:
			return fmt.Sprintf("%s diff %s%s", j.Name, words.Argument(s.File), j.Flags(true))
		}
	}
	return j.found.Next
}

// pairBlocks say what is compared.
func (j *bisectJob) pairBlocks() (blocks []words.Block) {
	var rows [][]string
	a, b := j.pair[0], j.pair[1]
	for _, s := range j.pair {
		row := []string{s.label(), "hash " + s.Hash}
		if s.Replay {
			row[0] += ", replayed here"
		} else if s == b && a.Replay {
			row = append(row, "as recorded")
		}
		if d := s.recording; d != nil && d.Replayed != "" && d.Replayed != s.Hash {
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
	switch names := fieldNames(j.found.Fields); len(names) {
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
	for _, s := range j.pair {
		who := j.letter(s)
		if s.Replay {
			who = "the replay"
		}
		switch {
		case s.Stable == nil:
		case *s.Stable && s.Repeats[0].Error == "":
			alike = append(alike, who)
		default:
			b := words.Block{Label: "unstable", Head: fmt.Sprintf("%s of tick %s, computed %d times from the same state:", who, words.Number(j.found.Tick), repeats+1)}
			if !s.Replay {
				b.Head = fmt.Sprintf("tick %s of %s, computed %d times:", words.Number(j.found.Tick), who, repeats+1)
			}
			for _, r := range s.Repeats {
				what := "hash " + r.Hash
				if r.Error != "" {
					what = words.Printable(r.Error)
				}
				b.Details = append(b.Details, []string{words.Times(r.Times), what})
			}
			blocks = append(blocks, b)
		}
	}
	if len(alike) > 0 {
		blocks = append(blocks, words.Block{Label: "stable", Head: fmt.Sprintf("%s: tick %s, computed %d times, comes to the same", strings.Join(alike, " and "), words.Number(j.found.Tick), repeats+1)})
	}
	return blocks
}

// askedBlock says how often the programs were asked.
func (j *bisectJob) askedBlock() []words.Block {
	var parts []string
	for _, s := range j.pair {
		if s.Questions > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", words.Count(uint64(s.Questions), "question"), j.letter(s)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []words.Block{{Label: "asked", Head: strings.Join(parts, ", ")}}
}
