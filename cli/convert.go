package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios/document"
)

// A convertJob makes the other form of a recording, or of a file of another format.
type convertJob struct {
	transfer

	// Of YREP files:
	dialect              string // of the one that is written; "": that which IN has
	lenient, keepUnknown bool
}

func (a *app) convertCommand() *cobra.Command {
	t := &convertJob{transfer: transfer{app: a}}
	c := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Convert a recording or a replay to JSON lines, or back",
		Long: `Convert reads a recording, or its JSON lines, and writes the other form to OUT: the header,
then one line per frame with its commands. Converting there and back gives the same bytes. -
means standard input or standard output.

A game of MineWars, a .mw1, is converted to JSON lines and back in the same way.

So is a YREP file, in either dialect. With --dialect, OUT is a YREP file of that dialect,
whether IN is another YREP file or JSON lines.

The ending of OUT must not be that of another kind of file: .murk, .jsonl, .mw1, .yrep, or
.mw1s for the network stream of a game.

If IN is damaged or cut off, OUT holds every whole frame before that, and the exit
status is 1. Without a whole frame there is no OUT. A file that --force would overwrite
stays as it was then, and also if reading IN fails.`,
		Example: `  murksim convert heat.murk heat.jsonl
  murksim convert heat.murk - | jq -c 'select(.tick == 500)'
  murksim convert heat.jsonl heat.murk --force
  murksim convert game.mw1 game.jsonl
  murksim convert match.yrep match.jsonl
  murksim convert match.yrep old.yrep --dialect wide`,
		RunE: func(_ *cobra.Command, args []string) error {
			t.in, t.out = args[0], args[1]
			return t.convert()
		},
	}
	t.flags(c)
	c.Flags().BoolVar(&t.stream, "stream", false, "IN is a network stream of a game, which has no header")
	c.Flags().StringVar(&t.dialect, "dialect", "", "write a YREP file of this dialect, narrow or wide (default: that of IN)")
	lenientFlags(c.Flags(), &t.lenient, &t.keepUnknown)
	return c
}

// A convertResult is the end of a conversion with --json.
type convertResult struct {
	Event    string `json:"event"` // "end"
	In       string `json:"in"`
	Out      string `json:"out"`
	To       string `json:"to"`                // "jsonl", "murk" or "yrep"
	Dialect  string `json:"dialect,omitempty"` // of a YREP file
	Frames   uint64 `json:"frames"`
	Commands uint64 `json:"commands"` // of a YREP file, instructions
	Raw      uint64 `json:"raw"`      // commands that stand as bytes
	Bytes    int64  `json:"bytes"`
	Complete bool   `json:"complete"` // to the end of the input
}

func (t *convertJob) convert() error {
	to, err := t.toDialect()
	if err != nil {
		return err
	}
	var c replay.Conversion
	var other *yrep.Conversion
	err = t.run(func(dst io.Writer, src io.Reader) (uint64, error) {
		in := bufio.NewReaderSize(src, session.FormatHead)
		kind := session.FormatOf(in, t.in)
		if err := t.suits(madeOf(in, kind, t.stream, to)); err != nil {
			return 0, err
		}
		switch {
		case t.stream || kind.IsGame():
			return t.convertGame(dst, in)
		case kind.IsYREP():
			other = new(yrep.Conversion)
			return t.convertYREP(other, dst, rewound(src, in), to)
		case t.dialect != "":
			return 0, report.Usage("--dialect is for a YREP file, and %s is none", inputName(t.in))
		}
		var err error
		c, err = replay.Convert(dst, in)
		return c.Frames, err
	})
	switch {
	case t.game != nil:
		return t.gameConverted(err)
	case other != nil:
		return t.convertedYREP(other, err)
	}
	if err != nil && (t.bytes == 0 || !session.Damaged(err)) {
		return t.convertHint(err)
	}
	r := convertResult{
		Event: "end", In: t.in, Out: t.out, To: "murk", Frames: c.Frames, Commands: c.Commands, Raw: c.Raw,
		Bytes: t.bytes, Complete: err == nil,
	}
	if c.ToLines {
		r.To = "jsonl"
	}
	raw := ""
	if c.Raw > 0 {
		raw = fmt.Sprintf(" (%s as bytes)", words.Number(c.Raw))
	}
	text := fmt.Sprintf("converted  %s  %s, %s%s, %s", document.FileName(t.out), words.Count(c.Frames, "frame"), words.Count(c.Commands, "command"), raw, words.Size(t.bytes))
	return errors.Join(t.Emit(r), t.Say("%s", text), err)
}

// madeOf returns the ending of the file that convert makes of an input; "" if the input
// cannot be converted.
func madeOf(in *bufio.Reader, kind session.Format, stream bool, to yrep.Dialect) string {
	head, _ := in.Peek(session.FormatHead)
	switch {
	case stream, kind == session.FormatGame, kind == session.FormatYREP && to == yrep.Auto:
		return session.LinesEnding
	case kind == session.FormatGameLines:
		return gameOfLines(in)
	case kind.IsYREP():
		return session.YREPEnding
	case bytes.HasPrefix(head, []byte(session.RecordingMark)):
		return session.LinesEnding
	case session.BeginsObject(head) && bytes.Contains(head, []byte(`"murk"`)): // else the header is missing
		return session.RecordingEnding
	}
	return ""
}

// suits returns an error if the ending of OUT stands for another kind of file than convert makes.
func (t *convertJob) suits(made string) error {
	ending := strings.ToLower(filepath.Ext(t.out))
	if made == "" || ending == made || ending != session.StreamEnding && !slices.Contains(fileEndings, ending) {
		return nil
	}
	return report.Usage("%s would not be what its ending says: of %s convert makes a %s", outputName(t.out), inputName(t.in), made)
}

// convertHint says more about an input from which convert made nothing.
func (t *convertJob) convertHint(err error) error {
	e, ok := errors.AsType[*replay.FormatError](err)
	switch {
	case ok && e.Kind == replay.ErrMagic:
		const text = `neither a recording, which begins with "MURK", nor its JSON lines, which begin with "{"`
		hint := t.Hint(t.in, err)
		if t.in != "-" && t.FormatOfFile(t.in) == session.FormatGameStream {
			hint = fmt.Sprintf("\n  it may be a network stream of a game: %s convert --stream %s %s", t.Name, words.Argument(t.in), words.Argument(t.out))
		}
		return fmt.Errorf("%w%s", words.About(t.in, words.NewProblem(text, err)), hint)
	case ok && e.Kind == replay.ErrTruncated && e.Offset == 0:
		return words.About(t.in, words.NewProblem("the file is empty; it must be a recording or its JSON lines", err))
	}
	return fmt.Errorf("%w%s", err, t.Hint(t.in, err))
}
