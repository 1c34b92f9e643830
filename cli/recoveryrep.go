package cli

import (
	"context"
	"fmt"
	"io"
	"os"

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
		return about(name, err)
	}
	defer done()
	r, err := yrep.NewReader(in, o)
	if err != nil {
		return fmt.Errorf("%w\n  nothing can be recovered without the header", about(name, err))
	}
	var f yrep.Frame
	frames := uint64(0)
	for err == nil {
		if err = r.Next(&f); err == nil {
			frames++
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: interrupted; %s was not written", argument(name), document.FileName(j.output))
		}
	}
	if err == io.EOF {
		err = nil
	} else if frames == 0 {
		return fmt.Errorf("%w\n  no frame before that is whole, so nothing can be copied%s", about(name, err), j.yrepHint(name, o, err))
	} else if _, missing := os.Stat(j.output); missing == nil && !damaged(err) {
		return fmt.Errorf("%w\n  %s stays as it was", about(name, err), document.FileName(j.output))
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return about(name, err)
	}
	if err := j.writeFrom(ctx, j.output, io.LimitReader(in, r.End()), j.force); err != nil {
		return err
	}
	result := recoverResult{Event: "recovered", File: name, Output: j.output, Ticks: frames, Bytes: r.End(), LostBytes: length - r.End()}
	if err != nil {
		result.Reason = inWords(err).Error()
	}
	if err := j.emit(result); err != nil {
		return err
	}
	if err := j.say("%s  %s, %s", document.FileName(j.output), count(frames, "frame"), size(r.End())); err != nil || result.Reason == "" {
		return err
	}
	lost := fmt.Errorf("%w\n  lost from byte %s on: %s", about(name, err), number(uint64(r.End())), count(uint64(result.LostBytes), "byte"))
	return &exitError{statusDiverged, lost}
}
