package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios/document"
)

// recoverYREP copies the whole frames of a YREP file.
func (j *recoverJob) recoverYREP(ctx context.Context, name string) error {
	o, err := j.yrep.options()
	if err != nil {
		return err
	}
	in, length, done, err := j.openYREP(ctx, name)
	if err != nil {
		return words.About(name, err)
	}
	defer done()
	r, err := yrep.NewReader(in, o)
	if err != nil {
		return fmt.Errorf("%w\n  nothing can be recovered without the header", words.About(name, err))
	}
	frames, err := wholeFrames(ctx, r)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: interrupted; %s was not written", words.Argument(name), document.FileName(j.output))
	}
	if err != nil && frames == 0 {
		return fmt.Errorf("%w\n  no frame before that is whole, so nothing can be copied%s", words.About(name, err), j.yrepHint(name, o, err))
	}
	if _, missing := os.Stat(j.output); err != nil && missing == nil && !session.Damaged(err) {
		return fmt.Errorf("%w\n  %s stays as it was", words.About(name, err), document.FileName(j.output))
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return words.About(name, err)
	}
	if err := j.writeYREP(ctx, name, in, r, frames, o); err != nil {
		return err
	}
	result := recoverResult{Event: "recovered", File: name, Output: j.output, Ticks: frames, Bytes: r.End(), LostBytes: length - r.End()}
	if err != nil {
		result.Reason = words.InWords(err).Error()
	}
	if err := j.Emit(result); err != nil {
		return err
	}
	if err := j.Say("%s  %s, %s", document.FileName(j.output), words.Count(frames, "frame"), words.Size(r.End())); err != nil || result.Reason == "" {
		return err
	}
	lost := fmt.Errorf("%w\n  lost from byte %s on: %s", words.About(name, err), words.Number(uint64(r.End())), words.Count(uint64(result.LostBytes), "byte"))
	return report.Exit(report.StatusDiverged, lost)
}

// writeYREP copies the frames that a reader has read.
func (j *recoverJob) writeYREP(ctx context.Context, name string, from io.Reader, r *yrep.Reader, frames uint64, o yrep.Options) error {
	o.Dialect = r.Dialect
	return j.writeJudged(ctx, name, func(to io.Writer) (same bool, err error) {
		copied, err := yrep.NewReader(io.TeeReader(io.LimitReader(from, r.End()), to), o)
		if err != nil {
			return false, err
		}
		n, err := wholeFrames(ctx, copied)
		return n == frames && copied.End() == r.End() && reflect.DeepEqual(copied.Header, r.Header), err
	})
}

// wholeFrames reads all frames and returns how many there are. The error says why the file is not whole after them.
func wholeFrames(ctx context.Context, r *yrep.Reader) (n uint64, err error) {
	var f yrep.Frame
	for ; err == nil; err = ctx.Err() {
		switch err := r.Next(&f); err {
		case nil:
			n++
		case io.EOF:
			return n, nil
		default:
			return n, err
		}
	}
	return n, err
}
