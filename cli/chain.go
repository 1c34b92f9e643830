package cli

import (
	"cmp"
	"slices"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// An examiner looks into a run, as the flags ask for it.
type examiner struct {
	*app
	evidence.Chain
	flag string // that names the run
}

// examinations are the commands that do so.
func (a *app) examinations() []*cobra.Command {
	return []*cobra.Command{a.auditBisectCommand(), a.auditDiffCommand(), a.auditDiagnoseCommand(), a.auditStateCommand()}
}

func (a *app) examiner() *examiner {
	return &examiner{a, evidence.Chain{Builder: a.newBuilder()}, "run"}
}

func (x *examiner) flags(f *pflag.FlagSet) {
	f.StringVar(&x.ID, "run", "", "the run, by its `id` or the beginning of it (default: the only one)")
	builderFlags(f, &x.Builder)
}

func (x *examiner) repeatFlag(f *pflag.FlagSet) {
	x.Repeat = compare.Repeats
	f.Var(rangeFlag[int]{&x.Repeat, mostRepeats}, "repeat", "compute the tick so many `times` more, to see whether the hash stays the same")
}

// ofChains reports whether a general command is given chains, for which only these flags count.
func ofChains(c *cobra.Command, names []string, flags ...string) (yes bool, err error) {
	i := slices.IndexFunc(names, isChain)
	if i < 0 {
		return false, nil
	}
	if k := slices.IndexFunc(names, func(name string) bool { return !isChain(name) }); k >= 0 {
		return true, report.Usage("%s holds a chain, and %s does not; compare two of a kind", words.Argument(names[i]), words.Argument(names[k]))
	}
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains(flags, f.Name) {
			err = report.Usage("--%s is not for a chain, which %s holds; see audit %s --help", f.Name, words.Argument(names[i]), cmp.Or(map[string]string{"seek": "state"}[c.Name()], c.Name()))
		}
	})
	return true, err
}

// isChain reports whether a name is that of a database or a bundle.
func isChain(name string) bool {
	bundle, err := files.Begins(name, audit.BundleMark)
	return isDatabase(name) || bundle && err == nil
}

// chainOf returns an examiner for a general command.
func (a *app) chainOf(source string, v *session.Visitor) *examiner {
	x := a.examiner()
	x.Source, x.Repeat, x.Workers, x.MaxMemory = source, compare.Repeats, v.Workers, v.MaxMemory
	return x
}

// mostRepeats is how often, at most, a tick is computed again.
const mostRepeats = 1000
