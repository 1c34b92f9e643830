package enginetest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/enginetest"
	"github.com/murksim/murksim/space"
)

// A reporter changes the first and, in its fifth tick, the last element of a field, and reports its changes if they are wanted. Its mode is a mistake.
type reporter struct{ mode string }

func (reporter) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "reporter", Incremental: engine.Fields(0)}
}

func (p reporter) Step(c *engine.Context) error {
	v := c.Next(0)
	last, wanted := len(v)-1, c.WantsChanges(0)
	v[0]++
	if wanted {
		c.Changed(0, 0, 1)
	}
	if c.Tick() != 5 {
		return nil
	}
	v[last]++
	switch {
	case wanted && p.mode != "leaves out":
		c.Changed(0, last, last+1)
	case !wanted && p.mode == "computes":
		v[last]++
	}
	if wanted && p.mode == "fails" {
		return errors.New("no more")
	}
	return nil
}

// TestRecorded: a propagator that takes another way where its changes are wanted, or does not report all of them, is named.
func TestRecorded(t *testing.T) {
	for mode, want := range map[string]string{
		"": "",
		"computes": "enginetest: tick 5 has another result in a world with a recorder\n  the first part of the tick that differs: propagator \"reporter\"\n" +
			"  field \"heat\", cell [299, 299]: 2 in the run, 1 with a recorder\nContext.WantsChanges, or the recorder itself, influences propagator \"reporter\".\n",
		"leaves out": "enginetest: tick 5 has another hash in a recording, which is of what parts report to have changed\n  the first part of the tick that differs: propagator \"reporter\"\n" +
			"  changed element 89999 of field \"heat\" without reporting it\n",
		"fails": "enginetest: tick 5 fails, only in a world with a recorder: reporter: no more",
	} {
		err := enginetest.Sync(enginetest.Of(func() engine.Config {
			return engine.Config{Space: space.Square4{Rows: 300, Cols: 300}, Fields: []fields.Def{{Name: "heat"}}, Propagators: []engine.Propagator{reporter{mode}}}
		}), 8)
		if want == "" && err == nil {
			continue
		}
		e, ok := errors.AsType[*enginetest.SyncError](err)
		if !ok || want == "" || !e.Recorded || (e.Unreported != nil) != (mode == "leaves out") || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: Sync = %v, want %s", mode, err, want)
		}
	}
}
