package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// A recoverJob copies the whole frames of a recording.
type recoverJob struct {
	*app
	output string
	force  bool
	yrep   yrepFlags
}

func (a *app) recoverCommand() *cobra.Command {
	j := &recoverJob{app: a}
	c := &cobra.Command{
		Use:   "recover RECORDING -o FILE",
		Short: "Copy the whole frames of a damaged recording",
		Long: `Recover copies a recording up to the first frame that is not whole: one that is cut short or
malformed, has the wrong tick, or has a command that cannot be decoded. It copies the same
part of the index beside it, and says what is lost. The recording itself is only read. If
there is no whole tick, or reading fails, it writes nothing, and an older FILE stays as it
was.

An inconsistent header is copied as it is, and recover says so. Only verify can tell whether
whole ticks are also right. run --resume continues a recording that a killed run has left,
without recover.

Of a YREP file it copies the whole frames in the same way. It does not copy games of
MineWars: export makes them again from their recordings.

Exit status: 0 the recording is whole, 3 something is lost or the header is damaged, 1 nothing
can be copied.`,
		Example: `  murksim recover heat.murk -o whole.murk
  murksim verify whole.murk`,
		Args: arguments(cobra.ExactArgs(1), "one recording"),
		RunE: func(c *cobra.Command, args []string) error {
			if j.output == "" {
				return report.Usage("recover needs --output")
			}
			if err := twoFiles("recover", args[0], j.output); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			switch kind := j.FormatOfFile(args[0]); {
			case kind == session.FormatYREP:
				return j.recoverYREP(ctx, args[0])
			case kind.IsGame():
				return fmt.Errorf("%s: it is a game, which recover does not copy\n  make it anew: %s export RECORDING -o NEW%s", words.Argument(args[0]), j.Name, session.GameEnding)
			}
			if err := j.yrep.only(c.Flags().Changed); err != nil {
				return err
			}
			return j.run(ctx, args[0])
		},
	}
	c.Flags().StringVarP(&j.output, "output", "o", "", "the new recording (a `file`)")
	c.Flags().BoolVar(&j.force, "force", false, "overwrite the file if it exists")
	j.yrep.add(c.Flags())
	return c
}

// twoFiles checks that a command reads one file and writes another.
func twoFiles(verb, in, out string) error {
	switch {
	case in == "-" || files.Dashed(out) == "-":
		return report.Usage("%s takes files, not standard input or output", verb)
	case files.Same(in, out):
		return report.Usage("%s is the recording itself; write to another file", document.FileName(out))
	}
	return nil
}

// A recoverResult is what recover prints with --json.
type recoverResult struct {
	Event     string `json:"event"` // "recovered"
	File      string `json:"file"`
	Output    string `json:"output"`
	Ticks     uint64 `json:"ticks"`
	Bytes     int64  `json:"bytes"`
	LostBytes int64  `json:"lost_bytes"`
	Reason    string `json:"reason,omitempty"`      // why it is not whole
	Index     uint64 `json:"index_ticks,omitempty"` // ticks that the new recording's index covers
}

func (j *recoverJob) run(ctx context.Context, name string) error {
	f, length, err := files.OpenSeekable(name)
	if err != nil {
		return words.About(name, err)
	}
	defer f.Close()
	end, header, reason := wholePart(ctx, f, length, j.Meter(0))
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: interrupted; %s was not written", words.Argument(name), document.FileName(j.output))
	case header == nil:
		return fmt.Errorf("%w\n  nothing can be recovered without the header", words.About(name, reason))
	}
	if err := j.copyable(name, end, reason); err != nil {
		return err
	}
	if err := j.write(ctx, name, f, end, header); err != nil {
		return err
	}
	r := recoverResult{
		Event: "recovered", File: name, Output: j.output, Ticks: uint64(end.Frame), Bytes: end.Offset, LostBytes: length - end.Offset,
	}
	copied := false
	if !files.IsPipe(j.output) {
		if r.Index, copied = j.copyIndex(ctx, name, header, r.Ticks); !copied {
			removeIndex(j.output)
		}
	}
	fault := j.HeaderFault(name, header)
	if why := cmp.Or(reason, fault); why != nil {
		r.Reason = words.InWords(why).Error()
	}
	if err := j.Emit(r); err != nil {
		return err
	}
	if err := j.Say("%s  %s, %s", document.FileName(j.output), words.Count(r.Ticks, "tick"), words.Size(r.Bytes)); err != nil {
		return err
	}
	var lost error
	if reason != nil {
		lost = fmt.Errorf("%w\n  lost from byte %s on: %s", words.About(name, reason), words.Number(uint64(end.Offset)), words.Count(uint64(r.LostBytes), "byte"))
	}
	if fault != nil {
		lost = errors.Join(lost, fmt.Errorf("%w\n  the header is copied as it is, so the copy cannot be verified either", words.About(name, fault)))
	}
	if lost != nil {
		return report.Exit(report.StatusDiverged, lost)
	}
	return nil
}

// write copies the frames of a recording up to a position.
func (j *recoverJob) write(ctx context.Context, name string, from io.ReaderAt, end replay.Position, header *replay.Header) error {
	return j.writeJudged(ctx, name, func(to io.Writer) (same bool, err error) {
		frames, err := replay.NewReader(io.TeeReader(io.NewSectionReader(from, 0, end.Offset), to))
		if err != nil {
			return false, err
		}
		copied, err := frames.Prefix(func(replay.Position) error { return ctx.Err() })
		return copied == end && reflect.DeepEqual(&frames.Header, header), err
	})
}

// writeJudged writes the new recording. What it copies is judged once more, since another program may have changed the file meanwhile.
func (j *recoverJob) writeJudged(ctx context.Context, name string, copied func(to io.Writer) (same bool, err error)) error {
	changed := false
	err := j.writeBy(ctx, j.output, func(to io.Writer) error {
		same, err := copied(to)
		if changed = err == nil && !same || session.Damaged(err); changed && err == nil {
			err = io.ErrUnexpectedEOF
		}
		return err
	}, j.force)
	if changed {
		return fmt.Errorf("%s: another program has changed it while it was read; %s was not written",
			words.Argument(name), document.FileName(j.output))
	}
	return err
}

// copyable refuses to write a recording without a tick, and to overwrite one after an
// error of reading, which says nothing about the ticks that follow.
func (j *recoverJob) copyable(name string, end replay.Position, reason error) error {
	if reason == nil {
		return nil
	}
	if end.Frame == 0 {
		return fmt.Errorf("%w\n  no tick before that is whole, so nothing can be copied", words.About(name, reason))
	}
	if _, missing := os.Stat(j.output); missing == nil && !session.Damaged(reason) {
		return fmt.Errorf("%w\n  %s stays as it was; write to another file for what was read before that: %s",
			words.About(name, reason), document.FileName(j.output), words.Count(uint64(end.Frame), "tick"))
	}
	return nil
}

// wholePart is [replay.WholePart], with progress, until the context ends.
func wholePart(ctx context.Context, r io.ReaderAt, length int64, m *report.Meter) (end replay.Position, h *replay.Header, reason error) {
	defer m.Clear()
	return replay.WholePart(r, length, func(at replay.Position) error {
		m.Show(uint64(at.Frame))
		return ctx.Err()
	})
}

// copyIndex copies the whole part of the index, as far as the recording goes, and returns how
// many ticks it knows. Without an index it does nothing; its errors do not fail recover.
func (j *recoverJob) copyIndex(ctx context.Context, recording string, h *replay.Header, ticks uint64) (known uint64, copied bool) {
	path := session.IndexName(j.output)
	if files.IsPipe(path) || files.Same(path, recording) || replaceable(path, indexMark, "index") != nil {
		return 0, false
	}
	x, whole, err := session.OpenIndex(session.IndexName(recording))
	if err != nil {
		return 0, false
	}
	defer x.Close()
	if x.Belongs(h) != nil {
		return 0, false
	}
	last, length := x.Prefix(x.Begin + ticks)
	if last == x.Begin+ticks && x.Intact() {
		length = whole
	}
	if err := j.writeFrom(ctx, path, io.NewSectionReader(x.File, 0, length), true); err != nil {
		if !j.Quiet {
			j.Warn("%v; the new recording has no index", err)
		}
		return 0, false
	}
	return last - x.Begin, true
}
