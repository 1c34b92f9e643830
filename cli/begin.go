package cli

import (
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/scenarios/document"
)

// stateFlag adds --state to a command that replays recordings.
func (a *app) stateFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&a.States, "state", nil, "the saved state at which the recording begins, a `file`, if the recording does not hold it; can be repeated")
}

// apart returns the flag that a replay of the run's recording needs if the state is
// too large to lie in it.
func (j *runJob) apart() string {
	if j.began == nil || j.began.State != nil || j.state == "" {
		return ""
	}
	return session.StateArguments(j.state)
}

// notState refuses to write to a file of --state, which is read: a recording that does not hold the
// state at which it begins could not be replayed again.
func (a *app) notState(output string) error {
	for _, state := range a.States {
		if output != "" && files.Same(state, output) {
			return report.Usage("%s is the state at which the recording begins; write to another file", document.FileName(output))
		}
	}
	return nil
}
