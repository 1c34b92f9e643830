package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios/document"
)

// A yrepDifference is what diff prints of two YREP files with --json.
type yrepDifference struct {
	Event       string                 `json:"event"` // "difference"
	A           string                 `json:"a"`
	B           string                 `json:"b"`
	OK          bool                   `json:"ok"`
	Header      []yrepHeaderDifference `json:"header,omitempty"`
	Equal       int32                  `json:"equal_frames"` // before the difference
	Frame       *int32                 `json:"frame,omitempty"`
	Index       *int                   `json:"index,omitempty"` // of the instruction, from 0
	Instruction string                 `json:"instruction,omitempty"`
	Field       string                 `json:"field,omitempty"`
	ValueA      string                 `json:"value_a,omitempty"`
	ValueB      string                 `json:"value_b,omitempty"`
}

// A yrepHeaderDifference is something in which the headers differ.
type yrepHeaderDifference struct {
	Field  string `json:"field"`
	ValueA string `json:"value_a"`
	ValueB string `json:"value_b"`
}

// noGames refuses games of MineWars, which diff cannot compare.
func (j *diffJob) noGames(names []string) error {
	for _, name := range names {
		if j.FormatOfFile(name) == session.FormatGame {
			return report.Usage("%s is a game, which diff does not compare; %s convert %s NEW%s makes lines of it, which other programs do", inputName(name), j.Name, words.Argument(name), session.LinesEnding)
		}
	}
	return nil
}

// yrepFiles reports whether the files are YREP files. It refuses two files if only one of them is.
func (j *diffJob) yrepFiles(names []string) (bool, error) {
	is := func(name string) bool { return j.FormatOfFile(name) == session.FormatYREP }
	if !slices.ContainsFunc(names, is) {
		return false, nil
	}
	for _, name := range names {
		if len(names) != 2 || !is(name) {
			yrep := names[slices.IndexFunc(names, is)]
			return false, report.Usage("%s is a YREP file, which diff compares with another one; it cannot be replayed", inputName(yrep))
		}
	}
	return true, nil
}

// compareYREP compares two YREP files, in whatever dialect each is.
func (j *diffJob) compareYREP(ctx context.Context, names []string) error {
	var readers [2]*yrep.Reader
	for n, name := range names {
		in, _, done, err := j.openYREP(ctx, name)
		if err != nil {
			return words.About(name, err)
		}
		defer done()
		if readers[n], err = yrep.NewReader(in, yrep.Options{Dialect: yrep.Auto, KeepUnknown: true}); err != nil {
			return words.About(name, err)
		}
	}
	header := yrep.CompareHeaders(readers[0], readers[1])
	d, equal, failed, err := yrep.Compare(readers[0], readers[1])
	if err != nil {
		return words.About(names[failed], err)
	}
	r := yrepDifference{Event: "difference", A: names[0], B: names[1], OK: d == nil && header == nil, Equal: equal}
	for _, h := range header {
		r.Header = append(r.Header, yrepHeaderDifference{h.Field, h.A, h.B})
	}
	if d != nil {
		r.Frame, r.Index, r.Instruction, r.Field, r.ValueA, r.ValueB = &d.Frame, &d.Index, d.Name, d.Field, d.A, d.B
	}
	if err := j.app.Result(r, r.OK); err != nil {
		return err
	}
	if r.OK {
		return j.Say("equal  %s", words.Count(uint64(equal), "frame"))
	}
	if !j.JSON {
		fmt.Fprintln(j.Out, differenceText(header, d, equal))
	}
	return report.Exit(report.StatusDiverged, nil)
}

// differenceText is what differs, for people: in the frames first.
func differenceText(header []yrep.Difference, d *yrep.Difference, equal int32) string {
	text := fmt.Sprintf("DIFFER  in the header alone   %s are equal", words.Count(uint64(equal), "frame"))
	if d != nil {
		where := fmt.Sprintf("from frame %s on", words.Number(uint64(d.Frame)))
		if d.Name != "" {
			where = fmt.Sprintf("in frame %s, instruction %d, %s", words.Number(uint64(d.Frame)), d.Index+1, d.Name)
		}
		text = fmt.Sprintf("DIFFER  %s   %s before it are equal\n  %s", where, words.Count(uint64(equal), "frame"), valuesText(d))
	}
	for i := range header {
		text += "\n  header, " + valuesText(&header[i])
	}
	return text
}

// valuesText says what two values are.
func valuesText(d *yrep.Difference) string {
	shown := func(v string) string {
		if v == "" {
			return "nothing"
		}
		return words.Printable(v)
	}
	return fmt.Sprintf("%s: %s and %s", document.Shorten(d.Field), shown(d.A), shown(d.B))
}
