package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/session"
)

// Flags that several commands have check their values themselves; flagError says what they must be.

// tickFlag is a number of ticks on the command line, in digits, as a seed is.
type tickFlag uint64

func (n *tickFlag) String() string { return strconv.FormatUint(uint64(*n), 10) }

func (n *tickFlag) Set(s string) error {
	v, err := strconv.ParseUint(s, 10, 64)
	if err == nil {
		*n = tickFlag(v)
	}
	return err
}

func (n *tickFlag) Type() string { return "uint64" }

// A rangeFlag is a whole number from 1 to the most.
type rangeFlag[T int | uint64] struct {
	value *T
	most  uint64
}

func (n rangeFlag[T]) String() string {
	if n.value == nil { // the zero value, which pflag makes
		return "0"
	}
	return fmt.Sprint(*n.value)
}

func (n rangeFlag[T]) Set(s string) error {
	v, err := strconv.ParseUint(s, 10, 64)
	if err == nil && (v < 1 || v > n.most) {
		err = strconv.ErrRange
	}
	if err == nil {
		*n.value = T(v)
	}
	return err
}

func (n rangeFlag[T]) Type() string { return fmt.Sprintf("%T", T(0)) }

func workersFlag(f *pflag.FlagSet, to *int, usage string) {
	f.Var(rangeFlag[int]{to, engine.MaxWorkers}, "workers", usage)
}

// sharing is the usage of the workers of a world.
const sharing = "goroutines that share the work; any number gives the same result (default: one per core where that pays)"

// maxTicks is the most that a scenario may plan.
const maxTicks = engine.LastTick

func ticksFlag(f *pflag.FlagSet, to *uint64, usage string) {
	f.Var(rangeFlag[uint64]{to, maxTicks}, "ticks", usage)
}

// countFlag adds a number of ticks above 0.
func countFlag(f *pflag.FlagSet, to *uint64, name, usage string) {
	f.Var(rangeFlag[uint64]{to, 1<<64 - 1}, name, usage)
}

func maxMemoryFlag(f *pflag.FlagSet, to *session.Size) {
	f.Var(to, "max-memory", "refuse a world that takes more memory, not counting the commands of a tick")
}

func setFlag(f *pflag.FlagSet, to *[]string) {
	f.StringArrayVar(to, "set", nil, "replace a value of the scenario, as in `path=value`; can be repeated")
}

func seedFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "seed", "", "master seed, a whole `number` or random (default: the scenario's)")
}

// visitorFlags adds the flags of a visitor to a command.
func (a *app) visitorFlags(f *pflag.FlagSet, j *session.Visitor) {
	f.StringVar(&j.Index, "index", "", "the index, if it is not RECORDING.idx (a `file`)")
	f.BoolVar(&j.NoIndex, "no-index", false, "start from the first tick")
	maxMemoryFlag(f, &j.MaxMemory)
	a.stateFlag(f)
}

var (
	errTwice = errors.New("it is given twice")
	errEmpty = errors.New("it is empty")
)

// checkGiven refuses an empty text for a flag, such as from an unset variable of a script, and a flag for one file
// that is given twice: the first file would be forgotten.
func checkGiven(c *cobra.Command) {
	for _, sub := range c.Commands() {
		checkGiven(sub)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "string", "stringArray", "stringSlice":
			what, _ := pflag.UnquoteUsage(f)
			f.Value = &givenValue{Value: f.Value, once: what == "file" && f.Value.Type() == "string"}
			if f.DefValue == "[]" { // which help would show as a default
				f.DefValue = ""
			}
		}
	})
}

// A givenValue is the value of a flag that is a text.
type givenValue struct {
	pflag.Value
	once, given bool
}

// Set implements [pflag.Value].
func (v *givenValue) Set(s string) error {
	switch {
	case s == "":
		return errEmpty
	case v.once && v.given:
		return errTwice
	}
	v.given = true
	return v.Value.Set(s)
}
