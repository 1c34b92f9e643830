package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/document"
)

func engineFlag(f *pflag.FlagSet, program *string) {
	f.StringVar(program, "engine", "", "another build of this `program`, which computes the state that was committed")
}

// engineState lets another build of the program compute the state of a tick, in a process of its own.
func (x *examiner) engineState(ctx context.Context, program string, tick uint64) (state []byte, err error) {
	folder, err := os.MkdirTemp("", "murksim-audit-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "state")
	var errs words.LastLine
	c := exec.CommandContext(ctx, program, "audit", "state", x.source, "--run", x.evidence.Run().ID.String(), "--tick", strconv.FormatUint(tick, 10), "-o", file, "--quiet")
	c.Stderr, c.WaitDelay = &errs, time.Second
	err = c.Run()
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !(exited && exit.ExitCode() == report.StatusDiverged): // then it is another state, which is there
		why := strings.TrimPrefix(err.Error(), "exec: ")
		if last := errs.Text(); last != "" {
			why += ": " + last
		}
		return nil, fmt.Errorf("%s: %s", document.FileName(program), why)
	}
	if state, err = session.ReadState(ctx, file, x.scenario); err == nil {
		state, err = engine.Unseal(state)
	}
	if err != nil {
		return nil, fmt.Errorf("the state that %s wrote: %w", document.FileName(program), session.StateProblem(err))
	}
	return state, nil
}
