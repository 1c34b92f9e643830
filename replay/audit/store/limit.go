package store

import (
	"cmp"
	"context"
	"time"
)

// statementLimit is how long one statement may take. On the largest known database, ours take seconds at most.
const statementLimit = 5 * time.Minute

// partingLimit is how long a statement may take that cleans up a database after an error or an interrupt.
const partingLimit = 5 * time.Second

// limit returns a context for one statement, which ends it with [ErrSlow] if the database does not answer.
func (d *DB) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, cmp.Or(d.Patience, statementLimit))
}

// parting returns a context for a statement that must run although its caller was interrupted.
func parting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), partingLimit)
}
