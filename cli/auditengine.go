package cli

import (
	"github.com/spf13/pflag"
)

func engineFlag(f *pflag.FlagSet, program *string) {
	f.StringVar(program, "engine", "", "another build of this `program`, which computes the state that was committed")
}
