package cli

import (
	"context"
	"fmt"
	"io"
	"os"

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
	var f yrep.Frame
	frames := uint64(0)
	for err == nil {
		if err = r.Next(&f); err == nil {
			frames++
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: interrupted; %s was not written", words.Argument(name), document.FileName(j.output))
		}
	}
	if err == io.EOF {
		err = nil
	} else if frames == 0 {
		return fmt.Errorf("%w\n  no frame before that is whole, so nothing can be copied%s", words.About(name, err), j.yrepHint(name, o, err))
	} else if _, missing := os.Stat(j.output); missing == nil && !session.Damaged(err) {
		return fmt.Errorf("%w\n  %s stays as it was", words.About(name, err), document.FileName(j.output))
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return words.About(name, err)
	}
	if err := j.writeFrom(ctx, j.output, io.LimitReader(in, r.End()), j.force); err != nil {
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
