package cli

import (
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/session"
)

// visitorFlags adds the flags of a visitor to a command.
func (a *app) visitorFlags(f *pflag.FlagSet, j *session.Visitor) {
	f.StringVar(&j.Index, "index", "", "the index, if it is not RECORDING.idx (a `file`)")
	f.BoolVar(&j.NoIndex, "no-index", false, "start from the first tick")
	f.Var(&j.MaxMemory, "max-memory", "refuse a world that takes more memory, not counting the commands of a tick")
	a.stateFlag(f)
}
