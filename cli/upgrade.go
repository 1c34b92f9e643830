package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

func (a *app) upgradeCommand() *cobra.Command {
	t := &transfer{app: a}
	c := &cobra.Command{
		Use:   "upgrade IN OUT",
		Short: "Convert an old recording (version 1 or 2) to version 3",
		Long: `Upgrade reads a recording of version 1 or 2 of the format, which no other command
reads, and writes it as version 3. The old versions do not record everything; upgrade
prints what it assumed, and for how many commands, on standard error.
- reads standard input, or writes standard output.

If IN is damaged or cut off, OUT holds every whole frame before that, and the exit
status is 1. Without a whole frame there is no OUT. A file that --force would overwrite
stays as it was then, and also if reading IN fails.`,
		Example: `  murksim upgrade old.murk new.murk
  murksim upgrade --json old.murk new.murk`,
		RunE: func(_ *cobra.Command, args []string) error {
			t.in, t.out = args[0], args[1]
			return t.upgrade()
		},
	}
	t.flags(c)
	return c
}

// An upgradeResult is the end of an upgrade with --json.
type upgradeResult struct {
	Event    string       `json:"event"` // "end"
	In       string       `json:"in"`
	Out      string       `json:"out"`
	Version  uint8        `json:"version"` // of the input
	Frames   uint64       `json:"frames"`
	Commands uint64       `json:"commands"`
	Bytes    int64        `json:"bytes"`
	Complete bool         `json:"complete"` // to the end of the input
	Assumed  []assumption `json:"assumed"`
}

// An assumption is something that upgrade assumed about some commands.
type assumption struct {
	Commands uint64 `json:"commands"`
	What     string `json:"what"`
}

// assumptions lists those that upgrade made about at least one command.
func assumptions(u *replay.Upgraded) []assumption {
	made := []assumption{}
	for _, a := range []assumption{
		{u.Commands, "never to expire"},
		{u.Commands, "to have arrived in the order of the file"},
		{u.NoSource, "to have no source, where the file has 0"},
		{u.NoSeq, "to have no source sequence, where the file has 0"},
	} {
		if a.Commands > 0 {
			made = append(made, a)
		}
	}
	return made
}

func (t *transfer) upgrade() error {
	var u replay.Upgraded
	err := t.run(func(dst io.Writer, src io.Reader) (uint64, error) {
		var err error
		u, err = replay.Upgrade(dst, src)
		return u.Frames, err
	})
	if err != nil && (t.bytes == 0 || !session.Damaged(err)) {
		return t.upgradeHint(err)
	}
	r := upgradeResult{
		Event: "end", In: t.in, Out: t.out, Version: u.Version, Frames: u.Frames, Commands: u.Commands, Bytes: t.bytes,
		Complete: err == nil, Assumed: assumptions(&u),
	}
	if !t.Quiet {
		for _, a := range r.Assumed {
			fmt.Fprintf(t.Errs, "assumed   %s %s\n", words.Count(a.Commands, "command"), a.What)
		}
	}
	text := fmt.Sprintf("upgraded  %s  from version %d to 3, %s, %s, %s",
		document.FileName(t.out), u.Version, words.Count(u.Frames, "frame"), words.Count(u.Commands, "command"), words.Size(t.bytes))
	return errors.Join(t.Emit(r), t.Say("%s", text), err)
}

// upgradeHint says more about an input from which upgrade made nothing.
func (t *transfer) upgradeHint(err error) error {
	e, ok := errors.AsType[*replay.FormatError](err)
	switch {
	case ok && e.Kind == replay.ErrCurrent:
		return words.About(t.in, words.NewProblem("it is already version 3; there is nothing to upgrade", err))
	case ok && e.Kind == replay.ErrVersion:
		text := fmt.Sprintf("the version of the format, at byte %d, is %d; upgrade reads versions 1 and 2", e.Offset, e.Found)
		return words.About(t.in, words.NewProblem(text, err))
	}
	return err
}
