package cli

import (
	"context"
	"fmt"

	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
)

// holdParent holds a run against its parent, if it is a fork, and notes in the report what it is held against.
func (x *auditOf) holdParent(ctx context.Context, e audit.Evidence) error {
	p, held, err := x.src.HoldParent(ctx, e)
	if err != nil || p == nil {
		return err
	}
	x.report.Parent, x.report.Held = p.Run.String(), &held
	told := fmt.Sprintf("fork      of run %s, whose state of tick %s it begins with and is proved from; how that run came to it, an audit of that run shows", p.Run, words.Number(p.Tick))
	if !held {
		told = fmt.Sprintf("fork      of run %s, hash %s at tick %s; that run is not in this source", p.Run, p.Hash, words.Number(p.Tick))
	}
	x.lines = append(x.lines, told)
	return nil
}
